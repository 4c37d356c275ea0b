"""Correlation of scores without a probe with scores of probes.

As Wang, Kuo and Li (2022), Tables 3 and 6: over all encoders, Spearman's correlation between each
intrinsic score (similarity, EvalRank, ParaLex) and each dataset that a probe is trained for. Every
score is that of the encoder's main layer.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np
import pandas as pd

from builders.tasks import TASKS
from evaluation.measures.intervals import COVERAGE
from evaluation.measures.metrics import spearman
from evaluation.reporting.averages import Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    bracketed,
    columns_of,
    lay_out,
    percent_cell,
)
from evaluation.reporting.tables.marks import by_dataset

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
    scores: pd.DataFrame, averaged: Callable[[Iterable[str]], list[str]] = list
) -> Scores:
    """Return all scores that need no probe, by name.

    For similarity, Pearson's correlation on each dataset and its mean over those of two or more
    datasets that ``averaged`` returns;
    for EvalRank, the MRR by cosine of the vectors as they are; for ParaLex, suggestion and
    coherence with the shared vocabulary, in lower case if that was measured.

    Args:
        scores: a ``long_table``.
        averaged: returns those datasets of some that count.
    """
    similarities = _of_probes(scores, trained=False)
    intrinsic = {f"{dataset} Pearson": values for dataset, values in similarities.items()}
    names = averaged(similarities)
    if len(names) > 1:
        intrinsic[SIMILARITY_MEAN] = _mean([similarities[name] for name in names])
    casing = "lower" if scores.way.str.endswith(" lower").any() else "as_is"
    others = scores[
        ((scores.measure == "MRR") & (scores.way == "cosine")) | (scores.way == f"shared {casing}")
    ]
    ranks = others.measure == "MRR"
    for rows in (others[ranks], others[~ranks]):
        ordered = rows.sort_values("dataset", kind="stable")
        intrinsic |= _by_encoder(ordered, ordered.dataset + " " + ordered.measure)
    return intrinsic


def downstream_scores(scores: pd.DataFrame) -> Scores:
    """Return the scores of a ``long_table`` that a probe is trained for, by dataset."""
    return _of_probes(scores, trained=True)


def downstream_means(scores: pd.DataFrame, averages: Iterable[Average]) -> Scores:
    """Return for each average over a group the mean over its datasets that a probe is trained for.

    An encoder that lacks one of the datasets has no mean.
    """
    trained = downstream_scores(scores)
    members = {
        average.what: [trained[name] for name in average.datasets if name in trained]
        for average in averages
        if average.group
    }
    return {what: _mean(of_datasets) for what, of_datasets in members.items() if of_datasets}


def _of_probes(scores: pd.DataFrame, *, trained: bool) -> Scores:
    tasks = [name for name, task in TASKS.items() if task.trained == trained]
    rows = scores[(scores.way == "") & scores.task.isin(tasks)]
    return dict(sorted(_by_encoder(rows, rows.dataset).items()))


def _by_encoder(rows: pd.DataFrame, names: "pd.Series[str]") -> Scores:
    """Return name to encoder to score; each row has a name."""
    return {
        name: dict(zip(rows.encoder, rows.value, strict=True))
        for name, rows in rows.groupby(names, sort=False)
    }


def _mean(datasets: Collection[dict[str, float]]) -> dict[str, float]:
    names = set.intersection(*map(set, datasets))
    return {name: fmean(scores[name] for scores in datasets) for name in sorted(names)}


def downstream(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of groups of probed tasks.

    As Tables 3 and 6 of Wang, Kuo and Li (2022). With fewer than three encoders the table has a
    note instead of rows; without scores of either kind there is no table.
    """
    scores = inputs.scores
    intrinsic = intrinsic_scores(scores, inputs.shipped)
    datasets = downstream_scores(scores)
    if not intrinsic or not datasets:
        return []
    if len(inputs.encoders) < LEAST:
        count = ("one", "two")[len(inputs.encoders) - 1]
        few = f"This table needs three probed encoders or more; this report has {count}."
        return [lay_out("downstream", (), (), words={"few": few})]
    means = downstream_means(scores, inputs.averages)
    averages = [average for average in inputs.averages if average.what in means]
    several = len({average.benchmark for average in averages}) > 1

    def heading(average: Average) -> Cell:
        count = sum(name in datasets for name in average.datasets)
        text = f"{average.group.abbreviation if average.group else ''} ({count})"
        return Cell(f"{text}, {average.benchmark}" if several else text, title=average.title)

    columns = [
        Column("Score", Cell),
        *columns_of(
            averages,
            lambda average, score: _relation(relate(intrinsic[score], means[average.what])),
            heading,
        ),
    ]
    mean = f" ({SIMILARITY_MEAN}: its average over datasets)"
    words = {"mean": mean if SIMILARITY_MEAN in intrinsic else ""}
    return [lay_out("relations", intrinsic, columns, name="downstream", words=words)]


def downstream_datasets(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of each probed dataset."""
    intrinsic = intrinsic_scores(inputs.scores, inputs.shipped)
    datasets = downstream_scores(inputs.scores)
    if len(inputs.encoders) < LEAST or not intrinsic:
        return []
    columns = columns_of(
        intrinsic, lambda score, dataset: _relation(relate(intrinsic[score], datasets[dataset]))
    )
    rows = [name for name in inputs.datasets if name in datasets]
    return by_dataset(inputs, "downstream-datasets", columns, rows)


def _relation(relation: Relation | None) -> Cell | None:
    if relation is None:
        return None
    beside = f"n = {relation.encoders}"
    if relation.interval is None:
        return percent_cell(relation.correlation, beside)
    low, high = relation.interval
    beside = f"{bracketed(relation.interval)} {beside}"
    return percent_cell(relation.correlation, beside, strong=not low <= 0 <= high)
