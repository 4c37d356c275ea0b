"""The bootstrap over the test's documents: one set of draws for all that is compared on a dataset.

Documents are drawn, not rows: rows of one document are not independent (Efron and Tibshirani 1993,
chapter 8). With one row a document it is the usual bootstrap. The draws depend on the documents and
a key alone, so that two encoders, two layers or two random starts are measured on the same draws:
the difference of their resampled metrics is the paired bootstrap.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from corpora_recipes.hashing import keyed_hash
from evaluation.arrays import Doubles, Values
from evaluation.measures.metrics import Metric, metric_of, terms

# Efron and Tibshirani 1993, chapter 13: a percentile interval wants 1,000 resamples or more.
RESAMPLES = 2000
COVERAGE = 0.95
# With fewer documents than this in test, resampling them alone gives intervals that are too narrow.
# Cameron, Gelbach and Miller 2008 see few clusters go wrong at 5 to 30; where to draw the line
# between, and the remedy in ``resample``, are ours.
FEW_DOCUMENTS = 20
# Numbers of a matrix of draws that is in memory at a time.
_CHUNK = 2_000_000


def bootstrap_key(seed: int, dataset: str) -> int:
    """Return the seed of a dataset's draws, the same for all encoders and layers."""
    return keyed_hash(seed, dataset, "bootstrap")


def resample(
    metric: Metric, gold: Values, predictions: Values, documents: Values, key: int
) -> Doubles:
    """Return the metric of predictions in ``RESAMPLES`` draws of the rows.

    Few documents cannot show how much documents differ, and two that are alike by chance give an
    interval of no width (on few clusters: Cameron, Gelbach and Miller 2008). Below
    ``FEW_DOCUMENTS`` rows are drawn as well, and ``interval`` takes the wider one of the two at
    either end. That covers as it should where documents are alike. Where they differ much it still
    covers too little, and with one document it says nothing of others.

    Args:
        metric: which.
        gold: correct answers, [rows].
        predictions: of several encoders, layers or starts, [sets, rows].
        documents: ids of the documents, [rows].
        key: seed of the draws.

    Returns:
        float64 [2, sets, RESAMPLES]: from draws of documents, and of rows if the documents are few,
        else of documents again.
    """
    of_rows = np.concatenate([terms(metric, gold, own) for own in predictions], axis=1)
    return _resample(partial(metric_of, metric), of_rows, len(predictions), documents, key)


def resample_means(values: Doubles, documents: Values, key: int) -> Doubles:
    """Return the mean of values in ``RESAMPLES`` draws of the rows, as ``resample`` draws them.

    Args:
        values: float64 [rows], or [sets, rows] for means in the same draws; one row or more.
        documents: ids of the documents, [rows].
        key: seed of the draws.

    Returns:
        float64 [2, RESAMPLES], for ``interval``, or [2, sets, RESAMPLES].
    """
    sets = np.atleast_2d(values)
    of_rows = np.stack([np.ones_like(sets), sets], axis=1).reshape(-1, sets.shape[1]).T
    found = _resample(_mean, of_rows, len(sets), documents, key)
    return found.reshape(2, *values.shape[:-1], RESAMPLES)


def interval(resampled: Doubles) -> tuple[float, float]:
    """Return the ends of the percentile interval that covers ``COVERAGE``.

    Args:
        resampled: float64 [2, RESAMPLES], one of the sets of ``resample``, or a mean or a
            difference of some; each end is the wider one of the two draws'.
    """
    low, high = np.quantile(resampled, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2], axis=1)
    return float(low.min()), float(high.max())


def _mean(sums: Doubles) -> Doubles:
    means: Doubles = sums[:, 1] / sums[:, 0]
    return means


def _resample(
    metric: Callable[[Doubles], Doubles], of_rows: Doubles, sets: int, documents: Values, key: int
) -> Doubles:
    """Return the metric of each set in all draws, float64 [2, sets, RESAMPLES].

    Args:
        metric: of sums of terms, [draws, terms], to float64 [draws].
        of_rows: each row's terms, those of all sets side by side.
        sets: their number.
        documents: ids of the documents, [rows].
        key: seed of the draws.
    """
    names, unit = np.unique(documents, return_inverse=True)
    of_documents = np.zeros((len(names), of_rows.shape[1]))
    np.add.at(of_documents, unit, of_rows)
    by_documents = _draw(metric, of_documents, sets, key)
    few = len(names) < FEW_DOCUMENTS
    return np.stack([by_documents, _draw(metric, of_rows, sets, key) if few else by_documents])


def _draw(metric: Callable[[Doubles], Doubles], of_units: Doubles, sets: int, key: int) -> Doubles:
    """Return the metric of each set, float64 [sets, RESAMPLES], given each unit's sums of terms."""
    generator = np.random.Generator(np.random.PCG64(key))
    units = len(of_units)
    at_once = max(1, _CHUNK // units)
    found = np.empty((sets, RESAMPLES))
    for start in range(0, RESAMPLES, at_once):
        draws = min(at_once, RESAMPLES - start)
        drawn = generator.integers(units, size=(draws, units))
        drawn += np.arange(draws)[:, None] * units
        times = np.bincount(drawn.ravel(), minlength=draws * units).reshape(draws, units)
        sums = (times.astype(np.float64) @ of_units).reshape(draws, sets, -1)
        for own in range(sets):
            found[own, start : start + draws] = metric(sums[:, own])
    return found
