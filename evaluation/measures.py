"""Metrics, similarities, and the intervals of scores and of their differences.

Similarity without a probe is the cosine of two embeddings, as SentEval scores STS, or 1 / (1 + l2).
Alignment and uniformity describe vectors whose similarity is a cosine (Wang and Isola 2020,
"Understanding contrastive representation learning through alignment and uniformity on the
hypersphere"): both are better when lower. Wang, Kuo and Li (2022, section 4.4) relate them to
EvalRank. Metrics are accuracy, or correlation with human scores: those of ``scipy.stats``, to the
bit, whose import takes a second.

Intervals are of the jackknife over documents, with Student's t. A score is measured again without
each document in turn; how much these replicates differ gives its standard error (Efron and
Tibshirani 1993, chapter 11). Documents are left out, not rows: rows of one document are not
independent. The jackknife needs no random draws, and does not understate the error if documents are
few, as resampling them does (MacKinnon, Nielsen and Webb 2023). The half-width is the standard
error times Student's t, whose degrees of freedom are one less than the effective number of
documents: of one size, as many as there are; fewer if some have many times the rows of others
(Carter, Schnepel and Steigerwald 2017, "Asymptotic behavior of a t-test robust to cluster
heterogeneity"; their number has a further term, for how much documents differ).

- for an accuracy or another mean of numbers 0 … 1, on the scale of Wilson's interval (1927), so
  that it stays in 0 … 1 and has a width where all predictions are right. Near 0 and 1, the few
  wrong (or right) ones cannot show how much documents differ: ``_PRIOR`` is added for that.
- for a correlation, on the scale of Fisher's z.
- for a difference of two encoders, on that of the difference.
- for a mean over datasets, from the half-widths on each, see ``sum_half_width``.

How often they cover the truth, simulated, is in ``docs/validity.md``: nominally .95, .929 or more.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from scipy.special import stdtrit

from builders.statistics import effective_number, number_documents, pearson, vary
from corpora_recipes.running.executors import CPUS, limit_threads
from evaluation.arrays import Doubles, Flags, Floats, Reals, Values


def one_thread(*libraries: str) -> Any:
    """Return a context in which linear algebra runs on one thread, for the same bits everywhere.

    And faster: processes work in parallel, a small fit on two threads takes many times as long.

    Args:
        libraries: modules that compute within, besides numpy, and have their own BLAS, such as
            "scipy.linalg"; only a library that is loaded can be limited.
    """
    for library in libraries:
        import_module(library)
    return limit_threads(1)


def all_threads() -> Any:
    """Return a context in which an encoder, which states how its vectors depend on it, has all."""
    return limit_threads(CPUS, "blas")


# The precision of float32; unrounded, two pairs of equal texts would not have equal ranks.
DECIMALS = 6
# Vectors that are in memory in float64 at a time.
_BLOCK = 8192
# Of more texts, uniformity is that of the first ones, as rankings are in the order of a keyed hash.
_MAX_UNIFORMITY_TEXTS = 4096


def cosines(first: Floats, second: Floats) -> Doubles:
    """Return the cosine of each row of the first with that row of the second, to ``DECIMALS``.

    Both are float32 [rows, dimension]; the cosines float64 [rows], -1 … 1; 0 where a vector is 0.
    """
    # To length 1 before the product, which could leave the range of numbers.
    products: Doubles = np.einsum("ij,ij->i", _unit(first), _unit(second))
    return products.round(DECIMALS)


def inverse_distances(first: Floats, second: Floats) -> Doubles:
    """Return 1 / (1 + l2) of each row of the first and that row of the second (Wang et al. 2022).

    Both are float32 [rows, dimension]; the result is float64 [rows], above 0 to 1: equal vectors.
    """
    inverse: Doubles = 1 / (1 + np.linalg.norm(first.astype(np.float64) - second, axis=1))
    return inverse


def alignment(first: Floats, second: Floats) -> float | None:
    """Return the mean squared distance of pairs of vectors, each made 1 long: 0 … 4.

    Both are float32 [pairs, dimension]; None if no pair has two vectors other than 0.
    """
    directed = first.any(axis=1) & second.any(axis=1)
    if not directed.any():
        return None
    return float(np.square(_unit(first[directed]) - _unit(second[directed])).sum(axis=1).mean())


def uniformity(vectors: Floats) -> float | None:
    """Return log(mean(exp(-2 d²))) over all pairs of vectors, each made 1 long: -8 … 0.

    d is the distance of two; vectors are float32 [texts, dimension], those of 0 left out. None
    below two of them.
    """
    units = _unit(vectors[vectors.any(axis=1)][:_MAX_UNIFORMITY_TEXTS])
    n_texts = len(units)
    if n_texts < 2:
        return None
    # Of length 1: d² = 2 - 2 cosine. Each vector with itself adds 1.
    exponents = units @ units.T
    exponents -= 1
    exponents *= 4
    total = float(np.exp(exponents, out=exponents).sum()) - n_texts
    return math.log(total / (n_texts * (n_texts - 1)))


def norms_of(vectors: Reals) -> Doubles:
    """Return the lengths of vectors, float64 [n]; those of a file are read in blocks."""
    squares = np.empty(len(vectors))
    for first in range(0, len(vectors), _BLOCK):
        # In float64 no float32's square is too large, or so small that it is lost.
        block = vectors[first : first + _BLOCK].astype(np.float64, copy=False)
        squares[first : first + len(block)] = np.einsum("ij,ij->i", block, block)
    return np.sqrt(squares)


def _unit(vectors: Floats) -> Doubles:
    doubles = vectors.astype(np.float64)
    lengths = np.linalg.norm(doubles, axis=1, keepdims=True)
    units: Doubles = doubles / np.where(lengths > 0, lengths, 1.0)
    return units


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


def spearman(first: Values, second: Values) -> float:
    """Return Spearman's correlation; 0 where one side does not vary."""
    if not vary(first, second):
        return 0.0
    return float(np.corrcoef(average_ranks(first), average_ranks(second))[1, 0])


def average_ranks(values: Values) -> Doubles:
    """Return the ranks of values from 1, float64 [rows]; equal ones share the mean of theirs."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Doubles = np.cumsum(counts) - (counts - 1) / 2
    return ranks[index]


def row_terms(metric: Metric, gold: Values, predicted: Values) -> Doubles:
    """Return what rows add to the sums that ``metric_from_sums`` takes, float64 [rows, terms]."""
    ones = np.ones(len(gold))
    if metric == "accuracy":
        return np.stack([ones, gold == predicted], axis=1)
    x, y = (_standard(side.astype(np.float64)) for side in (gold, predicted))
    return np.stack([ones, x, y, x * x, y * y, x * y], axis=1)


def metric_from_sums(metric: Metric, sums: Doubles) -> Doubles:
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


COVERAGE = 0.95
# Two documents can be alike by chance. With fewer than this in test, rows are left out instead:
# such an interval says nothing of other documents.
MIN_DOCUMENTS = 3
# Rows that are added to a mean's variance as if all rows of a document were alike: four, as Agresti
# and Coull (1998, "Approximate is better than exact") add to a proportion.
_PRIOR = 4
# The largest correlation that has a finite z.
_MAX_CORRELATION = 1 - 1e-9


def leave_out(
    metric: Metric, gold: Values, predictions: Values, documents: Values, used: Flags | None = None
) -> Doubles:
    """Return the metric without each document in turn.

    Args:
        metric: which.
        gold: class numbers or scores, [rows].
        predictions: of several encoders, layers or starts, [sets, rows].
        documents: ids of the documents, [rows].
        used: whether a row counts, [rows]; None if all do.

    Returns:
        float64 [sets, units]: a unit is a document, or a row of fewer than ``MIN_DOCUMENTS``.
    """
    weights = np.ones(len(gold)) if used is None else used
    rows = (row_terms(metric, gold, predicted) * weights[:, None] for predicted in predictions)
    return _leave_each_out(metric, rows, documents)


def leave_out_means(values: Doubles, documents: Values) -> Doubles:
    """Return the mean of values [sets, rows] without each document in turn, as ``leave_out``."""
    rows = (np.stack([np.ones_like(of_set), of_set], axis=1) for of_set in values)
    return _leave_each_out("accuracy", rows, documents)


def unit_ids(documents: Values, rows: Values) -> Values:
    """Return the ids of the units of ``leave_out``, in its order: of documents, or of the rows."""
    names, _ = number_documents(documents)
    return names if len(names) >= MIN_DOCUMENTS else rows


def effective_units(documents: Values) -> float:
    """Return the effective number of units, 1 or more: of one size, as many as there are.

    ``documents`` has the ids, [rows]; a unit is as in ``leave_out``.
    """
    return effective_number(np.bincount(_units(documents).ravel()))


def jackknife_half_width(
    value: float, replicates: Doubles, units: float, n_pairs: int = 1
) -> float:
    """Return half the width of an interval around a value: Student's t times the standard error.

    Args:
        value: a score or a difference of scores.
        replicates: the same without each unit in turn, [units]. For a single one the width is
            infinite.
        units: their effective number.
        n_pairs: number of differences that their intervals cover together, see ``student``.
    """
    n_units = len(replicates)
    if n_units < 2:
        return math.inf
    # Around the value, not the mean of the replicates: never the smaller one.
    squares = float(np.square(replicates - value).sum())
    return student(units - 1, n_pairs) * math.sqrt((n_units - 1) / n_units * squares)


def sum_half_width(
    half_widths: Sequence[float], deviations: Sequence[Doubles], units: Sequence[Values]
) -> float:
    """Return half the width of an interval around the sum of values on datasets that share units.

    It is √(Σ r h h'), over all pairs of half-widths, where r is the correlation of the two values
    (Zou 2007, "Toward using confidence intervals to compare correlations"), by the jackknife: 0 if
    they share no unit; without each unit in turn, all values that it is in are measured again.

    Args:
        half_widths: of the values.
        deviations: of each value, what it is less without each unit in turn, float64 [units].
        units: of each value, the numbers of these units, which are the same in all datasets.
    """
    shares = []
    for half_width, of_value in zip(half_widths, deviations, strict=True):
        norm = float(np.linalg.norm(of_value))
        # A value that does not vary, or of a single unit, is taken as independent.
        shares.append(half_width / norm * of_value if norm > 0 else np.zeros(len(of_value)))
    numbers, weights = np.concatenate(units), np.concatenate(shares)
    # What is in a single dataset cancels to the bit.
    covariances = np.bincount(numbers, weights) ** 2 - np.bincount(numbers, weights**2)
    return math.sqrt(max(0.0, float(np.square(half_widths).sum() + covariances.sum())))


def score_interval(
    metric: Metric, value: float, replicates: Doubles, documents: Values
) -> tuple[float, float]:
    """Return the ends of the interval of a score that covers ``COVERAGE``.

    The metric is "pearson", or "accuracy" for any mean of numbers 0 … 1; ``replicates`` has the
    score without each unit in turn, [units], ``documents`` the ids of the documents, [rows]. The
    interval of a single unit is the metric's whole range.
    """
    units, n_rows = effective_units(documents), len(documents)
    if metric == "pearson":
        z = math.atanh(_inside(value))
        half_width = jackknife_half_width(z, np.arctanh(_inside(replicates)), units)
        low, high = math.tanh(z - half_width), math.tanh(z + half_width)
    elif len(replicates) < 2:
        low, high = 0.0, 1.0
    else:
        # Wilson's interval: p whose squared distance to the value is ``ratio`` times p (1 - p).
        spread, prior = value * (1 - value), student(units - 1) ** 2 / units
        ratio = (n_rows * jackknife_half_width(value, replicates, units) ** 2 + _PRIOR * prior) / (
            n_rows * spread + _PRIOR
        )
        middle, half = value + ratio / 2, math.sqrt(ratio * spread + ratio**2 / 4)
        low, high = (middle - half) / (1 + ratio), (middle + half) / (1 + ratio)
    # In spite of rounding the score is within, and 1 not exceeded.
    return min(low, value), min(max(high, value), 1.0)


@cache
def student(degrees: float, n_pairs: int = 1) -> float:
    """Return the quantile of Student's t that ``COVERAGE`` lies within, on both sides of 0.

    Of several pairs, all intervals cover together: by Bonferroni's inequality (Dunn 1961, "Multiple
    comparisons among means", section 2).
    """
    return float(stdtrit(degrees, 1 - (1 - COVERAGE) / (2 * n_pairs)))


def _inside(correlations: Values | float) -> Doubles:
    inside: Doubles = np.clip(correlations, -_MAX_CORRELATION, _MAX_CORRELATION)
    return inside


def _units(documents: Values) -> Values:
    """Return the numbers of each row's units, int [rows, 1 or 2]."""
    names, numbers = number_documents(documents)
    return numbers if len(names) >= MIN_DOCUMENTS else np.arange(len(documents))[:, None]


def _leave_each_out(metric: Metric, rows: Iterable[Doubles], documents: Values) -> Doubles:
    """Return the metric without each unit, [sets, units], given the terms of sets' rows."""
    units = _units(documents)
    each, results = units.shape[1], []
    for terms in rows:
        sums = [np.bincount(units.ravel(), np.repeat(term, each)) for term in terms.T]
        unit_sums = np.stack(sums, axis=1)
        without: Doubles = unit_sums.sum(axis=0) / each - unit_sums
        alone = len(without) < 2
        results.append(
            np.full(len(without), np.nan) if alone else metric_from_sums(metric, without)
        )
    return np.stack(results)
