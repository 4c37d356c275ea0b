"""Splits paragraphs of half-cleaned text into sentences, and drops the damaged ones."""

import re
from collections.abc import Sequence
from functools import cache
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from corpora_recipes.corpora.wikipedia.templates import (
    FORMULA,
    HOLE,
    MARKS,
    NOTHING,
    SILENT,
    load_wiki,
)
from corpora_recipes.records import Drops
from corpora_recipes.text.cleaning import POSSIBLY_DAMAGED, clean, find_damage
from corpora_recipes.text.language import FINAL, is_finished, is_lower
from corpora_recipes.text.sentences import ends_in_abbreviation, split_sentences
from corpora_recipes.text.tidying import has_stray_quote, pair_quotes, single_stops, tidy

# Longer paragraphs are lists without markup, or vandalised pages.
MAX_PARAGRAPH = 50_000

_QUOTES = ('"', "“", "”", "..")
_GONE = re.compile(rf"([{NOTHING}{SILENT}][\s{NOTHING}{SILENT}]*)")
_EMPTY_BRACKET = re.compile(rf"\([ \n]*[{NOTHING}][\s{NOTHING}]*\)")
_BRACKET = re.compile(r"\(([^()]*)\)")
# An unknown template directly after the end of a sentence is a footnote or a note of editors.
_TRAILING = re.compile(rf"(?<=[.!?»”…]){HOLE}+(?=\s|\Z)")
# Occurs in all damage but that of the encoding: a fast search, mostly without a match.
_SUSPECT = re.compile(
    "[\\[\\]{}|<>=~_&#\ud800-\uf8ff\ufdd0-\ufdef\ufffd-\uffff\U000f0000-\U0010ffff]"
)
_MARKUP = re.compile(
    r"\[\[|\]\]|\[\s*\]|[{}|]|<\s*[/!?]?\s*[a-zA-Z][^<>]*>|<[/!?a-zA-Z<]|>(?<=[\w\"'?/>]>)"
    r"|==|\w=[\"']|~~~|__|&[#\w]{2,31};|''|://|www\.|\bformula_\d"
    r"|[:,;.] # |\b(?:style|class|align|colspan|rowspan|bgcolor|width)\s*="
)
# "( , 1900)", "(- 1900)", "(Lima,)", "en 1900;.", "griego:,", "de .", "« »"; but not "(.ar)",
# "(…)", "main()".
_HOLE = re.compile(
    r"\((?: ?(?:[,;:]|\.(?![\w.])|[-–—][ )])| \)|(?<!\w\()\))"
    r"|,(?: ?[),;]|\.(?!\.)|(?<= ,)(?= |\Z))|;(?: ?[),;]|\.(?!\.))|:(?: ?[,;)]|\.(?!\.))"
    r"|\.(?<= \.)(?= |\Z)|« ?»|“ ?”|\"(?<!\"\")\"(?!\")"
)
# Everything that _is_suspect, _has_hole and text.tidy find matches this (in RE2's syntax):
# characters that only damage leaves; spaces on the wrong side of a mark; marks with
# nothing between them; a stop without a space before the next sentence.
_FAULTS = "|".join(
    (
        r"[\[\]{}|<>=~_&#\x{e000}-\x{f8ff}\x{fdd0}-\x{fdef}\x{fffd}-\x{ffff}\x{f0000}-\x{10ffff}]",
        POSSIBLY_DAMAGED,
        r"''|://|www\.",
        r" [.,;:!?)\]»”]|[(\[¿¡«“] | \"[.,;:!?)\]]| \"\z",
        r"\( ?[.,;:)]|\( ?[-–—][ )]|[,;:] ?[),;.]|« ?»|“ ?”|\"\"",
        r"[0-9A-Za-z_\x{80}-\x{10ffff}]{3}(?:[.!?…][\"»”)]?|[\"»”)][.!?…])"
        r"[A-Z¡¿ªµº\x{c0}-\x{1fff}\x{2071}-\x{209c}\x{2100}-\x{218f}\x{2c00}-\x{10ffff}]",
    )
)
# The mark of a footnote as plain text.
_NOTE_MARK = re.compile(r"\s?\[\d{1,3}\]")
_ENUMERATOR = re.compile(r"(?<![\w(])\w{1,2}\)")
_BLANK_BEFORE_STOP = re.compile(r" (?<=[^\s([{.,;:–—-] )(?=[,.](?: |\Z))")
_MARK = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_LETTER = re.compile(r"[^\W\d_]")


def sentences(paragraphs: Sequence[str], language: str, drops: Drops) -> list[list[str | None]]:
    """Split paragraphs into sentences and drop the damaged ones.

    Paragraphs have marks (templates.MARKS) where markup was removed. Returns for each its
    sentences, with None in place of dropped ones.
    """
    texts = [clean(_close_gaps(paragraph)) for paragraph in paragraphs]
    # Most texts are neither suspect nor hollow nor untidy, as a fast search shows.
    doubtful = _match(texts, _possible_faults(language))
    for i, text in enumerate(texts):
        if doubtful[i] and len(text) <= MAX_PARAGRAPH:
            texts[i] = _close_blanks(text, language)
    doubtful_texts = [
        text if is_doubtful else "" for text, is_doubtful in zip(texts, doubtful, strict=True)
    ]
    holes = _match(doubtful_texts, load_wiki(language).possible_holes)
    return [
        _check_sentences(text, language, drops, plain=not is_doubtful, holes=may_lack_words)
        if text
        else []
        for text, is_doubtful, may_lack_words in zip(texts, doubtful, holes, strict=True)
    ]


def _match(texts: Sequence[str], pattern: str) -> list[bool]:
    """Return for each text whether a pattern in RE2's syntax matches in it; an empty one never."""
    if not pattern:
        return [False] * len(texts)
    matches = pc.match_substring_regex(pa.array(texts, pa.string()), pattern)
    return cast("list[bool]", matches.to_pylist())


@cache
def _possible_faults(language: str) -> str:
    wiki = load_wiki(language)
    patterns = [_FAULTS]
    if wiki.possible_holes:
        patterns.append(wiki.possible_holes)
    if wiki.dangling:
        patterns.append(rf" (?:{'|'.join(sorted(wiki.dangling))})[{FINAL}]")
    return "|".join(patterns)


def _check_sentences(
    text: str, language: str, drops: Drops, *, plain: bool, holes: bool
) -> list[str | None]:
    """Return the sentences of a paragraph after ``_close_blanks``, with None for dropped ones."""
    if len(text) > MAX_PARAGRAPH:
        return [drops.sift("sentences", text, "overlong")]
    suspect = hollow = False
    if not plain:
        suspect = _is_suspect(text)
        hollow = _has_hole(text, language) if holes else _HOLE.search(text) is not None
        if not hollow:  # A space before a comma may reveal a hole.
            text = tidy(text, language)
    split = split_sentences(text, language, is_clean=True)
    drops.seen["sentences"] += len(split)
    plain = plain and not any(mark in text for mark in _QUOTES)
    checked: list[str | None] = []
    last = len(split) - 1
    for i, sentence in enumerate(split):
        if (
            plain
            and sentence[-1] in FINAL
            and sentence[0].isalpha()
            and not (i == 0 and is_lower(sentence))
            and not (i == last and ends_in_abbreviation(sentence, language))
            and sentence.count("(") == sentence.count(")")
        ):
            checked.append(sentence)  # most sentences; fault() would return None
            continue
        reason = fault(
            sentence, language, first=i == 0, last=i == last, suspect=suspect, hollow=hollow
        )
        if hollow or '"' in sentence or "“" in sentence or "”" in sentence or ".." in sentence:
            sentence = pair_quotes(tidy(single_stops(sentence), language))
            if reason is None and has_stray_quote(sentence):
                reason = "broken_quotation"
        checked.append(sentence if reason is None else None)
        if reason is not None:
            drops.dropped["sentences", reason] += 1
    return checked


def heading(text: str) -> str:
    """Return the clean text of a heading, "" if it still contains markup."""
    if not text:  # that of the lead
        return ""
    for mark in MARKS:
        text = text.replace(mark, "")
    text = clean(text)
    return "" if _is_suspect(text) and _damage(text) else text


def fault(
    sentence: str,
    language: str,
    *,
    first: bool = False,
    last: bool = True,
    suspect: bool = True,
    hollow: bool = True,
) -> str | None:
    """Return why a sentence must be dropped, or None if it is whole.

    Args:
        sentence: clean text, with marks where something could not be rendered.
        language: of the sentence.
        first: whether it begins a paragraph.
        last: whether it ends one.
        suspect: False if its paragraph contains no character that only damage leaves.
        hollow: False if nothing is missing in its paragraph between punctuation marks or words.

    Returns:
        "unrendered_template", "formula", "markup_left", a reason of text.damage, "hole"
        (something is missing between punctuation marks or words, or after a word that cannot end a
        sentence), "broken_parenthesis", "unfinished" (no full stop at the end, as in a caption or
        before a list, or only that of an abbreviation; no beginning, as after a formula; or no
        words), or None.
    """
    if suspect and _is_suspect(sentence) and (reason := _damage(sentence)):
        return reason
    if (
        (hollow and _has_hole(sentence, language))
        or (sentence[0] in ",.;:)" and not sentence.startswith("..."))
        or sentence[sentence.rfind(" ") + 1 : -1] in load_wiki(language).dangling
    ):
        return "hole"
    if sentence.count("(") != sentence.count(")"):
        without_items = _ENUMERATOR.sub("", sentence)
        if without_items.count("(") != without_items.count(")"):
            return "broken_parenthesis"
    if not is_finished(sentence, language) or not _LETTER.search(sentence):
        return "unfinished"
    if last and ends_in_abbreviation(sentence, language):
        return "unfinished"
    # Continues after a list or a formula: "donde v es la velocidad." But: "iPhone es…".
    if first and is_lower(sentence) and not sentence[1:2].isupper():
        return "unfinished"
    return None


def _close_blanks(text: str, language: str) -> str:
    """Remove the author's spaces before commas and stops."""
    dangling = load_wiki(language).dangling

    def close(match: re.Match[str]) -> str:
        word = text[text.rfind(" ", 0, match.start()) + 1 : match.start()]
        return " " if word in dangling else ""

    return _BLANK_BEFORE_STOP.sub(close, text)


def _has_hole(text: str, language: str) -> bool:
    holes = load_wiki(language).holes
    return bool(_HOLE.search(text) or (holes and holes.search(text)))


def _is_suspect(text: str) -> bool:
    if _SUSPECT.search(text) or "''" in text or "://" in text or "www." in text:
        return True
    return find_damage(text) is not None


def _damage(sentence: str) -> str | None:
    if HOLE in sentence:
        return "unrendered_template"
    if FORMULA in sentence:
        return "formula"
    if _MARKUP.search(sentence) or _MARK.search(sentence):
        return "markup_left"
    if sentence.count("[") != sentence.count("]"):
        return "broken_parenthesis"
    return find_damage(sentence)


def _close_gaps(text: str) -> str:
    """Close the gaps that NOTHING marks and footnotes leave, and remove brackets left empty."""
    if NOTHING in text or SILENT in text or HOLE in text:
        text = _remove_marks(text)
    return _NOTE_MARK.sub("", text) if "[" in text else text


def _remove_marks(text: str) -> str:
    if SILENT in text:
        text = _BRACKET.sub(_clean_bracket, text)
        text = text.replace(SILENT, HOLE)
    if HOLE in text:
        text = _TRAILING.sub(NOTHING, text)
    if "(" in text:
        text = _EMPTY_BRACKET.sub(NOTHING, text)
    first, *pieces = _GONE.split(text)
    out = [first]
    for removed, after in zip(pieces[::2], pieces[1::2], strict=True):
        before = out[-1]
        out[-1] = before.rstrip()
        blank = len(out[-1]) < len(before) or len(removed.split()) > 1 or removed[-1].isspace()
        if not after or after[0] in ",.;:)]»”":
            # "…fin.<ref/>. El…": the mark separated two full stops.
            out.append(after[1:] if after[:1] == "." and out[-1].endswith(".") else after)
        elif out[-1].endswith("("):
            out.append(after)
        elif blank or (out[-1].endswith((".", "!", "?")) and after[0].isupper()):
            # "…fin.<ref/>El…": the author forgot the space.
            out.append(" " + after)
        else:
            out.append(after)
    return "".join(out)


def _clean_bracket(match: re.Match[str]) -> str:
    """Remove from a bracket the parts that only introduce a pronunciation, a sound or a place."""
    inside = match[1]
    if SILENT not in inside:
        return match[0]
    parts = []
    for part in re.split(r"(?<=[,;])", inside):
        if SILENT not in part:
            parts.append(part)
            continue
        words = part.strip(MARKS + " \n,;:").split()
        if len(words) > 3 or any(character.isdigit() for character in part):
            parts.append(part.replace(SILENT, HOLE))
    content = "".join(parts).strip(NOTHING + " \n,;:")
    return f"({content})" if content else NOTHING
