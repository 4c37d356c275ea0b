"""Features brought to mean 0 and deviation 1."""

import numpy as np

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
