"""Every choice of the builders, by keyed hashing: order, classes, shares of a corpus, donors."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora_recipes.hashing import keyed_hash, keyed_uniform
from corpora_recipes.records import Split


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive sentences of one document, from which one instance can be made.

    Attributes:
        document_id: the document.
        split: its split.
        topics: its topics.
        sentences: neighbours in the source, in its order.
    """

    document_id: str
    split: Split
    topics: tuple[str, ...]
    sentences: tuple[str, ...]


def in_keyed_order(
    passages: Sequence[Passage], seed: int, dataset: str, purpose: str
) -> list[Passage]:
    """Return the passages in an order that depends on nothing but their documents' ids."""
    return sorted(
        passages,
        key=lambda p: (keyed_hash(seed, dataset, p.document_id, purpose), p.document_id),
    )


def balanced_classes(
    passages: Sequence[Passage], classes: int, seed: int, dataset: str
) -> list[int]:
    """Draw a class for each passage, uniformly, with every class exactly equally often.

    Each passage gets the class of its own keyed draw as long as that class has room; the few
    whose class is full fill what is left, in order. So leaving one passage out changes the class
    of a handful of others at most, where drawing without replacement would change them all.

    Args:
        passages: in keyed order; their number is a multiple of ``classes``.
        classes: the number of classes.
        seed: the run's seed.
        dataset: the dataset's name.

    Returns:
        For each passage a class in 0 … classes - 1.

    Raises:
        ValueError: the number of passages is not a multiple of ``classes``.
    """
    if len(passages) % classes:
        raise ValueError(f"{len(passages)} passages cannot be balanced over {classes} classes")
    room = [len(passages) // classes] * classes
    drawn: list[int] = []
    for passage in passages:
        own = keyed_hash(seed, dataset, passage.document_id, "class") % classes
        drawn.append(own if room[own] else -1)
        room[own] -= room[own] > 0
    left = iter([number for number in range(classes) for _ in range(room[number])])
    return [own if own >= 0 else next(left) for own in drawn]


# Rounds of fitting; the shares change by less than a thousandth after some twenty.
ROUNDS = 50


def share_out(
    eligible: Mapping[str, Sequence[str]], need: Mapping[str, float], seed: int, corpus: str
) -> dict[str, str]:
    """Give each document to one of the datasets that could use it.

    Weighted rendezvous hashing: a document goes to the dataset with the smallest ``-ln(u) / w``, u
    a keyed uniform number of the pair (Efraimidis & Spirakis 2006, "Weighted random sampling with
    a reservoir"). The weights w are fitted so that every dataset can expect the same part of its
    need, as far as the documents that it could use go: what only one dataset can use falls to it,
    and what many can use goes where documents are scarce. One document more or less moves the
    weights so little that hardly another one changes hands.

    Args:
        eligible: document id to the datasets that could use it.
        need: dataset to how many documents it wants, positive.
        seed: the run's seed.
        corpus: the corpus's name.

    Returns:
        Document id to dataset.
    """
    patterns = Counter(tuple(datasets) for datasets in eligible.values())
    weights = _fit(patterns, need)
    return {
        document: min(
            datasets,
            key=lambda d: (
                -math.log1p(-keyed_uniform(seed, corpus, document, d, "share")) / weights[d],
                d,
            ),
        )
        for document, datasets in eligible.items()
    }


def _fit(patterns: Mapping[tuple[str, ...], int], need: Mapping[str, float]) -> dict[str, float]:
    """Fit weights so that the expected numbers of documents are proportional to the needs."""
    weights = dict.fromkeys(need, 1.0)
    for _ in range(ROUNDS):
        expected = dict.fromkeys(need, 0.0)
        for datasets, count in patterns.items():
            total = sum(weights[d] for d in datasets)
            for d in datasets:
                expected[d] += count * weights[d] / total
        raw = {d: weights[d] * need[d] / expected[d] if expected[d] else 1.0 for d in need}
        scale = max(raw.values())
        # A floor keeps a dataset in the game that shares its documents with a scarcer one.
        weights = {d: max(weight / scale, 1e-6) for d, weight in raw.items()}
    return weights


class Donors:
    """Donor passages, each of which can be taken once.

    Donors and takers are points of one keyed circle; a taker gets the next free donor behind its
    own point (consistent hashing), so that a donor more or less changes the choice of few takers.
    """

    def __init__(self, passages: Sequence[Passage], seed: int, dataset: str) -> None:
        """Place the donors on the circle."""
        self._seed = seed
        self._dataset = dataset
        self._circle = sorted((self._point(p, "donor"), p.document_id, p) for p in passages)
        self._taken: set[str] = set()
        self._by_topic: dict[str, list[tuple[int, str, Passage]]] = {}
        for entry in self._circle:
            for topic in entry[2].topics:
                self._by_topic.setdefault(topic, []).append(entry)

    def take(self, taker: Passage) -> Passage:
        """Return the next free donor behind the taker.

        Raises:
            LookupError: no donor is left.
        """
        donor = self._next_free(self._circle, self._point(taker, "taker"))
        if donor is None:
            raise LookupError("no donor is left")
        return donor

    def take_same_topic(self, taker: Passage) -> Passage | None:
        """Return a free donor that shares the taker's rarest shareable topic, or None.

        The rarest topic, counted over the donors, is the most specific thing two documents have
        in common (DiscoEval, section 3.4, replaces by sentences of related text in this spirit).
        """
        topics = [topic for topic in dict.fromkeys(taker.topics) if topic in self._by_topic]
        for topic in sorted(topics, key=lambda t: (len(self._by_topic[t]), t)):
            donor = self._next_free(self._by_topic[topic], self._point(taker, "taker"))
            if donor is not None:
                return donor
        return None

    def _point(self, passage: Passage, role: str) -> int:
        return keyed_hash(self._seed, self._dataset, passage.document_id, role)

    def _next_free(self, circle: list[tuple[int, str, Passage]], point: int) -> Passage | None:
        # Taken donors are removed when they are met, so that every one is stepped over once.
        while circle:
            index = bisect_left(circle, point, key=lambda entry: entry[0]) % len(circle)
            _, document_id, passage = circle.pop(index)
            if document_id not in self._taken:
                self._taken.add(document_id)
                return passage
        return None
