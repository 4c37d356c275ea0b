"""Results of one encoder: the base of their types, their files, and the cache of their parts.

A part is what is computed together, such as a dataset in a layer. Its scores, and the rows behind
them, are cached as soon as it is done (``score_parts``), so that an interrupted run loses only the
parts in flight.
"""

import json
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from corpora_recipes.parquet import parquet_writer
from corpora_recipes.running.code import LIBRARIES, versions_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LARGEST_GROUP, MOST_TESTED, check_file
from corpora_recipes.running.outputs import read_report, whole_file, whole_folder
from evaluation.encoders.encoder import Described, Description, Form

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from corpora_recipes.running.cache import Cache, Key

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
        | ({"postprocessing": encoder.postprocessing} if encoder.postprocessing != "none" else {})
        | encoder.vectors.as_option,
    }


def description_of(facts: Mapping[str, Any]) -> Description:
    """Return the description of an encoder from ``encoder_facts``; without packages."""
    described = {name: facts[name] for name in ("revision", "layers", "layer", "form", "options")}
    names = ("prompts", "postprocessing", "vectors")
    described |= {name: facts["options"][name] for name in names if name in facts["options"]}
    described = {"name": facts["encoder"], "packages": [], "prompts": {}} | described
    description: Description = parse_json(Description, described, "encoder")
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


# What others write may be shown on a page: no value is larger than one of ours could be.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,199}$")]
"""Of an encoder's results, see ``probeta.scoring.validate_name``."""
Text = Annotated[str, Field(max_length=1000)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Number = Annotated[float, Field(ge=-1e15, le=1e15)]
_ONE = 1 + 1e-9  # rounded
Share = Annotated[float, Field(ge=0, le=_ONE)]
Correlation = Annotated[float, Field(ge=-_ONE, le=_ONE)]
Interval = tuple[Number, Number]


def among(names: Collection[str]) -> Any:
    """Return the validator of a text that is one of some names."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"{name[:60]!r}, not among {', '.join(names)}")
        return name

    return AfterValidator(check)


def like(kind: Any) -> Any:
    """Return the validator of a mapping with the keys and values of a ``Stored`` dataclass."""

    def check(facts: Any) -> Any:
        parse_json(kind, facts)
        return facts

    return AfterValidator(check)


# Characters of the options of an encoder, as JSON: prompts may be long.
_LONGEST_OPTIONS = 100_000


def _check_options(options: Any) -> Any:
    if len(json.dumps(options, allow_nan=False)) > _LONGEST_OPTIONS:
        raise ValueError(f"more than {_LONGEST_OPTIONS:,} characters")
    return options


@dataclass(frozen=True, slots=True)
class _EncoderFacts(Stored):
    """See ``encoder_facts``."""

    encoder: Text
    revision: Text
    form: Form
    layers: Annotated[tuple[Text, ...], Field(max_length=1000)]
    layer: Text
    options: Annotated[dict[str, JsonValue], AfterValidator(_check_options)]
    dimension: Annotated[int, Field(ge=1, le=2**31)] | None = None

    def __post_init__(self) -> None:
        """Check what several keys have in common, and the options that we read."""
        if self.layer not in self.layers or len({*self.layers}) < len(self.layers):
            raise ValueError("a main layer that is not among the layers, or a layer twice")
        description_of({each.name: getattr(self, each.name) for each in fields(self)})


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
    name: Name
    encoder: Annotated[dict[str, Any], like(_EncoderFacts)]
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    versions: dict[Text, Text]
    code: Text
    scores: tuple[Any, ...]

    @property
    def main(self) -> tuple[Any, ...]:
        """The scores of the main layer."""
        return tuple(score for score in self.scores if score.layer == self.encoder["layer"])


_adapter: Callable[..., TypeAdapter[Any]] = cache(TypeAdapter)


def parse_json(kind: Any, value: Any, name: str = "") -> Any:
    """Return a JSON value as an instance of a type.

    ``name`` is that of the value, for the message.

    Raises:
        ValueError: it does not fit, or is not finite: one line, the first fault alone.
    """
    try:
        return _adapter(kind).validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        location = ".".join(map(str, [*([name] if name else []), *first["loc"]]))
        message = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{location or 'results'}: {message}") from None


def write_stored(results: "DataclassInstance", path: Path) -> None:
    """Write a dataclass as JSON, the same bytes for the same results; numbers must be finite."""
    text = json.dumps(asdict(results), indent=2, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as temporary:
        temporary.write_text(text + "\n", "utf-8")


def read_stored(
    path: Path,
    number: int,
    make: Callable[[dict[str, Any]], Read],
    command: str,
    oldest: int | None = None,
) -> Read:
    """Read what ``write_stored`` wrote.

    Args:
        path: the file.
        number: of the format that is understood.
        make: makes the results from the content of the file, see ``parse_json``.
        command: which wrote the file, for messages.
        oldest: the first format that is understood too.
    """
    written, again = f"what `probeta {command}` wrote", f"run `probeta {command}` again"
    content = read_report(path, number, written, again, oldest)
    try:
        return make(content)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        expected, found = f"{written}, format {number}", f"{type(error).__name__}: {error}"
        raise InputError(path, expected, found, again) from None


@dataclass(frozen=True, slots=True)
class ScoresFolder(Generic[Read]):
    """A folder of results: scores.json, and a Parquet file with a row group for some scores.

    Attributes:
        command: which writes it.
        number: of the format.
        make: makes the results from the content of scores.json, see ``parse_json``.
        file: name of the Parquet file.
        schema: of its rows; the first two columns are strings, and equal within a row group.
        dictionaries: its columns with few distinct values, which are dictionary-encoded.
        optional: its columns that may have nulls, and that ``oldest`` lacks.
        oldest: the first format that is read too.
    """

    command: str
    number: int
    make: Callable[[dict[str, Any]], Read]
    file: str
    schema: pa.Schema
    dictionaries: list[str]
    optional: tuple[str, ...] = ()
    oldest: int | None = None

    def write(self, results: "DataclassInstance", tables: Iterable[pa.Table], folder: Path) -> None:
        """Write results and the tables behind them, each a row group; an old folder goes."""
        with whole_folder(folder) as temporary:
            write_stored(results, temporary / SCORES)
            path = temporary / self.file
            with parquet_writer(path, self.schema, self.dictionaries) as writer:
                for table in tables:
                    writer.write_table(table, row_group_size=max(1, len(table)))

    def read(self, folder: Path) -> Read:
        """Read the results in a folder.

        Raises:
            InputError: the file is missing, or not in the present layout.
        """
        if folder.is_file():
            todo = f"name the folder that {self.command} wrote"
            raise InputError(folder, "a folder of results", "a file", todo)
        return read_stored(folder / SCORES, self.number, self.make, self.command, self.oldest)

    def table(self, folder: Path, wanted: tuple[str, str], expected: str) -> pa.Table:
        """Read the row group with these first two columns; ``expected`` is for the message."""
        for key, table in self.row_groups(folder, wanted):
            if key == wanted:
                return table
        raise InputError(folder / self.file, expected, "none", self._again)

    def row_groups(
        self, folder: Path, wanted: tuple[str, str] | None = None
    ) -> Iterator[tuple[tuple[str, str], pa.Table]]:
        """Yield the row groups, by their first two columns; only those ``wanted``, if given."""
        schema, path = self.schema, folder / self.file
        expected = f"rows of {', '.join(schema.names)}"
        try:
            check_file(path)
            metadata, numbers = _read_metadata(path, path.stat().st_mtime_ns, path.stat().st_size)
            every = range(metadata.num_row_groups)
            strings = [each.name for each in schema if each.type == pa.string()]
            with pq.ParquetFile(path, metadata=metadata, read_dictionary=strings) as file:
                for number in every if wanted is None else numbers.get(wanted, []):
                    table = _read_group(file, number)
                    for name in self.optional:
                        if name not in table.column_names:
                            field = schema.field(name)
                            table = table.append_column(field, pa.nulls(len(table), field.type))
                    required = table.drop_columns([*self.optional])
                    names = [column.unique().to_pylist() for column in table.columns[:2]]
                    if (
                        table.schema != schema
                        or [*map(len, names)] != [1, 1]
                        or _has_null(required)
                    ):
                        keys = " and ".join(schema.names[:2])
                        expected += f": one {keys} a row group, no null"
                        raise ValueError(f"others in row group {number}")
                    yield (names[0][0], names[1][0]), table
        except (OSError, pa.ArrowException, ValueError, LookupError) as error:
            raise InputError(path, expected, str(error), self._again) from None

    @property
    def _again(self) -> str:
        return f"run `probeta {self.command}` again"


@lru_cache(maxsize=256)
def _read_metadata(path: Path, modified: int, size: int) -> tuple[Any, dict[Any, list[int]]]:
    """Return a file's metadata, and the first two columns of row groups to their numbers.

    By statistics, since reading a corrupt file can crash Python. ``modified``, ``size``: of the
    file, which is read again if it has changed.
    """
    metadata = pq.read_metadata(path)
    numbers: dict[Any, list[int]] = {}
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        statistics = (group.column(column).statistics for column in range(2))
        numbers.setdefault(tuple(each and each.min for each in statistics), []).append(number)
    return metadata, numbers


def _has_null(table: pa.Table) -> bool:
    inner = (pc.list_flatten(column) for column in table.columns if pa.types.is_list(column.type))
    return any(column.null_count for column in (*table.columns, *inner))


def _read_group(file: pq.ParquetFile, number: int) -> pa.Table:
    """Read a row group; ValueError if it is too large: a small file may repeat a value often."""
    group = file.metadata.row_group(number)
    values = max((group.column(n).num_values for n in range(group.num_columns)), default=0)
    if max(8 * values, group.total_byte_size) > LARGEST_GROUP or group.num_rows > MOST_TESTED:
        raise ValueError(f"more than {MOST_TESTED:,} rows in row group {number}, or too large ones")
    table = file.read_row_group(number)
    table.validate(full=True)
    schema = table.schema
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            chunks = column.chunks
            lengths = (pc.binary_length(each.dictionary).take(each.indices) for each in chunks)
            if sum(pc.sum(each).as_py() or 0 for each in lengths) > LARGEST_GROUP:
                raise ValueError(
                    f"texts of more than {LARGEST_GROUP:,} bytes in row group {number}"
                )
            schema = schema.set(place, schema.field(place).with_type(column.type.value_type))
    return table.cast(schema)


_ROWS = "rows.parquet"


@dataclass(frozen=True, slots=True)
class Part:
    """The scores of a part, and for each of them that has rows the table of its rows."""

    scores: Sequence[Any]
    tables: Sequence[pa.Table] = ()


def score_parts(
    results: EncoderResults,
    inputs: Mapping[str, Any],
    score_type: Any,
    compute: Callable[[list[str]], Iterable[tuple[str, Part]]],
    cache: "Cache | None",
) -> tuple[dict[str, Part], list[str]]:
    """Compute the parts of some results, or read them from the cache; each is cached when done.

    Args:
        results: without scores, and without fields that do not decide a part: what remains is in
            the key of each part.
        inputs: name of a part to what else decides it; JSON.
        score_type: of the scores.
        compute: yields the parts of some names as they are done, in any order; those that fail may
            be missing.
        cache: of the parts; None to compute all.

    Returns:
        The parts by name, and the names of those that were not cached.
    """
    parameters = asdict(replace(results, scores=()))
    code, versions = parameters.pop("code"), parameters.pop("versions")
    keys: dict[str, Key] = {
        name: {"inputs": part_inputs, "parameters": parameters, "code": code, "versions": versions}
        for name, part_inputs in inputs.items()
    }
    parts: dict[str, Part] = {}
    if cache is not None:
        cache.prune(keys)
        for name, key in keys.items():
            if (part := _get_part(cache, name, key, score_type)) is not None:
                parts[name] = part
    new = [name for name in keys if name not in parts]
    for name, part in compute(new):
        parts[name] = part
        if cache is not None:
            _put_part(cache, name, keys[name], part)
    return parts, new


def _get_part(cache: "Cache", name: str, key: "Key", score_type: Any) -> Part | None:
    """Return a part whose key and rows are unchanged; None if it must be computed."""
    if (facts := cache.get(name, key)) is None:
        return None
    scores = [parse_json(score_type, score) for score in facts]
    path = cache.folder(name) / _ROWS
    if not path.exists():
        return Part(scores)
    with pq.ParquetFile(path) as file:
        return Part(scores, [file.read_row_group(n) for n in range(file.num_row_groups)])


def _put_part(cache: "Cache", name: str, key: "Key", part: Part) -> None:
    path: Path = cache.folder(name) / _ROWS
    cache.delete(name)
    if part.tables:
        path.parent.mkdir(parents=True)
        with pq.ParquetWriter(path, part.tables[0].schema) as writer:
            for table in part.tables:
                writer.write_table(table, row_group_size=max(1, len(table)))
    outputs = [path] if part.tables else []
    cache.put(name, key, outputs, [asdict(score) for score in part.scores])
