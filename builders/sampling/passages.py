"""Passages: the sentences of a document that a task may use."""

from dataclasses import dataclass

from builders.sampling.draw import Draw
from corpora_recipes.records import SPLITS, Dialogue, Document, Section, Split
from corpora_recipes.running.errors import InputError


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of one document, for one instance (or one pair of instances).

    Attributes:
        id: unique; that of the document if it has one passage.
        document_id: the document.
        split: its split.
        topics: its topics.
        sentences: the material of the task's rows, mostly neighbours in the source.
        rank: the number of passages of its document to take before this one.
    """

    id: str
    document_id: str
    split: Split
    topics: tuple[str, ...]
    sentences: tuple[str, ...]
    rank: int = 0


_STOPS = tuple(".!?…:。！？؟۔।։")
_CLOSING = "\"'»›”’“)]}* "


def first_sentences(document: Document, count: int) -> tuple[str, ...] | None:
    """Return the first ``count`` sentences of the document's first section, or None."""
    if not document.sections:
        return None
    sentences = flat(document.sections[0])
    return tuple(sentences[:count]) if len(sentences) >= count else None


def any_sentences(document: Document, count: int, draw: Draw) -> tuple[str, ...] | None:
    """Return ``count`` consecutive sentences of one section, uniform over all places, or None."""
    sections = [flat(section) for section in document.sections]
    places = [max(0, len(sentences) - count + 1) for sentences in sections]
    if not any(places):
        return None
    drawn = draw.choice(sum(places), document.id, "passage")
    for sentences, number in zip(sections, places, strict=True):
        if drawn < number:
            return tuple(sentences[drawn : drawn + count])
        drawn -= number
    raise AssertionError("the drawn place lies in one of the sections")


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
    if record.split not in SPLITS:
        raise InputError(
            f"document {record.id}",
            expected=f"a split, one of {', '.join(SPLITS)}",
            found=repr(record.split),
            todo="read the corpus again with `probeta read`",
        )
    return record.split


def is_finished(sentence: str) -> bool:
    """Return whether the sentence ends in a stop, followed only by closing marks.

    An unfinished sentence, such as the last of a text whose full stop was lost, reveals its
    position.
    """
    return sentence.rstrip(_CLOSING).endswith(_STOPS)


def flat(section: Section) -> list[str]:
    """Return the sentences of a section."""
    return [sentence for paragraph in section.paragraphs for sentence in paragraph]
