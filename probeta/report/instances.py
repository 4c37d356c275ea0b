"""The rows that the page shows: a few of each test, with the answers of some encoders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.tasks import TASKS
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import array_of
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset
from evaluation.features import read_questions
from evaluation.measures import average_ranks
from evaluation.results.scores import Predictions, Score, read_predictions
from probeta.report.names import class_names
from probeta.report.statistics import Report
from probeta.report.texts import phrase, translated

# Most rows of a dataset, and most characters of a text, that are shown: the page stays small.
MAX_ROWS = 10
MAX_TEXT_LENGTH = 420
# A score is wrong if its rank among the answers and the gold score's rank among the gold scores
# differ by more than this share of the rows. Cosines and ratings have no scale in common.
RANK_TOLERANCE = 0.25

Values = Mapping[str, Any]
"""Column to value: one row."""


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text of an instance; ``note``: what was done to it, or its role.

    ``marked``: whether it was moved, swapped or replaced.
    """

    text: str
    note: str = ""
    marked: bool = False


def find_probed(report: Report, datasets: Sequence[Dataset]) -> dict[str, Dataset]:
    """Return the datasets that were probed, by name.

    Raises:
        InputError: one is missing, or has other rows.
    """
    by_name = {dataset.name: dataset for dataset in datasets}
    for name in report.inputs.datasets:
        expected = report.inputs.any_score(name).digest
        found = by_name[name].digest() if name in by_name else "no such dataset"
        if found != expected:
            where, probed = f"instances of {name}", "the instances that were probed"
            todo = f"pass {probed}, or probe these: `probeta repro`"
            raise InputError(where, f"{probed}, SHA-256 {expected}", found, todo)
    return {name: by_name[name] for name in report.inputs.datasets}


def list_rows(report: Report, dataset: Dataset, answering: Sequence[str]) -> dict[str, Any]:
    """Return rows of a test as the page shows them: some, drawn.

    Each of "rows_shown" is its texts, each with 1 if it was moved, swapped or replaced; the gold
    answer in words; remarks; and of each encoder of ``answering`` its answer, or None. Answers to
    classes are numbers of "labels", and the gold one comes last; of scores, they are the score, 1
    if it is far off, and the share of lower ones in per cent.
    """
    name = dataset.name
    rows = _read_rows(dataset)
    ids = rows["id"].to_pylist()
    drawn = draw_rows(ids, report.inputs.encoders[0].seed, name)
    scores = report.inputs.datasets[name]
    answers: list[list[Any]] = []
    for encoder in answering:
        column: list[Any] = [None] * len(drawn)
        if encoder in scores:
            folder = report.inputs.folders[encoder]
            column = _list_answers(dataset, _read_checked(folder, scores[encoder], rows), drawn)
        answers.append(column)
    labels: list[int] = []
    if dataset.target != "score":
        y, names = _classes(dataset, rows)
        answers.append([int(label) for label in y[drawn]])
        labels = sorted({label for each in answers for label in each if label is not None})
        answers = [[None if a is None else labels.index(a) for a in each] for each in answers]
    shown = rows.take(np.array(drawn, np.int64)).to_pylist()
    gold = _describe_gold(dataset, rows, drawn)
    contents = []
    for number, (row, (words, remark)) in enumerate(zip(shown, gold, strict=True)):
        parts = shown_texts(dataset, row)
        notes = [remark, *(part.note for part in parts)]
        texts = [[part.text, 1] if part.marked else [part.text] for part in parts]
        remarks = "; ".join(filter(None, notes))
        contents.append([texts, words, remarks, [each[number] for each in answers]])
    return {"labels": [names[label] for label in labels], "rows_shown": contents}


def draw_rows(ids: Sequence[str], seed: int, dataset: str) -> list[int]:
    """Return the numbers of at most ``MAX_ROWS`` rows, drawn by a hash of their ids, in order."""
    order = sorted(range(len(ids)), key=lambda i: keyed_hash(seed, dataset, ids[i], "report"))
    return sorted(order[:MAX_ROWS])


def shown_texts(dataset: Dataset, row: Values) -> list[ShownText]:
    """Return the texts of an instance, with the changes that the task made."""
    texts: list[str] = []
    for column in TASKS[dataset.task].texts:
        value = row[column.natural]
        texts += [value] if column.kind == "string" else value
    shown = [ShownText(_cut_text(text)) for text in texts]
    column_of_change, note = _CHANGE_COLUMNS.get(dataset.task, ("", ""))
    if column_of_change and row[column_of_change] is not None:
        return [replace(shown[0], note=phrase(note, **row), marked=True)]
    mark = _MARK_CHANGES.get(dataset.task)
    return mark(dataset, row, shown) if mark else shown


def _position(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    """The first sentence was moved to the front from the position that the class names."""
    first, *others = shown
    note = phrase("moved") if row["label"] else phrase("not_moved")
    return [replace(first, note=note, marked=row["label"] > 0), *others]


def _ordering(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    swapped = dataset.labels[row["label"]] == "swapped"
    return [replace(text, marked=swapped) for text in shown]


def _coherence(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    if (number := row["replaced_position"]) is not None:
        note = phrase("put_in", donor=row["donor_id"])
        shown[number - 1] = replace(shown[number - 1], note=note, marked=True)
    return shown


def _relation(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    """The two spans in the order of the text, which ``order`` has the roles of."""
    sides = sorted(("left", "right"), key=lambda side: row[f"{side}_first"])
    satellite = row["order"].find("S")
    roles = [phrase("satellite" if n == satellite else "nucleus") for n in range(2)]
    return [
        ShownText(_cut_text(" ".join(row[side])), f"{number}: {role}")
        for number, (side, role) in enumerate(zip(sides, roles, strict=True), 1)
    ]


_MARK_CHANGES: Mapping[str, Callable[[Dataset, Values, list[ShownText]], list[ShownText]]] = {
    "sentence_position": _position,
    "sentence_ordering": _ordering,
    "discourse_coherence": _coherence,
    "discourse_relations": _relation,
    "nuclearity": _relation,
}
"""Task to the function that marks what it changed in the texts; other tasks show them as is."""
_SWAPPED = ("swapped", "swapped")
_CHANGE_COLUMNS = {
    "bigram_shift": _SWAPPED,
    "ngram_shift": _SWAPPED,
    "odd_word": ("original", "odd_word"),
    "coordination_inversion": ("first_tokens", "inverted"),
}
"""Task of one text to the column that tells what was changed, if anything, and its phrase."""


def _describe_gold(dataset: Dataset, rows: pa.Table, drawn: Sequence[int]) -> list[tuple[str, str]]:
    """Return for each drawn row the gold answer in words, and a remark."""
    if dataset.target == "score":
        gold = array_of(rows["score"])
        ranks, ends = _relative_ranks(gold), {"low": gold.min(), "high": gold.max()}
        above = (phrase("above", share=100 * ranks[i], **ends) for i in drawn)
        return [(f"{gold[i]:g}", remark) for i, remark in zip(drawn, above, strict=True)]
    words, (gold, names) = translated(TASKS[dataset.task].gold), _classes(dataset, rows)
    return [(words.format(names[gold[i]]), "") for i in drawn]


def _classes(dataset: Dataset, rows: pa.Table) -> tuple[np.ndarray[Any, Any], Sequence[str]]:
    """Return the class of each row, and the names of all; of analogies, classes are words."""
    if dataset.target == "word":
        words, questions = read_questions(dataset, "natural")
        return questions[:, -1], [*words]
    return array_of(rows["label"]), class_names(dataset.labels)


def _read_rows(dataset: Dataset) -> pa.Table:
    """Return the test rows with all columns except tokens, and with nulls."""
    files = dataset.files["train" if dataset.folds else "test"]
    tokens = {text.tokens for text in TASKS[dataset.task].texts}
    columns = [name for name in dataset.columns if name not in tokens]
    tables = [pq.ParquetFile(file).read(columns=columns) for file in files]
    return pa.concat_tables(table.replace_schema_metadata() for table in tables)


def _read_checked(folder: Path, score: Score, rows: pa.Table) -> Predictions:
    predictions = read_predictions(folder, score.dataset, score.layer)
    if rows["id"].to_pylist() != predictions.ids.tolist():
        expected = f"predictions for the {len(rows)} rows of {score.dataset}, in their order"
        found = f"{len(predictions.ids)} rows, not the same ones"
        raise InputError(folder, expected, found, "run `probeta probe` again for this encoder")
    return predictions


def _list_answers(dataset: Dataset, predictions: Predictions, drawn: Sequence[int]) -> list[Any]:
    """Return for each drawn row the answer; of a score, see ``list_rows``."""
    gold, predicted = predictions.gold, predictions.predicted
    if dataset.target == "score":
        mean = predicted.mean(axis=0)
        ranks = _relative_ranks(mean)
        far = np.abs(_relative_ranks(gold) - ranks) > RANK_TOLERANCE
        return [[round(float(mean[i]), 2), int(far[i]), round(100 * ranks[i])] for i in drawn]
    answers = predicted[0]
    if dataset.trained:  # of several random starts, what most say; ties go to the first label
        votes = np.stack([(predicted == label).sum(axis=0) for label in range(len(dataset.labels))])
        answers = votes.argmax(axis=0)
    return [int(answers[i]) if answers[i] >= 0 else None for i in drawn]


def _relative_ranks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return for each value the share of lower values among the others; equal ones count half."""
    ranks: np.ndarray[Any, Any] = (average_ranks(values) - 1) / max(1, len(values) - 1)
    return ranks


def _cut_text(text: str) -> str:
    """Return a text; of a long one the beginning, up to a space."""
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    return f"{text[:MAX_TEXT_LENGTH].rpartition(' ')[0] or text[:MAX_TEXT_LENGTH]} …"
