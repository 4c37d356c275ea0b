"""Features brought to mean 0 and deviation 1."""

import numpy as np

from evaluation.arrays import Floats

# Deviations up to this share of a column's largest number are float32's rounding (2^-24, of numbers
# that were themselves computed).
ROUNDING = 1e-6
CHUNK = 4096
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
    found = []
    for x in (train, *others):
        standard: Floats = np.empty(x.shape, np.float32)
        for start in range(0, len(x), CHUNK):
            rest = x[start : start + CHUNK] - mean
            np.divide(rest, scale, out=standard[start : start + CHUNK], casting="same_kind")
        found.append(standard)
    return found
