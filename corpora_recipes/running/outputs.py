"""Writes outputs that appear complete or not at all, from a temporary name; reads reports."""

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpora_recipes.running.errors import InputError

# No space is left, the user's quota is exceeded, or the file is too large.
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; it is renamed to ``path`` at the end.

    The file is on the disk before it is renamed: a power cut leaves no half of it. On an exception
    nothing appears and the temporary file is removed; the error of a full disk gets the name of
    the file. Leftovers of a killed process are removed by the next one that writes the same file.
    """
    temporary = _temporary(path)
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(path)
    except OSError as error:
        if error.errno in FULL_DISK and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new temporary folder beside ``path``; it replaces ``path`` at the end."""
    temporary = _temporary(path)
    temporary.mkdir()
    try:
        yield temporary
        for file in temporary.rglob("*"):
            _sync(file)
        if path.exists():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_report(path: Path, number: int, what: str, todo: str) -> dict[str, Any]:
    """Read a JSON report that states the number of its format under ``format``.

    Args:
        path: the file.
        number: of the known format.
        what: the name of the report, for messages.
        todo: the advice, for messages.

    Raises:
        InputError: the file is missing, not JSON, or in another format.
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


def _sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    if path.is_file() and not path.is_symlink():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


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
