"""The score of a dataset from the answers to its rows, whoever has answered."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from evaluation.arrays import Values
from evaluation.data.features import MORE, ProbeRows
from evaluation.data.instances import Dataset
from evaluation.measures.intervals import COVERAGE, LEAST_DOCUMENTS, leave_out, score_interval
from evaluation.measures.metrics import Metric, measure, measures
from evaluation.results.probes import Predictions, Score, answers_digest

METRICS: dict[str, Metric] = {"label": "accuracy", "score": "pearson"}
"""Kind of answer to its metric."""
INTERVALS: Mapping[str, Any] = {
    "method": "jackknife",
    "coverage": COVERAGE,
    "unit": "document",
    "least_documents": LEAST_DOCUMENTS,
}
"""How the intervals of scores are made, for results."""


def score_answers(
    dataset: Dataset,
    layer: str,
    parts: Mapping[Split, ProbeRows],
    predicted: Values,
    chosen: dict[str, list[float]] | None = None,
    validation: float | None = None,
) -> tuple[Score, Predictions]:
    """Return the score of answers, without the coverage of a vocabulary; within ``one_thread``.

    Args:
        dataset: whose rows were asked.
        layer: of the encoder, that is answered from.
        parts: all rows of the dataset.
        predicted: class numbers or scores for the rows of test, or of all folds, [starts, rows].
        chosen: see ``Score``.
        validation: see ``Score``.
    """
    asked, metric = parts[dataset.tested], METRICS[dataset.target]
    answers = Predictions(asked.ids, asked.documents, asked.y, predicted)
    values = np.array([measure(metric, asked.y, answer) for answer in predicted])
    left_out = leave_out(metric, asked.y, predicted, asked.documents).mean(axis=0)
    of_starts = [measures(metric, asked.y, answer, asked.subsets) for answer in predicted]
    classes = metric == "accuracy"
    score = Score(
        dataset=dataset.name,
        task=dataset.task,
        corpus=dataset.corpus,
        language=dataset.language,
        version=dataset.version,
        digest=dataset.digest(),
        rows={split: len(part) for split, part in parts.items()},
        folds=len(np.unique(asked.folds)) if dataset.folds else 0,
        test_documents=len(np.unique(asked.documents)),
        layer=layer,
        metric=metric,
        value=float(values.mean()),
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        interval=score_interval(metric, float(values.mean()), left_out, asked.documents),
        measures={name: float(np.mean([one[name] for one in of_starts])) for name in of_starts[0]},
        majority=measure(metric, asked.y, _majority(dataset, parts)) if classes else None,
        chance=1 / len(dataset.labels) if classes else None,
        chosen=chosen or {},
        validation=validation,
        coverage=None,
        answers=answers_digest(answers),
    )
    return score, answers


def _majority(dataset: Dataset, parts: Mapping[Split, ProbeRows]) -> Values:
    """Return for each row that is asked the most frequent answer in its train, [rows]."""
    majority = np.empty_like(parts[dataset.tested].y)
    for learnt, rows in learnt_rows(dataset, parts):
        values, counts = np.unique(learnt, return_counts=True)
        majority[rows] = values[counts.argmax()]
    return majority


def learnt_rows(
    dataset: Dataset, parts: Mapping[Split, ProbeRows]
) -> Iterator[tuple[Values, Values | slice]]:
    """Yield the targets to learn from, and the rows that are tested with them."""
    y, folds = parts["train"].y, parts["train"].folds
    if not dataset.folds:
        yield y, slice(None)
        return
    numbers = np.unique(folds)
    if len(numbers) < 3:
        found = f"the numbers {', '.join(map(str, numbers))}"
        raise InputError(dataset.files["train"][0], "three folds or more", found, MORE)
    for number in numbers:
        yield y[folds != number], folds == number
