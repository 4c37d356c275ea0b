"""Which sentences count as the same text, and which repetitions are leaks."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from builders.sampling.passages import Passage
from corpora_recipes.hashing import keyed_hash

# Words: a repeated sentence of this length is a leak; shorter ones ("Véase el mapa.") recur anyway.
REPEATABLE_BELOW = 6


def without_repeated(passages: Iterable[Passage]) -> tuple[list[Passage], int]:
    """Leave out every passage that repeats a sentence of an earlier passage, or its own.

    Sentences are compared by ``normalise``; those of fewer than six words may occur in several
    passages.

    Returns:
        The passages that stay, in their order, and the number left out.
    """
    seen: set[int] = set()
    kept, dropped = [], 0
    for passage in passages:
        marks = [mark(sentence) for sentence in passage.sentences]
        telling = [m for m, s in zip(marks, passage.sentences, strict=True) if is_telling(s)]
        if len(set(marks)) < len(marks) or not seen.isdisjoint(telling):
            dropped += 1
        else:
            seen.update(telling)
            kept.append(passage)
    return kept, dropped


def mark(sentence: str) -> int:
    """Return the hash by which sentences are the same: of their words, or of their symbols."""
    return keyed_hash(0, normalise(sentence) or sentence)


def has_words(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def is_telling(sentence: str) -> bool:
    """Return whether a sentence is so long that its repetition is a leak."""
    return normalise(sentence).count(" ") + 1 >= REPEATABLE_BELOW


def normalise(sentence: str) -> str:
    """Return the sentence's words, case-folded, without punctuation, joined by single spaces."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return " ".join(_words().findall(folded))


@cache
def _words() -> re.Pattern[str]:
    return re.compile(runs_of(r"\w"))


@cache
def runs_of(characters: str) -> str:
    """Return a pattern of words made of some characters and their combining marks.

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
