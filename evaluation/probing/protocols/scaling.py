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

    A column that is constant in train, up to rounding, becomes 0.

    Args:
        train: float32 [n, d].
        others: float32 [m, d] each.

    Returns:
        Train and the others, float32.
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
    found = []
    for x in (train, *others):
        standard: Floats = np.empty(x.shape, np.float32)
        for start in range(0, len(x), CHUNK):
            own = standard[start : start + CHUNK]
            np.subtract(x[start : start + CHUNK], mean, out=own, casting="same_kind")
            own *= factor
        found.append(standard)
    return found


def deviations(x: Floats, used: Flags) -> Floats:
    """Return the standard deviations of columns in some of the rows.

    Args:
        x: float32 [n, d], each column of mean 0 and of deviation 1 or 0 in all rows.
        used: [k, n], which rows are meant.

    Returns:
        float32 [k, d]; 1 for columns that are about constant in these rows.
    """
    counts = used.sum(axis=1, keepdims=True)
    sums, squares = np.zeros((2, len(used), x.shape[1]))
    for start in range(0, len(x), CHUNK):
        rows, own = x[start : start + CHUNK], used[:, start : start + CHUNK].astype(np.float32)
        sums += own @ rows
        squares += own @ np.square(rows)
    variances = np.maximum(squares / counts - np.square(sums / counts), 0)
    found: Floats = np.sqrt(variances).astype(np.float32)
    found[found < CONSTANT] = 1
    return found


def coherence_features(train: Floats, *others: Floats) -> list[Floats]:
    """Return the cosines of each passage's sentences, and how well the inner ones fit, in order.

    Embeddings are standardised with the mean and deviation of all sentences of train. Features
    are the cosines of the 15 pairs of sentences (0 where an embedding is 0), and for the second to
    the fifth sentence, one of which may have been replaced, the mean cosine with the other five,
    smallest first.

    Args:
        train: embeddings side by side, float32 [n, 6 * d].
        others: float32 [m, 6 * d] each.

    Returns:
        For train and the others, float32 [rows, 19].
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
        own = features[start : start + CHUNK]
        own[:, : len(one)] = cosines[:, one, other]
        cosines[:, range(SENTENCES), range(SENTENCES)] = 0
        own[:, len(one) :] = np.sort(cosines.sum(axis=2)[:, 1:-1], axis=1) / (SENTENCES - 1)
    return features
