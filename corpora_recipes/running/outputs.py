"""The folders of a run, outputs that appear whole or not at all, and locks of folders.

An unfinished output is in a hidden folder beside its place, its workplace. That of the output
``data/audit`` is the folder ``data/.audit.XXXXXXXX.part``, with

    lock        locked by the run that works there: it alone knows that it lives, on a folder that
                several hosts or containers share too
    new.audit   the new output
    old.audit   the old output, while the new one takes its place
    whole       says that the new output is whole and on the disk
"""

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import decode_json, read_whole

if TYPE_CHECKING:
    from filelock import BaseFileLock


RAW = Path("data/raw")
RECORDS = Path("data/records")
INSTANCES = Path("data/instances")
CORPORA, RANKINGS = INSTANCES / "corpora", INSTANCES / "rankings"
AUDIT = Path("data/audit")
PACKAGE = Path("dist/hub")
TRAINED = Path("data/trained")
EMBEDDINGS = Path("data/embeddings")
PROBED, RANKED, COMPLETED = Path("data/results"), Path("data/rankings"), Path("data/paradigms")
PEOPLE = Path("data/people")
REPORT = Path("reports")

MEMORY = Path("data/memory")
# The vectors that are not kept, while they are used.
ENCODED = MEMORY / "encoded"
# The stage under which the cache has shards of records, until their corpus is read to the end.
READING = "reading"
LEFT_OUT = Path("data/left_out")
ENVIRONMENT = Path("data/environment.json")
# Patterns of the folders where a killed run may have left unfinished outputs.
WRITTEN = ("data", "data/*", "data/instances/*", "data/memory/**", "dist", "reports")


def records_of(corpus: str) -> Path:
    """Return the file with the records of a corpus; its counts are in the .json file beside it."""
    return RECORDS / f"{corpus}.parquet"


def format_size(size: float) -> str:
    """Return a number of bytes in words, such as "7.0 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


def free_at(folder: Path) -> int:
    """Return the free bytes of the disk that has a folder, or will have it."""
    paths = (folder.absolute(), *folder.absolute().parents)
    return shutil.disk_usage(next(path for path in paths if path.exists())).free


# No space is left, the user's quota is exceeded, or the file is too large.
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WHOLE, NEW, OLD = "whole", "new.", "old."
_SHORT_WRITE = re.compile(r"\d+ requested and \d+ written")
_NAME = re.compile(r"\.([^/\\]+)\.[a-z0-9_]{8}\.part(?:[/\\](?:new|old)\.([^/\\]+))?")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, for a file that replaces ``path`` at the end; see ``whole_outputs``.

    A symbolic link is replaced by the file.
    """
    with whole_outputs([path]) as (temporary,):
        yield temporary


def write_whole(path: Path, text: str) -> None:
    """Write a text as a file, see ``whole_file``."""
    with whole_file(path) as temporary:
        temporary.write_text(text, "utf-8")


def as_json(value: object, **options: Any) -> str:
    """Return a value as indented JSON, with a line break at its end; options of ``json.dumps``."""
    return json.dumps(value, ensure_ascii=False, indent=2, **options) + "\n"


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new temporary folder, which replaces ``path`` at the end; see ``whole_outputs``.

    A symbolic link to a folder stays one.
    """
    with whole_outputs([], [path.resolve() if path.is_symlink() else path]) as (temporary,):
        yield temporary


@contextmanager
def whole_outputs(files: Sequence[Path], folders: Sequence[Path] = ()) -> Iterator[list[Path]]:
    """Yield a temporary path for each output; at the end they take their places together.

    They are on the disk before: a power cut leaves no half of them. On an exception nothing
    appears, and the temporary files are removed; the error of a full disk gets the name of the
    first output. Leftovers of a killed process are removed by the next one that writes to the same
    folder.

    Args:
        files: the files to write, all in one folder.
        folders: further outputs there that are folders; empty temporary ones are made.

    Yields:
        The temporary paths, of the files and then of the folders.
    """
    paths = [*files, *folders]
    for path in paths:
        if path.is_file() if path in folders else path.is_dir():
            kinds = ("folder", "file") if path in folders else ("file", "folder")
            todo = "name another output, or move away what is there"
            raise InputError(path, f"a {kinds[0]} to write", f"a {kinds[1]}", todo)
    try:
        with _workplace(paths[0].parent, paths[0].name) as workplace:
            new = [workplace / f"{NEW}{path.name}" for path in paths]
            for folder in new[len(files) :]:
                folder.mkdir()
            yield new
            # Those of runs inside that have ended and could not remove them.
            for inner in list(workplace.rglob(".*.part")):
                if _NAME.fullmatch(inner.name):
                    shutil.rmtree(inner)
            for path in workplace.rglob("*"):
                _sync(path)
            _publish(workplace)
    except OSError as error:
        if is_full_disk(error) and error.filename is None:
            error.filename = str(paths[0])
        raise


def is_full_disk(error: OSError) -> bool:
    """Return whether there was no space for a file; numpy and copytree say it without a number."""
    words = str(error.args)
    return (
        error.errno in FULL_DISK
        or any(f"[Errno {code}]" in words for code in FULL_DISK)
        or _SHORT_WRITE.search(words) is not None
    )


def read_report(
    path: Path, number: int, what: str, todo: str, oldest: int | None = None
) -> dict[str, Any]:
    """Read a JSON report that states the ``number`` of its format under ``format``.

    ``what`` is the name of the report, and ``todo`` the advice, for messages; ``oldest`` the first
    format that is read too.
    """
    try:
        report: dict[str, Any] = load_json(path)
        if report["format"] not in range(oldest or number, number + 1):
            raise ValueError(f"format {report['format']}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        found = f"{type(error).__name__}: {error}"
        raise InputError(path, f"{what}, format {number}", found, todo) from None
    return report


def load_json(path: Path) -> Any:
    """Return the JSON of a file."""
    return decode_json(read_whole(path))


@contextmanager
def locked_folder(folder: Path, command: str, *, wait: bool = False) -> Iterator[None]:
    """Lock a folder, created if missing, for one command at a time.

    The lock, a hidden file, ends with the process. Some network folders have no locks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = try_lock(folder / ".lock")
    if lock is None:
        if not wait:
            todo = "wait until it has ended, or choose another folder"
            expected = f"a folder without another running {command}"
            raise InputError(folder, expected, f"another {command} that is still running", todo)
        print(f"{folder}: waiting for another {command} to end", file=sys.stderr, flush=True)
        lock = try_lock(folder / ".lock", wait=True)
    try:
        yield
    finally:
        release(lock)


def try_lock(path: Path, *, wait: bool = False) -> "BaseFileLock | None":
    """Lock a file, which is made if need be; None if another one holds it, or removed its folder.

    Where the system has no locks, the lock that is returned is not held.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, blocking=wait, thread_local=False)
    try:
        lock.acquire()
    except (Timeout, FileNotFoundError):
        return None
    except OSError:
        pass
    return lock


def release(lock: "BaseFileLock | None") -> None:
    """Remove the file of a lock, and let it go; who waits for it makes another one."""
    if lock is not None and lock.is_locked:
        with suppress(OSError):  # Windows removes no open file
            Path(lock.lock_file).unlink()
        lock.release()


@contextmanager
def _workplace(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new workplace in a folder, cleared of what killed runs left; then remove it."""
    folder.mkdir(parents=True, exist_ok=True)
    clear(folder)
    workplace, lock = _new_workplace(folder, name)
    try:
        yield workplace
    finally:
        # Otherwise not even the old outputs could be put back.
        if not (workplace / WHOLE).exists():
            shutil.rmtree(workplace, ignore_errors=True)
        os.close(lock)


def clear(folder: Path) -> None:
    """Clear what killed runs have left in a folder.

    Outputs that had begun to take their place do so; unfinished ones go. Workplaces of live runs
    stay, and all of them where there are no locks.
    """
    for workplace in folder.glob(".*.part"):
        if not (_NAME.fullmatch(workplace.name) and workplace.is_dir()):
            continue
        with suppress(OSError):  # of another user, or just gone
            lock = _open_lock(workplace)
            try:
                if _is_ours(lock):
                    if (workplace / WHOLE).exists():
                        _publish(workplace)
                    shutil.rmtree(workplace, ignore_errors=True)
            finally:
                os.close(lock)


def _publish(workplace: Path) -> None:
    """Put the new outputs of a workplace into its folder, in place of the old ones."""
    names = sorted(new.name.removeprefix(NEW) for new in workplace.glob(f"{NEW}*"))
    if len(names) == 1 and (workplace / f"{NEW}{names[0]}").is_file():
        (workplace / f"{NEW}{names[0]}").replace(workplace.parent / names[0])
        _sync(workplace.parent)
        return
    (workplace / WHOLE).touch()
    _sync(workplace)
    try:
        for name in names:
            _set_aside(workplace, name)
        for name in names:
            _put(workplace, name)
    except BaseException:
        _undo(workplace, names)
        raise
    _sync(workplace.parent)
    (workplace / WHOLE).unlink()


def _sync(path: Path) -> None:
    """Wait until a file, or the list of a folder's files, is on the disk."""
    if path.is_symlink():
        return
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    elif os.name != "nt":  # Windows has no such thing for folders
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        except OSError as error:
            # Some network folders have none either.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(opened)


def finished(text: str) -> str:
    """Return a text in which the paths in workplaces are those of the finished outputs."""
    return _NAME.sub(lambda path: path[2] or path[1], text)


def _new_workplace(folder: Path, name: str) -> tuple[Path, int]:
    while True:
        workplace = Path(mkdtemp(".part", f".{name}.", folder))
        # Another run may take it for left over before it is locked.
        with suppress(FileNotFoundError):
            lock = _open_lock(workplace)
            if _is_ours(lock) is not False and os.fstat(lock).st_nlink:
                return workplace, lock
            os.close(lock)


def _open_lock(workplace: Path) -> int:
    return os.open(workplace / "lock", os.O_RDWR | os.O_CREAT, 0o666)


def _is_ours(lock: int) -> bool | None:
    """Return whether an open file is locked by us now; None where there are no locks."""
    from filelock import lock_descriptor

    try:
        return lock_descriptor(lock, blocking=False)
    except OSError:
        return None


def _set_aside(workplace: Path, name: str) -> None:
    with suppress(FileNotFoundError):
        (workplace.parent / name).replace(workplace / f"{OLD}{name}")


def _put(workplace: Path, name: str) -> None:
    while True:
        try:
            (workplace / f"{NEW}{name}").replace(workplace.parent / name)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        # The folder of another run, which was faster.
        shutil.rmtree(workplace / f"{OLD}{name}", ignore_errors=True)
        _set_aside(workplace, name)


def _undo(workplace: Path, names: list[str]) -> None:
    for name in names:
        new, path = workplace / f"{NEW}{name}", workplace.parent / name
        if not new.exists():
            path.replace(new)
        with suppress(FileNotFoundError):
            (workplace / f"{OLD}{name}").replace(path)
    (workplace / WHOLE).unlink()
