"""Results in files, part by part.

The scores of an encoder, part by part: cached parts are reused, the others are computed.

A part is what is computed together, such as a dataset in a layer. Its scores, and the rows behind
them, are cached as soon as it is done, so that an interrupted run loses the parts in flight alone.
"""

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ConfigDict, TypeAdapter, ValidationError

from corpora_recipes.parquet import parquet_writer
from corpora_recipes.running.cache import Cache, Key
from corpora_recipes.running.code import LIBRARIES, versions_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import read_report, whole_file, whole_folder
from evaluation.encoders.encoder import Described, Description

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Read = TypeVar("Read")
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
    """Return the description of an encoder from ``encoder_facts``; without packages."""
    described = {name: facts[name] for name in ("revision", "layers", "layer", "form", "options")}
    described |= {"name": facts["encoder"], "packages": []}
    options = parsed(dict[str, Any], described["options"])
    described["prompts"] = options.get("prompts", {})
    described["postprocessing"] = options.get("postprocessing", "none")
    description: Description = parsed(Description, described)
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


class Stored:
    """Base of what is stored as JSON: of the types that it declares, finite, without other keys."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class EncoderResults(Stored):
    """The scores of one encoder and what they depend on.

    Attributes:
        format: version of the layout.
        name: key of the encoder's entry in params.yaml.
        encoder: its name, revision, form, dimension, layers, main layer and options; a language
            model has no dimension.
        seed: the run's seed.
        versions: of Python, the libraries that compute, Probeta and the platform.
        code: digest of the code that scores.
        scores: by dataset, then in the order of the layers.
    """

    format: int
    name: str
    encoder: dict[str, Any]
    seed: int
    versions: dict[str, str]
    code: str
    scores: tuple[Any, ...]

    @property
    def main(self) -> tuple[Any, ...]:
        """The scores of the main layer."""
        return tuple(score for score in self.scores if score.layer == self.encoder["layer"])


_adapter: Callable[..., TypeAdapter[Any]] = cache(TypeAdapter)


def parsed(kind: Any, value: Any) -> Any:
    """Return a JSON value as a type says; ValueError if it does not fit, or is not finite."""
    try:
        return _adapter(kind).validate_json(json.dumps(value))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None


def write_stored(results: "DataclassInstance", path: Path) -> None:
    """Write a dataclass as JSON, the same bytes for the same results; numbers must be finite."""
    text = json.dumps(asdict(results), indent=2, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as temporary:
        temporary.write_text(text + "\n", "utf-8")


def read_stored(
    path: Path, number: int, make: Callable[[dict[str, Any]], Read], command: str
) -> Read:
    """Read what ``write_stored`` wrote.

    Args:
        path: the file.
        number: of the format that is understood.
        make: makes the results of what the file holds, see ``parsed``.
        command: which wrote the file, for messages.
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
class ScoresFolder(Generic[Read]):
    """A folder of results: scores.json, and a Parquet file with a row group for some scores.

    Attributes:
        command: which writes it.
        number: of the format.
        make: makes the results of what scores.json holds, see ``parsed``.
        file: name of the Parquet file.
        schema: of its rows; the first two columns are strings, and equal within a row group.
        repeated: its columns that have few different values.
    """

    command: str
    number: int
    make: Callable[[dict[str, Any]], Read]
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

    def read(self, folder: Path) -> Read:
        """Read the results in a folder.

        Raises:
            InputError: the file is missing, or not in the present layout.
        """
        if folder.is_file():
            todo = f"remove it, if it is old, or name the folder that {self.command} wrote"
            raise InputError(folder, "a folder of results", "a file", todo)
        return read_stored(folder / SCORES, self.number, self.make, self.command)

    def table(self, folder: Path, wanted: tuple[str, str], what: str) -> pa.Table:
        """Read the row group that has certain values in its first two columns."""
        for key, table in self.row_groups(folder, wanted):
            if key == wanted:
                return table
        raise InputError(folder / self.file, what, "none", self._again)

    def row_groups(
        self, folder: Path, wanted: tuple[str, str] | None = None
    ) -> Iterator[tuple[tuple[str, str], pa.Table]]:
        """Yield the row groups, by their first two columns; only those ``wanted``, if given."""
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


_ROWS = "rows.parquet"


@dataclass(frozen=True, slots=True)
class Part:
    """The scores of a part, and for each of them that has rows the table of its rows."""

    scores: Sequence[Any]
    tables: Sequence[pa.Table] = ()


def score_parts(
    results: EncoderResults,
    inputs: Mapping[str, Any],
    kind: Any,
    compute: Callable[[list[str]], Iterable[tuple[str, Part]]],
    cache: Cache | None,
) -> tuple[dict[str, Part], list[str]]:
    """Return the parts of some results by name, and the names of those that were computed now.

    Args:
        results: without scores; their other fields, and the ``inputs`` of a part, decide it.
        inputs: name of a part to what it is made from; JSON.
        kind: the type of a score.
        compute: yields the parts of some names, in any order.
        cache: what remembers parts; None to compute all.
    """
    facts = asdict(replace(results, scores=()))
    code, versions = facts.pop("code"), facts.pop("versions")
    keys: dict[str, Key] = {
        part: {"inputs": of_part, "parameters": facts, "code": code, "versions": versions}
        for part, of_part in inputs.items()
    }
    parts = {}
    if cache is not None:
        cache.prune(keys)
        parts = {name: part for name in keys if (part := _read_part(cache, name, keys[name], kind))}
    new = [name for name in keys if name not in parts]
    for name, part in compute(new):
        parts[name] = part
        if cache is not None:
            _write_part(cache, name, keys[name], part)
    return parts, new


def _read_part(cache: Cache, name: str, key: Key, kind: Any) -> Part | None:
    if (facts := cache.get(name, key)) is None:
        return None
    scores = [parsed(kind, score) for score in facts]
    path = cache.folder(name) / _ROWS
    if not path.exists():
        return Part(scores)
    with pq.ParquetFile(path) as file:
        return Part(scores, [file.read_row_group(n) for n in range(file.num_row_groups)])


def _write_part(cache: Cache, name: str, key: Key, part: Part) -> None:
    path: Path = cache.folder(name) / _ROWS
    cache.delete(name)
    if part.tables:
        path.parent.mkdir(parents=True)
        with pq.ParquetWriter(path, part.tables[0].schema) as writer:
            for table in part.tables:
                writer.write_table(table, row_group_size=max(1, len(table)))
    outputs = [path] if part.tables else []
    cache.put(name, key, outputs, [asdict(score) for score in part.scores])
