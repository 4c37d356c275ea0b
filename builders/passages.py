"""From documents to passages: which sentences of a document a task may use."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from builders.sampling import Passage
from corpora_recipes.errors import InputError
from corpora_recipes.hashing import keyed_choice, keyed_hash
from corpora_recipes.records import SPLITS, Dialogue, Document, Section, Split

# A sentence this long that occurs twice is a leak; shorter ones ("Véase el mapa.") recur by nature.
REPEATABLE_BELOW = 6

_STOPS = tuple(".!?…:。！？؟۔।։")
_CLOSING = "\"'»›”’“)]}* "


def first_sentences(document: Document, count: int) -> tuple[str, ...] | None:
    """Return the first ``count`` sentences of the document's first section, or None."""
    if not document.sections:
        return None
    sentences = flat(document.sections[0])
    return tuple(sentences[:count]) if len(sentences) >= count else None


def any_sentences(
    document: Document, count: int, seed: int, dataset: str
) -> tuple[str, ...] | None:
    """Return ``count`` sentences in a row of one section, uniform over all such places, or None."""
    sections = [flat(section) for section in document.sections]
    places = [max(0, len(sentences) - count + 1) for sentences in sections]
    if not any(places):
        return None
    drawn = keyed_choice(sum(places), seed, dataset, document.id, "passage")
    for sentences, number in zip(sections, places, strict=True):
        if drawn < number:
            return tuple(sentences[drawn : drawn + count])
        drawn -= number
    raise AssertionError("the drawn place lies in one of the sections")


def windows(dialogue: Dialogue, count: int, seed: int, dataset: str) -> list[Passage]:
    """Return passages of ``count`` turns in a row of one conversation; none overlap.

    What a conversation has beyond a multiple of ``count`` is left over at its two ends, divided
    by keyed hash. Ranks are keyed too, so that no part of a film or book is preferred.
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    for number, turns in enumerate(dialogue.conversations):
        rest = len(turns) % count + 1
        first = keyed_choice(rest, seed, dataset, dialogue.id, str(number), "first turn")
        found += [
            (f"{dialogue.id}#{number}.{start}", tuple(turns[start : start + count]))
            for start in range(first, len(turns) - count + 1, count)
        ]
    found.sort(key=lambda entry: keyed_hash(seed, dataset, entry[0], "rank"))
    split = _split(dialogue)
    return [
        Passage(name, dialogue.id, split, (), turns, rank)
        for rank, (name, turns) in enumerate(found)
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
            todo="make the records again with `python -m corpora_recipes read`",
        )
    return record.split


def is_finished(sentence: str) -> bool:
    """Tell whether the sentence ends in a stop, with nothing after it but closing marks.

    One that does not, such as the last of a text whose full stop got lost, tells its place.
    """
    return sentence.rstrip(_CLOSING).endswith(_STOPS)


def without_repeated(passages: Iterable[Passage]) -> tuple[list[Passage], int]:
    """Leave out every passage with a sentence that an earlier one, or itself, has already.

    Sentences are compared by ``normalise``; those of fewer than six words may recur in other
    passages.

    Returns:
        The passages that stay, in their order, and the number left out.
    """
    seen: set[int] = set()
    kept, dropped = [], 0
    for passage in passages:
        own = [mark(sentence) for sentence in passage.sentences]
        telling = [m for m, s in zip(own, passage.sentences, strict=True) if is_telling(s)]
        if len(set(own)) < len(own) or not seen.isdisjoint(telling):
            dropped += 1
        else:
            seen.update(telling)
            kept.append(passage)
    return kept, dropped


def mark(sentence: str) -> int:
    """Return the hash of what makes a sentence the same as another: its words, or its marks."""
    return keyed_hash(0, normalise(sentence) or sentence)


def has_words(text: str) -> bool:
    """Tell whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def is_telling(sentence: str) -> bool:
    """Tell whether a sentence has so many words that it does not recur by nature."""
    return normalise(sentence).count(" ") + 1 >= REPEATABLE_BELOW


def normalise(sentence: str) -> str:
    """Return the sentence's words, case-folded, without punctuation, joined by single blanks."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return " ".join(_words().findall(folded))


@cache
def _words() -> re.Pattern[str]:
    return re.compile(runs_of(r"\w"))


@cache
def runs_of(characters: str) -> str:
    """Return a pattern of words made of some characters and the marks that belong to them.

    Python's ``\\w`` leaves out the vowel signs of Indic and other scripts, and the joiners that
    Persian has inside of words.

    Args:
        characters: an expression for one character.
    """
    marks = "".join(
        re.escape(chr(point))
        for point in range(0x10000)
        if unicodedata.category(chr(point)).startswith("M")
    )
    return rf"{characters}+(?:[{marks}\u200c\u200d]+{characters}*)*"


def flat(section: Section) -> list[str]:
    """Return the sentences of a section."""
    return [sentence for paragraph in section.paragraphs for sentence in paragraph]
