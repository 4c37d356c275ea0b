"""Donor passages; each gives one sentence."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from builders.sampling.draw import Draw
from builders.sampling.passages import Passage

Fits = Callable[[Passage, Passage], bool]


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
        self._by_topic: dict[str, list[tuple[int, str, Passage]]] = {}
        for entry in self._circle:
            for topic in entry[2].topics:
                self._by_topic.setdefault(topic, []).append(entry)

    def take(self, taker: Passage, fits: Fits) -> Passage | None:
        """Return the next free donor after the taker for which ``fits(taker, donor)``, or None."""
        return self._next_free(self._circle, taker, fits)

    def take_same_topic(self, taker: Passage, fits: Fits) -> Passage | None:
        """Return such a donor with the taker's rarest topic that has a free donor, or None.

        The rarest topic, counted over the donors, is the most specific property that two documents
        share (in the spirit of DiscoEval, section 3.4, which takes sentences of related text).
        """
        topics = [topic for topic in dict.fromkeys(taker.topics) if topic in self._by_topic]
        for topic in sorted(topics, key=lambda t: (len(self._by_topic[t]), t)):
            donor = self._next_free(self._by_topic[topic], taker, fits)
            if donor is not None:
                return donor
        return None

    def _point(self, passage: Passage, role: str) -> int:
        return self._draw.hash(passage.id, role)

    def _next_free(
        self, circle: list[tuple[int, str, Passage]], taker: Passage, fits: Fits
    ) -> Passage | None:
        index = bisect_left(circle, self._point(taker, "taker"), key=lambda entry: entry[0])
        refused = 0
        while refused < len(circle):
            index %= len(circle)
            _, name, passage = circle[index]
            if name in self._taken:
                # Removed when met, so that each is skipped once.
                del circle[index]
            elif fits(taker, passage):
                del circle[index]
                self._taken.add(name)
                return passage
            else:
                index += 1
                refused += 1
        return None
