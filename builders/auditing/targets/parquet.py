"""Reads Parquet files, ours and those of others, for the audit."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.types as types

from builders.auditing.targets.answers import check_filled, class_name, score_of
from builders.auditing.targets.guessing import records_of, task_of
from builders.auditing.targets.roles import LABEL_NAMES, SCORE_NAMES, Roles, choose
from builders.auditing.targets.target import (
    Location,
    Place,
    SplitRows,
    Target,
    make_rows,
    natural,
    no_rows,
    other_width,
    sorted_labels,
    texts_of,
)
from builders.store.opening import opened
from builders.store.schema import about_of
from builders.tasks import TASKS
from builders.tasks.task import Answer, Task
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError

# Optional columns of our instances that the audit uses.
FURTHER_COLUMNS = ("id", "fold", "also_in")
# Columns of our instances that must have no null.
FILLED_COLUMNS = ("id", "document_id", "positives")
# The column that holds the answers of our instances; neighbours have no column.
ANSWERS: dict[Answer, tuple[str, str]] = {
    "label": ("label", ""),
    "score": ("", "score"),
    "neighbours": ("", ""),
}
# Rows that tell what a column holds.
_SAMPLE = 1000


class _Rows(NamedTuple):
    """The rows of a Parquet file: class names or scores, texts, sentences, further columns."""

    labels: list[str]
    scores: list[float]
    texts: list[list[str]]
    sentences: list[list[str]]
    columns: dict[str, list[Any]]
    places: list[Place]


def from_parquet(location: Location) -> Target:
    """Read a dataset of Parquet files."""
    files, first = location.files, location.first
    name, language, records = location.name, location.language, location.records
    task, corpus = TASKS[location.task] if location.task else None, ""
    further: list[str] = []
    ours: Task | None = None
    with opened(first) as file:
        schema = file.schema_arrow
        if b"probeta" in (schema.metadata or {}):
            about = about_of(schema)
            name, language, records = about["dataset"], about["language"], about["records"]
            ours, corpus = TASKS[about["task"]], about["corpus"]
    if ours is not None:
        task = ours
        roles = Roles(tuple(text.natural for text in task.texts), *ANSWERS[task.target])
        further = ["document_id", *task.provenance]
        further += [c for c in FURTHER_COLUMNS if c in schema.names and c not in further]
    else:
        roles = _roles(location)
    shards = {
        split: [_rows(path, roles, further, "" if corpus else language) for path in paths]
        for split, paths in files.items()
    }
    labels: list[str] = []
    if roles.label:
        labels = _class_names(schema, roles.label) or sorted_labels(
            label for read in shards.values() for rows in read for label in rows.labels
        )
    known = set(labels)
    clusters = task is not None and task.target == "neighbours" and not task.lists_positives
    parts: dict[Split, SplitRows] = {}
    width = 0
    for split, read in shards.items():
        for path, rows in zip(files[split], read, strict=True):
            for number, texts in enumerate(rows.texts):
                width = len(texts) if clusters else width or len(texts)
                if not 0 < len(texts) == width:
                    raise other_width(f"{path}, row {number}", len(texts), width)
            for number, label in enumerate(rows.labels):
                if label not in known:
                    raise InputError(
                        f"{path}, row {number}",
                        expected=f"a label among {', '.join(labels)}, as {first} names them",
                        found=repr(label),
                        todo="correct the label",
                    )
        parts[split] = make_rows(
            [texts for rows in read for texts in rows.texts],
            [sentences for rows in read for sentences in rows.sentences],
            [label for rows in read for label in rows.labels],
            [score for rows in read for score in rows.scores],
            labels,
            {column: [v for rows in read for v in rows.columns[column]] for column in further},
            [place for rows in read for place in rows.places],
            files[split][0],
        )
    if not corpus:
        units = any(part.texts != part.sentences for part in parts.values())
        task = task or task_of(location.folders, width, len(labels), units)
        of_all = [row for part in parts.values() for row in part.texts]
        records = records or records_of(task, of_all, units, language)
    answer = roles.label or roles.score
    return Target(name, task, corpus, str(records), language, labels, roles.texts, parts, answer)


def _roles(location: Location) -> Roles:
    """Choose the columns of files that do not describe themselves."""
    with opened(location.first) as file:
        schema = file.schema_arrow
        named = {*LABEL_NAMES, *SCORE_NAMES}
        asked = {location.columns.label, location.columns.score}
        classes = [name for name in schema.names if _class_names(schema, name)]
        known = {n for n in schema.names if n.lower() in named or n in asked or n in classes}
        looked = [name for name in schema.names if name in {*_text_columns(schema), *known}]
        if not file.metadata.num_rows:
            raise no_rows(location.first)
        batch = next(file.iter_batches(_SAMPLE, columns=looked))
        sample = {name: batch[name].to_pylist() for name in looked}
    columns = location.columns
    if not columns.label and not columns.score and len(classes) == 1:
        columns = replace(columns, label=classes[0])
    shown = [f"{column.name} ({column.type})" for column in schema]
    return choose(sample, columns, location.first, shown=shown)


def _rows(path: Path, roles: Roles, further: Sequence[str], language: str) -> _Rows:
    """Read the columns of a Parquet file that the audit needs.

    Args:
        path: the file.
        roles: its columns with texts and with labels or scores.
        further: further columns.
        language: of texts that may be tokenised; "" for natural text.
    """
    columns, answer = roles.texts, roles.label or roles.score
    with opened(path) as file:
        schema = file.schema_arrow
        there = {*_text_columns(schema), *set(further).intersection(schema.names)} - {answer}
        if not there.issuperset([*columns, *further]) or (answer and answer not in schema.names):
            raise InputError(
                path,
                expected="the columns " + ", ".join([answer, *columns, *further]).lstrip(", "),
                found=", ".join(f"{column.name} ({column.type})" for column in schema),
                todo="name the columns with --columns, rename them, or build the dataset again",
            )
        table = file.read(columns=[*([answer] if answer else []), *columns, *further])
        names = _class_names(schema, roles.label)
        labels, scores = [], []
        for row, value in enumerate(table[answer].to_pylist() if answer else ()):
            if roles.label:
                labels.append(class_name(value, names, f"{path}, row {row}"))
            else:
                scores.append(score_of(value, f"{path}, row {row}"))
        texts, sentences = [], []
        values = zip(*(table[column].to_pylist() for column in columns), strict=True)
        for row, cells in enumerate(values):
            for column, value in zip(columns, cells, strict=True):
                check_filled(value, column, f"{path}, row {row}")
            of_row = texts_of([natural(cell, language) for cell in cells] if language else cells)
            texts.append(of_row[0])
            sentences.append(of_row[1])
        kept = {name: table[name].to_pylist() for name in further}
        for column in (name for name in FILLED_COLUMNS if name in further):
            for row, value in enumerate(kept[column]):
                check_filled(value, column, f"{path}, row {row}")
        ids = kept.get("id") or [""] * len(texts)
        places = [Place(path.name, row, name) for row, name in enumerate(ids)]
        return _Rows(labels, scores, texts, sentences, kept, places)


def _text_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of strings and of lists of strings."""

    def holds_text(kind: pa.DataType) -> bool:
        if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
            return holds_text(kind.value_type)
        return bool(types.is_string(kind) or types.is_large_string(kind))

    return [column.name for column in schema if holds_text(column.type)]


def _class_names(schema: pa.Schema, column: str) -> list[str]:
    """Return the class names of a column in the metadata of ``datasets``, or an empty list."""
    stated = json.loads((schema.metadata or {}).get(b"huggingface", "{}"))
    feature = stated.get("info", {}).get("features", {}).get(column)
    return feature.get("names") or [] if isinstance(feature, dict) else []
