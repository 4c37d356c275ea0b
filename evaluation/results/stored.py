"""Results in files, and what they say of encoder and versions; read back with a clear error."""

import json
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpora_recipes.parquet import parquet_writer
from corpora_recipes.running.environment import LIBRARIES, versions_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import read_report, whole_file, whole_folder
from evaluation.encoders.encoder import Described, Description

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Stored = TypeVar("Stored")
SCORES = "scores.json"


def encoder_facts(encoder: Described, dimension: int) -> dict[str, Any]:
    """Return an encoder's description for results; ``dimension`` is that of the store."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "form": encoder.form,
        "dimension": dimension,
        "layers": list(encoder.layers),
        "layer": encoder.layer,
        "options": encoder.options
        | ({"prompts": encoder.prompts} if encoder.prompts else {})
        | ({"postprocessing": encoder.postprocessing} if encoder.postprocessing != "none" else {}),
    }


def description_of(facts: Mapping[str, Any]) -> Description:
    """Return the description of an encoder from ``encoder_facts``; without packages.

    Raises:
        KeyError: a fact is missing.
        ValueError: one has another type, or the main layer is not among the layers.
    """
    described = {name: facts[name] for name in ("revision", "layers", "layer", "form", "options")}
    described |= {"name": facts["encoder"], "packages": []}
    options = typed(dict[str, Any], described["options"])
    described["prompts"] = options.get("prompts", {})
    described["postprocessing"] = options.get("postprocessing", "none")
    description: Description = typed(Description, described, "encoder")
    if description.layer not in description.layers:
        raise ValueError("encoder: a main layer that is not among the layers")
    return description


def library_versions(stage: str, made_by: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the versions of Python, the platform, Probeta and the libraries that decide scores.

    Args:
        stage: which scores.
        made_by: of the store of vectors, see ``evaluation.embedding.store``: what has encoded may
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
        return {key: typed(parts[1], item, f"{where}.{key}") for key, item in value.items()}
    if origin in (list, tuple) and isinstance(value, list):
        kinds = parts[:1] * len(value) if origin is list or ... in parts else parts
        if len(kinds) == len(value):
            pairs = zip(kinds, value, strict=True)
            return origin(typed(*pair, f"{where}[{at}]") for at, pair in enumerate(pairs))
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        known = get_type_hints(kind)
        needed = {f.name for f in fields(kind) if f.default is f.default_factory is MISSING}
        if wrong := sorted((needed - value.keys()) | (value.keys() - known.keys())):
            raise ValueError(f"{where}: missing or unknown: {', '.join(map(repr, wrong))}")
        return kind(
            **{key: typed(known[key], item, f"{where}.{key}") for key, item in value.items()}
        )
    name = kind.__name__ if kind is origin else kind
    raise ValueError(f"{where}: {name} expected, {value!r} found")


def write_stored(results: "DataclassInstance", path: Path) -> None:
    """Write a dataclass as JSON, the same bytes for the same results; numbers must be finite."""
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
    what, again = f"what `probeta {command}` wrote", f"run `probeta {command}` again"
    content = read_report(path, number, what, again)
    try:
        results = make(content)
        if "encoder" in content:
            description_of(content["encoder"])
        return results
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        expected, found = f"{what}, format {number}", f"{type(error).__name__}: {error}"
        raise InputError(path, expected, found, again) from None


@dataclass(frozen=True, slots=True)
class ScoresFolder(Generic[Stored]):
    """A folder of results: scores.json, and a Parquet file with a row group for some scores.

    Attributes:
        command: which writes it.
        number: of the format.
        make: makes the results of what scores.json holds, see ``typed``.
        file: name of the Parquet file.
        schema: of its rows; the first two columns are strings, and equal within a row group.
        repeated: its columns that have few different values.
    """

    command: str
    number: int
    make: Callable[[dict[str, Any]], Stored]
    file: str
    schema: pa.Schema
    repeated: list[str]

    def write(self, results: "DataclassInstance", tables: Iterable[pa.Table], folder: Path) -> None:
        """Write results and the tables behind them, each a row group; an old folder goes."""
        with whole_folder(folder) as temporary:
            write_stored(results, temporary / SCORES)
            path = temporary / self.file
            with parquet_writer(path, self.schema, self.repeated) as writer:
                for table in tables:
                    writer.write_table(table, row_group_size=max(1, len(table)))

    def read(self, folder: Path) -> Stored:
        """Read the results in a folder.

        Raises:
            InputError: the file is missing, or not in the present layout.
        """
        if folder.is_file():
            todo = f"remove it, if it is old, or name the folder that {self.command} wrote"
            raise InputError(folder, "a folder of results", "a file", todo)
        return read_stored(folder / SCORES, self.number, self.make, self.command)

    def tables(self, folder: Path) -> dict[tuple[str, str], pa.Table]:
        """Return the row groups by their first two columns; none if the file is damaged."""
        try:
            return dict(self.row_groups(folder))
        except InputError:
            return {}

    def table(self, folder: Path, wanted: tuple[str, str], what: str) -> pa.Table:
        """Read the row group that has certain values in its first two columns.

        Raises:
            InputError: there is no such row group (``what`` says of what); or see ``row_groups``.
        """
        for key, table in self.row_groups(folder, wanted):
            if key == wanted:
                return table
        raise InputError(folder / self.file, what, "none", self._again)

    def row_groups(
        self, folder: Path, wanted: tuple[str, str] | None = None
    ) -> Iterator[tuple[tuple[str, str], pa.Table]]:
        """Yield the row groups, by their first two columns; only those ``wanted``, if given.

        Raises:
            InputError: the file is missing or damaged, or has other tables, nulls, or a row group
                without rows or with several values in its first columns.
        """
        schema, path = self.schema, folder / self.file
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
                        first = " and ".join(schema.names[:2])
                        what += f": one {first} a row group, no null"
                        raise ValueError(f"others in row group {number}")
                    yield (names[0][0], names[1][0]), table
        except (OSError, pa.ArrowException, ValueError, IndexError) as error:
            raise InputError(path, what, str(error), self._again) from None

    @property
    def _again(self) -> str:
        return f"run `probeta {self.command}` again"


def _first(file: pq.ParquetFile, number: int) -> tuple[Any, ...]:
    """Return what the statistics say of the first two columns; a damaged file can end Python."""
    group = file.metadata.row_group(number)
    ends = (group.column(place).statistics for place in range(2))
    return tuple(end and end.min for end in ends)


def _has_null(table: pa.Table) -> bool:
    inner = (pc.list_flatten(column) for column in table.columns if pa.types.is_list(column.type))
    return any(column.null_count for column in (*table.columns, *inner))
