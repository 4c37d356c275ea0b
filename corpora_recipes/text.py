"""Clean-up of natural text, sentence splitting and the classic protocol's tokens."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.errors import InputError

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

# Controls that are no blanks, soft hyphen, zero-width and directional marks, byte order mark.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_DAMAGE = {
    "replacement_character": re.compile("\ufffd"),
    "unpaired_surrogate": re.compile("[\ud800-\udfff]"),
    "private_use_character": re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]"),
    "mojibake": re.compile("Ã[\x80-\xbf]|Â[\xa0-\xbf]|â€"),  # UTF-8 read as Windows-1252
}

_STOPS = ".!?…؟۔।։"
_DASHES = "—–―-•"
_OPENING = "¿¡«‹“„‘‚\"'([{<*" + _DASHES
_CLOSING = "»›”“’\"')]}>*"
_MAY_CLOSE = frozenset(_STOPS + _CLOSING)
_TAIL = re.compile(rf"([{_STOPS}]+)([{re.escape(_CLOSING)}]*)$")
_NOTE_MARKS = re.compile(r"(?:\[\d+\])+$")
_ALPHANUMERIC = re.compile(r"[^\W_]")
_NUMBER_IN_BRACKETS = re.compile(r"\(\d[\d.:/–-]*\)")
_FIRST_WORD = re.compile(r"[^\W_]+")
_ROMAN_NUMERAL = re.compile(r"(?=[CXLVI])C{0,3}(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})(?!\w)")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")
_BRACKETS = (("(", ")"), ("[", "]"))
_QUOTES = (("«", "»"), ("“", "”"))
_REACH = 30  # words to each side in which a bracket or a quotation must open and close


def clean(text: str) -> str:
    """Return the text in NFC, without invisible characters, every run of blanks as one space.

    Blanks are all Unicode white space, line breaks among them; invisible are controls, zero-width
    and directional marks, soft hyphens and byte order marks. Nothing is repaired: U+FFFD stays.
    """
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).split())


def damage(text: str) -> str | None:
    """Name what shows that the text was spoilt before it came to us, or None if nothing does.

    Returns:
        "replacement_character", "unpaired_surrogate" (it cannot be written as UTF-8),
        "private_use_character" (bullets of symbol fonts, mostly) or "mojibake" (UTF-8 read as
        Windows-1252).
    """
    if text.isascii():
        return None
    return next((reason for reason, pattern in _DAMAGE.items() if pattern.search(text)), None)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the splitter knows of one language; abbreviations.yaml explains the fields."""

    never_ends: frozenset[str]
    in_names: frozenset[str]
    may_end: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    starters: frozenset[str]
    ordinals: bool


@cache
def _table() -> dict[str, dict[str, str | bool]]:
    import yaml

    path = Path(__file__).with_name("abbreviations.yaml")
    table: dict[str, dict[str, str | bool]] = yaml.safe_load(path.read_text("utf-8"))
    return table


@cache
def _rules(language: str) -> _Rules:
    entry = _table().get(language.partition("-")[0], {})
    spaced = {
        key: {form for item in str(entry.get(key, "")).split(",") for form in _cases(item.strip())}
        for key in ("never_ends", "in_names", "may_end")
    }
    forms = {
        key: frozenset(spaced[key] | {form.replace(" ", "") for form in spaced[key]})
        for key in spaced
    }
    parts = [form.split() for key in spaced for form in spaced[key]]
    return _Rules(
        **forms,
        pairs=frozenset(pair for words in parts for pair in pairwise(words)),
        starters=frozenset(str(entry.get("starters", "")).split()),
        ordinals=bool(entry.get("ordinals", False)),
    )


def _cases(abbreviation: str) -> set[str]:
    """Return the entry, and capitalised too if it is lower case and more than one letter."""
    if len(abbreviation) > 2 and abbreviation.islower():
        return {abbreviation, abbreviation[0].upper() + abbreviation[1:]}
    return {abbreviation}


def split_sentences(text: str, language: str) -> list[str]:
    """Split running text into sentences.

    Args:
        text: natural text of one paragraph; line breaks count as blanks.
        language: ISO 639 code. Its abbreviations stand in abbreviations.yaml; a language that is
            not there is split by the rules that need none (case, initials, numbers, brackets).

    Returns:
        The sentences in order, none empty; joined with one space they are the text with every run
        of blanks as one space. A sentence ends only before a blank.
    """
    rules = _rules(language)
    words = text.split()
    sentences = []
    start = 0
    for i in range(len(words) - 1):
        if words[i][-1] in _MAY_CLOSE and _is_boundary(words, start, i, rules):
            sentences.append(" ".join(words[start : i + 1]))
            start = i + 1
    if words:
        sentences.append(" ".join(words[start:]))
    return sentences


def _is_boundary(words: Sequence[str], start: int, i: int, rules: _Rules) -> bool:
    """Tell whether the sentence that begins at words[start] ends with words[i]."""
    word = _NOTE_MARKS.sub("", words[i])
    tail = _TAIL.search(word)
    if tail is None:
        # A closing mark that stands alone, as in French, belongs to the stop before it.
        if i == start or word.strip(_CLOSING) or not (tail := _TAIL.search(words[i - 1])):
            return False
        word = words[i - 1]
    elif tail[2] in (")", "]") and not _ALPHANUMERIC.search(word):
        return False  # (!), [...]
    following = words[i + 1]
    if not following.strip("»›”)]}>"):
        return False
    if tail[1] != "." and _NUMBER_IN_BRACKETS.match(following):
        return False  # a title and its year: ¿Quién? (1984)
    after = next((w for w in words[i + 1 : i + 1 + _REACH] if _ALPHANUMERIC.search(w)), "")
    after = after.lstrip(_OPENING + _STOPS)
    if not after or (after[0].islower() and not after[1:2].isupper()):
        return False
    if following == '"' and " ".join(words[start : i + 1]).count('"') % 2:
        return False
    if not any(_ALPHANUMERIC.search(words[k]) for k in range(start, i + 1)):
        return False
    if tail[1] == "." and not _full_stop_ends(words, start, i, word, tail, after, rules):
        return False
    return not _inside(
        " ".join(words[max(start, i + 1 - _REACH) : i + 1]),
        " ".join(words[i + 1 : i + 1 + _REACH]),
    )


def _full_stop_ends(
    words: Sequence[str],
    start: int,
    i: int,
    word: str,
    tail: re.Match[str],
    after: str,
    rules: _Rules,
) -> bool:
    """Tell whether the single full stop of ``word`` can end a sentence before ``after``."""
    core = re.split("['’]", word[: tail.start()].lstrip(_OPENING))[-1]
    following = words[i + 1]
    if (core + ".", following.partition(".")[0] + ".") in rules.pairs:
        return False
    before = words[i - 1].lstrip(_OPENING) if i > start else ""
    names = {core + ".", f"{before} {core}."}
    first = _FIRST_WORD.match(after)
    # "A." alone is no preposition but an initial, or the end of "S. p. A.".
    starter = first is not None and first[0].lower() in rules.starters and after[1:2] != "."
    if first is not None and len(first[0]) > 1 and f"{core}{first[0]}".isupper():
        names.add(core.lower() + ".")  # a text all in capitals
    if names & rules.never_ends:
        return False
    number = after[0].isdigit() or (not starter and _ROMAN_NUMERAL.match(after) is not None)
    abbreviation_may_end = not (number or not following.strip(_DASHES) or tail[2][:1] in (")", "]"))
    if names & rules.may_end:
        return abbreviation_may_end
    if names & rules.in_names or _ACRONYM.fullmatch(core):
        return abbreviation_may_end and starter
    if i == start and (core.isdigit() or len(core) == 1 or _ROMAN_NUMERAL.fullmatch(core)):
        return len(core) > 3  # the number of a list item or a heading; a year is none
    if core.isdigit():
        return starter or not rules.ordinals or len(core) > 2
    if len(core) == 1 and core.isalpha():
        unit = core.islower() and before[-1:].isdigit()
        return abbreviation_may_end and (unit or starter)
    return True


def _inside(left: str, right: str) -> bool:
    """Tell whether the place between two texts is inside a bracket or a quotation.

    A quotation counts only if the sentence goes on after it («Vete. Ya», dijo).
    """
    for opening, closing in _BRACKETS:
        if left.count(opening) > left.count(closing):
            content, closed, _ = right.partition(closing)
            if closed and opening not in content:
                return True
    for opening, closing in _QUOTES:
        if left.count(opening) > left.count(closing) and _quotation_goes_on(
            right, opening, closing
        ):
            return True
    # A straight mark opens where a blank stands before it.
    opened = 2 * f" {left}".count(' "') > left.count('"')
    return opened and _quotation_goes_on(right, ' "', '"')


def _quotation_goes_on(right: str, opening: str, closing: str) -> bool:
    """Tell whether an open quotation ends in ``right`` and the sentence around it goes on."""
    content, _, onward = right.partition(closing)
    onward = onward.lstrip(_CLOSING)
    return opening not in content and (
        onward[:1] in (",", ";")
        or (onward[:1] == " " and onward.lstrip(" " + _DASHES)[:1].islower())
    )


@cache
def _tokenizer(language: str) -> "Tokenizer":
    import spacy

    try:
        return spacy.blank(language.partition("-")[0]).tokenizer
    except ImportError as error:
        raise InputError(
            f"language {language!r}",
            expected="a language that spaCy can tokenise (an ISO 639 code such as es, en, pt)",
            found=str(error),
            todo="take a code of the list at https://spacy.io/usage/models#languages (xx is for "
            "any language), or install the package that is named above",
        ) from error


def tokenize(sentence: str, language: str) -> list[str]:
    """Return the sentence's tokens by spaCy's rule tokeniser for the language, without blanks.

    Raises:
        InputError: spaCy has no tokeniser for the language, or needs a package for it.
    """
    return [token.text for token in _tokenizer(language)(sentence) if not token.is_space]
