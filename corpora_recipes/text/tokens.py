"""Tokens of texts: tokenising, detokenising, normalised words for comparing texts."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.running.errors import ParamsError, load_packages
from corpora_recipes.text.language import UNSPACED, count_words, writing_of
from corpora_recipes.yaml_files import load_yaml

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer


def lower_case(text: str) -> str:
    """Return a text in lower case, by the rules for any language.

    Turkish İ becomes i, not Python's i with a dot above, which no word list has; Turkish I
    becomes i too, as in all other languages.
    """
    return text.lower().replace("i\u0307", "i")


def sentence_hash(sentence: str) -> int:
    """Return a hash that sentences of the same words share; without words, of the same symbols."""
    return keyed_hash(0, normalise(sentence) or sentence)


def normalise(sentence: str) -> str:
    """Return the sentence's words, case-folded, without punctuation, joined by single spaces."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return " ".join(_words().findall(folded))


@cache
def _words() -> re.Pattern[str]:
    return re.compile(word_pattern(r"\w"))


@cache
def word_pattern(characters: str) -> str:
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


# Words: a repeated sentence of this length is a leak; shorter ones ("Véase el mapa.") recur anyway.
REPEATABLE_BELOW = 6


def is_blank(text: str) -> bool:
    """Return whether a text is empty or only marks and spaces; emoji are no marks."""
    return not any(c.isalnum() or unicodedata.category(c) == "So" for c in text)


def is_telling(sentence: str) -> bool:
    """Return whether a sentence is so long that its repetition is a leak."""
    return count_words(normalise(sentence)) >= REPEATABLE_BELOW


def telling_hashes(sentences: Iterable[str]) -> frozenset[int]:
    """Return the hashes of the sentences whose repetition is a leak."""
    return frozenset(sentence_hash(sentence) for sentence in sentences if is_telling(sentence))


# spaCy's rules that all languages share, for those that have none of their own.
_SHARED = "xx"
# spaCy splits these with a package that it does not install.
_WITH_PACKAGE = frozenset(("ja", "ko", "th", "vi"))


@cache
def _tokenizer(language: str) -> "Tokenizer":
    (spacy,) = load_packages(f"language {language!r}", "spacy")
    try:
        return spacy.blank(language if has_tokenizer_rules(language) else _SHARED).tokenizer
    except ImportError as error:
        expected = "a language that spaCy can tokenise here"
        todo = "install the package named above"
        raise ParamsError(f"language {language!r}", expected, str(error), todo) from error


def tokenize(sentence: str, language: str) -> list[str]:
    """Return the sentence's tokens by spaCy's rule tokeniser for the language, without white space.

    A language without rules of its own gets those that spaCy has for all ("xx").
    """
    texts = [token.text for token in _tokenizer(language.partition("-")[0])(sentence)]
    return [text for text in texts if not text.isspace()]


@cache
def has_tokenizer_rules(language: str) -> bool:
    """Return whether spaCy has rules for a language, importing it only if no folder says so."""
    spacy = find_spec("spacy")
    folders = (spacy and spacy.submodule_search_locations) or []
    code = language.partition("-")[0]
    if any((Path(folder, "lang", code) / "__init__.py").is_file() for folder in folders):
        return True
    from spacy.util import find_matching_language

    return find_matching_language(code) is not None  # It knows other names of languages too.


def check_language(language: str) -> None:
    """Check that texts in a language can be split into tokens."""
    code = language.partition("-")[0]
    if code in _WITH_PACKAGE:
        _tokenizer(code)


_TABLE: dict[str, Any] = load_yaml(Path(__file__).with_name("detokenizing.yaml"))
_NAMED = re.compile("|".join(_TABLE["patterns"]))


@cache
def _rules(kind: str, key: str) -> list[tuple[re.Pattern[str], str]]:
    """Return rules of the table with their patterns, in which names stand for other patterns."""
    inner = _TABLE["patterns"]
    return [
        (re.compile(_NAMED.sub(lambda name: inner[name[0]], rule)), replacement)
        for rule, replacement in _TABLE[kind].get(key, ())
    ]


# Marks that open and close alike, each with the one that only opens in the manner of TeX.
_QUOTES = (('"', '"'), ("'", "`"), ("''", "``"))
_QUOTE = r"(?:\"|''?|``?)"
_ALONE = re.compile(rf"(?<!\S){_QUOTE}(?!\S)")
# A tokeniser would have parted the mark from the word.
_NATURAL = re.compile(r"[^\W\d_]\)?[,;)] ")
_BLANKS = re.compile("  +")
_BETWEEN_SIGNS = re.compile(rf" (?=[{UNSPACED}])|(?<=[{UNSPACED}]) ")
# Words that stand before or after a quotation rather than at an end of it.
_FUNCTION_WORD = re.compile(
    r"a|al|ante|como|con|contra|cuando|de|del|desde|e|el|ella|en|entre|era|es|est[ae]|está|fue|han?"
    r"|las?|les?|los?|más|me|ni|nos?|o|para|pero|por|porque|que|se|según|ser|si|sin|sobre|son|sus?"
    r"|también|u|un|una|unas|unos|y|ya",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile("e|ni|o|u|y")


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a parted line, of a blank before a closing mark and after opening."""
    writing = writing_of(language)
    apart = set(writing.set_apart)
    closing, opening, colon = r",)\]}", r"(\[{‘", ""
    if ";" not in apart:
        closing, opening, colon = closing + ";?!", opening + "¿¡", "|:(?![()-])"  # let faces be
    for left, right in writing.quotations:
        # Not those that open in this language, and close in others.
        if left in "«“" and left not in apart:
            closing, opening = closing + right, opening + left
    return (
        re.compile(rf" (?:[{closing}._]{colon}|\.+(?= \Z)|{_QUOTE}) |[{opening}] "),
        re.compile(rf" (?=(?:[{closing}]+|\.+|…{colon})(?!\w))"),
        re.compile(rf"([{opening}]) (?=\S)"),
    )


def detokenize(text: str, language: str, *, tokens: bool = False) -> str:
    """Undo the spaces of a tokeniser: "¿ Qué es eso ?" → "¿Qué es eso?".

    Nothing but blanks goes. Straight quotation marks and apostrophes open and close in turn as the
    words around them suggest; one without a partner joins the word that it likelier belongs to.
    Numbers, signs and dashes are joined only where hardly anything else can be meant; "50 %" is as
    a writer of Spanish sets it, and stays.

    Args:
        text: one line. It is taken for tokenised if a mark of punctuation stands alone that no
            writer sets apart, and no comma or bracket follows a word at once.
        language: ISO 639 code; French and German keep the blanks that they set around marks.
        tokens: whether the text is known to be tokens, also if nothing in it shows that. Then what
            tokenisers part in English (apostrophes, hyphens), Portuguese (contractions, clitics),
            Spanish (clitics), French and Italian (elisions) is joined, too, and so are words of
            writing without spaces.

    Returns:
        The natural text, or the same text if no tokeniser parted it. To do it again changes
        nothing.
    """
    parted, before_closing, after_opening = _patterns(language.partition("-")[0])
    if not tokens and (not parted.search(f" {text} ") or _NATURAL.search(text)):
        return text
    joined = _BLANKS.sub(" ", text).strip(" ")
    token_rules = _rules("tokens", language.partition("-")[0]) if tokens else []
    for key in _TABLE["needed"]:
        if key in joined and not (tokens and key == "—"):  # which Spanish sets close
            for pattern, replacement in _rules("needed", key):
                joined = pattern.sub(replacement, joined)
    for pattern, replacement in token_rules:
        joined = pattern.sub(replacement, joined)
    if _ALONE.search(joined):
        joined = _join_quotes(joined)
    joined = after_opening.sub(r"\1", before_closing.sub("", joined))
    if tokens and not writing_of(language).spaces:
        joined = _BETWEEN_SIGNS.sub("", joined)
    return joined if joined == text else detokenize(joined, language, tokens=tokens)


def _join_quotes(text: str) -> str:
    """Join quotation marks that stand alone with the word that they open or close."""
    words = text.split(" ")
    opens: dict[int, bool] = {}
    for closing, opening in _QUOTES:
        positions = [i for i, word in enumerate(words) if word in (closing, opening)]
        opens.update(zip(positions, _find_opening(words, positions), strict=True))
    joined = words[0]
    for i, word in enumerate(words[1:], 1):
        is_joined = opens.get(i - 1, False) or not opens.get(i, True)
        joined += word if is_joined else f" {word}"
    return joined


def _find_opening(words: Sequence[str], positions: Sequence[int]) -> list[bool]:
    """Decide whether each quotation mark of a kind opens, at the lowest cost in all (Viterbi)."""
    # Number of open quotations to the lowest cost, and a bit for each mark, 1 if it opens.
    best: dict[int, tuple[int, int]] = {0: (0, 0)}
    previous = None
    for position in positions:
        open_cost, close_cost = _costs(words, position)
        following: dict[int, tuple[int, int]] = {}
        for depth, (cost, bits) in best.items():
            # A mark should not open a third quotation nor close none, and must not close an empty
            # one.
            opened = cost + open_cost + 2 * depth
            options = [(min(depth + 1, 2), (opened, 2 * bits + 1))]
            if not (bits & 1 and position - 1 == previous):
                closed = cost + close_cost + (0 if depth else 3 if previous is None else 2)
                options.append((max(depth - 1, 0), (closed, 2 * bits)))
            for new_depth, option in options:
                following[new_depth] = min(following.get(new_depth, option), option)
        best = following
        previous = position
    bits = min((cost + 2 * depth, bits) for depth, (cost, bits) in best.items())[1]
    return [bit == "1" for bit in f"{bits:0{len(positions)}b}"][: len(positions)]


def _costs(words: Sequence[str], position: int) -> tuple[int, int]:
    """Return the costs of a quotation mark at a position: of opening, and of closing."""
    mark = words[position]
    before = words[position - 1] if position else ""
    after = words[position + 1] if position + 1 < len(words) else ""
    if mark[0] == "`":
        return 0, 9
    starts = not before or before[-1] in "¿¡([{«“‘"
    ends = not after or after[0] in ",.;:?!)]}»”…"
    is_alone = position > 1 and words[position - 2] == mark
    is_led = bool((_CONJUNCTION if is_alone else _FUNCTION_WORD).fullmatch(before))
    follows_word = any(map(str.isalnum, before)) and not _FUNCTION_WORD.fullmatch(before)
    open_cost = 4 * ends + follows_word
    close_cost = 4 * starts + 3 * is_led + (not ends and not _FUNCTION_WORD.fullmatch(after))
    return open_cost, close_cost
