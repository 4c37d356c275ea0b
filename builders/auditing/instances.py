"""Reads instances, Parquet files that state their task and language, for the audit."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as types

from builders.auditing.target import (
    Cell,
    Columns,
    Location,
    Place,
    Row,
    Target,
    check_filled,
    make_target,
)
from builders.store import about_of, open_parquet, shards_in
from builders.tasks import TASKS
from builders.tasks.task import Answer
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import MOST_LINES, decode_json

# Optional columns of our instances that the audit uses.
FURTHER_COLUMNS = ("id", "fold", "also_in", "direction")
# Columns of our instances that must have no null.
FILLED_COLUMNS = ("id", "document_id", "positives")
# The column that holds the answers of our instances; neighbours have no column.
ANSWERS: dict[Answer, tuple[str, str]] = {
    "label": ("label", ""),
    "score": ("", "score"),
    "word": ("", ""),
    "neighbours": ("", ""),
}


def instances_in(folder: Path) -> Location:
    """Return the dataset in a folder that `build` or `compose` wrote."""
    return Location(folder.name, shards_in(folder), None, "es", None, Columns(), read_instances)


def read_instances(location: Location) -> Target:
    """Read a dataset of instances."""
    with open_parquet(location.first) as file:
        schema = file.schema_arrow
        about = about_of(schema)
        task = TASKS[about["task"]]
        stated = {name: about[name] for name in ("language", "records", "task")}
        location = replace(location, name=about["dataset"], **stated)
        roles = Columns(tuple(text.natural for text in task.texts), *ANSWERS[task.target])
        further = ["document_id", *task.provenance]
        further += [c for c in FURTHER_COLUMNS if c in schema.names and c not in further]
    return read_parquet(location, roles, further, about["corpus"])


def read_parquet(
    location: Location, roles: Columns, further: Sequence[str] = (), corpus: str = ""
) -> Target:
    """Read some columns of Parquet files; ``further`` and ``corpus`` see ``make_target``."""
    with open_parquet(location.first) as file:
        classes = class_names(file.schema_arrow, roles.label)
    names = [name for name in (roles.label, roles.score, *roles.texts) if name]
    columns: dict[Split, dict[str, list[Any]]] = {
        split: {name: [] for name in further} for split in location.files
    }
    rows = {
        split: [row for path in paths for row in _rows(path, names, roles, columns[split])]
        for split, paths in location.files.items()
    }
    return make_target(
        location, names, roles, rows, classes=classes, further=columns, corpus=corpus
    )


def _rows(
    path: Path, names: Sequence[str], roles: Columns, further: dict[str, list[Any]]
) -> Iterator[Row]:
    """Yield the rows of a file with the columns ``names``; its further columns are appended."""
    with open_parquet(path) as file:
        schema = file.schema_arrow
        no_text = {*roles.texts} - {*text_columns(schema)}
        if no_text or not {*names, *further} <= {*schema.names}:
            expected = f"the columns {', '.join([*names, *further])}"
            todo = "name the columns with --columns, rename them, or build the dataset again"
            raise InputError(path, expected, ", ".join(column_types(schema)), todo)
        if file.metadata.num_rows > MOST_LINES:
            expected, found = f"at most {MOST_LINES:,} rows", f"{file.metadata.num_rows:,}"
            raise InputError(path, expected, found, "audit a part of them")
        table = file.read(columns=[*names, *further])
        cells = {name: table[name].to_pylist() for name in table.schema.names}
        if classes := class_names(schema, roles.label):
            cells[roles.label] = [_named(value, classes) for value in cells[roles.label]]
    for name, values in further.items():
        for row, value in enumerate(cells[name] if name in FILLED_COLUMNS else ()):
            check_filled(value, name, f"{path}, row {row}")
        values.extend(cells[name])
    ids = cells["id"] if "id" in further else [""] * table.num_rows
    places = (Place(path.name, row, name) for row, name in enumerate(ids))
    yield from zip(places, zip(*(cells[name] for name in names), strict=True), strict=True)


def _named(value: Cell, classes: Sequence[str]) -> Cell:
    """Return the name of a class, given its number; anything else as it is."""
    whole = not isinstance(value, bool | str) and value in range(len(classes))
    return classes[int(value)] if whole else value


def column_types(schema: pa.Schema) -> list[str]:
    """Return each column with its type, for messages."""
    return [f"{column.name} ({column.type})" for column in schema]


def text_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of strings and of lists of strings."""

    def holds_text(kind: pa.DataType) -> bool:
        if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
            return holds_text(kind.value_type)
        return bool(types.is_string(kind) or types.is_large_string(kind))

    return [column.name for column in schema if holds_text(column.type)]


def class_names(schema: pa.Schema, column: str) -> list[str]:
    """Return the class names of a column in the metadata of ``datasets``, or an empty list."""
    try:
        stated = decode_json((schema.metadata or {}).get(b"huggingface", "{}"))
        names = stated["info"]["features"][column]["names"]
    except (ValueError, TypeError, KeyError):
        return []
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return names if is_list else []
