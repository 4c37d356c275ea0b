"""Finds what shows that a sentence of natural text was spoilt; damage.yaml says what.

Of sentences in which a fault was found, 211 of 228 that were read truly had it (damage.yaml has the
counts by fault). Of faults planted in 4,200 sound Spanish sentences it finds nearly all characters
and markup (over 99 %), empty brackets and such (100 %), lost brackets (96 %), stray quotation marks
(99 %), doubled words (99 %), names and numbers lost after a preposition (51 %, with a blank left
before the punctuation 56 %), numbers lost between other words (10 %), sentences without their end
(99 %) or their beginning (87 %), two in one (62 %, without a blank between them 77 %).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

import corpora_recipes
from corpora_recipes.errors import InputError

Kind = Literal["sentence", "turn", "fragment", "example"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GROUPS = ("characters", "markup", "extraction_damage", "mis_split")

_TAIL = 16  # characters at the end of a sentence that a pattern of its end looks at
_TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

FAULTS: Mapping[str, tuple[str, ...]] = {group: tuple(_TABLE[group]) for group in GROUPS}
"""The names of the faults, by group."""

_GROUP_OF = {name: group for group in GROUPS for name in FAULTS[group]}
_BRACKETS = (("(", ")"), ("[", "]"))
_PAIR = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# "a)" and "iv)" of an enumeration, ":-)".
_UNPAIRED = re.compile(r"(?<!\w)(?:\w{1,2}|[ivxIVX]+)[.°ºª]?\)|[:;=][’'-]?[()\[\]]")
_QUOTED = re.compile(r'“[^”]*”|«[^»]*»|"[^"]*"|\([^()]*\)|\[[^\[\]]*\]')
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def group_of(name: str) -> str:
    """Return the group that a fault's name belongs to."""
    return _GROUP_OF[name]


def faults(sentence: str, language: str, kind: Kind = "sentence") -> list[str]:
    """Return the names of the faults of a text, in the order of ``FAULTS``.

    Args:
        sentence: natural text; of a tokenised one (" ," for ",") every punctuation mark is a fault.
        language: ISO 639 code. A language without words in damage.yaml is judged by the patterns
            that need none.
        kind: "sentence" of a running text; "turn" of a dialogue or a subtitle, which may hold
            several sentences, begin in lower case and break off; "fragment" of a sentence (an
            elementary discourse unit, a headline), whose limits say nothing; or "example", a text
            that was labelled as it is (a tweet, a question), which may also hold URLs and bars.

    Raises:
        InputError: there is no such kind.
    """
    present = frozenset(sentence)
    return [
        pattern.name
        for pattern in _patterns(language.partition("-")[0], kind)
        if not (pattern.needs and pattern.needs.isdisjoint(present)) and pattern.finds(sentence)
    ]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A fault: its name, characters of which it needs one (if any), and the test for it."""

    name: str
    needs: frozenset[str]
    finds: Callable[[str], object]


@cache
def _patterns(language: str, kind: Kind) -> list[_Pattern]:
    """Compile the patterns that hold for a language and a kind of text."""
    if kind not in KINDS:
        raise InputError(
            f"kind of text {kind!r}",
            expected="one of " + ", ".join(KINDS),
            found=repr(kind),
            todo="name one of these",
        )
    words = _words(language)
    patterns = []
    for name, group in _GROUP_OF.items():
        entry = _TABLE[group][name]
        expression = entry.get("pattern")
        if kind in entry.get("not_in", ()) or language not in entry.get("languages", (language,)):
            continue
        if expression is not None and not words.keys() >= set(_PLACEHOLDER.findall(expression)):
            continue
        finds = (
            _FUNCTIONS[name]
            if expression is None
            else _search(_PLACEHOLDER.sub(lambda match: words[match[1]], expression))
        )
        if entry.get("outside_quotes"):
            finds = _outside_quotes(finds)
        patterns.append(_Pattern(name, frozenset(entry.get("needs", "")), finds))
    return patterns


def _search(expression: str) -> Callable[[str], object]:
    compiled = re.compile(expression)
    if expression.startswith(r"\A"):
        return compiled.match
    if expression.endswith(r"\Z"):
        return lambda sentence: compiled.search(sentence, max(0, len(sentence) - _TAIL))
    return compiled.search


def _outside_quotes(finds: Callable[[str], object]) -> Callable[[str], object]:
    return lambda sentence: finds(sentence) and finds(_QUOTED.sub("…", sentence))


def _words(language: str) -> dict[str, str]:
    """Return the words of a language by the names that patterns use, as alternatives."""
    words = {
        name: "|".join(re.split(r",\s+", listed.strip()))
        for name, listed in _TABLE["words"].get(language, {}).items()
    }
    path = Path(corpora_recipes.__path__[0], "abbreviations.yaml")
    splitter = yaml.safe_load(path.read_text("utf-8")).get(language)
    if splitter is not None:
        abbreviations = re.split(r",\s+", splitter["never_ends"].strip())
        words["abbreviations"] = "|".join(
            rf"[{form[0]}{form[0].upper()}]{re.escape(form[1:])}" for form in abbreviations
        )
        words["starters"] = "|".join(
            word.capitalize() for word in splitter["starters"].split() if len(word) > 1
        )
    return words


def _not_nfc(sentence: str) -> bool:
    return not unicodedata.is_normalized("NFC", sentence)


def _unbalanced_brackets(sentence: str) -> bool:
    """Tell whether a bracket is not closed or not opened; "a)" and ":)" need no partner."""
    if all(sentence.count(opening) == sentence.count(closing) for opening, closing in _BRACKETS):
        return False
    left = sentence
    while (shorter := _PAIR.sub("", left)) != left:
        left = shorter
    return any(bracket in _UNPAIRED.sub("", left) for bracket in "()[]")


_FUNCTIONS: Mapping[str, Callable[[str], object]] = {
    "not_nfc": _not_nfc,
    "unbalanced_brackets": _unbalanced_brackets,
}
