"""Features at mean 0 and deviation 1, and how well the sentences of a passage go together."""

from itertools import combinations

import numpy as np

from builders.tasks.discourse_coherence import COUNT as SENTENCES
from evaluation.arrays import Flags, Floats

# Deviations up to this share of a column's largest number are float32's rounding (2^-24, of numbers
# that were themselves computed).
ROUNDING = 1e-6
# A deviation up to this share of that in all rows is about none.
CONSTANT = 1e-3
CHUNK = 256
"""Rows that are in memory in float64 at one time."""


def standardised(train: Floats, *others: Floats) -> list[Floats]:
    """Return features less the mean of train, divided by its standard deviation, by column.

    All are float32 [rows, d]. A column that is constant in train, up to rounding, becomes 0.
    """
    mean = train.sum(axis=0, dtype=np.float64) / len(train)
    squares = np.zeros_like(mean)
    for start in range(0, len(train), CHUNK):
        rest = train[start : start + CHUNK] - mean
        squares += np.einsum("ij,ij->j", rest, rest)
    scale = np.sqrt(squares / len(train))
    largest = np.maximum(train.max(axis=0), -train.min(axis=0))
    scale[scale <= ROUNDING * largest] = np.inf
    factor = (1 / scale).astype(np.float32)
    results = []
    for x in (train, *others):
        standard: Floats = np.empty(x.shape, np.float32)
        for start in range(0, len(x), CHUNK):
            rows = standard[start : start + CHUNK]
            np.subtract(x[start : start + CHUNK], mean, out=rows, casting="same_kind")
            rows *= factor
        results.append(standard)
    return results


def deviations(x: Floats, used: Flags) -> Floats:
    """Return the standard deviations of columns in the ``used`` rows [k, n], float32 [k, d].

    In all rows each column of x [n, d] is of mean 0 and of deviation 1 or 0. Columns that are about
    constant in the used rows have 1.
    """
    counts = used.sum(axis=1, keepdims=True)
    sums, squares = np.zeros((2, len(used), x.shape[1]))
    for start in range(0, len(x), CHUNK):
        rows, flags = x[start : start + CHUNK], used[:, start : start + CHUNK].astype(np.float32)
        sums += flags @ rows
        squares += flags @ np.square(rows)
    variances = np.maximum(squares / counts - np.square(sums / counts), 0)
    roots: Floats = np.sqrt(variances).astype(np.float32)
    roots[roots < CONSTANT] = 1
    return roots


def coherence_features(train: Floats, *others: Floats) -> list[Floats]:
    """Return the cosines of each passage's sentences, and how well the inner ones fit, in order.

    Embeddings are standardised with the mean and deviation of all sentences of train. Features
    are the cosines of the 15 pairs of sentences (0 where an embedding is 0), and for the second to
    the fifth sentence, one of which may have been replaced, the mean cosine with the other five,
    smallest first. Embeddings are side by side, float32 [rows, 6 * d]; features [rows, 19].
    """
    parts = (x.reshape(SENTENCES * len(x), -1) for x in (train, *others))
    return [_fit(x.reshape(-1, SENTENCES, x.shape[1])) for x in standardised(*parts)]


def _fit(x: Floats) -> Floats:
    """Return the features of standardised embeddings [rows, 6, d]."""
    one, other = np.array(list(combinations(range(SENTENCES), 2))).T
    features: Floats = np.empty((len(x), len(one) + SENTENCES - 2), np.float32)
    for start in range(0, len(x), CHUNK):
        rows = x[start : start + CHUNK]
        lengths = np.linalg.norm(rows, axis=2, keepdims=True)
        units = rows / np.where(lengths > 0, lengths, 1)
        cosines = units @ units.transpose(0, 2, 1)
        cosines_of_rows, fits_of_rows = np.split(
            features[start : start + CHUNK], [len(one)], axis=1
        )
        cosines_of_rows[:] = cosines[:, one, other]
        cosines[:, range(SENTENCES), range(SENTENCES)] = 0
        fits_of_rows[:] = np.sort(cosines.sum(axis=2)[:, 1:-1], axis=1) / (SENTENCES - 1)
    return features
