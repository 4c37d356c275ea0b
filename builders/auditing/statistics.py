"""Pearson's correlation, standard errors, and how many of them are chance."""

import math
from typing import Any

import numpy as np

Doubles = np.ndarray[Any, np.dtype[np.float64]]
Values = np.ndarray[Any, np.dtype[Any]]


def pearson(one: Values, other: Values) -> float:
    """Return Pearson's correlation of two [rows]; 0 where one side does not vary, or is empty."""
    if not vary(one, other):
        return 0.0
    found = np.clip(np.vecdot(_direction(one), _direction(other)), -1, 1)
    # Of two rows it is 1 or -1, up to rounding.
    return float(found.round() if len(one) == 2 else found)


def vary(*sides: Values) -> bool:
    """Return whether each of some arrays has two different values."""
    return all(len(side) > 0 and side.min() < side.max() for side in sides)


def _direction(side: Values) -> Doubles:
    """Return the differences from the mean as a vector of length 1; no square overflows."""
    centred = side.astype(np.float64) - side.mean(dtype=np.float64)
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
