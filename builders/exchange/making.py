"""Makes a dataset to audit of the tables that were read, whatever their files."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from builders.exchange.guessing import records_of, task_of
from builders.exchange.target import (
    LEFT_UNITS,
    NUMBER,
    Columns,
    Location,
    Place,
    Target,
    make_rows,
    other_width,
)
from builders.tasks import TASKS
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.detokenizing import detokenize

Cell = Any  # str, int, float, None, or a list of strings
Row = tuple[Place, Sequence[Cell]]
"""Where a row stands, and its cells."""


def make_target(
    location: Location,
    names: Sequence[str],
    roles: Columns,
    rows: Mapping[Split, Sequence[Row]],
    *,
    classes: Sequence[str] = (),
    further: Mapping[Split, Mapping[str, list[Any]]] = MappingProxyType({}),
    corpus: str = "",
) -> Target:
    """Return the dataset of these rows.

    Args:
        location: of the files.
        names: of the columns.
        roles: the columns to take.
        rows: split to its rows.
        classes: names of the classes in the order of their numbers; empty to sort what occurs.
        further: split to the further columns of our instances.
        corpus: that of our instances, which are natural text; "" for datasets of others.

    Raises:
        InputError: a cell does not hold what its column says, or rows do not fit together.
    """
    task = TASKS[location.task] if location.task else None
    any_width = task is not None and task.target == "neighbours" and not task.lists_positives
    language = "" if corpus else location.language
    answer = roles.label or roles.score
    width = 0
    read: dict[Split, tuple[list[list[str]], list[list[str]], list[str], list[float]]] = {}
    left: dict[Split, list[int]] = {}
    columns = [(name, names.index(name)) for name in roles.texts]
    at = names.index(answer) if answer else 0
    for split, of_split in rows.items():
        files = {path.name: path for path in location.files[split]}
        texts, sentences, labels, scores = read[split] = [], [], [], []
        left[split] = []
        for place, row in of_split:
            where = f"{files[place.file]}, {place.unit} {place.number}"
            if roles.label:
                labels.append(_class_name(row[at], classes, where))
            elif answer:
                scores.append(_score_of(row[at], where))
            for name, column in columns:
                check_filled(row[column], name, where)
            parts = [_texts_in(row[column], language) for _, column in columns]
            sentences.append([sentence for part in parts for sentence in part])
            # A single column of lists holds all texts of a row; of several, each holds one text.
            texts.append([" ".join(part) for part in parts] if len(parts) > 1 else sentences[-1])
            left[split].append(len(parts[0]))
            width = len(texts[-1]) if any_width else width or len(texts[-1])
            if not 0 < len(texts[-1]) == width:
                raise other_width(where, len(texts[-1]), width)
    units = any(texts != sentences for texts, sentences, _, _ in read.values())
    label_names = list(classes) or _sorted({n for _, _, labels, _ in read.values() for n in labels})
    sides = units and len(roles.texts) == 2 and not corpus
    parts_of = {
        split: make_rows(
            *of_split,
            label_names,
            {LEFT_UNITS: left[split]} if sides else {**further.get(split, {})},
            [place for place, _ in rows[split]],
            location.files[split][0],
        )
        for split, of_split in read.items()
    }
    if not corpus:
        task = task or task_of(location.folders, width, len(label_names), units)
    of_all = [row for part in parts_of.values() for row in part.texts]
    records = location.records or records_of(task, of_all, units, language)
    known = (location.name, task, corpus, records, location.language, label_names, roles.texts)
    return Target(*known, parts_of, answer, location.layout != "classes")


def check_filled(cell: Cell, column: str, where: str) -> None:
    """Check that a cell is not empty, nor a list with a null.

    Raises:
        InputError: it is.
    """
    if cell is None or (isinstance(cell, list) and None in cell):
        raise InputError(
            where,
            expected=f"text in the column {column}",
            found="null",
            todo="fill in the text, or remove the row",
        )


def _texts_in(cell: Cell, language: str) -> list[str]:
    """Return the texts of a cell, as natural text if a language of tokenised text is given."""
    texts = cell if isinstance(cell, list) else [cell]
    if not language:
        return texts
    # Line by line, as a line break is a fault that must not vanish.
    lines = [str(text).split("\n") for text in texts]
    return ["\n".join(detokenize(line, language) for line in of_text) for of_text in lines]


def _class_name(value: Cell, classes: Sequence[str], where: str) -> str:
    """Return the name of a class: a string, or a whole number, among ``classes`` if there are."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    if is_name and (not classes or str(value) in classes):
        return str(value)
    raise InputError(
        where,
        expected=f"a label among {', '.join(classes)}"
        if classes
        else "a label: text or an integer",
        found="null" if value is None else repr(value),
        todo="correct the label, or remove the row",
    )


def _score_of(value: Cell, where: str) -> float:
    """Return a score, given a finite number or the text of one."""
    try:
        score = float(value) if isinstance(value, int | float | str) else math.nan
    except ValueError:
        score = math.nan
    if math.isfinite(score):
        return score
    raise InputError(
        where,
        expected="a score: a number",
        found="null" if value is None else repr(value),
        todo="correct the score, or remove the row",
    )


def _sorted(labels: set[str]) -> list[str]:
    """Return labels in order: numbers by value, then the others by name."""

    def key(label: str) -> tuple[bool, float, str]:
        is_number = NUMBER.fullmatch(label) is not None
        return not is_number, float(label) if is_number else 0.0, label

    return sorted(labels, key=key)
