"""Reads Parquet files, ours and those of others, for the audit."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.store.schema import about_of
from builders.tasks import TASKS
from builders.tasks.task import Answer
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

from builders.auditing.targets.target import (
    Location,
    SplitRows,
    Target,
    make_rows,
    other_width,
    sorted_labels,
)

LABEL_COLUMNS = ("label", "labels")
SCORE_COLUMNS = ("score",)
# Optional columns of our instances that the audit uses.
FURTHER_COLUMNS = ("fold", "also_in")
# Columns of our instances that must have no null.
FILLED_COLUMNS = ("id", "document_id", "positives")
# The columns that may hold the answers; neighbours have no column.
ANSWERS: dict[Answer, tuple[str, ...]] = {
    "label": LABEL_COLUMNS,
    "score": SCORE_COLUMNS,
    "neighbours": (),
}
# Columns of strings that are not text, in files that do not describe themselves.
NOT_TEXT = ("id", "idx", "guid", "uid", "split", *LABEL_COLUMNS)


class _Rows(NamedTuple):
    """The rows of a Parquet file: class names or scores, texts, sentences, further columns."""

    labels: list[str]
    scores: list[float]
    texts: list[list[str]]
    sentences: list[list[str]]
    columns: dict[str, list[Any]]


def from_parquet(location: Location) -> Target:
    """Read a dataset of Parquet files."""
    files, first = location.files, location.first
    with _opened(first) as file:
        schema = file.schema_arrow
    name, language, records = location.name, location.language, location.records
    task, corpus = TASKS[location.task] if location.task else None, ""
    further: list[str] = []
    answers: Sequence[str] = LABEL_COLUMNS
    if b"probeta" in (schema.metadata or {}):
        about = about_of(schema)
        name, language, records = about["dataset"], about["language"], about["records"]
        task, corpus = TASKS[about["task"]], about["corpus"]
        columns = [text.natural for text in task.texts]
        further = ["document_id", *task.provenance]
        further += ["id"] * (task.target == "neighbours")
        further += [c for c in FURTHER_COLUMNS if c in schema.names and c not in further]
        answers = ANSWERS[task.target]
    elif location.columns is not None:
        columns = list(location.columns)
    else:
        columns = [c for c in _text_columns(schema) if c.lower() not in NOT_TEXT]
    shards = {
        split: [_rows(path, columns, further, answers) for path in paths]
        for split, paths in files.items()
    }
    labels: list[str] = []
    if answers == LABEL_COLUMNS:
        labels = _class_names(schema) or sorted_labels(
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
            files[split][0],
        )
    return Target(name, task, corpus, records, language, labels, tuple(columns), parts)


@contextmanager
def _opened(path: Path) -> Iterator["pq.ParquetFile"]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Not read_table, which would take folder names for columns.
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            path,
            expected="a Parquet file",
            found=str(error),
            todo="download or write the file again",
        ) from None


def _rows(
    path: Path, columns: Sequence[str], further: Sequence[str], answers: Sequence[str]
) -> _Rows:
    """Read the columns of a Parquet file that the audit needs.

    The labels or scores are in the first existing column of ``answers``, if any.
    """
    with _opened(path) as file:
        schema = file.schema_arrow
        answer = next((name for name in answers if name in schema.names), None)
        there = {*_text_columns(schema), *set(further).intersection(schema.names)} - {answer}
        lacks_answer = bool(answers) and answer is None
        if lacks_answer or not columns or not there.issuperset([*columns, *further]):
            asked = f"{' (or '.join(answers)}{')' * (len(answers) - 1)} and " if answers else ""
            raise InputError(
                path,
                expected=f"the columns {asked}"
                + (", ".join([*columns, *further]) or "one or more with text"),
                found=", ".join(f"{column.name} ({column.type})" for column in schema),
                todo="name the columns with text, rename them, or build the dataset again",
            )
        table = file.read(columns=[*([answer] if answer else []), *columns, *further])
    names = _class_names(schema)
    labels, scores = [], []
    for row, value in enumerate(table[answer].to_pylist() if answer else ()):
        if answer in LABEL_COLUMNS:
            labels.append(_label(value, names, f"{path}, row {row}"))
        else:
            scores.append(_score(value, f"{path}, row {row}"))
    texts, sentences = [], []
    values = zip(*(table[column].to_pylist() for column in columns), strict=True)
    for row, cells in enumerate(values):
        for column, value in zip(columns, cells, strict=True):
            _check_filled(value, column, f"{path}, row {row}")
        sentences.append([sentence for value in cells for sentence in _listed(value)])
        # A single column of lists holds all texts of a row; with several columns, each holds one
        # text, which may consist of several sentences or units.
        joined = [" ".join(_listed(value)) for value in cells]
        texts.append(joined if len(columns) > 1 else sentences[-1])
    kept = {name: table[name].to_pylist() for name in further}
    for column in (name for name in FILLED_COLUMNS if name in further):
        for row, value in enumerate(kept[column]):
            _check_filled(value, column, f"{path}, row {row}")
    return _Rows(labels, scores, texts, sentences, kept)


def _text_columns(schema: "pa.Schema") -> list[str]:
    """Return the columns of strings and of lists of strings."""
    import pyarrow.types as types

    def holds_text(kind: "pa.DataType") -> bool:
        if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
            return holds_text(kind.value_type)
        return bool(types.is_string(kind) or types.is_large_string(kind))

    return [column.name for column in schema if holds_text(column.type)]


def _class_names(schema: "pa.Schema") -> list[str]:
    """Return the class names in the metadata of ``datasets``, or an empty list."""
    stated = json.loads((schema.metadata or {}).get(b"huggingface", "{}"))
    features = stated.get("info", {}).get("features", {})
    columns = (features.get(name) for name in LABEL_COLUMNS if name in schema.names)
    feature = next(columns, None)
    return feature.get("names") or [] if isinstance(feature, dict) else []


def _label(value: object, names: Sequence[str], where: str) -> str:
    """Return the name of a class, given its name or number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not names:
            return str(value)
        if 0 <= value < len(names):
            return names[value]
    elif isinstance(value, str):
        return value
    among = f" among {', '.join(names)}, or the number of one from 0" if names else ""
    raise InputError(
        where,
        expected=f"a label{among}: a string or an integer",
        found="null" if value is None else repr(value),
        todo="correct the label, or remove the row",
    )


def _score(value: object, where: str) -> float:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise InputError(
        where,
        expected="a score: a number",
        found="null" if value is None else repr(value),
        todo="correct the score, or remove the row",
    )


def _check_filled(value: str | list[str] | None, column: str, where: str) -> None:
    if value is None or None in _listed(value):
        raise InputError(
            where,
            expected=f"text in the column {column}",
            found="null",
            todo="fill in the text, or remove the row",
        )


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
