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

Nominally coverage is .95. Simulated (500 times four encoders, so that a share is certain to .01,
``tests/bench/bench_intervals.py``), rows are one per document, or ten: independent, or with an
intraclass correlation of .3, where all encoders find the same documents hard (alike), or each its
own ones (differ); or documents of log-normal sizes differ in that way (sizes).

                       coverage of accuracy  and r
    documents  rows      .5    .7    .9   .98    .5    .9
            8  1         0.992 0.989 0.964 0.988 0.960 0.957
            8  10        1.000 1.000 1.000 1.000 0.952 0.953
            8  10 alike  0.990 0.994 0.990 0.982 0.961 0.953
            8  10 differ 0.990 0.994 0.993 0.988 0.962 0.952
            8  sizes     0.999 0.998 0.997 0.995 0.981 0.980
           20  1         0.957 0.977 0.955 0.942 0.952 0.950
           20  10        0.994 0.996 0.998 0.999 0.951 0.945
           20  10 alike  0.974 0.973 0.973 0.984 0.957 0.957
           20  10 differ 0.972 0.974 0.988 0.981 0.963 0.952
           20  sizes     0.987 0.989 0.992 0.988 0.962 0.967
           60  1         0.943 0.967 0.946 0.973 0.948 0.957
           60  10        0.974 0.974 0.985 0.997 0.951 0.952
           60  10 alike  0.961 0.960 0.957 0.973 0.952 0.944
           60  10 differ 0.969 0.949 0.962 0.981 0.955 0.946
           60  sizes     0.953 0.959 0.983 0.984 0.954 0.951
          200  1         0.939 0.948 0.960 0.929 0.950 0.952
          200  10        0.961 0.958 0.965 0.992 0.958 0.945
          200  10 alike  0.957 0.967 0.946 0.969 0.952 0.946
          200  10 differ 0.956 0.948 0.960 0.969 0.956 0.947
          200  sizes     0.950 0.948 0.946 0.985 0.949 0.951
          600  1         0.963 0.952 0.954 0.946 0.944 0.958
          600  10        0.952 0.948 0.963 0.976 0.949 0.955
          600  10 alike  0.956 0.950 0.942 0.959 0.948 0.946
          600  10 differ 0.947 0.952 0.957 0.958 0.952 0.954
          600  sizes     0.955 0.952 0.945 0.948 0.950 0.948

Of 2, 6 or 20 encoders with the same true accuracy, how often one is called worse than the best, and
in brackets without the correction for their number (``student``); a share is certain to .02:

                       accuracy .5                            .9
    documents  rows      2         6           20             2         6           20
            8  1         .044 (.04) .042 (.38) .066 (.92) .006 (.01) .000 (.02) .000 (.09)
            8  10        .044 (.04) .036 (.36) .014 (.87) .058 (.06) .028 (.39) .022 (.93)
            8  10 alike  .052 (.05) .042 (.32) .030 (.84) .018 (.02) .000 (.17) .000 (.47)
            8  10 differ .052 (.05) .044 (.35) .028 (.90) .012 (.01) .000 (.22) .000 (.78)
            8  sizes     .038 (.04) .014 (.26) .004 (.72) .010 (.01) .000 (.10) .000 (.36)
           20  1         .050 (.05) .026 (.36) .038 (.92) .038 (.04) .004 (.34) .000 (.91)
           20  10        .074 (.07) .040 (.33) .032 (.91) .054 (.05) .036 (.35) .030 (.92)
           20  10 alike  .030 (.03) .046 (.36) .024 (.89) .048 (.05) .008 (.31) .000 (.81)
           20  10 differ .058 (.06) .034 (.39) .046 (.92) .046 (.05) .012 (.31) .002 (.90)
           20  sizes     .070 (.07) .032 (.35) .018 (.81) .024 (.02) .006 (.19) .000 (.70)
           60  1         .026 (.03) .042 (.38) .038 (.92) .040 (.04) .020 (.30) .004 (.87)
           60  10        .034 (.03) .040 (.41) .022 (.89) .066 (.07) .044 (.38) .042 (.93)
           60  10 alike  .052 (.05) .046 (.36) .024 (.91) .032 (.03) .022 (.33) .014 (.90)
           60  10 differ .054 (.05) .040 (.37) .034 (.91) .054 (.05) .034 (.38) .016 (.93)
           60  sizes     .060 (.06) .040 (.37) .044 (.87) .042 (.04) .006 (.27) .004 (.85)
          200  1         .044 (.04) .042 (.32) .036 (.91) .068 (.07) .034 (.36) .020 (.91)
          200  10        .040 (.04) .042 (.35) .036 (.90) .058 (.06) .044 (.35) .034 (.93)
          200  10 alike  .048 (.05) .038 (.38) .024 (.91) .050 (.05) .034 (.37) .026 (.91)
          200  10 differ .054 (.05) .044 (.40) .034 (.92) .030 (.03) .036 (.38) .022 (.92)
          200  sizes     .060 (.06) .052 (.37) .026 (.87) .048 (.05) .028 (.34) .020 (.88)
          600  1         .052 (.05) .028 (.34) .028 (.94) .072 (.07) .032 (.37) .026 (.91)
          600  10        .042 (.04) .042 (.37) .028 (.91) .064 (.06) .040 (.39) .026 (.93)
          600  10 alike  .058 (.06) .024 (.36) .044 (.91) .056 (.06) .044 (.40) .032 (.91)
          600  10 differ .032 (.03) .040 (.37) .042 (.89) .046 (.05) .024 (.37) .020 (.93)
          600  sizes     .050 (.05) .038 (.34) .030 (.92) .054 (.05) .034 (.35) .032 (.92)
"""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from scipy.special import stdtrit

from builders.auditing.statistics import effective_number
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


def reach(value: float, left_out: Doubles, units: float, pairs: int = 1) -> float:
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
        far = reach(z, np.arctanh(_inside(left_out)), units)
        low, high = math.tanh(z - far), math.tanh(z + far)
    elif len(left_out) < 2:
        low, high = 0.0, 1.0
    else:
        # Wilson's interval: p whose squared distance to the value is ``ratio`` times p (1 - p).
        spread, most = value * (1 - value), student(units - 1) ** 2 / units
        ratio = (rows * reach(value, left_out, units) ** 2 + _PRIOR * most) / (
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
