"""Reads sentences in CoNLL-U, the format of Universal Dependencies, one after the other.

See https://universaldependencies.org/format.html. Words, multiword tokens and the natural text are
read. Empty nodes, enhanced dependencies and the column XPOS are left out, and so is MISC,
except for SpaceAfter.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from corpora_recipes.formats.tables import INVISIBLE
from corpora_recipes.recipe import Dropped
from corpora_recipes.records import Token, Word, text_of
from corpora_recipes.running.errors import EncodingError, RawError
from corpora_recipes.running.limits import LARGEST_SENTENCE, MAX_WORDS, whole_lines
from corpora_recipes.text.cleaning import nfc

_UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _"
_PARTS_OF_SPEECH = frozenset(_UPOS.split())
_COLUMNS = 10
_BOM = b"\xef\xbb\xbf"
# White space other than the blanks, tabs and line feeds of the format.
_ODD_SPACE = re.compile(r"[^\S \t\n]")
_FEATURE = r"[A-Z][A-Za-z0-9]*(?:\[[a-z0-9]+\])?=[A-Z0-9][A-Za-z0-9]*(?:,[A-Z0-9][A-Za-z0-9]*)*"
_FEATURES = re.compile(rf"{_FEATURE}(?:\|{_FEATURE})*")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_RANGE = re.compile(r"([1-9][0-9]{0,5})-([1-9][0-9]{0,5})")
_EMPTY_NODE = re.compile(r"[0-9]{1,6}\.[1-9][0-9]{0,5}")
# The only spellings of a head: no blanks, signs, underscores or digits of other scripts.
_HEADS = {str(number): number for number in range(MAX_WORDS + 1)}


class Piece(NamedTuple):
    """The lines of a sentence, with the comments above it and each with its line end."""

    lines: Sequence[bytes]
    first: int  # the number of the first line in the file, from 1
    offset: int  # of the first line in the file, in bytes


class Parse(NamedTuple):
    """The words of a sentence, of which one is the root, and its tokens, which cover each once."""

    words: tuple[Word, ...]
    tokens: tuple[Token, ...]


def iter_pieces(
    path: Path, offset: int = 0, end: int | None = None, line: int = 1
) -> Iterator[Piece]:
    """Yield the sentences of a file; only one is in memory at a time.

    ``offset`` is that of the first sentence, in bytes, and of line number ``line``; at ``end`` the
    last one has ended (None for the end of the file).
    """
    lines: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        if offset == 0 and file.read(len(_BOM)) == _BOM:
            offset = len(_BOM)
        file.seek(offset)
        # Line and offset are those of the first of ``lines``.
        for raw in whole_lines(file, path):
            if not raw.isspace():
                lines.append(raw)
                size += len(raw)
                if size > LARGEST_SENTENCE:
                    expected = f"at most {LARGEST_SENTENCE:,} bytes between two empty lines"
                    raise RawError(f"{path}, line {line}", expected, "a longer one")
                continue
            if lines:
                yield Piece(lines, line, offset)
            line += len(lines) + 1
            offset += size + len(raw)
            lines, size = [], 0
            if end is not None and offset >= end:
                return
    if lines:
        yield Piece(lines, line, offset)


def read_comments(piece: Piece) -> dict[str, str]:
    """Return the comments above a sentence: the name before "=", without blanks, to the value."""
    values: dict[str, str] = {}
    for raw in piece.lines:
        if not raw.startswith(b"#"):
            break
        # The sentence is dropped when it is parsed.
        name, _, value = raw[1:].decode(errors="replace").partition("=")
        values.setdefault(name.strip(), " ".join(value.split()))
    return values


def parse_sentence(piece: Piece, path: Path) -> Parse:
    """Read a sentence.

    Its text, in NFC and without invisible characters, is that of the comment ``text``; without
    one, it is put together from the tokens. HTML entities, such as &#39;, are decoded in both.
    """
    lines = _lines(piece, path)
    words: list[Word] = []
    tokens: list[Token] = []
    text: str | None = None
    reason = ""
    covered = 0  # by the tokens so far, the last word of a range included
    number = piece.first - 1
    for number, line in enumerate(lines, piece.first):
        if line.startswith("#") and not tokens:
            name, equals, value = line[1:].partition("=")
            if name.strip() == "text" and equals and text is None:
                text = decode_entities(" ".join(value.split()))
            continue
        columns = decode_entities(line).split("\t")
        if len(columns) != _COLUMNS:
            raise _error(path, number, f"{_COLUMNS} columns, with a tab between them", len(columns))
        word_id, form, lemma, upos, _, features, head, relation, _, misc = columns
        if not form:
            reason = reason or "empty_form"
        if word_id == str(len(words) + 1):
            if (head_number := _HEADS.get(head)) is None:
                raise _error(path, number, "the number of a word as the head", head)
            if features == "_":
                features = ""
            elif not _are_features(features):
                reason = reason or "malformed_features"
            if upos not in _PARTS_OF_SPEECH:
                reason = reason or "unknown_upos"
            lemma = "" if lemma == "_" != form else lemma
            upos = "" if upos == "_" else upos
            words.append(Word(form, lemma, upos, features, head_number, relation))
            if len(words) > covered:
                covered += 1
                tokens.append(Token(form, 1, _space_after(misc)))
        elif bounds := _RANGE.fullmatch(word_id):
            first, last = int(bounds[1]), int(bounds[2])
            if not covered == len(words) == first - 1 < last - 1:
                raise _error(path, number, f"a range that begins with {len(words) + 1}", word_id)
            covered = last
            tokens.append(Token(form, last - first + 1, _space_after(misc)))
        elif not _EMPTY_NODE.fullmatch(word_id):
            raise _error(path, number, f"the id {len(words) + 1}", word_id)
        if len(words) > MAX_WORDS:
            raise _error(path, number, f"a sentence of at most {MAX_WORDS:,} words", "more")
    if covered > len(words):
        raise _error(path, number, f"words up to {covered}, as a range says", len(words))
    _check_heads(words, lines, piece, path)
    if reason := reason or _fault(words):
        raise Dropped(reason)
    tokens[-1] = tokens[-1]._replace(space_after=False)
    if text is not None and text != text_of(tokens):
        tokens = _spaced_as(text, tokens)
    return Parse(tuple(words), tuple(tokens))


def decode_entities(text: str) -> str:
    """Return a text with the characters that its HTML entities stand for, if they are visible."""

    def decode(entity: re.Match[str]) -> str:
        character = html.unescape(entity[0])
        return character if character.strip() and character.isprintable() else entity[0]

    return _ENTITY.sub(decode, text) if "&" in text else text


def _space_after(misc: str) -> bool:
    return misc == "_" or "SpaceAfter=No" not in misc.split("|")


def _lines(piece: Piece, path: Path) -> list[str]:
    """Return the lines of a sentence as clean text."""
    try:
        text = b"".join(piece.lines).decode()
    except UnicodeDecodeError:
        for number, raw in enumerate(piece.lines, piece.first):
            _decoded(raw, path, number)
        raise
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.isascii():
        if not unicodedata.is_normalized("NFC", text):
            text = nfc(text)
        if not text.isprintable():
            text = _ODD_SPACE.sub(" ", INVISIBLE.sub("", text))
    return text.removesuffix("\n").split("\n")


def _decoded(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        where, found = f"{path}, line {number}", repr(raw[error.start : error.end])
        raise EncodingError(where, "text in UTF-8", found) from None


def _error(path: Path, line: int, expected: str, found: object) -> RawError:
    return RawError(f"{path}, line {line}", expected, repr(found))


@lru_cache(maxsize=10_000)
def _are_features(features: str) -> bool:
    return _FEATURES.fullmatch(features) is not None


def _check_heads(words: Sequence[Word], lines: Sequence[str], piece: Piece, path: Path) -> None:
    """Refuse a head beyond the last word."""
    if max((word.head for word in words), default=0) <= len(words):
        return
    for number, line in enumerate(lines, piece.first):
        head = line.split("\t")[6] if line[:1].isdecimal() else ""
        if _HEADS.get(head, 0) > len(words):
            raise _error(path, number, f"a head from 0 to {len(words)}", head)


def _fault(words: Sequence[Word]) -> str:
    """Return the fault of the tree of a sentence, "" if it is sound."""
    heads = [word.head for word in words]
    if not heads:
        return "no_words"
    if heads.count(0) != 1:
        return "not_one_root"
    visited_from = [0] * (len(heads) + 1)
    visited_from[0] = -1
    for start in range(1, len(heads) + 1):
        word = start
        while not visited_from[word]:
            visited_from[word] = start
            word = heads[word - 1]
        if visited_from[word] == start:
            return "cycle"
    return ""


def _spaced_as(text: str, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with the spaces that the text has between them."""
    spaced = []
    at = 0
    for form, words, _ in tokens:
        if not text.startswith(form, at):
            raise Dropped("text_mismatch")
        at += len(form)
        space = text.startswith(" ", at)
        spaced.append(Token(form, words, space))
        at += space
    if at != len(text):
        raise Dropped("text_mismatch")
    return spaced
