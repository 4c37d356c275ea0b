"""The score of a dataset from the answers to its rows, whoever has answered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from evaluation.arrays import Values
from evaluation.data.instances import Dataset
from evaluation.data.rows import MORE, ProbeRows
from evaluation.measures.intervals import COVERAGE, LEAST_DOCUMENTS, leave_out, score_interval
from evaluation.measures.metrics import Metric, measure, measures
from evaluation.results.probes import Predictions, Score, answers_digest

METRICS: dict[str, Metric] = {"label": "accuracy", "score": "pearson"}
"""Kind of answer to its metric."""
INTERVALS: Mapping[str, Any] = MappingProxyType(
    {
        "method": "jackknife",
        "coverage": COVERAGE,
        "unit": "document",
        "least_documents": LEAST_DOCUMENTS,
    }
)
"""How the intervals of scores are made, for results."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What was answered, and how.

    Attributes:
        asked: the rows: of test, or of all folds.
        predictions: class numbers or scores, [starts, rows].
        majority: the most frequent answer in the train that goes with each row, [rows]; where
            nothing is trained, predictions again.
        chosen: see ``Score``.
        validation: see ``Score``.
    """

    asked: ProbeRows
    predictions: Values
    majority: Values
    chosen: dict[str, list[float]]
    validation: float | None


def score_answers(
    dataset: Dataset, layer: str, parts: Mapping[Split, ProbeRows], own: Answered
) -> Score:
    """Return the score of answers, without the coverage of a vocabulary; within ``one_thread``.

    Args:
        dataset: whose rows were asked.
        layer: of the encoder, that is answered from.
        parts: all rows of the dataset, features or not.
        own: the answers.
    """
    metric = METRICS[dataset.target]
    gold, documents = own.asked.y, own.asked.documents
    values = np.array([measure(metric, gold, predicted) for predicted in own.predictions])
    left_out = leave_out(metric, gold, own.predictions, documents).mean(axis=0)
    all_measures = [
        measures(metric, gold, predicted, own.asked.subsets) for predicted in own.predictions
    ]
    classes = metric == "accuracy"
    return Score(
        dataset=dataset.name,
        task=dataset.task,
        corpus=dataset.corpus,
        language=dataset.language,
        version=dataset.version,
        digest=dataset.digest(),
        rows={split: len(part.y) for split, part in parts.items()},
        folds=len(np.unique(own.asked.folds)) if dataset.folds else 0,
        test_documents=len(np.unique(documents)),
        layer=layer,
        metric=metric,
        value=float(values.mean()),
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        interval=score_interval(metric, float(values.mean()), left_out, len(gold)),
        measures={
            what: float(np.mean([one[what] for one in all_measures])) for what in all_measures[0]
        },
        majority=measure(metric, gold, own.majority) if classes else None,
        chance=1 / len(dataset.labels) if classes else None,
        chosen=own.chosen,
        validation=own.validation,
        coverage=None,
        answers=answers_digest(Predictions(own.asked.ids, documents, gold, own.predictions)),
    )


def majority_answers(dataset: Dataset, parts: Mapping[Split, ProbeRows]) -> Values:
    """Return the most frequent answer in the train that goes with each row that is asked, [rows].

    Raises:
        InputError: train has one answer alone, or there are fewer than three folds.
    """
    majority = np.empty_like(parts["train" if dataset.folds else "test"].y)
    for learnt, rows in learnt_rows(dataset, parts):
        values, counts = np.unique(learnt, return_counts=True)
        if len(values) < 2:
            raise _too_alike(dataset, values[0])
        majority[rows] = values[counts.argmax()]
    return majority


def learnt_rows(
    dataset: Dataset, parts: Mapping[Split, ProbeRows]
) -> Iterator[tuple[Values, Values | slice]]:
    """Yield the targets to learn from, and the rows that are tested with them.

    Raises:
        InputError: there are fewer than three folds.
    """
    y, folds = parts["train"].y, parts["train"].folds
    if not dataset.folds:
        yield y, slice(None)
        return
    numbers = np.unique(folds)
    if len(numbers) < 3:
        raise InputError(
            dataset.files["train"][0],
            expected="three folds or more",
            found=f"the numbers {', '.join(map(str, numbers))}",
            todo=MORE,
        )
    for number in numbers:
        yield y[folds != number], folds == number


def _too_alike(dataset: Dataset, value: Any) -> InputError:
    label = dataset.target == "label"
    return InputError(
        dataset.files["train"][0],
        expected=f"two {'classes' if label else 'scores'} or more in train",
        found=f"only {dataset.labels[value] if label else float(value)!r}",
        todo=MORE,
    )
