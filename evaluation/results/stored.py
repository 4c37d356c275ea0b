"""Results in files: written whole, read back with a clear error."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import read_report, whole_file
from evaluation.results.versions import description_of

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
        make: makes the results of what the file holds, see ``typed``.
        command: which wrote the file, for messages.

    Raises:
        InputError: the file is missing, or not in that format.
    """
    what = f"what `probeta {command}` wrote"
    again = f"run `probeta {command}` again"
    content = read_report(path, number, what, again)
    try:
        results = make(content)
        description_of(content["encoder"])
        return results
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(
            path, f"{what}, format {number}", f"{type(error).__name__}: {error}", again
        ) from None


def check_folder(folder: Path, command: str) -> None:
    """Refuse a file where a command writes a folder.

    Raises:
        InputError: there is a file.
    """
    if folder.is_file():
        raise InputError(
            folder,
            "a folder of results",
            "a file",
            (f"remove it, if an older version wrote it, or name the folder that {command} wrote"),
        )


def read_row_group(
    path: Path, schema: pa.Schema, wanted: tuple[str, str], what: str, todo: str
) -> pa.Table:
    """Read the row group of a Parquet file that has certain values in its first two columns.

    Args:
        path: the file.
        schema: of the tables.
        wanted: the two values.
        what: what the rows are, for messages.
        todo: what to do if they are not there, for messages.

    Raises:
        InputError: there is no such row group; or see ``row_groups``.
    """
    for found, table in row_groups(path, schema, todo, wanted):
        if found == wanted:
            return table
    raise InputError(path, what, "none", todo)


def read_row_groups(path: Path, schema: pa.Schema) -> dict[tuple[str, str], pa.Table]:
    """Return what ``row_groups`` yields; none of it if the file is missing or damaged."""
    try:
        return dict(row_groups(path, schema, ""))
    except InputError:
        return {}


def row_groups(
    path: Path, schema: pa.Schema, todo: str, wanted: tuple[str, str] | None = None
) -> Iterator[tuple[tuple[str, str], pa.Table]]:
    """Yield the row groups of a Parquet file, by the values of their first two columns.

    Args:
        path: the file.
        schema: of the tables; the first two columns are strings, and equal within a row group.
        todo: what to do if it has others, for messages.
        wanted: skip those whose statistics name other values.

    Raises:
        InputError: the file is missing or damaged, or has other tables, nulls, or a row group
            without rows or with several values in its first columns.
    """
    what = f"rows of {', '.join(schema.names)}"
    try:
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                if wanted and _first(file, number) != wanted:
                    continue
                table = file.read_row_group(number)
                table.validate(full=True)
                names = [column.unique().to_pylist() for column in table.columns[:2]]
                if table.schema != schema or [*map(len, names)] != [1, 1] or _has_null(table):
                    what += f": one {schema.names[0]} and {schema.names[1]} a row group, no null"
                    raise ValueError(f"others in row group {number}")
                yield (names[0][0], names[1][0]), table
    except (OSError, pa.ArrowException, ValueError, IndexError) as error:
        raise InputError(path, what, str(error), todo) from None


def _first(file: pq.ParquetFile, number: int) -> tuple[Any, ...]:
    """Return what the statistics say of the first two columns; a damaged file can end Python."""
    group = file.metadata.row_group(number)
    ends = (group.column(place).statistics for place in range(2))
    return tuple(end and end.min for end in ends)


def _has_null(table: pa.Table) -> bool:
    inner = (pc.list_flatten(own) for own in table.columns if pa.types.is_list(own.type))
    return any(column.null_count for column in (*table.columns, *inner))
