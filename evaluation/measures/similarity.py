"""Similarity without a probe: the cosine of two embeddings, as SentEval scores STS; or 1/(1+l2)."""

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

# float32 tells no more; unrounded, two pairs of equal texts would not have equal ranks.
DECIMALS = 6


def cosines(one: Floats, other: Floats) -> Doubles:
    """Return the cosine of each row of one with that row of the other, to ``DECIMALS``.

    Args:
        one: float32 [rows, dimension].
        other: the same.

    Returns:
        float64 [rows], -1 … 1; 0 where a vector is 0.
    """
    # To length 1 before the product, which could leave the range of numbers.
    found: Doubles = np.einsum("ij,ij->i", _unit(one), _unit(other))
    return found.round(DECIMALS)


def inverse_distances(one: Floats, other: Floats) -> Doubles:
    """Return 1 / (1 + l2) of each row of one and that row of the other (Wang et al. 2022).

    Args:
        one: float32 [rows, dimension].
        other: the same.

    Returns:
        float64 [rows], above 0 to 1, which equal vectors have.
    """
    distances = np.linalg.norm(one.astype(np.float64) - other, axis=1)
    found: Doubles = 1 / (1 + distances)
    return found


def _unit(vectors: Floats) -> Doubles:
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    units: Doubles = wide / np.where(lengths > 0, lengths, 1.0)
    return units
