"""Intervals of scores and of their differences: the jackknife over documents, with Student's t.

A score is measured again without each document in turn; how much these values differ gives its
standard error (Efron and Tibshirani 1993, chapter 11). Documents are left out, not rows: rows of
one document are not independent. The jackknife needs no random draws, and does not understate the
error if documents are few, as resampling them does (MacKinnon, Nielsen and Webb 2023). With m
documents, each end is the standard error times Student's t, of m - 1 degrees of freedom, away:

- for an accuracy or another mean of numbers 0 … 1, on the scale of Wilson's interval (1927), so
  that it stays in 0 … 1 and has a width where all answers are right. Near 0 and 1, the few wrong
  (or right) answers cannot show how much documents differ: ``_PRIOR`` is added for that.
- for a correlation, on the scale of Fisher's z.
- for a difference of two encoders, on that of the difference.

Nominally coverage is .95 and type I error .05. Simulated (2,000 times, ``tests/bench/
bench_intervals.py``): the coverage of a score, and how often two encoders with the same true score
are no tie. Rows are one per document, or ten: independent, or with an intraclass correlation of .3,
where both encoders find the same documents hard (alike), or each its own ones (differ).

                          coverage of accuracy and r    type I error
    documents  rows         .5   .7   .9     .5   .9     .5   .7   .9
            5  1          1.00 .998 .992   .977 .979   .022 .015 .001
            5  10         .999 .999 .999   .952 .950   .051 .049 .040
            5  10 alike   .987 .993 .991   .953 .963   .041 .035 .004
            5  10 differ  .981 .993 .993   .961 .956   .061 .043 .013
           10  1          .979 .991 .988   .955 .952   .053 .051 .011
           10  10         .985 .989 .993   .953 .948   .047 .048 .051
           10  10 alike   .969 .966 .983   .949 .948   .050 .045 .021
           10  10 differ  .972 .970 .984   .955 .948   .054 .055 .030
           20  1          .954 .973 .953   .948 .949   .051 .048 .038
           20  10         .969 .973 .988   .947 .951   .051 .049 .050
           20  10 alike   .958 .959 .969   .949 .949   .050 .052 .044
           20  10 differ  .960 .959 .969   .949 .950   .053 .047 .039
           40  1          .962 .945 .943   .950 .948   .054 .052 .051
           40  10         .962 .963 .974   .949 .951   .047 .051 .049
           40  10 alike   .958 .954 .950   .950 .949   .044 .050 .050
           40  10 differ  .956 .954 .951   .949 .951   .051 .051 .046
          200  1          .948 .944 .958   .951 .952   .051 .050 .047
          200  10         .956 .949 .959   .949 .952   .044 .049 .045
          200  10 alike   .951 .944 .950   .945 .951   .052 .051 .048
          200  10 differ  .952 .954 .950   .950 .950   .048 .048 .051
          600  1          .956 .951 .949   .952 .952   .047 .049 .050
          600  10         .952 .953 .951   .952 .950   .046 .052 .046
          600  10 alike   .958 .951 .955   .953 .955   .053 .053 .049
          600  10 differ  .954 .957 .952   .948 .949   .049 .046 .048

Where some documents have many times the rows of others, the type I error of ten is .08.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit

from evaluation.arrays import Doubles, Values
from evaluation.measures.metrics import Metric, metric_of, terms

COVERAGE = 0.95
# Two documents can be alike by chance. With fewer than this in test, rows are left out instead:
# such an interval says nothing of other documents.
LEAST_DOCUMENTS = 3
# Rows that are added to a mean's variance as if all rows of a document were alike.
_PRIOR = 1
# The largest correlation that has a finite z.
_LARGEST = 1 - 1e-9
DRAWS = 2000
# Numbers of a matrix of draws that is in memory at a time.
_CHUNK = 2_000_000


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


def reach(value: float, left_out: Doubles) -> float:
    """Return half the width of an interval around a value: Student's t times the standard error.

    The value is a score or a difference of scores; ``left_out``, the same without each unit in
    turn, [units]. For a single unit the width is infinite.
    """
    units = len(left_out)
    if units < 2:
        return math.inf
    # Around the value, not the mean of the others: never the smaller one.
    squares = float(np.square(left_out - value).sum())
    return student(units - 1) * math.sqrt((units - 1) / units * squares)


def score_interval(
    metric: Metric, value: float, left_out: Doubles, rows: int
) -> tuple[float, float]:
    """Return the ends of the interval of a score that covers ``COVERAGE``.

    The metric is "pearson", or "accuracy" for any mean of numbers 0 … 1; ``left_out`` has the score
    without each unit in turn, [units]. The interval of a single unit is the metric's whole range.
    """
    units = len(left_out)
    if metric == "pearson":
        z = math.atanh(_inside(value))
        far = reach(z, np.arctanh(_inside(left_out)))
        low, high = math.tanh(z - far), math.tanh(z + far)
    elif units < 2:
        low, high = 0.0, 1.0
    else:
        # Wilson's interval: p whose squared distance to the value is ``ratio`` times p (1 - p).
        spread, most = value * (1 - value), student(units - 1) ** 2 / units
        ratio = (rows * reach(value, left_out) ** 2 + _PRIOR * most) / (rows * spread + _PRIOR)
        middle, half = value + ratio / 2, math.sqrt(ratio * spread + ratio**2 / 4)
        low, high = (middle - half) / (1 + ratio), (middle + half) / (1 + ratio)
    # In spite of rounding the score is within, and 1 not exceeded.
    return min(low, value), min(max(high, value), 1.0)


def draw_scores(values: Doubles, left_out: Doubles, key: int) -> Doubles:
    """Return scores of encoders on a dataset as they might be on other documents.

    For what has no formula, such as a mean rank. Each draw gives a normal weight to what each unit
    changes, the same for all encoders: the draws vary, and vary together, as the jackknife says.

    Args:
        values: the scores, float64 [encoders].
        left_out: the same without each unit in turn, float64 [encoders, units].
        key: seed of the draws.

    Returns:
        float64 [encoders, DRAWS]; for a single unit, the scores themselves.
    """
    units = left_out.shape[1]
    if units < 2:
        return values[:, None].repeat(DRAWS, axis=1)
    wider = student(units - 1) / NormalDist().inv_cdf((1 + COVERAGE) / 2)
    changes = (left_out - values[:, None]) * wider * math.sqrt((units - 1) / units)
    generator = np.random.Generator(np.random.PCG64(key))
    drawn = np.empty((len(values), DRAWS))
    at_once = max(1, _CHUNK // units)
    for start in range(0, DRAWS, at_once):
        weights = generator.standard_normal((min(at_once, DRAWS - start), units))
        drawn[:, start : start + len(weights)] = changes @ weights.T
    return drawn + values[:, None]


@cache
def student(degrees: int) -> float:
    """Return the quantile of Student's t that ``COVERAGE`` lies within, on both sides of 0."""
    return float(stdtrit(degrees, (1 + COVERAGE) / 2))


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
