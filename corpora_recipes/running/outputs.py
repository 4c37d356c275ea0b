"""Outputs appear whole or not at all, under a temporary name first; reports are read back."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# No space is left, the user's quota of it is used up, or the file is larger than may be.
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Options that keep the bytes of a file the same for one version of pyarrow.
PARQUET_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "version": "2.6",
    "data_page_version": "1.0",
    "write_page_index": True,
}


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; what is written there becomes ``path`` at the end.

    On an exception nothing appears and the temporary file is removed; the error of a full disk,
    which names no file, gets the name. What a killed process left behind is removed by the next
    one that writes the same file.
    """
    temporary = _temporary(path)
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.errno in FULL_DISK and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new temporary folder beside ``path``; it takes the place of ``path`` at the end."""
    temporary = _temporary(path)
    temporary.mkdir()
    try:
        yield temporary
        if path.exists():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def locked_folder(folder: Path, command: str, *, wait: bool = False) -> Iterator[None]:
    """Hold a folder, which is made if need be, for one command at a time.

    The lock goes with the process. Windows and some network folders have none.

    Args:
        folder: which to hold.
        command: what is to be at work there, for the messages.
        wait: whether to wait, after a message, until another one has ended.

    Raises:
        InputError: another one is at work there, and ``wait`` is not set.
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
                    expected=f"a folder that no other {command} is at work in",
                    found="one that is still running",
                    todo="wait until it has ended, or give this one a folder of its own",
                ) from None
            print(f"{folder}: waiting for another {command} to end", file=sys.stderr, flush=True)
            fcntl.flock(opened, fcntl.LOCK_EX)
        except OSError:
            pass
        yield
    finally:
        os.close(opened)


@contextmanager
def parquet_writer(
    path: Path, schema: "pa.Schema", dictionary: list[str] | None = None
) -> Iterator["pq.ParquetWriter"]:
    """Yield a writer of a Parquet file that appears whole or not at all.

    Args:
        path: the file to write.
        schema: the schema of its rows.
        dictionary: the columns to store by dictionary; none by default.
    """
    import pyarrow.parquet as pq

    with (
        whole_file(path) as temporary,
        pq.ParquetWriter(
            temporary, schema, use_dictionary=dictionary or False, **PARQUET_OPTIONS
        ) as writer,
    ):
        yield writer


def read_report(path: Path, number: int, what: str, todo: str) -> dict[str, Any]:
    """Read a JSON report that states the number of its format under ``format``.

    Args:
        path: the file.
        number: of the format that is understood.
        what: what the file is to be, for the message.
        todo: what to do if it is not, for the message.

    Raises:
        InputError: the file is missing, no JSON, or in another format.
    """
    try:
        report: dict[str, Any] = json.loads(path.read_bytes())
        if report["format"] != number:
            raise ValueError(f"format {report['format']}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        found = f"{type(error).__name__}: {error}"
        expected = f"{what}, format {number}"
        raise InputError(path, expected=expected, found=found, todo=todo) from None
    return report


def _temporary(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    for left_over in path.parent.glob(f".{path.name}.*.part"):
        process = left_over.suffixes[-2].lstrip(".")
        if not (process.isdecimal() and _is_alive(int(process))):
            if left_over.is_dir():
                shutil.rmtree(left_over, ignore_errors=True)
            else:
                left_over.unlink(missing_ok=True)
    return path.parent / f".{path.name}.{os.getpid()}.part"


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
