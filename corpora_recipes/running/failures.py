"""What the disk, the memory or the system refuses, in the words of an InputError."""

import errno
import os
import shutil
from collections.abc import Iterator
from traceback import format_exception_only

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.extras import explain_import
from corpora_recipes.running.outputs import finished, is_full_disk

# What was expected, and what to do.
_AGAIN = "then run the same command again"
_SPACE = "space for the output", f"free some space, or raise the limit; {_AGAIN}"
_ANY = "a system that does what it is asked", f"mend what is found; {_AGAIN}"
_RIGHTS = (
    "a file or folder that you may read and write",
    f"change its permissions, or name another place; {_AGAIN}",
)
_FILES = "fewer files open", f"raise the limit (`ulimit -n 4096`) or use fewer workers; {_AGAIN}"
_DISK = "a disk that reads and writes", f"check the disk and its connection; {_AGAIN}"
_PATH = "a path that the system can have", "name another one, or move away what is there"
_ADVICE = {
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), _RIGHTS),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), _FILES),
    **dict.fromkeys((errno.EIO, errno.ESTALE), _DISK),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY), _PATH),
    **dict.fromkeys((errno.ENAMETOOLONG, errno.ELOOP, errno.EBUSY), _PATH),
    **dict.fromkeys((errno.EXDEV, errno.EINVAL), _PATH),
    errno.ENOENT: ("a file or folder", f"check the path, and that nobody removes it; {_AGAIN}"),
}
# How libraries say that there was no memory, for their code or for another thread.
_NO_MEMORY = (
    "failed to map segment",
    "annot allocate memory",
    "not enough memory",
    "Failed to launch worker thread",
    "BLIS support requires blis",
    "can't start new thread",
)


def explain(error: BaseException) -> InputError | None:
    """Return the message for an error that is not the program's fault; None if it may be."""
    # First, as it may have looked like a damaged file to a reader.
    if any(map(_is_of_memory, _chain(error))):
        found = error.found if isinstance(error, InputError) else str(error) or "too little"
        todo = "end other programs, use fewer workers (`--workers 1`), or another machine"
        return InputError("memory", "enough for this work", found, todo)
    if isinstance(error, InputError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return explain_import(error)
    if isinstance(error, OSError):
        return _refused(error)
    if isinstance(error, UnicodeEncodeError) and _is_of_a_path(error):
        path = error.object.encode("utf-8", "backslashreplace").decode()
        todo = "rename the file or folder; under the locale POSIX, set PYTHONUTF8=1"
        return InputError(path, "a path in UTF-8", "other bytes", todo)
    return None


def _refused(error: OSError) -> InputError:
    found = str(error.strerror or error.args[0] if error.args else error)
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        # Of each file that shutil.copytree could not copy: source, target, and the error in words.
        found = "; ".join(str(reason) for *_, reason in error.args[0])
    path = error.filename2 or error.filename
    where = finished(os.fsdecode(path)) if isinstance(path, str | bytes) else "the system"
    expected, todo = _SPACE if is_full_disk(error) else _ADVICE.get(error.errno or 0, _ANY)
    return InputError(where, expected, finished(found), todo)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_of_memory(error: BaseException) -> bool:
    if isinstance(error, InputError):
        return False
    has_number = isinstance(error, OSError) and error.errno == errno.ENOMEM
    # Unlike str(), it never raises an exception of its own.
    said = "".join(format_exception_only(error))
    has_words = any(words in said for words in _NO_MEMORY)
    return isinstance(error, MemoryError) or has_number or has_words


def _is_of_a_path(error: UnicodeEncodeError) -> bool:
    """Return whether it is a path that is not in the system's encoding: see PEP 383."""
    return any("\udc80" <= sign <= "\udcff" for sign in error.object[error.start : error.end])
