"""Correlation of scores without a probe with scores of probes.

As Wang, Kuo and Li (2022), Tables 3 and 6: over all encoders, Spearman's correlation between each
intrinsic score (similarity, EvalRank, ParaLex) and each dataset that a probe is trained for. Every
score is that of the encoder's main layer.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np

from builders.tasks import TASKS
from evaluation.measures.intervals import COVERAGE
from evaluation.measures.metrics import spearman
from evaluation.reporting.averages import Average
from evaluation.results.paradigms import ParadigmResults
from evaluation.results.probes import Results
from evaluation.results.rankings import RankingResults

Scores = dict[str, dict[str, float]]
"""Name of a score to encoder to score."""

# The order of two encoders agrees or disagrees as a coin would. The interval of four encoders is
# almost all of -1 … 1, and that of five covers too much.
LEAST, LEAST_OF_INTERVAL = 3, 6
# Rounding, since the mean of the same numbers in another order may differ in the last digits.
DECIMALS = 12
SIMILARITY_MEAN = "mean similarity"


@dataclass(frozen=True, slots=True)
class Relation:
    """The correlation of two scores over encoders.

    Attributes:
        encoders: the number of encoders that have both scores, three or more.
        correlation: Spearman's, -1 … 1.
        interval: that of the correlation, covering ``intervals.COVERAGE``; None below six
            encoders, and where the two orders are equal or opposite, for which the formula has no
            value.
    """

    encoders: int
    correlation: float
    interval: tuple[float, float] | None


def relate(one: Mapping[str, float], other: Mapping[str, float]) -> Relation | None:
    """Return the correlation of two scores over the encoders that have both.

    The interval is Bonett and Wright's (2000, "Sample size requirements for estimating Pearson,
    Kendall and Spearman correlations", Psychometrika 65): Fisher's z with the variance
    (1 + r² / 2) / (n - 3).

    Args:
        one: encoder to score.
        other: encoder to score.

    Returns:
        The correlation; None below three encoders, or if one score is equal for all of them.
    """
    names = sorted(one.keys() & other.keys())
    sides = [np.array([side[name] for name in names]).round(DECIMALS) for side in (one, other)]
    if len(names) < LEAST or any(np.ptp(side) == 0 for side in sides):
        return None
    # Ranks are exact; their correlation has rounding errors.
    correlation = round(spearman(*sides), DECIMALS)
    if len(names) < LEAST_OF_INTERVAL or abs(correlation) == 1:
        return Relation(len(names), correlation, None)
    deviation = math.sqrt((1 + correlation**2 / 2) / (len(names) - 3))
    reach = NormalDist().inv_cdf((1 + COVERAGE) / 2) * deviation
    z = math.atanh(correlation)
    return Relation(len(names), correlation, (math.tanh(z - reach), math.tanh(z + reach)))


def intrinsic_scores(
    probed: Sequence[Results],
    rankings: Sequence[RankingResults],
    paradigms: Sequence[ParadigmResults],
    averaged: Callable[[Iterable[str]], list[str]] = list,
) -> Scores:
    """Return all scores that need no probe, by name.

    For similarity, Pearson's correlation on each dataset and its mean over those of two or more
    datasets that ``averaged`` returns;
    for EvalRank, the MRR by cosine of the vectors as they are; for ParaLex, suggestion and
    coherence with the shared vocabulary, in lower case if that was measured.
    """
    similarities = _by_dataset(probed, trained=False)
    found: Scores = {f"{dataset} Pearson": own for dataset, own in similarities.items()}
    names = averaged(similarities)
    if len(names) > 1:
        found[SIMILARITY_MEAN] = _mean([similarities[name] for name in names])
    ranks = [
        (score.dataset, own.name, score.mrr)
        for own in rankings
        for score in own.plain
        if score.similarity == "cosine"
    ]
    for dataset, name, value in sorted(ranks):
        found.setdefault(f"{dataset} MRR", {})[name] = value
    clusters = [(score.dataset, own.name, score) for own in paradigms for score in own.main]
    casing = "lower" if any(score.casing == "lower" for *_, score in clusters) else "as_is"
    for dataset, name, score in sorted(clusters, key=lambda own: own[:2]):
        if (score.vocabulary, score.casing) == ("shared", casing):
            found.setdefault(f"{dataset} suggestion", {})[name] = score.suggestion
            found.setdefault(f"{dataset} coherence", {})[name] = score.coherence
    return found


def downstream_scores(probed: Sequence[Results]) -> Scores:
    """Return the scores of all datasets that a probe is trained for, by dataset."""
    return _by_dataset(probed, trained=True)


def downstream_means(probed: Sequence[Results], averages: Iterable[Average]) -> Scores:
    """Return for each average over a group the mean over its datasets that a probe is trained for.

    An encoder that lacks one of the datasets has no mean.
    """
    scores = downstream_scores(probed)
    members = {
        average.what: [scores[name] for name in average.datasets if name in scores]
        for average in averages
        if average.group
    }
    return {what: _mean(own) for what, own in members.items() if own}


def _by_dataset(probed: Sequence[Results], *, trained: bool) -> Scores:
    found: Scores = {}
    for own in probed:
        for score in own.main:
            if TASKS[score.task].trained == trained:
                found.setdefault(score.dataset, {})[own.name] = score.value
    return dict(sorted(found.items()))


def _mean(datasets: Collection[dict[str, float]]) -> dict[str, float]:
    names = set.intersection(*(set(own) for own in datasets))
    return {name: fmean(own[name] for own in datasets) for name in sorted(names)}
