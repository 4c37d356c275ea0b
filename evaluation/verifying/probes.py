"""Verifies the scores of a probe, or of a language model, from the stored answers."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from evaluation.data.instances import Dataset
from evaluation.data.rows import ProbeRows, answer_rows
from evaluation.measures.threads import one_thread
from evaluation.probing.ablations import ABLATIONS
from evaluation.probing.measuring import (
    INTERVALS,
    Answered,
    majority_answers,
    score_answers,
)
from evaluation.results.probes import Predictions, Results, Score, read_predictions
from evaluation.verifying.differences import Data, Difference, Verified, differing, verify_each

# Fields of ``Score`` that tell of the model, whose vectors are not stored.
_OF_MODEL = ("chosen", "validation", "coverage")


def verify_probes(results: Results, folder: Path, data: Data) -> Verified:
    """Compute scores again, with their intervals and majority, and compare.

    Args:
        results: to verify.
        folder: with the answers.
        data: to verify on.

    Raises:
        InputError: the answers are missing or damaged, or a dataset cannot be read.
    """

    def verify(where: str, score: Score, dataset: Dataset) -> list[Difference]:
        return _verify(where, score, dataset, read_predictions(folder, score.dataset, score.layer))

    scores = ((f"{score.dataset}, {score.layer}", score) for score in results.scores)
    count, differences = verify_each(scores, data, verify)
    ablated = any(_ablation(score) in score.measures for score in results.scores)
    unverified = "what was chosen on validation, and the share of known words"
    return Verified(
        results.name,
        "probes" if results.probed else "answers of a language model",
        count,
        [*differing("intervals", results.intervals, INTERVALS), *differences],
        [unverified + ", and ablations" * ablated] if results.probed else [],
    )


def _verify(
    where: str, score: Score, dataset: Dataset, predictions: Predictions
) -> list[Difference]:
    parts = {split: answer_rows(dataset, split) for split in dataset.files}
    asked = parts["train" if dataset.folds else "test"]
    if differences := _other_rows(where, asked, predictions):
        digests = differing(where, {"digest": score.digest}, {"digest": dataset.digest()})
        return digests + differences
    with one_thread():
        majority = majority_answers(dataset, parts) if dataset.trained else asked.y
        answered = Answered(asked, predictions.predicted, majority, {}, None)
        found = asdict(score_answers(dataset, score.layer, parts, answered))
    stored = asdict(score)
    for facts in (stored, found):
        for name in _OF_MODEL:
            del facts[name]
    stored["measures"].pop(_ablation(score), None)
    return differing(where, stored, found)


def _other_rows(where: str, asked: ProbeRows, predictions: Predictions) -> list[Difference]:
    """Return the first of the rows that differ, and the numbers of rows."""
    if len(asked.ids) != len(predictions.ids):
        sizes = (f"{len(ids):,}" for ids in (predictions.ids, asked.ids))
        return [Difference(where, "rows", *sizes)]
    for what, stored, found in (
        ("id", predictions.ids, asked.ids),
        ("document", predictions.documents, asked.documents),
        ("right answer", predictions.gold, asked.y),
    ):
        rows = np.flatnonzero(stored != found)
        if len(rows):
            row = rows[0]
            place = f"{what} of row {row} ({asked.ids[row]}; {len(rows):,} rows differ)"
            return [Difference(where, place, str(stored[row]), str(found[row]))]
    return []


def _ablation(score: Score) -> str:
    """Return the measure that is of a probe without some of the features, or ""."""
    ablation = ABLATIONS.get(score.task)
    return ablation.name if ablation else ""
