"""Cleans natural text (Unicode, white space), and detects damaged characters and markup."""

import html
import re
import unicodedata

from corpora_recipes.text.encoding import POSSIBLY_WRONG, find_wrong_encoding
from corpora_recipes.text.pdf import PDF_CHARACTERS, find_pdf_characters

# Controls except white space, soft hyphen, zero-width and directional marks, byte order mark.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
# Controls that are marks or letters of another code page; of mojibake, bytes that show nothing.
_CONTROL = re.compile("[\x80-\x84\x86-\x9f]")
_HALF = re.compile("(?<=[^\x00-\xa0\xad\xdf-\xff])[\xa0\xad]")
_CUT = re.compile(r"(?<=[^\W\d_])\xad\s+(?=[^\W\d_])")  # a soft hyphen at the end of a line
_DAMAGE = {
    "replacement_character": re.compile("\ufffd"),
    "unpaired_surrogate": re.compile("[\ud800-\udfff]"),
    "private_use_character": re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]"),
    "control_character": _CONTROL,
}
# Any character of these signs, for speed.
_SIGNS = f"{PDF_CHARACTERS}\x80-\x84\x86-\x9f\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff"
_SUSPECT = re.compile(f"[{_SIGNS}\ud800-\udfff]")
# All that ``find_damage`` finds, except surrogates, matches this, also in RE2's syntax.
POSSIBLY_DAMAGED = f"[{_SIGNS}]|{POSSIBLY_WRONG}"

# Not natural text: links, templates, tags, attributes, entities, addresses, codes, footnote marks,
# bars between parts of a page (not 1|2|3). Every alternative begins with one fixed character, so
# that the search is fast.
_MARKUP = re.compile(
    r"\[(?:\[|\d{1,3}\])|\]\]|\{\{|\}\}|<(?<!<<)/?[a-zA-Z][^<>]*>(?!>)|<!--|>(?<=-->)"
    r"|=(?:=|(?<=\w=)\"|(?<=\bstyle=)|(?<=\bclass=)|(?<=\bhref=)|(?<=\bwidth=))"
    r"|&(?:[a-zA-Z]\w*|#\w+);|://|\\(?:[a-zA-Z]{2}|u[\da-fA-F]{4}|[nrt](?![a-z]))"
    r"|\^\{|_\{|_\d(?<=\bformula_\d)|\|(?<!\d\|)|\|(?!\d)|\*\*\w[^*]*\*\*"
)
# Two apostrophes or grave accents for a quotation mark; after a number they are seconds.
_OPENING = re.compile(r"(?<![\w′'])''(?=[^\s'])")
_TWO_APOSTROPHES = re.compile(r"(?<![\d′'])''(?!')|(?<!`)``(?!`)")

# Marks that stand on a letter are among these; more than 30 in a row are no language's (Unicode
# Standard Annex 15, section 13, Stream-Safe Text Format).
_MANY_MARKS = re.compile(r"[^\w\s\x00-\u02ff]{31,}")
_MAX_MARKS = 30
_JOINER = "\u034f"

# Python does not read numbers of thousands of digits; no character has eight, without zeros.
_LEADING_ZEROS = re.compile(r"(&#[xX]?)0++(?=[0-9a-fA-F])")
_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")


def unescape(text: str) -> str:
    """Return the text with HTML's character references resolved; U+FFFD where one is invalid."""
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", _LEADING_ZEROS.sub(r"\1", text)))


def clean(text: str) -> str:
    """Return the text in NFC, without invisible characters, every run of white space as one space.

    White space is that of Unicode, including line breaks; invisible are controls, zero-width and
    directional marks, soft hyphens and byte order marks. Two apostrophes for a quotation mark
    (''así'') become a straight mark ("así"); those for seconds (10'') stay. Damage is not
    repaired, and stays: what ``find_damage`` needs and does not show becomes U+FFFD.
    """
    if not is_single_spaced(text):
        # Printable text has nothing invisible, so that its white space is spaces.
        if not text.isprintable():
            halves = "\xa0" in text or "\xad" in text
            if halves and _HALF.search(text) and find_wrong_encoding(text) == "mojibake":
                text = _HALF.sub("\ufffd", text)
            text = _CONTROL.sub("\ufffd", _CUT.sub("", text) if "\xad" in text else text)
        single = " ".join(text.split())
        text = single if single.isprintable() else " ".join(_INVISIBLE.sub("", text).split())
    text = nfc(text)
    if "''" in text or "``" in text:
        text = _TWO_APOSTROPHES.sub('"', _quoted(text))
    return text


def _quoted(text: str) -> str:
    """Return the text with ''words'' as "words"; between them are no two apostrophes."""
    pieces = []
    copied = position = 0
    # Not one expression: without an end, it would keep 130 bytes for each character.
    while opening := _OPENING.search(text, position):
        position = opening.end()
        end = text.find("''", position)
        if end < 0:
            break
        if not text.startswith("'''", end):
            pieces += [text[copied : opening.start()], '"', text[position:end], '"']
            copied = position = end + 2
    return "".join([*pieces, text[copied:]])


def nfc(text: str) -> str:
    """Return the text in NFC.

    After 30 marks on a letter comes U+034F, which shows nothing: Python puts marks into their order
    in the square of their number.
    """
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(_with_joiners, text))


def _with_joiners(run: re.Match[str]) -> str:
    """Return characters with U+034F after each 30 marks."""
    characters = []
    n_marks = 0
    for character in run[0]:
        n_marks = n_marks + 1 if unicodedata.combining(character) else 0
        if n_marks > _MAX_MARKS:
            characters.append(_JOINER)
            n_marks = 1
        characters.append(character)
    return "".join(characters)


def find_damage(text: str) -> str | None:
    """Return the sign that the text was damaged in the source, or None.

    Returns:
        "mojibake" or "wrong_code_page" (see ``find_wrong_encoding``), "replacement_character",
        "unpaired_surrogate" (it cannot be written as UTF-8), "private_use_character" (bullets of
        symbol fonts, mostly), "control_character", "ligature" or "accent_apart".
    """
    if text.isascii():
        return None
    if (sign := find_wrong_encoding(text)) is not None:
        return sign
    if not _SUSPECT.search(text):
        return None
    found = next((reason for reason, pattern in _DAMAGE.items() if pattern.search(text)), None)
    return found or find_pdf_characters(text)


def has_markup(text: str) -> bool:
    """Return whether a text has leftover markup: a tag, a link, an address …"""
    return _MARKUP.search(text) is not None


def is_single_spaced(text: str) -> bool:
    """Return whether all white space is single spaces between words (as of printable text)."""
    return text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " "
