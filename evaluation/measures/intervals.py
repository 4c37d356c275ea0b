"""Intervals of scores and of their differences: the jackknife over documents, with Student's t.

A score is measured again without each document in turn; how much these values differ gives its
standard error (Efron and Tibshirani 1993, chapter 11). Documents are left out, not rows: rows of
one document are not independent. The jackknife needs no random draws, and does not understate the
error if documents are few, as resampling them does (MacKinnon, Nielsen and Webb 2023). Each end is
the standard error times Student's t away, whose degrees of freedom are one less than the effective
number of documents: of one size, as many as there are; fewer if some have many times the rows of
others (Carter, Schnepel and Steigerwald 2017, "Asymptotic behavior of a t-test robust to cluster
heterogeneity"; their number has a further term, for how much documents differ).

- for an accuracy or another mean of numbers 0 … 1, on the scale of Wilson's interval (1927), so
  that it stays in 0 … 1 and has a width where all answers are right. Near 0 and 1, the few wrong
  (or right) answers cannot show how much documents differ: ``_PRIOR`` is added for that.
- for a correlation, on the scale of Fisher's z.
- for a difference of two encoders, on that of the difference.

How often they cover the truth, simulated, is in ``docs/validity.md``: nominally .95, .929 or more.
"""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from scipy.special import stdtrit

from builders.statistics import effective_number
from evaluation.arrays import Doubles, Values
from evaluation.measures.metrics import Metric, metric_of, terms

COVERAGE = 0.95
# Two documents can be alike by chance. With fewer than this in test, rows are left out instead:
# such an interval says nothing of other documents.
LEAST_DOCUMENTS = 3
# Rows that are added to a mean's variance as if all rows of a document were alike: four, as Agresti
# and Coull (1998, "Approximate is better than exact") add to a proportion.
_PRIOR = 4
# The largest correlation that has a finite z.
_LARGEST = 1 - 1e-9


def leave_out(metric: Metric, gold: Values, predictions: Values, documents: Values) -> Doubles:
    """Return the metric without each document in turn.

    Args:
        metric: which.
        gold: correct answers, [rows].
        predictions: of several encoders, layers or starts, [sets, rows].
        documents: ids of the documents, [rows].

    Returns:
        float64 [sets, units]: a unit is a document, or a row of fewer than ``LEAST_DOCUMENTS``.
    """
    units = _units(documents)
    measured = partial(metric_of, metric)
    return np.stack(
        [_without(measured, terms(metric, gold, answers), units) for answers in predictions]
    )


def leave_out_means(values: Doubles, documents: Values) -> Doubles:
    """Return the mean of values [sets, rows] without each document in turn, as ``leave_out``."""
    units = _units(documents)
    of_rows = (np.stack([np.ones_like(of_set), of_set], axis=1) for of_set in values)
    return np.stack([_without(partial(metric_of, "accuracy"), sums, units) for sums in of_rows])


def effective_units(documents: Values) -> float:
    """Return the effective number of units, 1 or more: of one size, as many as there are.

    ``documents`` has the ids, [rows]; a unit is as in ``leave_out``.
    """
    return effective_number(np.bincount(_units(documents)))


def jackknife_half_width(value: float, left_out: Doubles, units: float, pairs: int = 1) -> float:
    """Return half the width of an interval around a value: Student's t times the standard error.

    Args:
        value: a score or a difference of scores.
        left_out: the same without each unit in turn, [units]. For a single one the width is
            infinite.
        units: their effective number.
        pairs: number of differences that their intervals cover together, see ``student``.
    """
    number = len(left_out)
    if number < 2:
        return math.inf
    # Around the value, not the mean of the others: never the smaller one.
    squares = float(np.square(left_out - value).sum())
    return student(units - 1, pairs) * math.sqrt((number - 1) / number * squares)


def score_interval(
    metric: Metric, value: float, left_out: Doubles, documents: Values
) -> tuple[float, float]:
    """Return the ends of the interval of a score that covers ``COVERAGE``.

    The metric is "pearson", or "accuracy" for any mean of numbers 0 … 1; ``left_out`` has the score
    without each unit in turn, [units], ``documents`` the ids of the documents, [rows]. The interval
    of a single unit is the metric's whole range.
    """
    units, rows = effective_units(documents), len(documents)
    if metric == "pearson":
        z = math.atanh(_inside(value))
        far = jackknife_half_width(z, np.arctanh(_inside(left_out)), units)
        low, high = math.tanh(z - far), math.tanh(z + far)
    elif len(left_out) < 2:
        low, high = 0.0, 1.0
    else:
        # Wilson's interval: p whose squared distance to the value is ``ratio`` times p (1 - p).
        spread, most = value * (1 - value), student(units - 1) ** 2 / units
        ratio = (rows * jackknife_half_width(value, left_out, units) ** 2 + _PRIOR * most) / (
            rows * spread + _PRIOR
        )
        middle, half = value + ratio / 2, math.sqrt(ratio * spread + ratio**2 / 4)
        low, high = (middle - half) / (1 + ratio), (middle + half) / (1 + ratio)
    # In spite of rounding the score is within, and 1 not exceeded.
    return min(low, value), min(max(high, value), 1.0)


@cache
def student(degrees: float, pairs: int = 1) -> float:
    """Return the quantile of Student's t that ``COVERAGE`` lies within, on both sides of 0.

    Of several pairs, all intervals cover together: by Bonferroni's inequality (Dunn 1961, "Multiple
    comparisons among means", section 2).
    """
    return float(stdtrit(degrees, 1 - (1 - COVERAGE) / (2 * pairs)))


def _inside(correlations: Values | float) -> Doubles:
    inside: Doubles = np.clip(correlations, -_LARGEST, _LARGEST)
    return inside


def _units(documents: Values) -> Values:
    """Return the number of each row's unit, int [rows]."""
    names, numbers = np.unique(documents, return_inverse=True)
    return numbers if len(names) >= LEAST_DOCUMENTS else np.arange(len(documents))


def _without(metric: Callable[[Doubles], Doubles], of_rows: Doubles, units: Values) -> Doubles:
    """Return the metric without each unit, float64 [units], given each row's terms."""
    of_units = np.stack([np.bincount(units, of_term) for of_term in of_rows.T], axis=1)
    if len(of_units) < 2:
        return np.full(len(of_units), np.nan)
    return metric(of_units.sum(axis=0) - of_units)
