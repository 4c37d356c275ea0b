"""Pearson's correlation, standard errors, and the differences that a test detects."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from corpora_recipes.records import TWO_DOCUMENTS

Doubles = np.ndarray[Any, np.dtype[np.float64]]
Values = np.ndarray[Any, np.dtype[Any]]


def pearson(first: Values, second: Values) -> float:
    """Return Pearson's correlation of two [rows]; 0 where one side does not vary, or is empty."""
    if not vary(first, second):
        return 0.0
    correlation = np.clip(np.vecdot(_direction(first), _direction(second)), -1, 1)
    # Of two rows it is 1 or -1, up to rounding.
    return float(correlation.round() if len(first) == 2 else correlation)


def vary(*arrays: Values) -> bool:
    """Return whether each of some arrays has two different values."""
    return all(len(values) > 0 and values.min() < values.max() for values in arrays)


def _direction(values: Values) -> Doubles:
    """Return the differences from the mean as a vector of length 1; no square overflows."""
    centred = values.astype(np.float64) - values.mean(dtype=np.float64)
    largest = np.abs(centred).max()
    direction: Doubles = centred / (largest * np.sqrt(np.square(centred / largest).sum()))
    return direction


# A value beyond its limit by up to so many standard errors may be so by chance: with two, several
# of the hundreds that are measured at once would miss.
ERRORS = 3


def correlation_error(correlation: float, rows: int) -> float:
    """Return the standard error of Pearson's correlation (-1 … 1) on that many rows.

    By (1 - r²) / √(n - 1), the large-sample form for normally distributed values; 1 for one row.
    """
    return (1 - correlation**2) / math.sqrt(max(1, rows - 1))


def standard_error(accuracy: float, rows: int) -> float:
    """Return the binomial standard error of an accuracy (0 … 1) on that many rows (1 or more)."""
    return math.sqrt(accuracy * (1 - accuracy) / rows)


# With fewer documents, two that are alike by chance decide how much they differ.
FEWEST_DOCUMENTS = 3
# The chance that a difference is seen, and the chance that one is seen that there is not.
POWER, SIGNIFICANCE = 0.8, 0.05


def detectable_difference(
    shares: Sequence[Doubles], documents: Sequence[str] | None, largest: float = 1.0
) -> float:
    """Return the difference of two scores that a test shows with ``POWER``, two-sided.

    It is the standard error of a difference, times the sum of the quantiles of Student's t for
    significance and power (Bloom 1995, "Minimum detectable effects", Evaluation Review 19). How
    often two encoders disagree, and on the same documents, is taken from baselines: the median over
    all pairs of these. A document on which they disagree is added (as Agresti and Min 2005, "Simple
    improved confidence intervals for comparing matched proportions", add a row): in a small test a
    pair may agree by chance.

    Args:
        shares: of two baselines or more what each row adds to the score, which is the mean: 1 for a
            right answer, or ``correlation_shares``; [rows].
        documents: ids, [rows]; None if they are unknown: then each row is one.
        largest: the largest difference that scores can have, which is returned for one document.
    """
    from scipy.special import stdtrit

    _, units = number_documents(np.array(documents or range(len(shares[0]))))
    degrees = effective_number(np.bincount(units.ravel())) - 1
    if not degrees:
        return largest
    errors = [_mean_error(first - second, units) for first, second in combinations(shares, 2)]
    quantiles = stdtrit(degrees, 1 - SIGNIFICANCE / 2) + stdtrit(degrees, POWER)
    return min(largest, float(quantiles * np.median(errors)))


def half_width(shares: Doubles, documents: Sequence[str] | None, n_tried: int = 1) -> float:
    """Return half the width of the 95 % interval of the mean of shares, of 1 at most.

    With fewer than ``FEWEST_DOCUMENTS``, rows are taken as independent.

    Args:
        shares, documents: see ``detectable_difference``; shares of one score, [rows].
        n_tried: number of scores of which this one is the highest: their intervals cover together
            (Bonferroni).
    """
    from scipy.special import stdtrit

    few = documents is None or len({*documents}) < FEWEST_DOCUMENTS
    _, units = number_documents(np.array(range(len(shares)) if few else documents))
    degrees = effective_number(np.bincount(units.ravel())) - 1
    if not degrees:
        return 1.0
    quantile = stdtrit(degrees, 1 - SIGNIFICANCE / (2 * n_tried))
    return min(1.0, float(quantile * _mean_error(shares, units)))


def _mean_error(shares: Doubles, units: Values) -> float:
    """Return the standard error of the mean of shares [rows], with a document of ones added."""
    sizes = np.bincount(units.ravel())
    sums = np.bincount(units.ravel(), np.repeat(shares, units.shape[1])) - sizes * np.mean(shares)
    square_sum = np.square(sums).sum() + sizes.mean() ** 2
    return math.sqrt(square_sum * len(sizes) / (len(sizes) - 1)) / len(shares)


def number_documents(documents: Values) -> tuple[Values, Values]:
    """Return the ids of documents, in order, and the numbers of each row's, [rows, 1 or 2].

    A row of two (``TWO_DOCUMENTS``) is left out with either: the mean over rows is a U-statistic of
    two documents, whose jackknife this is (Arvesen 1969, "Jackknifing U-statistics").
    """
    if len(documents) and TWO_DOCUMENTS in str(documents[0]):
        documents = np.array([str(both).split(TWO_DOCUMENTS) for both in documents])
    names, numbers = np.unique(documents, return_inverse=True)
    return names, numbers.reshape(len(documents), -1)


def name_clusters(clusters: Values, y: Values) -> Values:
    """Return the most frequent class in the cluster of each row, of several the first, [rows]."""
    classes, numbers = np.unique(y, return_inverse=True)
    counts = np.zeros((clusters.max() + 1, len(classes)), np.int64)
    np.add.at(counts, (clusters, numbers), 1)
    named: Values = classes[counts.argmax(axis=1)][clusters]
    return named


def correlation_shares(first: Values, second: Values) -> Doubles:
    """Return what each row adds to Pearson's correlation, [rows], up to a constant.

    The influence function (Devlin, Gnanadesikan and Kettenring 1975, "Robust estimation and outlier
    detection with correlation coefficients", equation 2.5); 0 where there is no correlation.
    """
    if not vary(first, second):
        return np.zeros(len(first))
    x, y = (_direction(values) * math.sqrt(len(values)) for values in (first, second))
    shares: Doubles = x * y - pearson(first, second) * (x**2 + y**2) / 2
    return shares


def effective_number(sizes: Values) -> float:
    """Return the number of documents of one size that tell as much as documents of these sizes.

    It is (Σ n)² / Σ n², 1 or more, for documents of n rows each, [documents] (Kish 1965, "Survey
    sampling", section 8.2).
    """
    return float(sizes.sum() ** 2 / np.square(sizes).sum())
