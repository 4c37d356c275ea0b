"""Encoders compared two by two: which differences the test sets can tell from chance.

The difference of two encoders on a dataset is measured in every bootstrap draw of its documents, on
the same draws (the paired bootstrap; Efron and Tibshirani 1993, chapter 16; Koehn 2004,
"Statistical significance tests for machine translation evaluation"). For a group of tasks it is the
mean over the group's datasets, which are drawn each for itself. Where the interval holds 0 the two
are tied. The intervals are of single differences: of twenty ties, one is expected to look like a
difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from evaluation.bootstrap import bootstrap_key, interval, resample
from evaluation.metrics import measure
from evaluation.results import Results, Score, read_predictions
from evaluation.threads import one_thread

Doubles = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Difference:
    """How two encoders differ, each by its main layer.

    Attributes:
        level: what ``what`` is: a dataset or a group of tasks.
        what: name of the dataset, or abbreviation of the group, such as "SP".
        one: name of an encoder.
        other: name of another one.
        value: score of the one less score of the other, -1 … 1 (correlations -2 … 2).
        interval: its 95 % bootstrap interval.
    """

    level: Literal["dataset", "group"]
    what: str
    one: str
    other: str
    value: float
    interval: tuple[float, float]

    @property
    def tie(self) -> bool:
        """Whether the interval holds 0."""
        low, high = self.interval
        return low <= 0 <= high


@dataclass(frozen=True, slots=True)
class _Sampled:
    """What one encoder reaches on a dataset: in all rows, and in each draw, float64 [2, draws]."""

    value: float
    draws: Doubles


def compare(results: Sequence[tuple[Results, Path]]) -> list[Difference]:
    """Compare every two encoders on every dataset and group that both were probed on.

    Args:
        results: of different encoders that were probed on the same rows, by one protocol and with
            one seed, with the folders they are in.

    Returns:
        The differences: pair by pair in the order of ``results``, datasets by name, then groups.

    Raises:
        InputError: predictions are missing, or two encoders' are of different rows.
    """
    sampled = _sample(results)
    groups: dict[str, set[str]] = {}
    for own, _ in results:
        for score in own.main:
            groups.setdefault(TASKS[score.task].abbreviation, set()).add(score.dataset)
    found = []
    for one, other in combinations((own.name for own, _ in results), 2):
        shared = sorted(sampled[one].keys() & sampled[other].keys())
        names: list[tuple[Literal["dataset", "group"], str, list[str]]] = [
            *(("dataset", dataset, [dataset]) for dataset in shared),
            *(
                ("group", group, sorted(datasets))
                for group, datasets in sorted(groups.items())
                if datasets <= set(shared)
            ),
        ]
        for level, what, datasets in names:
            values = [sampled[one][d].value - sampled[other][d].value for d in datasets]
            draws = [sampled[one][d].draws - sampled[other][d].draws for d in datasets]
            found.append(
                Difference(
                    level,
                    what,
                    one,
                    other,
                    float(np.mean(values)),
                    interval(np.mean(draws, axis=0)),
                )
            )
    return found


def _sample(results: Sequence[tuple[Results, Path]]) -> dict[str, dict[str, _Sampled]]:
    """Return encoder to dataset to what it reaches."""
    probed: dict[str, list[tuple[Results, Path, Score]]] = {}
    for own, folder in results:
        for score in own.main:
            probed.setdefault(score.dataset, []).append((own, folder, score))
    sampled: dict[str, dict[str, _Sampled]] = {own.name: {} for own, _ in results}
    for dataset, encoders in sorted(probed.items()):
        if len(encoders) > 1:
            for name, reached in _sample_dataset(dataset, encoders).items():
                sampled[name][dataset] = reached
    return sampled


def _sample_dataset(
    dataset: str, encoders: Sequence[tuple[Results, Path, Score]]
) -> dict[str, _Sampled]:
    """Return encoder to what it reaches on a dataset, all in the same draws."""
    read = [read_predictions(folder, dataset, score.layer) for _, folder, score in encoders]
    first = read[0]
    for own, (_, folder, _) in zip(read, encoders, strict=True):
        if not (np.array_equal(own.ids, first.ids) and np.array_equal(own.gold, first.gold)):
            raise InputError(
                folder,
                expected=f"predictions for the rows of {dataset} that {encoders[0][0].name} "
                f"has, {len(first.ids)} in number",
                found=f"{len(own.ids)} rows, not the same",
                todo="probe all encoders on the same instances: `dvc repro`",
            )
    metric, seed = encoders[0][2].metric, encoders[0][0].seed
    stacked = np.concatenate([own.predicted for own in read])
    with one_thread():
        draws = resample(metric, first.gold, stacked, first.documents, bootstrap_key(seed, dataset))
    found, start = {}, 0
    for (results, _, _), own in zip(encoders, read, strict=True):
        starts = len(own.predicted)
        found[results.name] = _Sampled(
            float(np.mean([measure(metric, first.gold, one) for one in own.predicted])),
            draws[:, start : start + starts].mean(axis=1),
        )
        start += starts
    return found
