"""Donor passages, each of which gives one sentence; and how alike the words of sentences are."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from statistics import fmean

from builders.sampling.draw import Draw
from builders.sampling.passages import Passage
from corpora_recipes.casing import lower_case

Fits = Callable[[Passage, Passage], bool]
# The point of a donor on the circle, its id, and itself.
Place = tuple[int, str, Passage]
# Donors to choose the nearest from. With 200, or all of 3,600 Wikipedia articles, overlap alone
# solves the same share of the rows.
CANDIDATES = 200
_WORD = re.compile(r"\w+")


class Donors:
    """Donor passages; each can be taken once.

    Donors and takers are points on one keyed circle; a taker gets the next free donor after its
    point (consistent hashing), so that adding or removing a donor changes the choice of few takers.
    """

    def __init__(self, passages: Sequence[Passage], draw: Draw) -> None:
        """Place the donors on the circle."""
        self._draw = draw
        self._circle = sorted((draw.hash(p.id, "donor"), p.id, p) for p in passages)
        self._taken: set[str] = set()
        self._by_topic: dict[str, list[Place]] = {}
        for entry in self._circle:
            for topic in entry[2].topics:
                self._by_topic.setdefault(topic, []).append(entry)

    def take(self, taker: Passage, fits: Fits) -> Passage | None:
        """Return the next free donor after the taker for which ``fits(taker, donor)``, or None."""
        return self._take(next(self._free_of([self._circle], taker, fits), None))

    def take_same_topic(self, taker: Passage, fits: Fits) -> Passage | None:
        """Return such a donor with the taker's rarest topic that has a free donor, or None.

        The rarest topic, counted over the donors, is the most specific property that two documents
        share (in the spirit of DiscoEval, section 3.4, which takes sentences of related text).
        """
        return self._take(next(self._free_of(self._of_topics(taker), taker, fits), None))

    def take_nearest(
        self, taker: Passage, fits: Fits, distance: Callable[[Passage], float]
    ) -> Passage | None:
        """Return such a donor at the smallest distance, of ``CANDIDATES`` free ones, or None.

        The candidates are those that share the taker's rarest topics, filled up with others.
        """
        circles = [*self._of_topics(taker), self._circle]
        candidates: dict[str, Passage] = {}
        for passage in self._free_of(circles, taker, fits):
            candidates.setdefault(passage.id, passage)
            if len(candidates) == CANDIDATES:
                break
        return self._take(min(candidates.values(), key=distance, default=None))

    def _of_topics(self, taker: Passage) -> list[list[Place]]:
        topics = [topic for topic in dict.fromkeys(taker.topics) if topic in self._by_topic]
        topics.sort(key=lambda topic: (len(self._by_topic[topic]), topic))
        return [self._by_topic[topic] for topic in topics]

    def _take(self, passage: Passage | None) -> Passage | None:
        if passage is not None:
            self._taken.add(passage.id)
        return passage

    def _free_of(
        self, circles: Iterable[list[Place]], taker: Passage, fits: Fits
    ) -> Iterator[Passage]:
        """Yield the free donors of some circles after the taker's point that fit it."""
        return chain.from_iterable(self._free(circle, taker, fits) for circle in circles)

    def _free(self, circle: list[Place], taker: Passage, fits: Fits) -> Iterator[Passage]:
        index = bisect_left(circle, self._draw.hash(taker.id, "taker"), key=lambda place: place[0])
        seen = 0
        while seen < len(circle):
            index %= len(circle)
            _, name, passage = circle[index]
            if name in self._taken:
                # Removed when met, so that each is skipped once.
                del circle[index]
                continue
            index += 1
            seen += 1
            if fits(taker, passage):
                yield passage


class Likeness:
    """Compares sentences by their words, weighed by how rare they are in given sentences."""

    def __init__(self, sentences: Sequence[str]) -> None:
        """Weigh each word by log(n / number of sentences with it), of n sentences."""
        counts = Counter(word for sentence in sentences for word in _words(sentence))
        self._unseen = math.log(max(1, len(sentences)))
        self._weights = {word: self._unseen - math.log(count) for word, count in counts.items()}

    def of(self, sentence: str, others: Sequence[str]) -> float:
        """Return how alike a sentence is to others, on average, 0 … 1.

        Of two sentences it is the weight of their common words, over the geometric mean of their
        own weights.
        """
        words = _words(sentence)
        weight = self._weight(words)
        alike = []
        for other in map(_words, others):
            norm = math.sqrt(weight * self._weight(other))
            alike.append(self._weight(words & other) / norm if norm else 0.0)
        return fmean(alike)

    def _weight(self, words: Iterable[str]) -> float:
        # An exact sum does not depend on the order of the words of a set.
        return math.fsum(self._weights.get(word, self._unseen) for word in words)


def _words(sentence: str) -> set[str]:
    return set(_WORD.findall(lower_case(sentence)))
