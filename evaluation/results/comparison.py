"""Pairwise comparison of encoders: the differences that are not due to chance.

The difference of two encoders on a dataset is measured again without each document in turn, which
gives its interval (the jackknife, ``evaluation.measures.intervals``). Both are scored on the same
documents: what is hard for both does not widen it. For a group of tasks the difference is the mean
over the group's datasets, which are independent. Ranks (EvalRank) and clusters (ParaLex) are
compared in the same way: the units are the groups of texts linked by positives, and the clusters,
that both encoders have.
Where the interval contains 0 the two are tied. Each interval is that of a single difference: of
twenty ties, one is expected to look like a difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.arrays import Values
from evaluation.measures.intervals import leave_out, leave_out_means, reach
from evaluation.measures.metrics import Metric, measure
from evaluation.results.paradigms import MEASURES as PARADIGM_MEASURES
from evaluation.results.paradigms import ParadigmResults, ParadigmScore
from evaluation.results.probes import Results, Score, read_predictions
from evaluation.results.rankings import MEASURES as RANK_MEASURES
from evaluation.results.rankings import (
    RankingResults,
    RankScore,
    measure_pairs,
    read_ranks,
)

Doubles = np.ndarray[Any, np.dtype[np.float64]]

# Rounding, so that equal scores do not differ by floating-point error.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two encoders, each by its main layer.

    Attributes:
        level: the kind of ``what``: a dataset, a group of tasks, a measure of ranks or clusters, or
            an edition of a dataset, where scores on the older one are subtracted.
        what: name of the dataset; abbreviation of the group, such as "SP"; or key of the measure,
            such as "evalrank_es mrr cosine".
        one: name of an encoder.
        other: name of another one; "" if nothing is subtracted.
        value: score of ``one`` minus score of ``other``, -1 … 1 (correlations -2 … 2).
        interval: of the difference, of ``intervals.COVERAGE``.
    """

    level: Literal["dataset", "group", "measure", "edition"]
    what: str
    one: str
    other: str
    value: float
    interval: tuple[float, float]

    @property
    def tie(self) -> bool:
        """Whether the interval contains 0."""
        low, high = self.interval
        return low <= 0 <= high


@dataclass(frozen=True, slots=True)
class Measured:
    """One encoder's score on a dataset, and without each unit in turn, float64 [units]."""

    metric: Metric
    value: float
    left_out: Doubles


def measure_all(results: Sequence[tuple[Results, Path]]) -> dict[str, dict[str, Measured]]:
    """Return encoder to dataset to its score.

    Args:
        results: of different encoders that were probed on the same rows, by one protocol and with
            one seed, with the folders they are in.

    Raises:
        InputError: predictions are missing, or those of two encoders are of different rows.
    """
    probed: dict[str, list[tuple[Results, Path, Score]]] = {}
    for own, folder in results:
        for score in own.main:
            probed.setdefault(score.dataset, []).append((own, folder, score))
    measured: dict[str, dict[str, Measured]] = {own.name: {} for own, _ in results}
    for dataset, encoders in sorted(probed.items()):
        for name, reached in _measure_dataset(dataset, encoders).items():
            measured[name][dataset] = reached
    return measured


def compare(
    measured: Mapping[str, Mapping[str, Measured]], groups: Mapping[str, Sequence[str]]
) -> list[Difference]:
    """Compare every two encoders on every dataset and group of datasets that both have.

    Args:
        measured: encoder to dataset to its score, as ``measure_all`` returns it.
        groups: name of a group to its datasets.

    Returns:
        The differences: pair by pair in the order of ``measured``, datasets by name, then groups.
    """
    found = []
    for one, other in combinations(measured, 2):
        shared = sorted(measured[one].keys() & measured[other].keys())
        apart = {name: subtract(measured[one][name], measured[other][name]) for name in shared}
        names: list[tuple[Literal["dataset", "group"], str, list[str]]] = [
            *(("dataset", dataset, [dataset]) for dataset in shared),
            *(
                ("group", group, list(datasets))
                for group, datasets in groups.items()
                if set(datasets) <= set(shared)
            ),
        ]
        for level, what, datasets in names:
            values, reaches, largest = np.array([apart[name] for name in datasets]).T
            value = float(values.mean())
            # The variance of a mean of independent differences.
            far = float(np.sqrt(np.square(reaches).sum())) / len(datasets)
            ends = around(value, far, float(largest.mean()))
            found.append(Difference(level, what, one, other, value, ends))
    return found


def compare_ranks(results: Sequence[tuple[RankingResults, Path]]) -> list[Difference]:
    """Compare every two encoders by the ranks of the same pairs.

    Args:
        results: of different encoders, of the same texts and with one seed, with the folders they
            are in.

    Returns:
        The differences of all measures of the vectors as they are: by dataset and similarity, then
        pair by pair in the order of ``results``.

    Raises:
        InputError: ranks are missing, or those of two encoders are of different pairs.
    """
    ranked: dict[tuple[str, str], dict[str, tuple[RankScore, Path]]] = {}
    for own, folder in results:
        for score in own.plain:
            way = (score.dataset, score.similarity)
            ranked.setdefault(way, {})[own.name] = (score, folder)
    found = []
    for (dataset, similarity), encoders in sorted(ranked.items()):
        if len(encoders) > 1:
            (score, _), *_ = encoders.values()
            documents, values = _read_pairs(dataset, similarity, encoders)
            keys = [score.key(what) for what in RANK_MEASURES]
            found += _compare_means(keys, values, documents)
    return found


def compare_paradigms(results: Sequence[ParadigmResults]) -> list[Difference]:
    """Compare every two encoders by their scores of the same clusters.

    Args:
        results: of different encoders, of the same clusters and with one seed.

    Returns:
        The differences of all measures: by dataset, vocabulary and casing, then pair by pair in the
        order of ``results``.

    Raises:
        InputError: two encoders' scores are of different clusters.
    """
    clustered: dict[tuple[str, str, str], dict[str, ParadigmScore]] = {}
    for own in results:
        for score in own.main:
            way = (score.dataset, score.vocabulary, score.casing)
            clustered.setdefault(way, {})[own.name] = score
    found = []
    for (dataset, *_), scores in sorted(clustered.items()):
        (first_name, first), *_ = scores.items()
        names = [cluster.cluster for cluster in first.clusters]
        for name, score in scores.items():
            if [cluster.cluster for cluster in score.clusters] != names:
                raise InputError(
                    f"results of {name}, dataset {dataset}",
                    expected=f"the {len(names)} clusters in the results of {first_name}",
                    found=f"{len(score.clusters)} clusters, not the same ones",
                    todo="score all encoders on the same instances: `probeta repro`",
                )
        values = {
            name: np.array(
                [[getattr(own, what) for own in score.clusters] for what in PARADIGM_MEASURES]
            )
            for name, score in scores.items()
        }
        keys = [first.key(what) for what in PARADIGM_MEASURES]
        found += _compare_means(keys, values, np.array(names))
    return found


def tied_with(best: str, what: str, differences: Iterable[Difference]) -> set[str]:
    """Return the encoders that the test cannot distinguish from the best one.

    Args:
        best: name of an encoder.
        what: the dataset, group or measure, as in ``Difference``.
        differences: those of the encoders; others are ignored.
    """
    pairs = ({own.one, own.other} for own in differences if own.what == what and own.tie)
    return {name for pair in pairs if best in pair for name in pair - {best}}


def _read_pairs(
    dataset: str, similarity: str, encoders: Mapping[str, tuple[RankScore, Path]]
) -> tuple[Values, dict[str, Doubles]]:
    """Return the pairs' groups, [pairs], and encoder to the pairs' measures, [measures, pairs]."""
    read = {name: read_ranks(folder, dataset, similarity) for name, (_, folder) in encoders.items()}
    (first_name, first), *_ = read.items()
    for name, own in read.items():
        if not (
            np.array_equal(own.queries, first.queries)
            and np.array_equal(own.positives, first.positives)
        ):
            raise InputError(
                encoders[name][1],
                expected=f"ranks of the {len(first.ranks)} pairs of {dataset} in the results of "
                f"{first_name}",
                found=f"{len(own.ranks)} pairs, not the same ones",
                todo="rank with all encoders on the same instances: `probeta repro`",
            )
    return first.documents, {name: measure_pairs(own.ranks) for name, own in read.items()}


def _compare_means(
    whats: Sequence[str], values: Mapping[str, Doubles], documents: Values
) -> list[Difference]:
    """Compare every two encoders by the means of their values.

    Args:
        whats: keys of the measures, [measures].
        values: encoder to its values, float64 [measures, rows].
        documents: ids of the groups of rows that are left out, [rows].
    """
    found = []
    for one, other in combinations(values, 2):
        apart = (values[one] - values[other]).round(_DECIMALS)
        left_out = leave_out_means(apart, documents)
        for what, own, without in zip(whats, apart, left_out, strict=True):
            value = float(own.mean())
            ends = around(value, reach(value, without), 1.0)
            found.append(Difference("measure", what, one, other, value, ends))
    return found


def subtract(one: Measured, other: Measured | None) -> tuple[float, float, float]:
    """Return the difference of two scores on the same documents; or the first, without another.

    Returns:
        The difference, half its interval's width, and the largest difference there can be.
    """
    value, left_out = one.value, one.left_out
    if other is not None:
        value, left_out = value - other.value, left_out - other.left_out
    return value, reach(value, left_out), 2.0 if one.metric == "pearson" else 1.0


def around(value: float, far: float, largest: float) -> tuple[float, float]:
    """Return the ends of an interval around a difference, within what differences can be."""
    return max(value - far, -largest), min(value + far, largest)


def _measure_dataset(
    dataset: str, encoders: Sequence[tuple[Results, Path, Score]]
) -> dict[str, Measured]:
    """Return encoder to its score on a dataset, all with the same units left out."""
    read = [read_predictions(folder, dataset, score.layer) for _, folder, score in encoders]
    first = read[0]
    for own, (_, folder, _) in zip(read, encoders, strict=True):
        if not (np.array_equal(own.ids, first.ids) and np.array_equal(own.gold, first.gold)):
            raise InputError(
                folder,
                expected=f"predictions for the {len(first.ids)} rows of {dataset} in the "
                f"results of {encoders[0][0].name}",
                found=f"{len(own.ids)} rows, not the same ones",
                todo="probe all encoders on the same instances: `probeta repro`",
            )
    metric = encoders[0][2].metric
    stacked = np.concatenate([own.predicted for own in read])
    left_out = leave_out(metric, first.gold, stacked, first.documents)
    found, start = {}, 0
    for (results, _, _), own in zip(encoders, read, strict=True):
        starts = len(own.predicted)
        found[results.name] = Measured(
            metric,
            float(np.mean([measure(metric, first.gold, one) for one in own.predicted])),
            left_out[start : start + starts].mean(axis=0),
        )
        start += starts
    return found
