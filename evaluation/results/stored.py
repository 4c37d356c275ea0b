"""Results in files: written whole, read back with a clear error."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import read_report, whole_file

if TYPE_CHECKING:
    import pyarrow as pa
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
    what = f"what `probeta {command}` wrote"
    again = f"run `probeta {command}` again"
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


def interval_of(ends: Sequence[float]) -> tuple[float, float]:
    """Return an interval that was read from JSON.

    Raises:
        ValueError: it has not two ends.
    """
    low, high = ends
    return low, high


def check_folder(folder: Path, command: str) -> None:
    """Refuse a file where a command writes a folder.

    Raises:
        InputError: there is a file.
    """
    if folder.is_file():
        raise InputError(
            folder,
            expected="a folder of results",
            found="a file",
            todo=f"remove it, if an older version wrote it, or name the folder that {command} "
            "wrote",
        )


def read_row_group(
    path: Path, columns: Sequence[str], wanted: Sequence[str], what: str, todo: str
) -> "pa.Table":
    """Read the row group of a Parquet file that has certain values in its first columns.

    Args:
        path: the file; within a row group its first columns do not vary.
        columns: the names of those to read.
        wanted: the values of the first columns, strings.
        what: what the rows are, for messages.
        todo: what to do if they are not there, for messages.

    Raises:
        InputError: the file is missing or damaged, or has no such columns or row group.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                ends = [group.column(place).statistics for place in range(len(wanted))]
                if [end and end.min for end in ends] == [*wanted]:
                    return file.read_row_group(number).select(columns)
    except (OSError, pa.ArrowException, KeyError) as error:
        raise InputError(path, expected=what, found=str(error), todo=todo) from None
    raise InputError(path, expected=what, found="none", todo=todo)


def read_row_groups(path: Path, schema: "pa.Schema") -> dict[tuple[str, str], "pa.Table"]:
    """Return the row groups of a Parquet file, by the values of their first two columns.

    Args:
        path: the file.
        schema: of the tables; the first two columns are strings, and equal within a row group.

    Returns:
        None of them if the file is missing or damaged, or holds other tables.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            tables = [file.read_row_group(group) for group in range(file.num_row_groups)]
        if any(own.schema != schema for own in tables):
            return {}
        return {(own[0][0].as_py(), own[1][0].as_py()): own for own in tables}
    except (OSError, pa.ArrowException, IndexError):
        return {}
