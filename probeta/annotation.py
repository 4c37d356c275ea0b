"""Annotation forms for people, and how well they answer."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.escaping import one_line, render_html
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_outputs
from evaluation.arrays import Values
from evaluation.datasets import Dataset
from evaluation.features import text_columns
from evaluation.measures import leave_out_means, score_interval
from evaluation.results.stored import Stored, parsed, read_stored

COLUMNS = ("row", "texts", "answer")
# Of more classes, a person types the name.
MOST_BUTTONS = 12
_PAGE = Path(__file__).with_name("sheet.html")
_DIGITS = 16
KEY = re.compile(rf"[\w-]+:[0-9a-f]{{{_DIGITS}}}:\d+")
"""What ``row_key`` returns."""


def write_sheet(dataset: Dataset, seed: int, count: int, folder: Path) -> int:
    """Write rows of a dataset for people to answer: DATASET.html and DATASET.csv in a folder.

    The rows are of the tested split (of all folds), in keyed-hash order; each class has as many, as
    far as there are. Chen et al. (2019, section 6) asked a person about 50 rows of a dataset.

    Returns:
        The number of rows: ``count``, or all if there are fewer.
    """
    if dataset.target != "label":
        todo = "name a dataset with classes, see `probeta list`"
        raise InputError(dataset.name, "a dataset with classes", f"a {dataset.target}", todo)
    page, sheet = (folder / f"{dataset.name}.{kind}" for kind in ("html", "csv"))
    if sheet.exists():
        todo = "move it away"
        raise InputError(sheet, "no such file", "a sheet, which may be filled in", todo)
    columns = text_columns(dataset.task, "natural")
    rows = dataset.read(dataset.tested, ["id", "label", *columns]).to_pylist()
    digest, task = dataset.digest(), TASKS[dataset.task]
    drawn = [
        (row_key(dataset.name, digest, number), _texts(rows[number], columns))
        for number in _drawn(dataset.name, seed, rows, count)
    ]
    html = render_html(
        _PAGE,
        dataset=dataset,
        question=task.question,
        classes=[(name, task.gold.format(name)) for name in dataset.labels],
        rows=drawn,
        most_buttons=MOST_BUTTONS,
    )
    with whole_outputs([page, sheet]) as (new_page, new_sheet):
        new_page.write_text(html, "utf-8")
        # With a byte order mark, by which spreadsheets know UTF-8.
        with new_sheet.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for key, texts in drawn:
                writer.writerow([key, "\n".join(f"{name}: {text}" for name, text in texts), ""])
    return len(drawn)


def row_key(dataset: str, digest: str, number: int) -> str:
    """Return what identifies a row on a sheet: dataset, digest of its files, number from 0."""
    return f"{dataset}:{digest[:_DIGITS]}:{number}"


def _drawn(dataset: str, seed: int, rows: list[dict[str, Any]], count: int) -> list[int]:
    """Return the numbers of the rows to show: classes take turns, but do not stand in turns."""
    order = sorted(
        range(len(rows)), key=lambda number: keyed_hash(seed, dataset, rows[number]["id"], "sheet")
    )
    turns: Counter[int] = Counter()
    turn_of = {}
    for number in order:
        turn_of[number] = turns[rows[number]["label"]]
        turns[rows[number]["label"]] += 1
    chosen = set(sorted(order, key=turn_of.__getitem__)[:count])
    return [number for number in order if number in chosen]


def _texts(row: dict[str, Any], columns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the texts of a row, each on one line, with their names."""
    texts = []
    for column in columns:
        if isinstance(row[column], str):
            texts.append((column, one_line(row[column])))
        else:
            name, of_column = column.removesuffix("s"), enumerate(row[column], 1)
            texts += [(f"{name} {number}", one_line(text)) for number, text in of_column]
    return texts


FORMAT = 1
_TODO = "fill in the sheet as `probeta sheet` wrote it, its answers alone"
# The number of the first row below the header, as spreadsheets count.
_FIRST = 2


@dataclass(frozen=True, slots=True)
class People(Stored):
    """How well people answer rows of a dataset; shares are 0 … 1.

    Attributes:
        format: version of this layout.
        dataset: its name.
        digest: SHA-256 of the dataset's files, as of a ``Score``.
        rows: number of rows that each person answered.
        accuracies: of each person.
        value: their mean.
        interval: of the mean, over documents, see ``evaluation.measures``.
        kappa: Cohen's, of two people; None of another number, or if both gave only one answer.
    """

    format: int
    dataset: str
    digest: str
    rows: int
    accuracies: tuple[float, ...]
    value: float
    interval: tuple[float, float]
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a dataset as it was filled in: ``answers`` has each row's key and its class."""

    path: Path
    dataset: str
    answers: dict[str, str]


def read_sheet(path: Path) -> Sheet:
    """Read a sheet, separated by commas or, as some spreadsheets save it, by semicolons."""
    try:
        text = path.read_text("utf-8-sig")
        separator = ";" if ";" in text.partition("\n")[0] else ","
        rows = list(csv.DictReader(io.StringIO(text), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, "CSV in UTF-8", str(error), "save it as CSV in UTF-8") from None
    if not rows or not {"row", "answer"} <= rows[0].keys():
        found = ", ".join(map(str, rows[0])) if rows else "no row"
        raise InputError(path, f"rows with the columns {', '.join(COLUMNS)}", found, _TODO)
    answers: dict[str, str] = {}
    for number, row in enumerate(rows, _FIRST):
        key = (row["row"] or "").strip()
        if not KEY.fullmatch(key) or key in answers:
            expected = "dataset, digest and number of a row, each once"
            raise InputError(f"{path}, row {number}", expected, key or "nothing", _TODO)
        answers[key] = (row["answer"] or "").strip()
    return Sheet(path, next(iter(answers)).partition(":")[0], answers)


def score_sheets(sheets: Sequence[Sheet], dataset: Dataset) -> People:
    """Score what people answered; each has a sheet, and all sheets have the same rows."""
    columns = ["label", "document_id"]
    labels, documents = map(np.array, dataset.read(dataset.tested, columns).to_pydict().values())
    digest = dataset.digest()
    known = {row_key(dataset.name, digest, number): number for number in range(len(labels))}
    given = np.array([_given(sheet, dataset.labels, known, sheets[0]) for sheet in sheets])
    asked = [known[key] for key in sheets[0].answers]
    right = given == labels[asked]
    of_rows, documents = right.mean(axis=0), documents[asked]
    value = float(of_rows.mean())
    (left_out,) = leave_out_means(of_rows[None], documents)
    return People(
        format=FORMAT,
        dataset=dataset.name,
        digest=digest,
        rows=len(asked),
        accuracies=tuple(map(float, right.mean(axis=1))),
        value=value,
        interval=score_interval("accuracy", value, left_out, documents),
        kappa=cohen_kappa(*given) if len(given) == 2 else None,
    )


def _given(
    sheet: Sheet, labels: Sequence[str], known: Mapping[str, int], first: Sheet
) -> list[int]:
    """Return the numbers of the classes that a sheet has, in the order of the first one's rows."""
    for number, (key, answer) in enumerate(sheet.answers.items(), _FIRST):
        where = f"{sheet.path}, row {number}"
        if key not in known:
            expected = f"a row of the data here, such as {next(iter(known))}"
            raise InputError(where, expected, key, "name with --data what the sheet was made of")
        if answer not in labels:
            expected = f"an answer among {', '.join(labels)}"
            raise InputError(where, expected, answer or "none", "answer every row with a class")
    if sheet.answers.keys() != first.answers.keys():
        different = len(sheet.answers.keys() ^ first.answers.keys())
        found = f"{different} rows that only one of the two has"
        raise InputError(sheet.path, f"the rows of {first.path}", found, _TODO)
    return [labels.index(sheet.answers[key]) for key in first.answers]


def cohen_kappa(one: Values, other: Values) -> float | None:
    """Return the agreement of two people beyond chance, -1 … 1; None if both gave one answer.

    Cohen (1960), "A coefficient of agreement for nominal scales", equation 1. ``one`` and ``other``
    are the numbers of the classes that they answered, int [rows].
    """
    most = max(one.max(), other.max()) + 1
    by_chance = float(np.bincount(one, minlength=most) @ np.bincount(other, minlength=most))
    by_chance /= len(one) ** 2
    return (float(np.mean(one == other)) - by_chance) / (1 - by_chance) if by_chance < 1 else None


def read_people(path: Path) -> People:
    """Read what `probeta sheet --score` wrote."""
    make = partial(parsed, People)
    people: People = read_stored(path, FORMAT, make, "sheet --score")
    return people
