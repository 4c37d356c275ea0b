"""Writes outputs that appear complete or not at all; reads reports."""

import errno
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.workplaces import NEW, publish, remove_inner, sync, workplace

# No space is left, the user's quota is exceeded, or the file is too large.
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SHORT_WRITE = re.compile(r"\d+ requested and \d+ written")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, for a file that replaces ``path`` at the end; see ``whole_outputs``.

    A symbolic link is replaced by the file.
    """
    with whole_outputs([path]) as (temporary,):
        yield temporary


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
    folder; see ``workplaces``.

    Args:
        files: the files to write, all in one folder.
        folders: further outputs there that are folders; empty temporary ones are made.

    Yields:
        The temporary paths, of the files and then of the folders.

    Raises:
        InputError: there is a folder where a file is to be, or the other way round.
    """
    paths = [*files, *folders]
    for path in paths:
        _check_kind(path, folder=path in folders)
    try:
        with workplace(paths[0].parent, paths[0].name) as place:
            new = [place / f"{NEW}{path.name}" for path in paths]
            for made in new[len(files) :]:
                made.mkdir()
            yield new
            remove_inner(place)
            for path in place.rglob("*"):
                sync(path)
            publish(place)
    except OSError as error:
        if is_full_disk(error) and error.filename is None:
            error.filename = str(paths[0])
        raise


def is_full_disk(error: OSError) -> bool:
    """Return whether there was no space for a file.

    numpy and shutil.copytree say it without a number.
    """
    said = str(error.args)
    return (
        error.errno in FULL_DISK
        or any(f"[Errno {code}]" in said for code in FULL_DISK)
        or _SHORT_WRITE.search(said) is not None
    )


def _check_kind(path: Path, *, folder: bool) -> None:
    if path.is_file() if folder else path.is_dir():
        kinds = ["a file", "a folder"]
        expected, found = reversed(kinds) if folder else kinds
        raise InputError(
            path,
            expected=f"{expected} to write",
            found=found,
            todo="name another output, or move away what is there",
        )


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
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        found = f"{type(error).__name__}: {error}"
        expected = f"{what}, format {number}"
        raise InputError(path, expected=expected, found=found, todo=todo) from None
    return report
