"""Splits running text into sentences, by rules and the abbreviations of a language."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from corpora_recipes.text.cleaning import is_single_spaced
from corpora_recipes.text.language import CLOSING, OPENING, Writing, is_lower, writing_of
from corpora_recipes.yaml_files import load_yaml

_ABBREVIATIONS = Path(__file__).with_name("abbreviations.yaml")
_DASHES = "—–―-•"
_NOTE_MARKS = re.compile(r"(?<!\d\])(?:\[\d+\])+$")
_ALPHANUMERIC = re.compile(r"[^\W_]")
_NUMBER_IN_BRACKETS = re.compile(r"\(\d[\d.:/–-]*\)")
_FIRST_WORD = re.compile(r"[^\W_]+")
_ROMAN_NUMERAL = re.compile(r"(?=[CXLVI])C{0,3}(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})(?!\w)")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")
# The sign of a number: Nº 5, N.º 5, N° 5, № 5, Nro. 5.
_NUMBER_SIGN = re.compile(r"(?:[Nn]\.?[º°ª]|№|[Nn](?:ro|úm)\.)(?![^\W\d])")
# Letters of a word that may be an abbreviation before a number.
_MAX_SHORT = 5
_VOWELS = "aeiouyáéíóúàèìòùâêîôûäëïöüãõ"
_BRACKETS = (("(", ")"), ("[", "]"))
_WINDOW = 30  # words to each side in which a bracket or a quotation must open and close
# Of writing without spaces: the marks that end a sentence wherever they stand, with those that
# close behind them; after a quotation, marks that continue the sentence; brackets; the window in
# characters.
_UNSPACED_END = re.compile(rf"[。！？｡!?]+([{re.escape(CLOSING)}]*) ?")
_CONTINUES = re.compile("[、，,；;：:\u3041-\u309f]")
_WIDE_BRACKETS = (("(", ")"), ("（", "）"), ("《", "》"), ("【", "】"))
_UNSPACED_WINDOW = 200
_MAX_PLAIN = 2_000  # characters: looking for all marks of longer sentences would cost more


@dataclass(frozen=True, slots=True)
class Rules:
    """The splitter's rules of one language; abbreviations.yaml explains the fields."""

    never_ends: frozenset[str]
    in_names: frozenset[str]
    may_end: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    words: frozenset[str]
    starters: frozenset[str]
    ordinals: bool
    writing: Writing
    may_stop: re.Pattern[str]
    tail: re.Pattern[str]


@cache
def abbreviations() -> dict[str, dict[str, str | bool]]:
    """Return abbreviations.yaml: language to its lists."""
    lists: dict[str, dict[str, str | bool]] = load_yaml(_ABBREVIATIONS)
    return lists


@cache
def rules_of(language: str) -> Rules:
    """Return the rules of a language; one that abbreviations.yaml lacks has no abbreviations."""
    entry = abbreviations().get(language.partition("-")[0], {})
    spaced = {
        key: {form for item in str(entry.get(key, "")).split(",") for form in _cases(item.strip())}
        for key in ("never_ends", "in_names", "may_end")
    }
    forms = {
        key: frozenset(spaced[key] | {form.replace(" ", "") for form in spaced[key]})
        for key in spaced
    }
    parts = [form.split() for key in spaced for form in spaced[key]]
    writing = writing_of(language)
    final, closing = re.escape(writing.final), re.escape(CLOSING)
    return Rules(
        **forms,
        pairs=frozenset(pair for words in parts for pair in pairwise(words)),
        words=frozenset(
            word.removesuffix(".") for words in [*parts, *forms.values()] for word in words
        ),
        starters=frozenset(str(entry.get("starters", "")).split()),
        ordinals=bool(entry.get("ordinals", False)),
        writing=writing,
        may_stop=re.compile(rf"[{final}{closing}] "),
        # The lookbehinds keep time linear in the length of a word.
        tail=re.compile(rf"(?<![{final}])([{final}]+)([{closing}]*)$"),
    )


def _cases(abbreviation: str) -> set[str]:
    """Return the entry, and capitalised too if it is lower case and more than one letter."""
    if len(abbreviation) > 2 and abbreviation.islower():
        return {abbreviation, abbreviation[0].upper() + abbreviation[1:]}
    return {abbreviation}


def ends_in_abbreviation(sentence: str, language: str) -> bool:
    """Return whether a sentence was cut after an abbreviation that ends no sentence."""
    if not sentence.endswith("."):
        return False
    rules = rules_of(language)
    last = sentence[sentence.rfind(" ") + 1 :].lstrip(OPENING)
    if last[:-1] not in rules.words:
        return False
    before = sentence.rsplit(" ", 2)[-2:-1]
    return last in rules.never_ends or " ".join([*before, last]) in rules.never_ends


def split_sentences(text: str, language: str, *, is_clean: bool = False) -> list[str]:
    """Split running text into sentences.

    Args:
        text: natural text of one paragraph; line breaks count as spaces.
        language: ISO 639 code. Its abbreviations are in abbreviations.yaml; other languages are
            split by the rules without abbreviations (case, initials, numbers, brackets).
        is_clean: whether the text comes from ``clean``, so that its spaces need no check.

    Returns:
        The sentences in order, none empty; joined with one space they are the text with every run
        of white space as one space. A sentence ends only before a space, but in writing without
        spaces: there it ends after a final mark, and spaces between sentences are left out.
    """
    rules = rules_of(language)
    if not (is_clean or is_single_spaced(text)):
        text = " ".join(text.split())
    if not rules.writing.spaces:
        return _split_unspaced(text, rules.writing)
    sentences = []
    words: list[str] = []
    start = 0  # where the sentence begins, in characters
    first = first_at = 0  # the same in words, as far as they were counted
    last = last_at = 0  # the word that may end the sentence
    spoken = 0  # the first word since then with a letter or a digit
    pairs = (*_BRACKETS, *rules.writing.quotations, ('"', '"'))
    marks = [pair for pair in pairs if pair[0] in text]
    for match in rules.may_stop.finditer(text):
        blank = match.end() - 1
        after = text[blank + 1]
        if is_lower(after) and after.isalpha() and not text[blank + 2 : blank + 3].isupper():
            continue
        if not _plainly_ends(text, start, blank, marks, rules):
            words = words or text.split(" ")
            first += text.count(" ", first_at, start)
            last += text.count(" ", last_at, blank)
            first_at, last_at = start, blank
            spoken = max(spoken, first)
            while spoken <= last and not _ALPHANUMERIC.search(words[spoken]):
                spoken += 1
            if spoken > last or not _is_boundary(words, first, last, rules):
                continue
            if words[last + 1] == '"' and text.count('"', start, blank) % 2:
                continue  # it closes
        sentences.append(text[start:blank])
        start = blank + 1
    if text:
        sentences.append(text[start:])
    return sentences


def _split_unspaced(text: str, writing: Writing) -> list[str]:
    """Split a text without spaces between sentences after each final mark that is in no bracket."""
    sentences, start = [], 0
    pairs = [pair for pair in (*_WIDE_BRACKETS, *writing.quotations) if pair[0] in text]
    for match in _UNSPACED_END.finditer(text):
        end = match.end()
        continues = match[1] and _CONTINUES.match(text, end)
        if end < len(text) and not continues and not _is_open(text, start, end, pairs):
            sentences.append(text[start:end].rstrip())
            start = end
    return [*sentences, text[start:]] if text else []


def _is_open(text: str, start: int, end: int, pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether a bracket or a quotation is open at the end of a part, and closes soon."""
    start = max(start, end - _UNSPACED_WINDOW)
    return any(
        text.count(opening, start, end) > text.count(closing, start, end)
        and text.find(closing, end, end + _UNSPACED_WINDOW) >= 0
        for opening, closing in pairs
    )


def _plainly_ends(
    text: str, start: int, blank: int, marks: Sequence[tuple[str, str]], rules: Rules
) -> bool:
    """Return whether the sentence from ``start`` on clearly ends before a space."""
    if text[blank - 1] != "." or not text[blank + 1].isupper() or blank - start > _MAX_PLAIN:
        return False
    begin = text.rfind(" ", start, blank) + 1
    word = text[begin : blank - 1]
    if (
        not begin
        or len(word) < 2
        or not word.isalnum()
        or (len(word) == 2 and word.isdigit())
        or word[-1] in "ªº"
        or (
            len(word) <= _MAX_SHORT
            and (text[blank + 1] == "N" or "." in text[blank + 2 : blank + 6])
        )
        or (rules.ordinals and _ROMAN_NUMERAL.fullmatch(word))
        or word in rules.words
        or word.lower() in rules.words
    ):
        return False
    for opening, closing in marks:  # noqa: SIM110 (half as slow as all())
        if not _all_closed(text, start, blank, opening, closing):
            return False
    return True


def _all_closed(text: str, start: int, stop: int, opening: str, closing: str) -> bool:
    """Return whether every opening mark of a part of a text is closed before the next one opens."""
    at = text.find(opening, start, stop)
    while at >= 0:
        end = text.find(closing, at + 1, stop)
        if end < 0:
            return False
        if opening == closing:
            if (at > start and text[at - 1] != " ") or text[end - 1] == " ":
                return False
            at = text.find(opening, end + 1, stop)
        else:
            at = text.find(opening, at + 1, stop)
            if 0 <= at < end:
                return False
    return True


def _is_boundary(words: Sequence[str], start: int, i: int, rules: Rules) -> bool:
    """Return whether the sentence that begins at words[start] ends with words[i]."""
    word = _NOTE_MARKS.sub("", words[i])
    tail = rules.tail.search(word)
    if tail is None:
        # A closing mark that stands alone, as in French, belongs to the stop before it.
        if i == start or word.strip(CLOSING) or not (tail := rules.tail.search(words[i - 1])):
            return False
        word = words[i - 1]
    elif tail[2] in (")", "]") and not _ALPHANUMERIC.search(word):
        return False  # (!), [...]
    following = words[i + 1]
    if not following.strip("»›”)]}>?!") or following[0] in "§&=/%,;:":
        return False
    if tail[1] != "." and _NUMBER_IN_BRACKETS.match(following):
        return False  # a title and its year: ¿Quién? (1984)
    after = next((w for w in words[i + 1 : i + 1 + _WINDOW] if _ALPHANUMERIC.search(w)), "")
    after = after.lstrip(OPENING + rules.writing.final)
    if not after or (is_lower(after) and not after[1:2].isupper()):
        return False
    before = words[i - 1] if i > start else ""
    if tail[1] == "." and not _full_stop_ends(words, i, before, tail, after, rules):
        return False
    return not _inside(
        " ".join(words[max(start, i + 1 - _WINDOW) : i + 1]),
        " ".join(words[i + 1 : i + 1 + _WINDOW]),
        rules.writing.quotations,
    )


def _full_stop_ends(
    words: Sequence[str], i: int, before: str, tail: re.Match[str], after: str, rules: Rules
) -> bool:
    """Return whether the single full stop in ``tail`` can end a sentence before ``after``."""
    core = re.split("['’]", tail.string[: tail.start()].lstrip(OPENING))[-1]
    following = words[i + 1]
    if (core + ".", following.partition(".")[0] + ".") in rules.pairs:
        return False
    if (core[-1:] in ("ª", "º") and core[:-1].isalpha()) or _precedes_number(core, words, i, rules):
        return False
    is_first = not before
    before = before.lstrip(OPENING)
    names = {core + ".", f"{before} {core}."}
    first = _FIRST_WORD.match(after)
    # "A." alone is not a preposition: it is an initial, or the end of "S. p. A.".
    starter = first is not None and first[0].lower() in rules.starters and after[1:2] != "."
    if first is not None and len(first[0]) > 1 and f"{core}{first[0]}".isupper():
        names.add(core.lower() + ".")  # a text all in capitals
    if names & rules.never_ends:
        return False
    number = after[0].isdigit() or (not starter and _ROMAN_NUMERAL.match(after) is not None)
    abbreviation_may_end = not (number or not following.strip(_DASHES) or tail[2][:1] in (")", "]"))
    in_name = bool(names & rules.in_names)
    if names & rules.may_end and not in_name:
        return abbreviation_may_end
    if in_name or _ACRONYM.fullmatch(core):
        return abbreviation_may_end and starter
    if is_first and (core.isdigit() or len(core) == 1 or _ROMAN_NUMERAL.fullmatch(core)):
        return len(core) > 3  # the number of a list item or a heading; a year is not one
    if core.isdigit():
        return starter or not rules.ordinals or len(core) > 2
    if rules.ordinals and _ROMAN_NUMERAL.fullmatch(core):
        return starter
    if len(core) == 1 and core.isalpha():
        unit = core.islower() and before[-1:].isdigit()
        return abbreviation_may_end and (unit or starter)
    return True


def _precedes_number(core: str, words: Sequence[str], i: int, rules: Rules, chain: int = 2) -> bool:
    """Return whether a short word with a stop is before its number: "ord. Nº 916", "op. 51"."""
    # A vowel at its end, or capitals, make it a word that ends a sentence: "La dama. 3 peones". So
    # do languages with ordinals, where verbs stand at the end.
    following = words[i + 1].lstrip(OPENING)
    if len(core) > _MAX_SHORT or not core.isalpha() or (core.isupper() and len(core) > 1):
        return False
    if following[:1].isdigit():
        is_reference = core.islower() and "/" in following
        is_word = core[-1].lower() in _VOWELS or (len(core) > 3 and not is_reference)
        return not rules.ordinals and (not is_word or core.lower() == "no")
    if _NUMBER_SIGN.match(following):
        return len(core) < _MAX_SHORT
    # "Res. Ex. N° 25"
    is_short = chain > 0 and following.endswith(".") and i + 2 < len(words)
    return is_short and _precedes_number(following[:-1], words, i + 1, rules, chain - 1)


def _inside(left: str, right: str, quotations: Sequence[tuple[str, str]]) -> bool:
    """Return whether the place between two texts is inside a bracket or a quotation."""
    for opening, closing in _BRACKETS:
        if left.count(opening) > left.count(closing):
            content, closed, _ = right.partition(closing)
            if closed and opening not in content:
                return True
    for opening, closing in quotations:
        if left.count(opening) > left.count(closing) and _quotation_goes_on(
            right, opening, closing
        ):
            return True
    # A straight mark after a space is an opening one.
    opened = 2 * f" {left}".count(' "') > left.count('"')
    return opened and _quotation_goes_on(right, ' "', '"')


def _quotation_goes_on(right: str, opening: str, closing: str) -> bool:
    """Return whether an open quotation ends in ``right`` and the sentence around it goes on."""
    content, _, onward = right.partition(closing)
    onward = onward.lstrip(CLOSING)
    return opening not in content and (
        onward[:1] in (",", ";")
        or (onward[:1] == " " and onward.lstrip(" " + _DASHES)[:1].islower())
    )
