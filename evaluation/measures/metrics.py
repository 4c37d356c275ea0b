"""Metrics: accuracy, or correlation with human scores.

Correlations are those of ``scipy.stats``, to the bit; its import takes a second.
"""

from typing import Literal

import numpy as np

from builders.statistics import pearson, vary
from evaluation.arrays import Doubles, Values

Metric = Literal["accuracy", "pearson"]

# Below this share of their overall variance, rows vary by rounding only.
ROUNDING = 1e-12


def measure(metric: Metric, gold: Values, predicted: Values) -> float:
    """Return the metric of one or more predictions."""
    return float(np.mean(gold == predicted)) if metric == "accuracy" else pearson(gold, predicted)


def measures(metric: Metric, gold: Values, predicted: Values, subsets: Values) -> dict[str, float]:
    """Return all metrics of predictions, by name.

    Accuracy is measured alone, Pearson's correlation with Spearman's, and both in each subset of
    rows too, named "pearson, <subset>" and so on. Rows without one have the empty name.
    """
    if metric == "accuracy":
        return {"accuracy": measure(metric, gold, predicted)}
    values = {"pearson": pearson(gold, predicted), "spearman": spearman(gold, predicted)}
    for subset in sorted({*subsets} - {""}):
        rows = subsets == subset
        values[f"pearson, {subset}"] = pearson(gold[rows], predicted[rows])
        values[f"spearman, {subset}"] = spearman(gold[rows], predicted[rows])
    return values


def spearman(one: Values, other: Values) -> float:
    """Return Spearman's correlation; 0 where one side does not vary."""
    if not vary(one, other):
        return 0.0
    return float(np.corrcoef(average_ranks(one), average_ranks(other))[1, 0])


def average_ranks(values: Values) -> Doubles:
    """Return the ranks of values from 1, float64 [rows]; equal ones share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Doubles = np.cumsum(counts) - (counts - 1) / 2
    return ranks[place]


def terms(metric: Metric, gold: Values, predicted: Values) -> Doubles:
    """Return what rows add to the sums that ``metric_of`` takes, float64 [rows, terms]."""
    ones = np.ones(len(gold))
    if metric == "accuracy":
        return np.stack([ones, gold == predicted], axis=1)
    x, y = (_standard(side.astype(np.float64)) for side in (gold, predicted))
    return np.stack([ones, x, y, x * x, y * y, x * y], axis=1)


def metric_of(metric: Metric, sums: Doubles) -> Doubles:
    """Return the metric of sets of rows [sets] from the sums of their terms, [sets, terms].

    A correlation is 0 where one side does not vary.
    """
    if metric == "accuracy":
        shares: Doubles = sums[:, 1] / sums[:, 0]
        return shares
    x, y, xx, yy, xy = (sums[:, 1:] / sums[:, :1]).T
    spread = np.maximum(xx - x * x, 0) * np.maximum(yy - y * y, 0)
    spread[(xx - x * x < ROUNDING) | (yy - y * y < ROUNDING)] = np.inf
    correlations: Doubles = np.clip((xy - x * y) / np.sqrt(spread), -1, 1)
    return correlations


def _standard(side: Doubles) -> Doubles:
    centred: Doubles = side - side.mean()
    if vary(side):
        centred /= centred.std()
    return centred
