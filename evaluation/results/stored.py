"""Results in files, and what they say of encoder and versions; read back with a clear error."""

import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpora_recipes.running.environment import LIBRARIES, versions_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import read_report, whole_file
from evaluation.encoders.encoder import Described, Description

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Stored = TypeVar("Stored")


def encoder_facts(encoder: Described, dimension: int) -> dict[str, Any]:
    """Return an encoder's description for results; ``dimension`` is that of the store."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "form": encoder.form,
        "dimension": dimension,
        "layers": list(encoder.layers),
        "layer": encoder.layer,
        "options": encoder.options | ({"prompts": encoder.prompts} if encoder.prompts else {}),
    }


def description_of(facts: Mapping[str, Any]) -> Description:
    """Return the description of an encoder from ``encoder_facts``; without packages.

    Raises:
        KeyError: a fact is missing.
        ValueError: one has another type, or the main layer is not among the layers.
    """
    own = {name: facts[name] for name in ("revision", "layers", "layer", "form", "options")}
    own |= {"name": facts["encoder"], "packages": []}
    own["prompts"] = typed(dict[str, Any], own["options"]).get("prompts", {})
    description: Description = typed(Description, own, "encoder")
    if description.layer not in description.layers:
        raise ValueError("encoder: a main layer that is not among the layers")
    return description


def library_versions(stage: str, made_by: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the versions of Python, the platform, Probeta and the libraries that decide scores.

    Args:
        stage: which scores.
        made_by: of the store of vectors, see ``evaluation.embedding.header``: what has encoded may
            be another environment.
    """
    ours = versions_of(["probeta", *LIBRARIES[stage]])
    encoding = {**(made_by or {}).get("versions", {})}
    return dict(sorted({"platform": platform.platform(), **encoding, **ours}.items()))


def typed(kind: Any, value: Any, where: str = "results") -> Any:
    """Return a JSON value as a type says.

    Args:
        kind: a dataclass, tuple, list, mapping, ``Literal``, optional or plain type.
        value: as JSON has it: a tuple is a list, a whole number may be a float.
        where: the name of the value, for messages.

    Raises:
        ValueError: it does not fit, or is not finite.
    """
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if kind is Any or (type(value) is kind and kind is not float):
        return value
    if origin is UnionType:
        if value is None and NoneType in parts:
            return None
        return typed(parts[0], value, where)
    if origin is Literal and value in parts:
        return value
    if kind is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if origin is dict and isinstance(value, dict):
        return {key: typed(parts[1], own, f"{where}.{key}") for key, own in value.items()}
    if origin in (list, tuple) and isinstance(value, list):
        kinds = parts[:1] * len(value) if origin is list or ... in parts else parts
        if len(kinds) == len(value):
            pairs = zip(kinds, value, strict=True)
            return origin(typed(*pair, f"{where}[{at}]") for at, pair in enumerate(pairs))
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        known = get_type_hints(kind)
        needed = {own.name for own in fields(kind) if own.default is own.default_factory is MISSING}
        if wrong := sorted((needed - value.keys()) | (value.keys() - known.keys())):
            raise ValueError(f"{where}: missing or unknown: {', '.join(map(repr, wrong))}")
        return kind(**{key: typed(known[key], own, f"{where}.{key}") for key, own in value.items()})
    said = kind.__name__ if kind is origin else kind
    raise ValueError(f"{where}: {said} expected, {value!r} found")


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
