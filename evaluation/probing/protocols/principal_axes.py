"""The principal axes of features: all of them, or about the longest ones."""

import numpy as np

from evaluation.arrays import Floats

# Of more than so many rows and features, all axes would take too long.
SMALL = 1536
# How many of the longest axes are found then; rows that they are found from, and passes over these.
AXES = 128
ROWS = 8192
PASSES = 2
# As a share of a matrix's trace, what float32 may take from its eigenvalues.
ROUNDING = 1e-6


def is_small(x: Floats) -> bool:
    """Return whether all axes of features [n, d] are found in a short time."""
    rows, features = x.shape
    return bool(min(rows, features) <= SMALL)


def all_axes(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return all axes along which rows [n, d] differ, of length 1, [d, r].

    With the mean square of the rows along each [r], and the rows along them [n, r]. Each column is
    of mean 0, or nearly.
    """
    from scipy.linalg import eigh

    wide = len(x) < x.shape[1]
    products = x @ x.T if wide else x.T @ x
    values, vectors = eigh(products, driver="evd", overwrite_a=True, check_finite=False)
    kept = values > ROUNDING * values.sum()
    values, vectors = values[kept], vectors[:, kept]
    if not wide:
        return vectors, values / len(x), x @ vectors
    lengths = np.sqrt(values)
    return x.T @ (vectors / lengths), values / len(x), vectors * lengths


def longest_axes(x: Floats) -> tuple[Floats, Floats, float]:
    """Return about the longest axes of rows [n, d], and the mean squares along them: [d, r], [r].

    By orthogonal iteration that begins with some rows (Halko, Martinsson and Tropp 2011, "Finding
    structure with randomness", algorithm 4.4). Third is the mean square over the directions that
    are perpendicular to all of them. Each column is of mean 0, or nearly.
    """
    from scipy.linalg import qr

    rows = x[:: -(-len(x) // ROWS)]
    axes = rows[:: -(-len(rows) // AXES)].T
    for _ in range(PASSES):
        axes, _ = qr(axes, mode="economic", check_finite=False)
        axes = rows.T @ (rows @ axes)
    axes, _ = qr(axes, mode="economic", check_finite=False)
    along = rows @ axes
    squares = np.einsum("ij,ij->j", along, along) / len(rows)
    rest = np.einsum("ij,ij->", rows, rows) / len(rows) - squares.sum()
    return axes, squares, float(max(rest, 0) / max(x.shape[1] - axes.shape[1], 1))
