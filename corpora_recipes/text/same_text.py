"""Which sentences count as the same text."""

import re
import unicodedata
from functools import cache

from corpora_recipes.hashing import keyed_hash


def mark(sentence: str) -> int:
    """Return the hash by which sentences are the same: of their words, or of their symbols."""
    return keyed_hash(0, normalise(sentence) or sentence)


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
