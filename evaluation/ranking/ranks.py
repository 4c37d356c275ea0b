"""The rank of each positive among all texts: exact, in blocks of float32 products.

A positive is ranked among all texts but its query and the query's other positives: the filtered
ranks of Bordes et al. 2013 ("Translating embeddings for modeling multi-relational data"), so that
one right answer does not push another down. Of texts with the same score each is as likely to be
first as any other: the rank is 1, and 1 for each text above, and 1/2 for each that ties. So an
encoder with one vector for all texts gets the mean rank, not the first one.

By cosine or by 1 / (1 + l2), l2 the Euclidean distance (Wang et al. 2022, section 4). Both order
texts as

    query . text - offset

does: of vectors of length 1 and without offset, or of centred vectors and with half of the text's
squared length. Centred, as a distance does not depend on where zero is, while the rounding of these
products does.

Products in float32 only settle what is certain. The error of a product of n numbers, in whatever
order they are summed, is at most n u / (1 - n u) of the product of the lengths, u the unit roundoff
(Higham 2002, "Accuracy and stability of numerical algorithms", section 3.1). What is nearer to the
positive's score is computed anew in float64, and two scores that are nearer than float64 itself
may round them tie.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.arrays import Doubles, Flags, Floats, Rows
from evaluation.measures.similarity import norms_of

Similarity = Literal["cosine", "l2"]

# What is in memory at a time: so many texts of the background, for each of so many queries; and so
# many queries' vectors.
_BLOCK_TEXTS = 4096
_BLOCK_QUERIES = 1024
_GROUP = 8192
# Where a larger share of a block is uncertain, its products in float64 cost less than picking.
_MANY = 1 / 64
_MANY_QUERIES = 256
_FLOAT32, _FLOAT64 = 2.0**-24, 2.0**-53
# More than what is lost of products that are too small for float32.
_UNDERFLOW = 2.0**-100


@dataclass(frozen=True, slots=True)
class Ranks:
    """What became of pairs of a query and a positive, float64 and bool [pairs].

    Attributes:
        ranks: 1 … number of texts; NaN where a vector has no direction to compare.
        tied: whether another text has the positive's score.
    """

    ranks: Doubles
    tied: Flags


def rank_positives(
    vectors: Floats, queries: Rows, positives: Rows, similarity: Similarity
) -> Ranks:
    """Return the rank of each positive for its query; within ``one_thread``.

    A vector of zeros has no cosine: such a text is no candidate, and a pair with one has no rank.

    Args:
        vectors: of all texts, float32 [texts, dimension], finite; may be memory-mapped.
        queries: row of each pair's query, int64 [pairs].
        positives: row of each pair's positive, another one than the query.
        similarity: by which texts are ranked.
    """
    ranks, tied = np.full(len(queries), np.nan), np.zeros(len(queries), bool)
    if not len(queries):
        return Ranks(ranks, tied)
    space = _space(vectors, similarity)
    # Queries in the order of their rows, and all pairs of one query together.
    order = np.argsort(queries, kind="stable")
    distinct, first = np.unique(queries[order], return_index=True)
    ends = np.append(first, len(order))
    for start in range(0, len(distinct), _GROUP):
        stop = min(start + _GROUP, len(distinct))
        pairs = order[ends[start] : ends[stop]]
        rows = distinct[start:stop]
        query = np.searchsorted(rows, queries[pairs])
        group = _Group(space, vectors, rows, query, positives[pairs])
        for block in range(0, len(vectors), _BLOCK_TEXTS):
            group.count(block, space.place(vectors[block : block + _BLOCK_TEXTS]))
        ranks[pairs] = np.where(group.ranked, 1 + group.above + group.ties / 2, np.nan)
        tied[pairs] = group.ties > 0
    return Ranks(ranks, tied)


@dataclass(frozen=True, slots=True)
class _Points:
    """Vectors as they are multiplied.

    Attributes:
        vectors: float64 [n, dimension], none longer than 1.
        lengths: theirs, float64 [n]; 0 of a text that has no direction, or lies in the centre.
        offsets: what is subtracted from a query's product with them, float64 [n].
    """

    vectors: Doubles
    lengths: Doubles
    offsets: Doubles

    def __getitem__(self, which: Rows) -> "_Points":
        return _Points(self.vectors[which], self.lengths[which], self.offsets[which])


@dataclass(frozen=True, slots=True)
class _Space:
    """Where texts are compared: by direction, or, with a centre, by distance.

    Attributes:
        dimension: of the vectors.
        centre: mean of the vectors, float64 [dimension].
        scale: the largest distance from it: in float32 nothing overflows.
    """

    dimension: int
    centre: Doubles | None
    scale: float

    def place(self, vectors: Floats) -> _Points:
        """Return vectors as they are multiplied."""
        wide = vectors.astype(np.float64)
        if self.centre is None:
            lengths = norms_of(wide)
            wide /= np.where(lengths > 0, lengths, 1)[:, None]
            return _Points(wide, (lengths > 0).astype(np.float64), np.zeros(len(wide)))
        wide -= self.centre
        wide /= self.scale
        lengths = norms_of(wide)
        return _Points(wide, lengths, np.square(lengths) / 2)

    def tolerance(self, queries: Doubles, texts: Doubles) -> Doubles:
        """Return how far two scores may be apart and tie.

        Both are rounded: in the lengths of their vectors (``queries``, and the larger of two
        ``texts`` that are compared), the product and the offset.
        """
        tolerance: Doubles = (self.dimension + 8) * _FLOAT64 * np.square(queries + texts)
        return tolerance

    def error(self, queries: Doubles, texts: _Points) -> Doubles:
        """Return how far products in float32 may be off, for queries of given lengths."""
        bound = (self.dimension + 8) * _FLOAT32
        error: Doubles = queries * (bound / (1 - bound) * texts.lengths.max())
        error += 4 * _FLOAT32 * texts.offsets.max() + _UNDERFLOW
        return error


class _Group:
    """Some queries, and how many texts were seen so far above the positives of each.

    Attributes:
        ranked: whether a pair is ranked, bool [pairs].
        above: number of texts with a higher score than the positive's, int64 [pairs].
        ties: number of texts with the same score.
    """

    def __init__(
        self, space: _Space, vectors: Floats, rows: Rows, query: Rows, positives: Rows
    ) -> None:
        """Compute the scores of the positives.

        Args:
            space: where texts are compared.
            vectors: of all texts.
            rows: of the queries, ascending.
            query: of each pair, its place in ``rows``, ascending.
            positives: row of each pair's positive.
        """
        self._space, self._query = space, query
        self._queries = space.place(vectors[rows])
        self._narrow = self._queries.vectors.astype(np.float32)
        self._target = np.empty(len(query))
        self._length = np.empty(len(query))
        for start in range(0, len(query), _BLOCK_QUERIES):
            some = slice(start, start + _BLOCK_QUERIES)
            points = space.place(vectors[positives[some]])
            products = np.einsum("ij,ij->i", self._queries.vectors[query[some]], points.vectors)
            self._target[some] = products - points.offsets
            self._length[some] = points.lengths
        self.ranked = np.ones(len(query), bool)
        if space.centre is None:
            self.ranked = (self._queries.lengths[query] > 0) & (self._length > 0)
        self.above = np.zeros(len(query), np.int64)
        self.ties = np.zeros(len(query), np.int64)
        # What a query is not compared with: itself and its positives, in the order of the queries.
        hidden = np.concatenate([np.arange(len(rows)), query])
        order = np.argsort(hidden, kind="stable")
        self._hidden = hidden[order], np.concatenate([rows, positives])[order]

    def count(self, first: int, texts: _Points) -> None:
        """Count a block of texts, from the row ``first`` on."""
        narrow = texts.vectors.astype(np.float32).T
        offsets = texts.offsets.astype(np.float32)
        products = np.empty((min(_BLOCK_QUERIES, len(self._narrow)), len(offsets)), np.float32)
        for start in range(0, len(self._narrow), _BLOCK_QUERIES):
            some = self._narrow[start : start + _BLOCK_QUERIES]
            scores = np.matmul(some, narrow, out=products[: len(some)])
            if self._space.centre is not None:
                scores -= offsets
            self._hide(scores, np.arange(start, start + len(some)), first, texts)
            begin, end = np.searchsorted(self._query, [start, start + len(some)])
            pairs = np.arange(begin, end)
            unclear = self._settle(scores, start, pairs[self.ranked[begin:end]], texts)
            for piece in range(0, len(unclear), _MANY_QUERIES):
                self._settle_exactly(first, unclear[piece : piece + _MANY_QUERIES], texts)

    def _settle(self, products: Floats, start: int, pairs: Rows, texts: _Points) -> Rows:
        """Count texts for some pairs; return the pairs for which too many texts are uncertain."""
        query, target = self._query[pairs], self._target[pairs]
        longest = np.maximum(self._length[pairs], texts.lengths.max())
        error = self._space.error(self._queries.lengths[query], texts)
        error += self._space.tolerance(self._queries.lengths[query], longest)
        # Outwards, so that what is rounded is not taken for certain.
        high = np.nextafter((target + error).astype(np.float32), np.float32(np.inf))
        low = np.nextafter((target - error).astype(np.float32), np.float32(-np.inf))
        certain, possible = np.empty((2, products.shape[1]), bool)
        many = []
        for i, pair in enumerate(pairs.tolist()):
            row = products[query[i] - start]
            np.greater(row, high[i], out=certain)
            np.greater_equal(row, low[i], out=possible)
            count = np.count_nonzero(certain)
            uncertain = np.count_nonzero(possible) - count
            if uncertain > _MANY * len(row):
                many.append(pair)
                continue
            self.above[pair] += count
            if uncertain:
                np.not_equal(certain, possible, out=possible)
                near = texts[np.flatnonzero(possible)]
                scores = near.vectors @ self._queries.vectors[query[i]] - near.offsets
                self._compare(np.array([pair]), scores[None], near.lengths)
        return np.array(many, np.int64)

    def _settle_exactly(self, first: int, pairs: Rows, texts: _Points) -> None:
        """Count texts, from the row ``first`` on, for some pairs by products in float64."""
        query, place = np.unique(self._query[pairs], return_inverse=True)
        scores = self._queries.vectors[query] @ texts.vectors.T - texts.offsets
        self._hide(scores, query, first, texts)
        self._compare(pairs, scores[place], texts.lengths)

    def _hide(self, scores: Floats | Doubles, queries: Rows, first: int, texts: _Points) -> None:
        """Take texts that are not candidates, from the row ``first`` on, out of scores in place."""
        if self._space.centre is None:
            scores[:, texts.lengths == 0] = -np.inf
        begin = np.searchsorted(self._hidden[0], queries[0])
        end = np.searchsorted(self._hidden[0], queries[-1], side="right")
        query, column = self._hidden[0][begin:end], self._hidden[1][begin:end] - first
        place = np.searchsorted(queries, query)
        inside = (queries[place] == query) & (column >= 0) & (column < scores.shape[1])
        scores[place[inside], column[inside]] = -np.inf

    def _compare(self, pairs: Rows, scores: Doubles, lengths: Doubles) -> None:
        """Count by scores in float64, [pairs, texts]; the texts' lengths are given."""
        queries = self._queries.lengths[self._query[pairs]]
        longest = np.maximum(self._length[pairs][:, None], lengths)
        tolerance = self._space.tolerance(queries[:, None], longest)
        scores -= self._target[pairs][:, None]
        self.above[pairs] += np.count_nonzero(scores > tolerance, axis=1)
        self.ties[pairs] += np.count_nonzero(np.abs(scores) <= tolerance, axis=1)


def _space(vectors: Floats, similarity: Similarity) -> _Space:
    dimension = vectors.shape[1]
    if similarity == "cosine":
        return _Space(dimension, None, 1.0)
    blocks = range(0, len(vectors), _BLOCK_TEXTS)
    sums = np.zeros(dimension)
    for block in blocks:
        sums += vectors[block : block + _BLOCK_TEXTS].sum(axis=0, dtype=np.float64)
    centre = sums / len(vectors)
    longest = max(
        norms_of(vectors[block : block + _BLOCK_TEXTS] - centre).max() for block in blocks
    )
    return _Space(dimension, centre, float(longest) or 1.0)
