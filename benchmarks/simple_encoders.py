"""Three simple encoders for `encoder: callable`: words, word vectors, and signs at random."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import shake_256
from re import findall
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from mmh3 import hash as hash32
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import svds

from corpora_recipes.running.outputs import RECORDS
from corpora_recipes.text.tokens import lower_case
from evaluation.arrays import Doubles, Floats

DIMENSION = 512
# Of word vectors: the most frequent words, and the distance of two words that are counted.
WORDS, NEAR, DIRECTIONS = 10_000, 5, 100
# Shift and exponents of Levy, Goldberg and Dagan (2015), "Improving distributional similarity with
# lessons learned from word embeddings", sections 3.2 and 3.3: the frequency of contexts to the
# power of 0.75, and the singular values to the power of 0.5.
SMOOTHED, WEIGHTED = 0.75, 0.5
# The columns of records with running text.
COLUMNS = ("sections", "conversations", "edus")


def random_vectors(texts: Sequence[str]) -> Floats:
    """Return signs that depend on the whole text alone, float32 [texts, 512]."""
    digests = b"".join(shake_256(text.encode()).digest(DIMENSION // 8) for text in texts)
    bits = np.unpackbits(np.frombuffer(digests, np.uint8)).reshape(len(texts), DIMENSION)
    return (2.0 * bits - 1.0).astype(np.float32)


def bag_of_words(texts: Sequence[str]) -> Floats:
    """Return the counts of words in lower case, hashed with sign, float32 [texts, 512]."""
    counts = np.zeros((len(texts), DIMENSION), np.float32)
    for row, text in zip(counts, texts, strict=True):
        for word in _words(text):
            number = hash32(word)
            row[abs(number) % DIMENSION] += np.sign(number)
    return counts


def word_vectors(texts: Sequence[str]) -> Floats:
    """Return the mean vectors of words that ``data/records`` taught, float32 [texts, 100]."""
    places, vectors = _learn()
    means = np.zeros((len(texts), DIRECTIONS), np.float32)
    for row, text in zip(means, texts, strict=True):
        if known := [places[word] for word in _words(text) if word in places]:
            row[:] = vectors[known].mean(axis=0)
    return means


@cache
def _learn() -> tuple[dict[str, int], Doubles]:
    """Return words with their places, and vectors: singular vectors of the PPMI of words."""
    texts = [_words(text) for text in _texts()]
    frequent = Counter(word for text in texts for word in text).most_common(WORDS)
    places = {word: place for place, (word, _) in enumerate(frequent)}
    ids = np.array([places.get(word, -1) for text in texts for word in (*text, *NEAR * [""])])
    counts = csr_array((len(places), len(places)))
    for apart in range(1, NEAR + 1):
        one, other = ids[:-apart], ids[apart:]
        both = (one >= 0) & (other >= 0)
        pairs = np.ones(both.sum()), (one[both], other[both])
        counts += coo_array(pairs, shape=counts.shape).tocsr()
    counts = (counts + counts.T).tocoo()
    words = counts.sum(axis=1)
    contexts = words**SMOOTHED
    row, column = counts.coords
    shares = counts.data / words[row] / (contexts[column] / contexts.sum())
    ppmi = coo_array((np.log(np.maximum(shares, 1.0)), counts.coords), shape=counts.shape)
    # Without a first vector, that of the solver is random.
    left, values, _ = svds(ppmi.tocsr(), DIRECTIONS, v0=np.ones(len(places)))
    return places, left * values**WEIGHTED


def _texts() -> Iterator[str]:
    for path in sorted(RECORDS.glob("*.parquet")):
        for column in set(COLUMNS) & set(pq.read_schema(path).names):
            yield from _leaves(pq.read_table(path, columns=[column])[column].to_pylist())


def _leaves(value: Any) -> Iterator[str]:
    """Yield the strings in lists and dicts of lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)


def _words(text: str) -> list[str]:
    return findall(r"\w+", lower_case(text))
