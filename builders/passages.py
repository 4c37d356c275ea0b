"""From documents to passages: which sentences of a document a task may use."""

import re
import unicodedata
from collections.abc import Iterable

from builders.sampling import Passage
from corpora_recipes.hashing import keyed_choice, keyed_hash
from corpora_recipes.records import Document, Section

# A sentence this long that occurs twice is a leak; shorter ones ("Véase el mapa.") recur by nature.
REPEATABLE_BELOW = 6


def first_sentences(document: Document, count: int) -> tuple[str, ...] | None:
    """Return the first ``count`` sentences of the document's first section, or None."""
    if not document.sections:
        return None
    sentences = _flat(document.sections[0])
    return tuple(sentences[:count]) if len(sentences) >= count else None


def any_sentences(
    document: Document, count: int, seed: int, dataset: str
) -> tuple[str, ...] | None:
    """Return ``count`` sentences in a row of one section, uniform over all such places, or None."""
    sections = [_flat(section) for section in document.sections]
    places = [max(0, len(sentences) - count + 1) for sentences in sections]
    if not any(places):
        return None
    drawn = keyed_choice(sum(places), seed, dataset, document.id, "passage")
    for sentences, number in zip(sections, places, strict=True):
        if drawn < number:
            return tuple(sentences[drawn : drawn + count])
        drawn -= number
    raise AssertionError("the drawn place lies in one of the sections")


def is_finished(sentence: str) -> bool:
    """Tell whether the sentence ends in a mark of punctuation.

    One that does not, such as the last of a text whose full stop got lost, tells its place.
    """
    return unicodedata.category(sentence[-1]).startswith("P")


def without_repeated(passages: Iterable[Passage]) -> tuple[list[Passage], int]:
    """Leave out every passage with a sentence that an earlier one, or itself, has already.

    Sentences are compared without case, accents on punctuation and spacing; those of fewer than
    six words may recur.

    Returns:
        The passages that stay, in their order, and the number left out.
    """
    seen: set[int] = set()
    kept, dropped = [], 0
    for passage in passages:
        words = [normalise(sentence) for sentence in passage.sentences]
        marks = [keyed_hash(0, w) for w in words if w.count(" ") + 1 >= REPEATABLE_BELOW]
        if len(set(words)) < len(words) or not seen.isdisjoint(marks):
            dropped += 1
        else:
            seen.update(marks)
            kept.append(passage)
    return kept, dropped


def normalise(sentence: str) -> str:
    """Return the sentence's words, case-folded, without punctuation, joined by single blanks."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return " ".join(re.findall(r"\w+", folded))


def _flat(section: Section) -> list[str]:
    return [sentence for paragraph in section.paragraphs for sentence in paragraph]
