"""What the disk, the memory or the system refuses, in the words of an InputError."""

import errno
import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import is_full_disk
from corpora_recipes.running.workplaces import finished


class _Advice(NamedTuple):
    expected: str
    todo: str


_AGAIN = "then run the same command again"
_SPACE = _Advice("space for the output", f"free some space, or raise the limit; {_AGAIN}")
_RIGHTS = _Advice(
    "a file or folder that you may read and write",
    f"change its permissions, or name another place; {_AGAIN}",
)
_FILES = _Advice(
    "fewer files open at once", f"raise the limit (`ulimit -n 4096`) or use fewer workers; {_AGAIN}"
)
_DISK = _Advice("a disk that reads and writes", f"check the disk and its connection; {_AGAIN}")
_PATH = _Advice("a path that the system can have", "name another one, or move away what is there")
_THERE = _Advice("a file or folder", f"check the path, and that nobody removes it; {_AGAIN}")
_ANY = _Advice("a system that does what it is asked", f"mend what is found; {_AGAIN}")
_ADVICE = {
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), _RIGHTS),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), _FILES),
    **dict.fromkeys((errno.EIO, errno.ESTALE), _DISK),
    **dict.fromkeys(
        (errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ENAMETOOLONG), _PATH
    ),
    **dict.fromkeys((errno.ELOOP, errno.EBUSY, errno.EXDEV, errno.EINVAL), _PATH),
    errno.ENOENT: _THERE,
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
    """Return the message for an error that is not the program's fault; None if it may be.

    Args:
        error: anything that was raised, here or in a worker.
    """
    # First, as it may have looked like a damaged file to a reader.
    if any(_is_of_memory(one) for one in _chain(error)):
        return InputError(
            "memory",
            expected="enough for this work",
            found=error.found if isinstance(error, InputError) else str(error) or "too little",
            todo="end other programs, use fewer workers (`--workers 1`) where there are some, or "
            "another machine",
        )
    if isinstance(error, InputError):
        return error
    if isinstance(error, OSError):
        return _refused(error)
    if isinstance(error, UnicodeEncodeError) and _is_of_a_path(error):
        return InputError(
            error.object.encode("utf-8", "backslashreplace").decode(),
            expected="a path in UTF-8",
            found="other bytes",
            todo="rename the file or folder; under the locale POSIX, set PYTHONUTF8=1",
        )
    return None


def _refused(error: OSError) -> InputError:
    found = str(error.strerror or error.args[0] if error.args else error)
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        # Of each file that shutil.copytree could not copy: source, target, and the error in words.
        found = "; ".join(str(reason) for *_, reason in error.args[0])
    where = error.filename2 or error.filename
    advice = _SPACE if is_full_disk(error) else _ADVICE.get(error.errno or 0, _ANY)
    return InputError(
        finished(os.fsdecode(where)) if isinstance(where, str | bytes) else "the system",
        expected=advice.expected,
        found=finished(found),
        todo=advice.todo,
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno == errno.ENOMEM
    ):
        return True
    return not isinstance(error, InputError) and any(words in str(error) for words in _NO_MEMORY)


def _is_of_a_path(error: UnicodeEncodeError) -> bool:
    """Return whether it is a path that is not in the system's encoding: see PEP 383."""
    return any("\udc80" <= sign <= "\udcff" for sign in error.object[error.start : error.end])
