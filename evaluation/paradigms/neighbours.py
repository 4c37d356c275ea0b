"""The words in a casing, and the nearest of each by cosine: exact, with little memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corpora_recipes.casing import lower_case
from corpora_recipes.running.telling import progress
from evaluation.arrays import Doubles, Floats, Rows
from evaluation.embedding.vocabulary import Vocabulary

Casing = Literal["as_is", "lower"]

COUNT = 30
"""How many neighbours of a word count (Sumbler et al. 2018)."""
# Of products, and of the numbers that are multiplied, so many are in memory at a time.
_BLOCK_NUMBERS = 4_000_000
_BLOCK_WORDS = 8192
_BLOCK_QUERIES = 4096
# Unit roundoff of float32.
_ROUNDOFF = 2.0**-24


@dataclass(frozen=True, slots=True)
class Forms:
    """The words of a vocabulary in one casing.

    Attributes:
        rows: form to the row of the first word that has it, in ascending order.
        without: the forms of words that have no vector.
    """

    rows: dict[str, int]
    without: set[str]

    @property
    def words(self) -> Rows:
        """The rows of the words, ascending."""
        return np.fromiter(self.rows.values(), np.int64, len(self.rows))


def cased(word: str, casing: Casing) -> str:
    """Return a word in a casing: as it is, or in lower case."""
    return lower_case(word) if casing == "lower" else word


def forms_of(vocabulary: Vocabulary, casing: Casing) -> Forms:
    """Return the words of a vocabulary in one casing."""
    rows: dict[str, int] = {}
    without = set()
    for row, word in enumerate(vocabulary.words):
        form = cased(word, casing)
        if vocabulary.norms[row] > 0:
            rows.setdefault(form, row)
        else:
            without.add(form)
    return Forms(rows, without - rows.keys())


class Neighbours(dict[int, list[int]]):
    """The nearest words of words that were asked for, see ``nearest``: rows by row."""

    def __init__(self, vectors: Floats, norms: Doubles, words: Rows) -> None:
        """Look for neighbours among ``words``, as ``nearest``; nothing is computed yet."""
        self._vectors, self._norms, self._words = vectors, norms, words

    def ask(self, rows: Iterable[int]) -> None:
        """Find the neighbours of words; those that are known are not looked for again."""
        new = np.array(sorted(set(rows) - self.keys()), np.int64)
        for first in range(0, len(new), _BLOCK_QUERIES):
            block = new[first : first + _BLOCK_QUERIES]
            near = nearest(self._vectors, self._norms, self._words, block)
            self.update(zip(block.tolist(), near.tolist(), strict=True))


def nearest(vectors: Floats, norms: Doubles, words: Rows, asked: Rows, count: int = COUNT) -> Rows:
    """Return the nearest words of words by cosine, themselves left out, the nearest first.

    The cosine is that of float64, and of two words with the same, to the bit, the first row counts
    as nearer.
    Products in float32 only sort out words that are certainly too far off: the error of one is
    bounded whatever the order of its sum (Higham 2002, "Accuracy and stability of numerical
    algorithms", section 3.1), and words that may be as near as the last of the nearest, given that
    error, are computed in float64.

    Args:
        vectors: float32 [n, dimension]; may be memory-mapped, and is read once.
        norms: their lengths, float64 [n].
        words: numbers of the rows to look among, ascending.
        asked: numbers of the rows to look for, some of ``words``.
        count: how many are wanted.

    Returns:
        Row numbers, int64 [len(asked), count], or fewer columns if there are fewer other words.
    """
    count = max(0, min(count, len(words) - 1))
    best = _Best(len(asked), count)
    if not best.rows.size:
        return best.rows
    raw = vectors[asked].astype(np.float64)
    units = (raw / norms[asked, None]).astype(np.float32)
    # Beyond the sum: the two roundings of the units, and what float64 itself rounds.
    error = (vectors.shape[1] + 4) * _ROUNDOFF
    error /= 1 - error
    places = np.searchsorted(words, asked)
    # The first block has to hold `count` other words.
    size = max(count + 1, min(_BLOCK_WORDS, _BLOCK_NUMBERS // max(len(asked), vectors.shape[1])))
    with progress(len(words), "neighbours", "word") as bar:
        for first in range(0, len(words), size):
            rows = words[first : first + size]
            block = vectors[rows].astype(np.float64)
            near = units @ (block / norms[rows, None]).astype(np.float32).T
            inside = np.flatnonzero((places >= first) & (places < first + len(rows)))
            near[inside, places[inside] - first] = -np.inf
            if first:
                least = best.scores[:, -1] - error
            else:
                least = np.partition(near, -count, axis=1)[:, -count] - 2 * error
            # Downwards, so that what is rounded is not sorted out.
            floor = np.nextafter(least.astype(np.float32), np.float32(-np.inf))
            query, column = np.nonzero(near >= floor[:, None])
            scores = _products(raw, block, query, column)
            scores /= norms[asked[query]] * norms[rows[column]]
            best.add(query, scores, rows[column])
            bar.update(len(rows))
    return best.rows


def _products(left: Doubles, right: Doubles, of_left: Rows, of_right: Rows) -> Doubles:
    """Return the products of pairs of rows; those of equal rows are equal to the bit."""
    products = np.empty(len(of_left))
    size = max(1, _BLOCK_NUMBERS // left.shape[1])
    for first in range(0, len(products), size):
        pairs = slice(first, first + size)
        products[pairs] = (left[of_left[pairs]] * right[of_right[pairs]]).sum(axis=1)
    return products


class _Best:
    """The best words so far of each word asked for, the best first: [queries, count]."""

    def __init__(self, queries: int, count: int) -> None:
        self.scores = np.full((queries, count), -np.inf)
        self.rows = np.full((queries, count), np.iinfo(np.int64).max)

    def add(self, query: Rows, scores: Doubles, rows: Rows) -> None:
        """Take words in: for which query, with which score, in which row."""
        touched, place = np.unique(query, return_inverse=True)
        count = self.rows.shape[1]
        place = np.concatenate([np.repeat(np.arange(len(touched)), count), place])
        scores = np.concatenate([self.scores[touched].ravel(), scores])
        rows = np.concatenate([self.rows[touched].ravel(), rows])
        order = np.lexsort((rows, -scores, place))
        starts = np.searchsorted(place[order], np.arange(len(touched)))
        kept = order[starts[:, None] + np.arange(count)]
        self.scores[touched], self.rows[touched] = scores[kept], rows[kept]
