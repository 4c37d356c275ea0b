"""Results that one JSON file holds: written whole, read back with a clear error."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from corpora_recipes.errors import InputError
from corpora_recipes.outputs import read_report, whole_file

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Stored = TypeVar("Stored")


def write_stored(results: "DataclassInstance", path: Path) -> None:
    """Write a dataclass as JSON, the same bytes for the same results.

    Args:
        results: with an attribute ``format``; numbers must be finite.
        path: the file; another of the same name is replaced.
    """
    text = json.dumps(asdict(results), indent=2, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as temporary:
        temporary.write_text(text + "\n", "utf-8")


def read_stored(
    path: Path, number: int, make: Callable[[dict[str, Any]], Stored], command: str
) -> Stored:
    """Read what ``write_stored`` wrote.

    Args:
        path: the file.
        number: of the format that is understood.
        make: makes the results of what the file holds; raises KeyError, TypeError, AttributeError
            or ValueError if it does not fit.
        command: which wrote the file, for messages.

    Raises:
        InputError: the file is missing, or not in that format.
    """
    what = f"what `python -m evaluation {command}` wrote"
    again = f"run `python -m evaluation {command}` again"
    content = read_report(path, number, what, again)
    try:
        return make(content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            path,
            expected=f"{what}, format {number}",
            found=f"{type(error).__name__}: {error}",
            todo=again,
        ) from None
