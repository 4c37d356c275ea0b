"""Standard errors of accuracies and correlations, and how many of them are chance."""

import math

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
