"""An encoder for rehearsals: the mean of random word vectors, in 768 dimensions.

Cheap, and like those of real models in what a probe meets: correlated dimensions whose variances
fall from the first to the last principal component, and an offset that all texts share.
"""

from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np
from scipy.sparse import csr_matrix

from evaluation.arrays import Floats

DIMENSION = 768
# Words share a vector with those of the same hash.
ROWS = 2**14


def encode(texts: Sequence[str]) -> Floats:
    """Return the vectors of texts, float32 [texts, 768]."""
    words = [text.lower().split() for text in texts]
    lengths = np.array([len(text_words) for text_words in words])
    stripped = (word.strip(".,;:¿?¡!\"'()") for text_words in words for word in text_words)
    columns = [crc32(word.encode()) % ROWS for word in stripped]
    shares = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    direction, constant = _normal(1, 2, DIMENSION)
    offset = np.float32(0.2) * np.log(1 + np.maximum(lengths, 1))[:, None] * direction + constant
    means = csr_matrix((shares, columns, starts), (len(texts), ROWS))
    return (means @ _table() + offset).astype(np.float32)


@cache
def _table() -> Floats:
    """Return the vectors of words, float32 [ROWS, 768]."""
    variances = 1 / np.arange(1, DIMENSION + 1)
    rotation, _ = np.linalg.qr(_normal(2, DIMENSION, DIMENSION))
    vectors = _normal(100, ROWS, DIMENSION) * np.sqrt(variances, dtype=np.float32)
    return np.ascontiguousarray(vectors @ rotation, np.float32)


def _normal(key: int, rows: int, columns: int) -> Floats:
    """Return normal numbers that depend on a key alone."""
    bits = np.random.Philox(key=key)
    return np.random.Generator(bits).standard_normal((rows, columns), np.float32)
