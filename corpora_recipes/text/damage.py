"""Finds damaged sentences of natural text, by the patterns of damage.yaml.

Precision: of 228 sentences with a detected fault, 211 truly have it (read by hand; damage.yaml has
the counts by fault). Recall, on faults planted in 4,200 sound Spanish sentences: wrong characters
and markup over 99 %, empty brackets and similar 100 %, lost brackets 96 %, stray quotation marks
99 %, doubled words 99 %, names and numbers lost after a preposition 51 % (with a space left before
the punctuation 56 %), numbers lost between other words 10 %, sentences without their end 99 % or
their beginning 87 %, two sentences in one 62 % (without a space between them 77 %).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from corpora_recipes.running.errors import ParamsError
from corpora_recipes.text.encoding import find_wrong_encoding
from corpora_recipes.text.pdf import find_pdf_characters, has_cut_word
from corpora_recipes.text.sentences import abbreviations
from corpora_recipes.yaml_files import load_yaml

Kind = Literal["sentence", "turn", "fragment", "example"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GROUPS = ("characters", "markup", "extraction_damage", "mis_split")

_TAIL = 16  # characters that a pattern of the sentence's end looks at
_TABLE: dict[str, Any] = load_yaml(Path(__file__).with_name("damage.yaml"))

# The names of the faults, by group.
FAULTS: Mapping[str, tuple[str, ...]] = {group: tuple(_TABLE[group]) for group in GROUPS}

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


def find_faults(sentence: str, language: str, kind: Kind = "sentence") -> list[str]:
    """Return the names of the faults of a text, in the order of ``FAULTS``.

    Args:
        sentence: natural text; in tokenised text (" ," for ",") every punctuation mark is a fault.
        language: ISO 639 code. For a language that damage.yaml has no words for, only the patterns
            without words are used.
        kind: "sentence" of running text; "turn" of a dialogue or a subtitle, which may hold several
            sentences, begin in lower case and break off; "fragment" of a sentence (an elementary
            discourse unit, a headline), whose limits are not judged; or "example", a labelled text
            (a tweet, a question), which may also hold URLs and bars.
    """
    present = frozenset(sentence)
    return [
        pattern.name
        for pattern in _patterns(language.partition("-")[0], kind)
        if not (pattern.needs and pattern.needs.isdisjoint(present)) and pattern.matches(sentence)
    ]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A fault: its name, the characters that it needs one of (if any), and its test."""

    name: str
    needs: frozenset[str]
    matches: Callable[[str], object]


@cache
def _patterns(language: str, kind: Kind) -> list[_Pattern]:
    """Compile the patterns for a language and a kind of text."""
    if kind not in KINDS:
        raise ParamsError("kind of text", f"one of {', '.join(KINDS)}", repr(kind))
    words = _words(language)
    patterns = []
    for name, group in _GROUP_OF.items():
        entry = _TABLE[group][name]
        expression = entry.get("pattern")
        if kind in entry.get("not_in", ()) or language not in entry.get("languages", (language,)):
            continue
        if expression is not None and not words.keys() >= set(_PLACEHOLDER.findall(expression)):
            continue
        matches = (
            _FUNCTIONS[name]
            if expression is None
            else _search(_PLACEHOLDER.sub(lambda match: words[match[1]], expression))
        )
        if entry.get("outside_quotes"):
            matches = _outside_quotes(matches)
        patterns.append(_Pattern(name, frozenset(entry.get("needs", "")), matches))
    return patterns


def _search(expression: str) -> Callable[[str], object]:
    compiled = re.compile(expression)
    if expression.startswith(r"\A"):
        return compiled.match
    if expression.endswith(r"\Z"):
        return lambda sentence: compiled.search(sentence, max(0, len(sentence) - _TAIL))
    return compiled.search


def _outside_quotes(matches: Callable[[str], object]) -> Callable[[str], object]:
    return lambda sentence: matches(sentence) and matches(_QUOTED.sub("…", sentence))


def _words(language: str) -> dict[str, str]:
    """Return placeholder name to the words of a language, as alternatives of a pattern."""
    words = {
        name: "|".join(re.split(r",\s+", listed.strip()))
        for name, listed in _TABLE["words"].get(language, {}).items()
    }
    splitter = abbreviations().get(language)
    if splitter is not None:
        forms = re.split(r",\s+", str(splitter["never_ends"]).strip())
        words["abbreviations"] = "|".join(
            rf"[{form[0]}{form[0].upper()}]{re.escape(form[1:])}" for form in forms
        )
        words["starters"] = "|".join(
            word.capitalize() for word in str(splitter["starters"]).split() if len(word) > 1
        )
    return words


def _not_nfc(sentence: str) -> bool:
    return not unicodedata.is_normalized("NFC", sentence)


def _unbalanced_brackets(sentence: str) -> bool:
    """Return whether a bracket is not closed or not opened; "a)" and ":)" need no partner."""
    if all(sentence.count(opening) == sentence.count(closing) for opening, closing in _BRACKETS):
        return False
    rest = sentence
    while (shorter := _PAIR.sub("", rest)) != rest:
        rest = shorter
    return any(bracket in _UNPAIRED.sub("", rest) for bracket in "()[]")


_FUNCTIONS: Mapping[str, Callable[[str], object]] = {
    "mojibake": lambda sentence: find_wrong_encoding(sentence) == "mojibake",
    "wrong_code_page": lambda sentence: find_wrong_encoding(sentence) == "wrong_code_page",
    "accent_apart": lambda sentence: find_pdf_characters(sentence) == "accent_apart",
    "hyphenated_word": has_cut_word,
    "not_nfc": _not_nfc,
    "unbalanced_brackets": _unbalanced_brackets,
}
