"""Locks that end with the process that holds them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from corpora_recipes.running.errors import InputError


@contextmanager
def locked_folder(folder: Path, command: str, *, wait: bool = False) -> Iterator[None]:
    """Lock a folder, created if missing, for one command at a time.

    The lock ends with the process. Windows and some network folders have no locks.

    Args:
        folder: the folder.
        command: the name of the command, for messages.
        wait: whether to wait, after a message, until another one has ended.

    Raises:
        InputError: another one is running there, and ``wait`` is not set.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                raise InputError(
                    folder,
                    expected=f"a folder without another running {command}",
                    found=f"another {command} that is still running",
                    todo="wait until it has ended, or choose another folder",
                ) from None
            print(f"{folder}: waiting for another {command} to end", file=sys.stderr, flush=True)
            fcntl.flock(opened, fcntl.LOCK_EX)
        except OSError:
            pass
        yield
    finally:
        os.close(opened)


@contextmanager
def lone_writer(path: Path) -> Iterator[None]:
    """Wait until no other process or thread changes a file, and keep others from it meanwhile.

    As the file is replaced when it is written, it is a hidden file beside it that is locked; this
    one is removed at the end. Windows and some network folders have no locks.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}.writing")
    while True:
        opened = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX)
        # The one before may have removed it just now.
        if os.fstat(opened).st_nlink:
            break
        os.close(opened)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(opened)


def try_lock(opened: int) -> bool | None:
    """Lock an open file, unless another one has locked it.

    Args:
        opened: the file, open for writing; the lock ends when it is closed.

    Returns:
        Whether it is locked now; None where there are no locks.
    """
    try:
        import fcntl

        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True
