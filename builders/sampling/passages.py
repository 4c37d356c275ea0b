"""Samples passages: keyed draws, allocation of documents, balanced lengths, donors."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from types import MappingProxyType
from typing import Literal, NamedTuple

from corpora_recipes.hashing import keyed_choice, keyed_hash, keyed_uniform
from corpora_recipes.records import Dialogue, Document, Section, Split
from corpora_recipes.text.tokens import is_telling, lower_case, sentence_hash


class Draw(NamedTuple):
    """The parameters of a dataset's random choices, besides the subject of each choice.

    A subject (``about``) is a stable id and a purpose; ``options`` are those of the task, and
    ``language`` is that of the texts.
    """

    seed: int
    name: str
    options: Mapping[str, str] = MappingProxyType({})
    language: str = ""

    def hash(self, *about: str) -> int:
        """Return an integer, uniform over 0 … 2**64 - 1."""
        return keyed_hash(self.seed, self.name, *about)

    def choice(self, count: int, *about: str) -> int:
        """Return an integer, uniform over 0 … count - 1."""
        return keyed_choice(count, self.seed, self.name, *about)

    def uniform(self, *about: str) -> float:
        """Return a number, uniform over [0, 1)."""
        return keyed_uniform(self.seed, self.name, *about)

    def classes(self, count: int, ids: Sequence[str]) -> list[int]:
        """Draw a class, 0 … count - 1, for each id, with every class exactly equally often.

        Each gets the class of its keyed draw while that class has room; the few whose class is full
        fill the remaining places, in order. So leaving one out changes the class of a few others at
        most; drawing without replacement would change all.

        Args:
            count: the number of classes.
            ids: in keyed order; their number is a multiple of ``count``.
        """
        assert len(ids) % count == 0, f"{len(ids)} over {count} classes"
        room = [len(ids) // count] * count
        drawn: list[int | None] = []
        for name in ids:
            choice = self.hash(name, "class") % count
            drawn.append(choice if room[choice] else None)
            room[choice] -= room[choice] > 0
        remaining = iter([number for number in range(count) for _ in range(room[number])])
        return [next(remaining) if choice is None else choice for choice in drawn]


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of one document, for one instance (or one pair of instances).

    Attributes:
        id: unique; that of the document if it has one passage.
        sentences: the material of the task's rows, mostly neighbours in the source. A passage is
            left out if one of them is unfinished or occurs in it twice, or if a long one occurs in
            an earlier passage.
        rank: the number of passages of its document to take before this one.
        label: its class, if the source tells it; "" if the task makes it.
    """

    id: str
    document_id: str
    split: Split
    topics: tuple[str, ...]
    sentences: tuple[str, ...]
    rank: int = 0
    label: str = ""


def first_sentences(document: Document, count: int) -> tuple[str, ...] | None:
    """Return the first ``count`` sentences of the document's first section, or None."""
    if not document.sections:
        return None
    sentences = sentences_in(document.sections[0])
    return tuple(sentences[:count]) if len(sentences) >= count else None


def any_sentences(document: Document, count: int, draw: Draw) -> tuple[str, ...] | None:
    """Return ``count`` consecutive sentences of one section, uniform over all places, or None."""
    places = [
        (sentences, start)
        for sentences in map(sentences_in, document.sections)
        for start in range(len(sentences) - count + 1)
    ]
    if not places:
        return None
    sentences, start = places[draw.choice(len(places), document.id, "passage")]
    return tuple(sentences[start : start + count])


def windows(dialogue: Dialogue, count: int, draw: Draw) -> list[Passage]:
    """Return non-overlapping passages of ``count`` consecutive turns of one conversation.

    Turns beyond a multiple of ``count`` are left out at the two ends, divided by keyed hash. Ranks
    are keyed too, so that no part of a film or book is preferred.
    """
    named_turns: list[tuple[str, tuple[str, ...]]] = []
    for number, turns in enumerate(dialogue.conversations):
        n_starts = len(turns) % count + 1
        first = draw.choice(n_starts, dialogue.id, str(number), "first turn")
        named_turns += [
            (f"{dialogue.id}#{number}.{start}", tuple(turns[start : start + count]))
            for start in range(first, len(turns) - count + 1, count)
        ]
    named_turns.sort(key=lambda entry: draw.hash(entry[0], "rank"))
    split = _split(dialogue)
    return [
        Passage(name, dialogue.id, split, (), turns, rank)
        for rank, (name, turns) in enumerate(named_turns)
    ]


def as_passages(document: Document, sentences: tuple[str, ...] | None) -> list[Passage]:
    """Return the document's one passage in a list, which is empty if there are no sentences."""
    if sentences is None:
        return []
    topics = tuple(document.topics)
    return [Passage(document.id, document.id, _split(document), topics, sentences)]


def _split(record: Document | Dialogue) -> Split:
    assert record.split is not None, f"{record.id} has no split, which `read` decides"
    return record.split


def sentences_in(section: Section) -> list[str]:
    """Return the sentences of a section."""
    return [sentence for paragraph in section.paragraphs for sentence in paragraph]


def in_keyed_order(passages: Sequence[Passage], draw: Draw, purpose: str) -> list[Passage]:
    """Return the passages in an order that depends only on their ids and ranks.

    The first passages of all documents come before any second passage.
    """
    return sorted(passages, key=lambda p: (p.rank, draw.hash(p.id, purpose), p.id))


def first_ranks(passages: Sequence[Passage], need: Mapping[Split, float]) -> list[Passage]:
    """Leave out passages whose ranks are so high that a split does not need them.

    A few passages from each of a thousand films are enough; the others need no memory. Of each
    split the lowest ranks stay, ``need`` passages or more if there are as many, in their order.
    Repeated calls on growing lists keep the same passages as one call on all.
    """
    highest_rank: dict[Split, int] = {}
    for split, n_needed in need.items():
        ranks = Counter(p.rank for p in passages if p.split == split)
        total = 0
        for rank in sorted(ranks):
            total += ranks[rank]
            highest_rank[split] = rank
            if total >= n_needed:
                break
    return [p for p in passages if p.rank <= highest_rank[p.split]]


def without_repeated(passages: Iterable[Passage]) -> tuple[list[Passage], int]:
    """Leave out every passage that repeats a sentence of an earlier one or of itself.

    Sentences are compared by ``normalise``; those of fewer than six words may occur in several
    passages. The number left out is returned too.
    """
    seen: set[int] = set()
    unique, dropped = [], 0
    for passage in passages:
        marks = [sentence_hash(sentence) for sentence in passage.sentences]
        long_marks = [m for m, s in zip(marks, passage.sentences, strict=True) if is_telling(s)]
        if len(set(marks)) < len(marks) or not seen.isdisjoint(long_marks):
            dropped += 1
        else:
            seen.update(long_marks)
            unique.append(passage)
    return unique, dropped


def has_words(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


# Rounds of fitting; the shares change by less than a thousandth after some twenty.
ROUNDS = 50


def allocate_documents(
    eligible: Mapping[str, Sequence[str]], need: Mapping[str, float], seed: int, corpus: str
) -> dict[str, str]:
    """Assign each document to one of the datasets that could use it (``eligible``).

    Weighted rendezvous hashing: a document goes to the dataset with the smallest ``-ln(u) / w``,
    where u is a keyed uniform number for the pair (Efraimidis & Spirakis 2006, "Weighted random
    sampling with a reservoir"). The weights w are fitted so that every dataset can expect the same
    share of its need of documents, as far as its eligible documents allow: documents that only one
    dataset can use go to it, the others go where documents are scarce. Adding or removing one
    document changes the weights so little that hardly any other one is assigned differently.
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
        # The floor keeps datasets that share all their documents with a scarcer one.
        weights = {d: max(weight / scale, 1e-6) for d, weight in raw.items()}
    return weights


class _Measure(NamedTuple):
    """A length feature that must not reveal a sentence's position."""

    # It is the logarithm of ``of``, relative to the passage's other sentences if ``relative``, in
    # ``steps`` bins of the width ``step`` on either side; values beyond them are in the last.
    of: Callable[[str], float]
    relative: bool
    step: float
    steps: int


def _word_length(sentence: str) -> float:
    return len(sentence) / max(1, len(re.findall(r"\w+", sentence)))


def _marks(sentence: str) -> float:
    return len(re.findall(r"[^\w\s]", sentence)) + 1


# With these, a classifier on the characters and words of every sentence stays within 3 points of
# chance (before: 66 % on the first two sentences of Wikipedia articles, 77 % on news subheads and
# bodies). Of 100 passages, 53 to 60 are kept of Wikipedia, whose openings differ most, and 96 of
# abstracts. A sentence that is shown alone needs finer bins, as its length is the only length cue.
TOGETHER = (
    _Measure(len, True, 0.4, 4),
    _Measure(_word_length, True, 0.1, 4),
    _Measure(len, False, 0.2, 6),
    _Measure(_word_length, False, 0.1, 4),
)
ALONE = (
    _Measure(len, False, 0.1, 12),
    _Measure(_word_length, False, 0.06, 6),
    _Measure(_marks, False, 0.35, 4),
)
# Thinning by one feature changes the others slightly.
SWEEPS = 2


def level_lengths(
    passages: Sequence[Passage], shown: Literal["together", "alone"], draw: Draw
) -> list[Passage]:
    """Leave out passages until the length of a sentence does not reveal its position.

    A text often opens with its longest sentence, a subhead is shorter than a body sentence. At
    every position, passages are thinned by keyed hash for each length that occurs there more often
    than at the other positions on average, beyond chance. Adding or removing one passage hardly
    changes the rates of thinning, and so the choice of few others.

    Args:
        passages: all with the same number of sentences, two or more.
        shown: whether the rows show the sentences of a passage together or each alone.
        draw: the dataset's.

    Returns:
        The passages that stay, in their order.
    """
    if not passages:
        return []
    weights = [1.0] * len(passages)
    measures = TOGETHER if shown == "together" else ALONE
    binned = [(_steps(passages, measure), 2 * measure.steps + 1) for measure in measures]
    for _ in range(SWEEPS):
        for steps, count in binned:
            for place in range(len(steps[0])):
                rates = _rates(weights, steps, place, count)
                weights = [w * rates[bins[place]] for w, bins in zip(weights, steps, strict=True)]
    return [
        p
        for p, weight in zip(passages, weights, strict=True)
        if draw.uniform(p.id, "length") < weight
    ]


def _rates(
    weights: Sequence[float], steps: Sequence[Sequence[int]], place: int, count: int
) -> list[float]:
    """Return, for each bin of length, the share of passages with it at a place that may stay."""
    totals = [[0.0] * count for _ in steps[0]]
    for weight, bins in zip(weights, steps, strict=True):
        for position, step in enumerate(bins):
            totals[position][step] += weight
    rates = []
    for step, count_here in enumerate(totals[place]):
        expected_count = (sum(total[step] for total in totals) - count_here) / (len(totals) - 1)
        # One standard deviation of a count, plus three: no thinning by the noise of a small corpus.
        allowed = expected_count + math.sqrt(expected_count) + 3
        rates.append(min(1.0, allowed / count_here) if count_here else 1.0)
    return rates


def _steps(passages: Sequence[Passage], measure: _Measure) -> list[list[int]]:
    """Return, for each passage, the bin of each of its sentences, from 0."""
    values = [[math.log(measure.of(sentence)) for sentence in p.sentences] for p in passages]
    mean_length = sum(map(sum, values)) / sum(map(len, values))
    steps = []
    for lengths in values:
        total = sum(lengths)
        reference = [
            (total - v) / (len(lengths) - 1) if measure.relative else mean_length for v in lengths
        ]
        steps.append([_step(v - r, measure) for v, r in zip(lengths, reference, strict=True)])
    return steps


def _step(value: float, measure: _Measure) -> int:
    step = math.floor(value / measure.step + 0.5)
    return min(max(step, -measure.steps), measure.steps) + measure.steps


Fits = Callable[[Passage, Passage], bool]
# The point of a donor on the circle, its id, and itself.
CirclePoint = tuple[int, str, Passage]
# Donors to choose the nearest from. With 200, or all of 3,600 Wikipedia articles, overlap alone
# solves the same share of the rows.
N_NEAREST_CANDIDATES = 200
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
        self._by_topic: dict[str, list[CirclePoint]] = {}
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
        """Return such a donor at the smallest distance, or None.

        It is one of ``N_NEAREST_CANDIDATES`` free ones: those that share the taker's rarest topics,
        filled up with others.
        """
        circles = [*self._of_topics(taker), self._circle]
        candidates: dict[str, Passage] = {}
        for passage in self._free_of(circles, taker, fits):
            candidates.setdefault(passage.id, passage)
            if len(candidates) == N_NEAREST_CANDIDATES:
                break
        return self._take(min(candidates.values(), key=distance, default=None))

    def _of_topics(self, taker: Passage) -> list[list[CirclePoint]]:
        topics = [topic for topic in dict.fromkeys(taker.topics) if topic in self._by_topic]
        topics.sort(key=lambda topic: (len(self._by_topic[topic]), topic))
        return [self._by_topic[topic] for topic in topics]

    def _take(self, passage: Passage | None) -> Passage | None:
        if passage is not None:
            self._taken.add(passage.id)
        return passage

    def _free_of(
        self, circles: Iterable[list[CirclePoint]], taker: Passage, fits: Fits
    ) -> Iterator[Passage]:
        """Yield the free donors of some circles after the taker's point that fit it."""
        return chain.from_iterable(self._free(circle, taker, fits) for circle in circles)

    def _free(self, circle: list[CirclePoint], taker: Passage, fits: Fits) -> Iterator[Passage]:
        index = bisect_left(circle, self._draw.hash(taker.id, "taker"), key=lambda place: place[0])
        n_seen = 0
        while n_seen < len(circle):
            index %= len(circle)
            _, name, passage = circle[index]
            if name in self._taken:
                # Removed when met, so that each is skipped once.
                del circle[index]
                continue
            index += 1
            n_seen += 1
            if fits(taker, passage):
                yield passage


class WordSimilarity:
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
        similarities = []
        for other in map(_words, others):
            norm = math.sqrt(weight * self._weight(other))
            similarities.append(self._weight(words & other) / norm if norm else 0.0)
        return fmean(similarities)

    def _weight(self, words: Iterable[str]) -> float:
        # An exact sum does not depend on the order of the words of a set.
        return math.fsum(self._weights.get(word, self._unseen) for word in words)


def _words(sentence: str) -> set[str]:
    return set(_WORD.findall(lower_case(sentence)))
