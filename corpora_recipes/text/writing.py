"""How languages are written: the table writing.yaml, which says what its fields are."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import category

from corpora_recipes.running.yaml_text import load_yaml

_TABLE: dict[str, Any] = load_yaml(Path(__file__).with_name("writing.yaml"))
FINAL: str = _TABLE["final"]
CLOSING: str = _TABLE["closing"]
OPENING: str = _TABLE["opening"]
UNSPACED: str = _TABLE["unspaced"]
# About so many signs make a word where no space shows it.
_SIGNS_A_WORD = 2


@dataclass(frozen=True, slots=True)
class Writing:
    """How a language is written; writing.yaml explains the fields."""

    quotations: tuple[tuple[str, str], ...] = ()
    set_apart: str = ""
    also_final: str = ""
    spaces: bool = True
    split: bool = True
    package: str = ""

    @property
    def final(self) -> str:
        """The marks that end its sentences."""
        return FINAL + self.also_final

    @property
    def between(self) -> str:
        """What is between two sentences, or two words."""
        return " " if self.spaces else ""


@cache
def writing_of(language: str) -> Writing:
    """Return how a language is written, given its code (BCP 47); its region does not matter."""
    entries = _TABLE["languages"]
    facts = entries["any"] | entries.get(language.partition("-")[0], {})
    return Writing(**facts | {"quotations": tuple((a[0], a[1]) for a in facts["quotations"])})


def is_finished(sentence: str, language: str = "", *, also: str = "") -> bool:
    """Return whether a sentence ends in a final mark (or ``also``), before closing marks alone."""
    last = sentence.rstrip(CLOSING + " ")[-1:]
    return last != "" and last in writing_of(language).final + also


def is_lower(text: str) -> bool:
    """Return whether a text begins with a small letter that could be a capital at a beginning.

    Georgian has capitals for texts all in capitals alone, so that its letters are no small ones.
    """
    first = text[:1]
    return first.islower() and not first.title() == first != first.upper()


def is_letters(word: str) -> bool:
    """Return whether a word has letters alone, with the marks that belong to them."""
    return word.isalpha() or (
        word[:1].isalpha() and all(c.isalpha() or category(c)[0] == "M" for c in word)
    )


_words = re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+").findall
_is_unspaced = re.compile(rf"[{UNSPACED}]").match


def words_of(text: str) -> list[str]:
    """Return what spaces part, and the change between scripts with and without spaces."""
    return text.split() if text.isascii() else _words(text)


def number_of_words(text: str) -> int:
    """Return about how many words a text has, whose scripts may do without spaces."""
    return sum(-(-len(w) // _SIGNS_A_WORD) if _is_unspaced(w) else 1 for w in words_of(text))
