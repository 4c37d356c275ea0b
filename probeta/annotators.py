"""The accuracy and the agreement of people, from the sheets that they filled in."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.arrays import Values
from evaluation.data.instances import Dataset
from evaluation.measures.intervals import leave_out_means, score_interval
from evaluation.results.stored import Stored, parsed, read_stored
from probeta.annotation import COLUMNS, KEY, row_key

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
        interval: of the mean, over documents, see ``evaluation.measures.intervals``.
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
