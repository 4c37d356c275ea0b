"""Makes targets of the tables of others, whatever the layout of their files."""

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

from builders.auditing.targets.answers import check_filled, class_name, score_of
from builders.auditing.targets.guessing import records_of, task_of
from builders.auditing.targets.roles import choose
from builders.auditing.targets.tables import (
    Table,
    read_classes,
    read_parallel,
    read_probing,
    read_similarity,
    read_tables,
)
from builders.auditing.targets.target import (
    LEFT_UNITS,
    Layout,
    Location,
    Target,
    make_rows,
    natural,
    no_rows,
    sorted_labels,
    texts_of,
)
from builders.tasks import TASKS
from corpora_recipes.records import Split

_READERS: Mapping[Layout, Callable[[dict[Split, list[Path]]], dict[Split, Table]]] = {
    "table": read_tables,
    "probing": lambda files: read_probing(next(iter(files.values()))[0]),
    "parallel": read_parallel,
    "classes": read_classes,
    "similarity": read_similarity,
}
# Rows of a column that tell what it holds.
_SAMPLE = 1000


def from_files(location: Location) -> Target:
    """Read a dataset of text or JSON files.

    Raises:
        InputError: a file is damaged, or its rows do not fit together.
    """
    tables = _READERS[location.layout](location.files)
    for (path, *_), table in zip(location.files.values(), tables.values(), strict=False):
        if not table.rows:
            raise no_rows(path)
    first = next(iter(tables.values()))
    sample = {
        name: [row[place] for table in tables.values() for row in islice(table.rows, _SAMPLE)]
        for place, name in enumerate(first.names)
    }
    roles = choose(sample, location.columns, location.first, named=first.named)
    answer = roles.label or roles.score
    at = first.names.index(answer) if answer else None
    columns = [first.names.index(name) for name in roles.texts]
    units = any(isinstance(v, list) for name in roles.texts for v in sample[name])
    read = {}
    for split, table in tables.items():
        texts, sentences, labels, scores, left = [], [], [], [], []
        for row, place in zip(table.rows, table.places, strict=True):
            where = f"{location.first.with_name(place.file)}, {place.unit} {place.number}"
            cells = []
            for name, column in zip(roles.texts, columns, strict=True):
                check_filled(row[column], name, where)
                cell = row[column]
                cells.append(
                    natural(cell if isinstance(cell, list) else str(cell), location.language)
                )
            of_row = texts_of(cells)
            texts.append(of_row[0])
            sentences.append(of_row[1])
            left.append(len(cells[0]) if isinstance(cells[0], list) else 1)
            if at is not None and roles.label:
                labels.append(class_name(row[at], [], where))
            elif at is not None:
                scores.append(score_of(row[at], where))
        further = {LEFT_UNITS: left} if units and len(roles.texts) == 2 else {}
        read[split] = (texts, sentences if units else texts, labels, scores), further
    names = sorted_labels(label for (_, _, labels, _), _ in read.values() for label in labels)
    parts = {
        split: make_rows(*rows, names, further, tables[split].places, location.first)
        for split, (rows, further) in read.items()
    }
    width = len(parts[next(iter(parts))].texts[0])
    task = task_of(location.folders, width, len(names), units)
    if location.task:
        task = TASKS[location.task]
    of_all = [row for part in parts.values() for row in part.texts]
    records = location.records or records_of(task, of_all, units, location.language)
    known = (records, location.language, names, roles.texts)
    ordered = location.layout != "classes"
    return Target(location.name, task, "", *known, parts, answer, ordered)
