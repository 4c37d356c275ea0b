"""Donor passages; each gives one sentence."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from builders.sampling.draw import Draw
from builders.sampling.passages import Passage

Fits = Callable[[Passage, Passage], bool]
# The point of a donor on the circle, its id, and itself.
Place = tuple[int, str, Passage]
# Donors to choose the nearest from. With 200, or all of 3,600 Wikipedia articles, overlap alone
# solves the same share of the rows.
CANDIDATES = 200


class Donors:
    """Donor passages; each can be taken once.

    Donors and takers are points on one keyed circle; a taker gets the next free donor after its
    point (consistent hashing), so that adding or removing a donor changes the choice of few takers.
    """

    def __init__(self, passages: Sequence[Passage], draw: Draw) -> None:
        """Place the donors on the circle."""
        self._draw = draw
        self._circle = sorted((self._point(p, "donor"), p.id, p) for p in passages)
        self._taken: set[str] = set()
        self._by_topic: dict[str, list[Place]] = {}
        for entry in self._circle:
            for topic in entry[2].topics:
                self._by_topic.setdefault(topic, []).append(entry)

    def take(self, taker: Passage, fits: Fits) -> Passage | None:
        """Return the next free donor after the taker for which ``fits(taker, donor)``, or None."""
        return self._take(next(self._free(self._circle, taker, fits), None))

    def take_same_topic(self, taker: Passage, fits: Fits) -> Passage | None:
        """Return such a donor with the taker's rarest topic that has a free donor, or None.

        The rarest topic, counted over the donors, is the most specific property that two documents
        share (in the spirit of DiscoEval, section 3.4, which takes sentences of related text).
        """
        circles = self._of_topics(taker)
        found = chain.from_iterable(self._free(circle, taker, fits) for circle in circles)
        return self._take(next(found, None))

    def take_nearest(
        self, taker: Passage, fits: Fits, distance: Callable[[Passage], float]
    ) -> Passage | None:
        """Return such a donor at the smallest distance, of ``CANDIDATES`` free ones, or None.

        The candidates are those that share the taker's rarest topics, filled up with others.
        """
        circles = [*self._of_topics(taker), self._circle]
        found = chain.from_iterable(self._free(circle, taker, fits) for circle in circles)
        candidates: dict[str, Passage] = {}
        for passage in found:
            candidates.setdefault(passage.id, passage)
            if len(candidates) == CANDIDATES:
                break
        return self._take(min(candidates.values(), key=distance, default=None))

    def _of_topics(self, taker: Passage) -> list[list[Place]]:
        topics = [topic for topic in dict.fromkeys(taker.topics) if topic in self._by_topic]
        topics.sort(key=lambda topic: (len(self._by_topic[topic]), topic))
        return [self._by_topic[topic] for topic in topics]

    def _point(self, passage: Passage, role: str) -> int:
        return self._draw.hash(passage.id, role)

    def _take(self, passage: Passage | None) -> Passage | None:
        if passage is not None:
            self._taken.add(passage.id)
        return passage

    def _free(self, circle: list[Place], taker: Passage, fits: Fits) -> Iterator[Passage]:
        """Yield the free donors after the taker's point that fit it."""
        index = bisect_left(circle, self._point(taker, "taker"), key=lambda place: place[0])
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
