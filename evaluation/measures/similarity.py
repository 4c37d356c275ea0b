"""Similarity without a probe: the cosine of two embeddings, as SentEval scores STS; or 1/(1+l2).

And what says something of vectors whose similarity is a cosine (Wang and Isola 2020, "Understanding
contrastive representation learning through alignment and uniformity on the hypersphere"): both are
better when lower. Wang, Kuo and Li (2022, section 4.4) relate them to EvalRank.
"""

import math

import numpy as np

from evaluation.arrays import Doubles, Floats, Reals

# The precision of float32; unrounded, two pairs of equal texts would not have equal ranks.
DECIMALS = 6
# Vectors that are in memory in float64 at a time.
_BLOCK = 8192
# The texts that uniformity is of: of more, the first, as rankings are in the order of a keyed hash.
_UNIFORM = 4096


def cosines(one: Floats, other: Floats) -> Doubles:
    """Return the cosine of each row of one with that row of the other, to ``DECIMALS``.

    Both are float32 [rows, dimension]; the cosines float64 [rows], -1 … 1; 0 where a vector is 0.
    """
    # To length 1 before the product, which could leave the range of numbers.
    products: Doubles = np.einsum("ij,ij->i", _unit(one), _unit(other))
    return products.round(DECIMALS)


def inverse_distances(one: Floats, other: Floats) -> Doubles:
    """Return 1 / (1 + l2) of each row of one and that row of the other (Wang et al. 2022).

    Both are float32 [rows, dimension]; the result is float64 [rows], above 0 to 1: equal vectors.
    """
    inverse: Doubles = 1 / (1 + np.linalg.norm(one.astype(np.float64) - other, axis=1))
    return inverse


def alignment(one: Floats, other: Floats) -> float | None:
    """Return the mean squared distance of pairs of vectors, each made 1 long: 0 … 4.

    Both are float32 [pairs, dimension]; None if no pair has two vectors other than 0.
    """
    known = one.any(axis=1) & other.any(axis=1)
    if not known.any():
        return None
    return float(np.square(_unit(one[known]) - _unit(other[known])).sum(axis=1).mean())


def uniformity(vectors: Floats) -> float | None:
    """Return log(mean(exp(-2 d²))) over all pairs of vectors, each made 1 long: -8 … 0.

    d is the distance of two; vectors are float32 [texts, dimension], those of 0 left out. None
    below two of them.
    """
    units = _unit(vectors[vectors.any(axis=1)][:_UNIFORM])
    count = len(units)
    if count < 2:
        return None
    # Of length 1: d² = 2 - 2 cosine. Each vector with itself adds 1.
    terms = units @ units.T
    terms -= 1
    terms *= 4
    total = float(np.exp(terms, out=terms).sum()) - count
    return math.log(total / (count * (count - 1)))


def norms_of(vectors: Reals) -> Doubles:
    """Return the lengths of vectors, float64 [n]; those of a file are read in blocks."""
    squares = np.empty(len(vectors))
    for first in range(0, len(vectors), _BLOCK):
        # In float64 no float32's square is too large, or so small that it is lost.
        block = vectors[first : first + _BLOCK].astype(np.float64, copy=False)
        squares[first : first + len(block)] = np.einsum("ij,ij->i", block, block)
    return np.sqrt(squares)


def _unit(vectors: Floats) -> Doubles:
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    units: Doubles = wide / np.where(lengths > 0, lengths, 1.0)
    return units
