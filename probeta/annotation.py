"""Human annotation: forms with rows of a dataset, and the accuracy of their annotators."""

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
from evaluation.results.stored import Stored, parse_json, read_stored

COLUMNS = ("row", "texts", "answer")
FORMAT = 1
# Of more classes, a person types the name.
MAX_BUTTONS = 12
_FILL_IN = "fill in the sheet as `probeta sheet` wrote it, its answers alone"
# The number of the first row below the header, as spreadsheets count.
_FIRST_ROW = 2
_N_DIGITS = 16
# Matches what ``row_key`` returns.
ROW_KEY = re.compile(rf"[\w-]+:[0-9a-f]{{{_N_DIGITS}}}:\d+")
_PAGE = Path(__file__).with_name("sheet.html")


@dataclass(frozen=True, slots=True)
class AnnotatorScores(Stored):
    """Accuracy of human annotators on rows of a dataset; shares are 0 … 1.

    Attributes:
        format: version of this layout.
        dataset: its name.
        digest: SHA-256 of the dataset's files, as of a ``Score``.
        rows: number of rows that each annotator answered.
        accuracies: of each annotator.
        value: their mean.
        interval: of the mean, over documents, see ``evaluation.measures``.
        kappa: Cohen's, of two annotators; None otherwise, or if both gave only one answer.
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
class FilledForm:
    """A form that was filled in: ``answers`` maps the key of each row to a class name."""

    path: Path
    dataset: str
    answers: dict[str, str]


def write_form(dataset: Dataset, seed: int, n_rows: int, folder: Path) -> int:
    """Write an annotation form with rows of a dataset: DATASET.html and DATASET.csv in a folder.

    The rows are of the tested split (of all folds), balanced over classes, in keyed-hash order.
    Chen et al. (2019, section 6) asked a person about 50 rows of a dataset.

    Returns:
        The number of rows: ``n_rows``, or all if there are fewer.
    """
    if dataset.target != "label":
        todo = "name a dataset with classes, see `probeta list`"
        raise InputError(dataset.name, "a dataset with classes", f"a {dataset.target}", todo)
    page, form = (folder / f"{dataset.name}.{kind}" for kind in ("html", "csv"))
    if form.exists():
        todo = "move it away"
        raise InputError(form, "no such file", "a sheet, which may be filled in", todo)
    columns = text_columns(dataset.task, "natural")
    rows = dataset.read(dataset.tested, ["id", "label", *columns]).to_pylist()
    digest, task = dataset.digest(), TASKS[dataset.task]
    sampled = [
        (row_key(dataset.name, digest, number), _row_texts(rows[number], columns))
        for number in _sample_rows(dataset.name, seed, rows, n_rows)
    ]
    html = render_html(
        _PAGE,
        dataset=dataset,
        question=task.question,
        classes=[(name, task.gold.format(name)) for name in dataset.labels],
        rows=sampled,
        most_buttons=MAX_BUTTONS,
    )
    with whole_outputs([page, form]) as (new_page, new_form):
        new_page.write_text(html, "utf-8")
        # With a byte order mark, by which spreadsheets know UTF-8.
        with new_form.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for key, texts in sampled:
                writer.writerow([key, "\n".join(f"{name}: {text}" for name, text in texts), ""])
    return len(sampled)


def _sample_rows(dataset: str, seed: int, rows: list[dict[str, Any]], n_rows: int) -> list[int]:
    """Return numbers of rows, drawn balanced over classes, in hash order."""
    order = sorted(
        range(len(rows)), key=lambda number: keyed_hash(seed, dataset, rows[number]["id"], "sheet")
    )
    seen: Counter[int] = Counter()
    rank_in_class = {}
    for number in order:
        rank_in_class[number] = seen[rows[number]["label"]]
        seen[rows[number]["label"]] += 1
    sampled = set(sorted(order, key=rank_in_class.__getitem__)[:n_rows])
    return [number for number in order if number in sampled]


def _row_texts(row: dict[str, Any], columns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the texts of a row, each on one line, with their names."""
    texts = []
    for column in columns:
        if isinstance(row[column], str):
            texts.append((column, one_line(row[column])))
        else:
            name, of_column = column.removesuffix("s"), enumerate(row[column], 1)
            texts += [(f"{name} {number}", one_line(text)) for number, text in of_column]
    return texts


def row_key(dataset: str, digest: str, number: int) -> str:
    """Return the key of a row on a form: dataset, digest of its files, number from 0."""
    return f"{dataset}:{digest[:_N_DIGITS]}:{number}"


def read_form(path: Path) -> FilledForm:
    """Read a filled form, separated by commas or, as some spreadsheets save it, by semicolons."""
    try:
        text = path.read_text("utf-8-sig")
        separator = ";" if ";" in text.partition("\n")[0] else ","
        rows = list(csv.DictReader(io.StringIO(text), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, "CSV in UTF-8", str(error), "save it as CSV in UTF-8") from None
    if not rows or not {"row", "answer"} <= rows[0].keys():
        found = ", ".join(map(str, rows[0])) if rows else "no row"
        raise InputError(path, f"rows with the columns {', '.join(COLUMNS)}", found, _FILL_IN)
    answers: dict[str, str] = {}
    for number, row in enumerate(rows, _FIRST_ROW):
        key = (row["row"] or "").strip()
        if not ROW_KEY.fullmatch(key) or key in answers:
            expected = "dataset, digest and number of a row, each once"
            raise InputError(f"{path}, row {number}", expected, key or "nothing", _FILL_IN)
        answers[key] = (row["answer"] or "").strip()
    return FilledForm(path, next(iter(answers)).partition(":")[0], answers)


def score_forms(forms: Sequence[FilledForm], dataset: Dataset) -> AnnotatorScores:
    """Score filled forms, one of each annotator; all have the same rows."""
    columns = ["label", "document_id"]
    labels, documents = map(np.array, dataset.read(dataset.tested, columns).to_pydict().values())
    digest = dataset.digest()
    row_numbers = {row_key(dataset.name, digest, number): number for number in range(len(labels))}
    chosen = np.array(
        [_class_numbers(form, dataset.labels, row_numbers, forms[0]) for form in forms]
    )
    rows = [row_numbers[key] for key in forms[0].answers]
    correct = chosen == labels[rows]
    row_accuracies, documents = correct.mean(axis=0), documents[rows]
    value = float(row_accuracies.mean())
    (replicates,) = leave_out_means(row_accuracies[None], documents)
    return AnnotatorScores(
        format=FORMAT,
        dataset=dataset.name,
        digest=digest,
        rows=len(rows),
        accuracies=tuple(map(float, correct.mean(axis=1))),
        value=value,
        interval=score_interval("accuracy", value, replicates, documents),
        kappa=cohen_kappa(*chosen) if len(chosen) == 2 else None,
    )


def _class_numbers(
    form: FilledForm, labels: Sequence[str], row_numbers: Mapping[str, int], first: FilledForm
) -> list[int]:
    """Return the class numbers of a form, in the order of the rows of the first form."""
    for number, (key, answer) in enumerate(form.answers.items(), _FIRST_ROW):
        where = f"{form.path}, row {number}"
        if key not in row_numbers:
            expected = f"a row of the data here, such as {next(iter(row_numbers))}"
            raise InputError(where, expected, key, "name with --data what the sheet was made of")
        if answer not in labels:
            expected = f"an answer among {', '.join(labels)}"
            raise InputError(where, expected, answer or "none", "answer every row with a class")
    if form.answers.keys() != first.answers.keys():
        n_different = len(form.answers.keys() ^ first.answers.keys())
        found = f"{n_different} rows that only one of the two has"
        raise InputError(form.path, f"the rows of {first.path}", found, _FILL_IN)
    return [labels.index(form.answers[key]) for key in first.answers]


def cohen_kappa(first: Values, second: Values) -> float | None:
    """Return the agreement of two annotators beyond chance, -1 … 1; None if both gave one class.

    Cohen (1960), "A coefficient of agreement for nominal scales", equation 1. ``first`` and
    ``second`` are the class numbers that they answered, int [rows].
    """
    n_classes = max(first.max(), second.max()) + 1
    by_chance = float(
        np.bincount(first, minlength=n_classes) @ np.bincount(second, minlength=n_classes)
    )
    by_chance /= len(first) ** 2
    return (
        (float(np.mean(first == second)) - by_chance) / (1 - by_chance) if by_chance < 1 else None
    )


def read_annotator_scores(path: Path) -> AnnotatorScores:
    """Read what `probeta sheet --score` wrote."""
    make = partial(parse_json, AnnotatorScores)
    scores: AnnotatorScores = read_stored(path, FORMAT, make, "sheet --score")
    return scores
