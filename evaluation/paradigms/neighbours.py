"""The nearest words by cosine: exact, with little memory, each word asked for once."""

from collections.abc import Iterable

import numpy as np

from evaluation.arrays import Doubles, Floats, Rows

COUNT = 30
"""How many neighbours of a word count (Sumbler et al. 2018)."""
# Of products, and of the numbers that are multiplied, so many are in memory at a time.
_BLOCK_NUMBERS = 4_000_000
_BLOCK_WORDS = 8192
_BLOCK_QUERIES = 4096
# Unit roundoff of float32.
_ROUNDOFF = 2.0**-24


class Neighbours:
    """The nearest words of words, kept once they are known."""

    def __init__(self, vectors: Floats, norms: Doubles, words: Rows) -> None:
        """Look for neighbours among some rows of a matrix; nothing is computed yet.

        Args:
            vectors: float32 [n, dimension], finite; may be memory-mapped.
            norms: their lengths, float64 [n].
            words: numbers of the rows that are words, ascending; none with the length 0.
        """
        self._vectors, self._norms, self._words = vectors, norms, words
        self._known: dict[int, list[int]] = {}

    def __contains__(self, row: int) -> bool:
        """Tell whether a word has been asked for."""
        return row in self._known

    def __getitem__(self, row: int) -> list[int]:
        """Return the neighbours of a word that was asked for, see ``nearest``."""
        return self._known[row]

    def __len__(self) -> int:
        """Return the number of words that were asked for."""
        return len(self._known)

    def ask(self, rows: Iterable[int]) -> None:
        """Find the neighbours of words; those that are known are not looked for again."""
        new = np.array(sorted(set(rows) - self._known.keys()), np.int64)
        for first in range(0, len(new), _BLOCK_QUERIES):
            asked = new[first : first + _BLOCK_QUERIES]
            found = nearest(self._vectors, self._norms, self._words, asked)
            self._known.update(zip(asked.tolist(), found.tolist(), strict=True))


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
    from tqdm import tqdm

    count = max(0, min(count, len(words) - 1))
    best = _Best(len(asked), count)
    if not best.rows.size:
        return best.rows
    raw = vectors[asked].astype(np.float64)
    units = (raw / norms[asked, None]).astype(np.float32)
    # Beyond the sum: the two roundings of the units, and what float64 itself rounds.
    error = (vectors.shape[1] + 4) * _ROUNDOFF
    error /= 1 - error
    own = np.searchsorted(words, asked)
    # The first block has to hold `count` other words.
    size = max(count + 1, min(_BLOCK_WORDS, _BLOCK_NUMBERS // max(len(asked), vectors.shape[1])))
    with tqdm(total=len(words), desc="neighbours", unit="word", leave=False, disable=None) as bar:
        for first in range(0, len(words), size):
            rows = words[first : first + size]
            block = vectors[rows].astype(np.float64)
            near = units @ (block / norms[rows, None]).astype(np.float32).T
            here = np.flatnonzero((own >= first) & (own < first + len(rows)))
            near[here, own[here] - first] = -np.inf
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
    """Return the products of pairs of rows; those of equal rows are equal to the bit.

    Those of a matrix product are not: its order of summing depends on the place of a row.
    """
    found = np.empty(len(of_left))
    size = max(1, _BLOCK_NUMBERS // left.shape[1])
    for first in range(0, len(found), size):
        pairs = slice(first, first + size)
        found[pairs] = (left[of_left[pairs]] * right[of_right[pairs]]).sum(axis=1)
    return found


class _Best:
    """The best words so far of each word asked for, the best first.

    Attributes:
        scores: float64 [queries, count].
        rows: int64 [queries, count].
    """

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
