"""An encoder for rehearsals: the mean of random word vectors, in 768 dimensions.

Cheap, and like those of real models in what a probe meets: correlated dimensions whose variances
fall from the first to the last principal component, and an offset that all texts share.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from scipy.sparse import csr_matrix

DIMENSION = 768
LAYERS = 13
# Words share a vector with those of the same hash.
ROWS = 2**14

Vectors = np.ndarray[Any, np.dtype[np.float32]]


def one(texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts, float32 [texts, 768]."""
    vectors: Vectors = _means(texts) @ _table(0) + _offset(texts)
    return vectors


def thirteen(texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts in thirteen layers, float32 [texts, 13, 768]."""
    means, offset = _means(texts), _offset(texts)
    return np.stack([means @ _table(layer) + offset for layer in range(LAYERS)], axis=1)


def _means(texts: Sequence[str]) -> Any:
    """Return the shares of the words in each text, [texts, ROWS]."""
    words = [text.lower().split() for text in texts]
    lengths = np.array([len(of_text) for of_text in words])
    columns = [
        crc32(word.strip(".,;:¿?¡!\"'()").encode()) % ROWS for of_text in words for word in of_text
    ]
    shares = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return csr_matrix((shares, columns, starts), (len(texts), ROWS))


def _offset(texts: Sequence[str]) -> Vectors:
    """Return what depends on the length alone, [texts, 768]."""
    lengths = np.log([2 + text.count(" ") for text in texts]).astype(np.float32)
    direction, constant = _normal(1, 2, DIMENSION)
    offset: Vectors = np.float32(0.2) * lengths[:, None] * direction + constant
    return offset


@cache
def _table(layer: int) -> Vectors:
    """Return the vectors of words in a layer, [ROWS, 768]."""
    variances = 1 / np.arange(1, DIMENSION + 1)
    rotation, _ = np.linalg.qr(_normal(2 + layer, DIMENSION, DIMENSION))
    vectors = _normal(100 + layer, ROWS, DIMENSION) * np.sqrt(variances, dtype=np.float32)
    return np.ascontiguousarray(vectors @ rotation, np.float32)


def _normal(key: int, rows: int, columns: int) -> Vectors:
    """Return normal numbers that depend on a key alone."""
    bits = np.random.Philox(key=key)
    return np.random.Generator(bits).standard_normal((rows, columns), np.float32)
