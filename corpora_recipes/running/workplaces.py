"""Locks of folders; hidden folders for unfinished outputs, beside the place of finished ones.

A workplace of the output ``data/audit`` is the folder ``data/.audit.XXXXXXXX.part``, with

    lock        locked by the run that works there: it alone knows that it lives, on a folder that
                several hosts or containers share too
    new.audit   the new output
    old.audit   the old output, while the new one takes its place
    whole       says that the new output is whole and on the disk
"""

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK, WHOLE, NEW, OLD = "lock", "whole", "new.", "old."
_NAME = re.compile(r"\.([^/\\]+)\.[a-z0-9_]{8}\.part(?:[/\\](?:new|old)\.([^/\\]+))?")


@contextmanager
def locked_folder(folder: Path, command: str, *, wait: bool = False) -> Iterator[None]:
    """Lock a folder, created if missing, for one command at a time.

    The lock, a hidden file, ends with the process. Some network folders have no locks.

    Args:
        folder: the folder.
        command: the name of the command, for messages.
        wait: whether to wait, after a message, until another one has ended.

    Raises:
        InputError: another one is running there, and ``wait`` is not set.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = try_lock(folder / ".lock")
    if lock is None and not wait:
        raise InputError(
            folder,
            expected=f"a folder without another running {command}",
            found=f"another {command} that is still running",
            todo="wait until it has ended, or choose another folder",
        )
    if lock is None:
        print(f"{folder}: waiting for another {command} to end", file=sys.stderr, flush=True)
        lock = try_lock(folder / ".lock", wait=True)
    try:
        yield
    finally:
        release(lock)


def try_lock(path: Path, *, wait: bool = False) -> "BaseFileLock | None":
    """Lock a file, which is made if need be.

    Args:
        path: the file.
        wait: whether to wait until another one lets it go.

    Returns:
        The lock, which is not held where the system has no locks; None if another one holds it, or
        has just removed its folder.
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
def workplace(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new workplace in a folder, which is made if need be; at the end it is removed.

    Args:
        folder: the place of the outputs. What killed runs have left there is cleared first.
        name: of the output, or of one of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clear(folder)
    place, lock = _new_place(folder, name)
    try:
        yield place
    finally:
        # Otherwise not even the old outputs could be put back.
        if not (place / WHOLE).exists():
            shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def clear(folder: Path) -> None:
    """Clear what killed runs have left in a folder.

    Outputs that had begun to take their place do so; unfinished ones go. Workplaces of live runs
    stay, and all of them where there are no locks.
    """
    for place in folder.glob(".*.part"):
        if not (_NAME.fullmatch(place.name) and place.is_dir()):
            continue
        with suppress(OSError):  # of another user, or just gone
            lock = _open_lock(place)
            try:
                if _is_ours(lock):
                    if (place / WHOLE).exists():
                        publish(place)
                    shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(lock)


def remove_inner(place: Path) -> None:
    """Remove workplaces inside new outputs, whose runs have ended but could not remove them."""
    for inner in [path for path in place.rglob(".*.part") if _NAME.fullmatch(path.name)]:
        shutil.rmtree(inner)


def publish(place: Path) -> None:
    """Put the new outputs of a workplace into its folder, in place of the old ones.

    A file replaces another one at once. Of a folder, or of several outputs, all old ones go before
    the first new one comes, so that nobody sees parts of both; if the run is killed in between, the
    next one ends it (see ``clear``). After an error the old ones are back.
    """
    names = sorted(new.name.removeprefix(NEW) for new in place.glob(f"{NEW}*"))
    if len(names) == 1 and (place / f"{NEW}{names[0]}").is_file():
        (place / f"{NEW}{names[0]}").replace(place.parent / names[0])
        sync(place.parent)
        return
    (place / WHOLE).touch()
    sync(place)
    try:
        for name in names:
            _set_aside(place, name)
        for name in names:
            _put(place, name)
    except BaseException:
        _undo(place, names)
        raise
    sync(place.parent)
    (place / WHOLE).unlink()


def sync(path: Path) -> None:
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
    return _NAME.sub(lambda found: found[2] or found[1], text)


def _new_place(folder: Path, name: str) -> tuple[Path, int]:
    while True:
        place = Path(mkdtemp(".part", f".{name}.", folder))
        # Another run may take it for left over before it is locked.
        with suppress(FileNotFoundError):
            lock = _open_lock(place)
            if _is_ours(lock) is not False and os.fstat(lock).st_nlink:
                return place, lock
            os.close(lock)


def _open_lock(place: Path) -> int:
    return os.open(place / LOCK, os.O_RDWR | os.O_CREAT, 0o666)


def _is_ours(lock: int) -> bool | None:
    """Return whether an open file is locked by us now; None where there are no locks."""
    from filelock import lock_descriptor

    try:
        return lock_descriptor(lock, blocking=False)
    except OSError:
        return None


def _set_aside(place: Path, name: str) -> None:
    with suppress(FileNotFoundError):
        (place.parent / name).replace(place / f"{OLD}{name}")


def _put(place: Path, name: str) -> None:
    while True:
        try:
            (place / f"{NEW}{name}").replace(place.parent / name)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        # The folder of another run, which was faster.
        shutil.rmtree(place / f"{OLD}{name}", ignore_errors=True)
        _set_aside(place, name)


def _undo(place: Path, names: list[str]) -> None:
    for name in names:
        new, old, path = place / f"{NEW}{name}", place / f"{OLD}{name}", place.parent / name
        if not new.exists():
            path.replace(new)
        with suppress(FileNotFoundError):
            old.replace(path)
    (place / WHOLE).unlink()
