"""Passages: the sentences of a document that a task may use, and the order of taking them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from builders.sampling.draw import Draw
from corpora_recipes.records import Dialogue, Document, Section, Split


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
    sentences = flat(document.sections[0])
    return tuple(sentences[:count]) if len(sentences) >= count else None


def any_sentences(document: Document, count: int, draw: Draw) -> tuple[str, ...] | None:
    """Return ``count`` consecutive sentences of one section, uniform over all places, or None."""
    places = [
        (sentences, start)
        for sentences in map(flat, document.sections)
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
    named: list[tuple[str, tuple[str, ...]]] = []
    for number, turns in enumerate(dialogue.conversations):
        rest = len(turns) % count + 1
        first = draw.choice(rest, dialogue.id, str(number), "first turn")
        named += [
            (f"{dialogue.id}#{number}.{start}", tuple(turns[start : start + count]))
            for start in range(first, len(turns) - count + 1, count)
        ]
    named.sort(key=lambda entry: draw.hash(entry[0], "rank"))
    split = _split(dialogue)
    return [
        Passage(name, dialogue.id, split, (), turns, rank)
        for rank, (name, turns) in enumerate(named)
    ]


def one_passage(document: Document, sentences: tuple[str, ...] | None) -> list[Passage]:
    """Return the document's one passage in a list, which is empty if there are no sentences."""
    if sentences is None:
        return []
    topics = tuple(document.topics)
    return [Passage(document.id, document.id, _split(document), topics, sentences)]


def _split(record: Document | Dialogue) -> Split:
    assert record.split is not None, f"{record.id} has no split, which `read` decides"
    return record.split


def flat(section: Section) -> list[str]:
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
    last: dict[Split, int] = {}
    for split, least in need.items():
        ranks = Counter(p.rank for p in passages if p.split == split)
        total = 0
        for rank in sorted(ranks):
            total += ranks[rank]
            last[split] = rank
            if total >= least:
                break
    return [p for p in passages if p.rank <= last[p.split]]
