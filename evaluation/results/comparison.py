"""Pairwise comparison of encoders: the differences that are not due to chance.

The difference of two encoders on a dataset is measured again without each document in turn, which
gives its interval (the jackknife, ``evaluation.measures.intervals``). Both are scored on the same
documents: what is hard for both does not widen it. For a group of tasks the difference is the mean
over the group's datasets, which are independent. Ranks (EvalRank) and clusters (ParaLex) are
compared in the same way: the units are the groups of texts linked by positives, and the clusters,
that both encoders have.
Where the interval contains 0 the two are tied. On a dataset, on a group and by a measure, the
intervals of all pairs of encoders cover together: the chance that any two that are equally good
seem to differ is at most 1 - ``intervals.COVERAGE``, be there two encoders or twenty. Of more than
``MANY`` encoders, only the pairs with the first one, or with one that is best by a measure, are
returned, which readers can still use.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import fmean
from typing import Literal

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.arrays import Doubles, Values
from evaluation.measures.intervals import effective_units, leave_out, leave_out_means, reach
from evaluation.measures.metrics import Metric, measure
from evaluation.results.paradigms import MEASURES, ParadigmResults, ParadigmScore
from evaluation.results.probes import Predictions, Results
from evaluation.results.rankings import MEASURES as RANK_MEASURES
from evaluation.results.rankings import PairRanks, RankingResults, measure_pairs

MANY = 10
"""The most encoders of which every two are compared."""
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
    """One encoder's score on a dataset.

    Attributes:
        left_out: the same without each unit in turn, float64 [units].
        units: their effective number.
    """

    metric: Metric
    value: float
    left_out: Doubles
    units: float


Answers = Callable[[str, str], Predictions]
"""Returns what an encoder answered on a dataset from a layer."""
Ranks = Callable[[str, str], PairRanks]
"""Returns the ranks that an encoder gave in a dataset by a similarity."""


def measure_all(results: Sequence[tuple[Results, Answers]]) -> dict[str, dict[str, Measured]]:
    """Return encoder to dataset to its score.

    Args:
        results: of different encoders that were probed on the same rows, by one protocol and with
            one seed, with their answers.

    Raises:
        InputError: answers are missing, or those of two encoders are of different rows.
    """
    measured: dict[str, dict[str, Measured]] = {probed.name: {} for probed, _ in results}
    for dataset in sorted({score.dataset for probed, _ in results for score in probed.main}):
        answers = {}
        for probed, answered in results:
            for score in probed.main:
                if score.dataset == dataset:
                    metric = score.metric
                    answers[probed.name] = answered(dataset, score.layer)
        for name, reached in _measure(dataset, metric, answers).items():
            measured[name][dataset] = reached
    return measured


def compare(
    measured: Mapping[str, Mapping[str, Measured]], groups: Mapping[str, Sequence[str]]
) -> list[Difference]:
    """Compare every two encoders on every dataset and group of datasets that both have.

    Args:
        measured: see ``measure_all``.
        groups: name of a group to its datasets.

    Returns:
        The differences: pair by pair in the order of ``measured``, datasets by name, then groups.
    """
    every = sorted({dataset for scores in measured.values() for dataset in scores})
    kinds: list[tuple[Literal["dataset", "group"], str, Sequence[str]]] = [
        *(("dataset", dataset, [dataset]) for dataset in every),
        *(("group", group, datasets) for group, datasets in groups.items()),
    ]
    differences: dict[tuple[str, str], list[Difference]] = {}
    for level, what, datasets in kinds:
        means = {
            name: [fmean(scores[dataset].value for dataset in datasets)]
            for name, scores in measured.items()
            if scores.keys() >= {*datasets}
        }
        pairs = comb(len(means), 2)
        for one, other in _pairs(means, next(iter(measured))):
            values, reaches, largest = np.array(
                [subtract(measured[one][name], measured[other][name], pairs) for name in datasets]
            ).T
            value = float(values.mean())
            # The variance of a mean of independent differences.
            far = float(np.sqrt(np.square(reaches).sum())) / len(datasets)
            ends = around(value, far, float(largest.mean()))
            found = Difference(level, what, one, other, value, ends)
            differences.setdefault((one, other), []).append(found)
    return [found for pair in combinations(measured, 2) for found in differences.get(pair, ())]


def _pairs(means: Mapping[str, Sequence[float]], first: str) -> list[tuple[str, str]]:
    """Return every two encoders; of many, those with the best by a measure, or the ``first``."""
    pairs = list(combinations(means, 2))
    if len(means) <= MANY:
        return pairs
    names, best = list(means), np.array([*means.values()]).argmax(axis=0)
    shown = {first, *(names[index] for index in best)}
    return [pair for pair in pairs if shown.intersection(pair)]


def compare_ranks(results: Sequence[tuple[RankingResults, Ranks]]) -> list[Difference]:
    """Compare every two encoders by the ranks of the same pairs.

    Args:
        results: of different encoders, of the same texts and with one seed, with their ranks.

    Returns:
        The differences of all measures of the vectors as they are: by dataset and similarity, then
        pair by pair in the order of ``results``.

    Raises:
        InputError: ranks are missing, or those of two encoders are of different pairs.
    """
    ranked: dict[tuple[str, str], dict[str, Ranks]] = {}
    keys = {}
    for rankings, ranks_of in results:
        for score in rankings.plain:
            way = (score.dataset, score.similarity)
            ranked.setdefault(way, {})[rankings.name] = ranks_of
            keys[way] = [score.key(measure) for measure in RANK_MEASURES]
    differences = []
    for way, encoders in sorted(ranked.items()):
        if len(encoders) > 1:
            ranks = {name: ranks_of(*way) for name, ranks_of in encoders.items()}
            pairs = {name: (given.queries, given.positives) for name, given in ranks.items()}
            _check_same(f"ranks of the {{}} pairs of {way[0]}", "rank", pairs)
            values = {name: measure_pairs(given.ranks) for name, given in ranks.items()}
            documents = next(iter(ranks.values())).documents
            differences += _compare_means(keys[way], values, documents)
    return differences


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
    for paradigms in results:
        for score in paradigms.main:
            way = (score.dataset, score.vocabulary, score.casing)
            clustered.setdefault(way, {})[paradigms.name] = score
    differences = []
    for (dataset, *_), scores in sorted(clustered.items()):
        names, values = {}, {}
        for name, score in scores.items():
            names[name] = (np.array([cluster.cluster for cluster in score.clusters]),)
            columns = [[getattr(cluster, what) for cluster in score.clusters] for what in MEASURES]
            values[name] = np.array(columns)
            keys = [score.key(what) for what in MEASURES]
        _check_same(f"scores of the {{}} clusters of {dataset}", "score", names)
        ((clusters,), *_) = names.values()
        differences += _compare_means(keys, values, clusters)
    return differences


def tied_with(best: str, what: str, differences: Iterable[Difference]) -> set[str]:
    """Return the encoders that the test cannot distinguish from the best one.

    ``what`` is the dataset, group or measure, as in ``Difference``; others are ignored.
    """
    pairs = ({pair.one, pair.other} for pair in differences if pair.what == what and pair.tie)
    return {name for pair in pairs if best in pair for name in pair - {best}}


def _check_same(what: str, verb: str, rows: Mapping[str, Sequence[Values]]) -> None:
    """Check that all encoders' results are of the same rows, by what identifies these."""
    (first, expected), *others = rows.items()
    for name, given in others:
        if not all(map(np.array_equal, given, expected)):
            raise InputError(
                f"results of {name}",
                f"{what.format(len(expected[0]))} in the results of {first}",
                f"{len(given[0])}, not the same ones",
                f"{verb} all encoders on the same instances: `probeta repro`",
            )


def _compare_means(
    whats: Sequence[str], values: Mapping[str, Doubles], documents: Values
) -> list[Difference]:
    """Compare every two encoders by the means of their values, float64 [measures, rows]."""
    differences = []
    units, pairs = effective_units(documents), comb(len(values), 2)
    means = {name: of_encoder.mean(axis=1).round(_DECIMALS) for name, of_encoder in values.items()}
    for one, other in _pairs(means, next(iter(values))):
        apart = (values[one] - values[other]).round(_DECIMALS)
        left_out = leave_out_means(apart, documents)
        for what, of_rows, without in zip(whats, apart, left_out, strict=True):
            value = float(of_rows.mean())
            ends = around(value, reach(value, without, units, pairs), 1.0)
            differences.append(Difference("measure", what, one, other, value, ends))
    return differences


def subtract(one: Measured, other: Measured | None, pairs: int = 1) -> tuple[float, float, float]:
    """Return the difference of two scores on the same documents; or the first, without another.

    ``pairs``: see ``reach``.

    Returns:
        The difference, half its interval's width, and the largest difference there can be.
    """
    value, left_out = one.value, one.left_out
    if other is not None:
        value, left_out = value - other.value, left_out - other.left_out
    return value, reach(value, left_out, one.units, pairs), 2.0 if one.metric == "pearson" else 1.0


def around(value: float, far: float, largest: float) -> tuple[float, float]:
    """Return the ends of an interval around a difference, within what differences can be."""
    return max(value - far, -largest), min(value + far, largest)


def _measure(
    dataset: str, metric: Metric, answers: Mapping[str, Predictions]
) -> dict[str, Measured]:
    """Return encoder to its score on a dataset, all with the same units left out."""
    rows = {name: (given.ids, given.gold) for name, given in answers.items()}
    _check_same(f"predictions for the {{}} rows of {dataset}", "probe", rows)
    first = next(iter(answers.values()))
    predicted = np.concatenate([given.predicted for given in answers.values()])
    left_out = leave_out(metric, first.gold, predicted, first.documents)
    units = effective_units(first.documents)
    measured, start = {}, 0
    for name, given in answers.items():
        end = start + len(given.predicted)
        values = [measure(metric, first.gold, of_start) for of_start in given.predicted]
        of_encoder = left_out[start:end].mean(axis=0)
        measured[name] = Measured(metric, float(np.mean(values)), of_encoder, units)
        start = end
    return measured
