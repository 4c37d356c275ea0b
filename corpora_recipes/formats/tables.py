"""Reads TSV, CSV, JSON Lines and pairs with gold scores, and turns their rows into examples."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.formats.archives import Member
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.running.limits import LONGEST_ROW, MOST_LINES, MOST_RECORDS, whole_lines
from corpora_recipes.text.cleaning import nfc

# Large enough to hide the cost of a task, small enough for any worker's memory.
BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class LineRange:
    """A block: the lines that begin in a range of a file's bytes."""

    key: str  # the file's name in the corpus and ``start``
    path: Path
    start: int
    end: int  # the byte after the last


@dataclass(frozen=True, slots=True)
class Line:
    """The place of a line; its number in the file is counted only for messages."""

    path: Path
    number: int  # of the line, from 1, in the range read
    start: int = 0  # the first byte of the range
    todo: str | None = None  # the advice for any fault of the file, if the user did not write it

    def error(self, expected: str, found: str, todo: str = "correct the line") -> RawError:
        """Return the error that names this line."""
        n_before = 0
        if self.start:
            with self.path.open("rb") as file:
                n_before = sum(1 for _ in _until(whole_lines(file, self.path), self.start))
        where = f"{self.path}, line {n_before + self.number}"
        return RawError(where, expected, found, self.todo or todo)

    def parse(self, line: bytes) -> Any:
        """Return the JSON of this line."""
        try:
            text = line.decode("utf-8-sig" if self.number == 1 and not self.start else "utf-8")
            return json.loads(text)
        except UnicodeDecodeError as error:
            raise self.error("UTF-8", str(error), "convert the file to UTF-8") from None
        except (ValueError, RecursionError) as error:
            found = f"{text[:60]!r} … ({error})"
            raise self.error("a line that is one JSON object", found) from None


def line_ranges(path: Path, name: str) -> list[LineRange]:
    """Cut a file into ranges of ``BLOCK_BYTES``; ``name`` is its name in the corpus."""
    size = path.stat().st_size
    return [
        LineRange(f"{name}:{start}", path, start, min(start + BLOCK_BYTES, size))
        for start in range(0, size, BLOCK_BYTES)
    ]


def range_lines(block: LineRange) -> Iterator[bytes]:
    """Yield the lines of a range; a line belongs to the range of its first byte."""
    with block.path.open("rb") as file:
        lines = whole_lines(file, block.path)
        if block.start:
            # The range before has the line that covers its last byte.
            file.seek(block.start - 1)
            next(lines, b"")
        yield from _until(lines, block.end - file.tell())


def locate_lines(
    lines: Iterable[bytes], path: Path, start: int = 0, todo: str | None = None
) -> Iterator[tuple[Line, bytes]]:
    """Yield each line that is not empty, with its place.

    Args:
        lines: of the file ``path``, from byte ``start`` on.
        path: the file, for messages.
        start: 0 for the beginning of the file, which may have a byte order mark.
        todo: the advice in messages; None for correcting the line.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Line(path, number, start, todo), line


def parse_lines(
    lines: Iterable[bytes], path: Path, start: int = 0, todo: str | None = None
) -> Iterator[tuple[Line, Any]]:
    """Yield the place and the value of each line of JSON, see ``locate_lines``."""
    for place, line in locate_lines(lines, path, start, todo):
        yield place, place.parse(line)


def _until(lines: Iterable[bytes], end: int) -> Iterator[bytes]:
    """Yield the lines that begin before byte ``end``, the first one beginning at byte 0."""
    position = 0
    for line in lines:
        if position >= end:
            return
        position += len(line)
        yield line


# Invisible: zero-width spaces and word joiners, soft hyphens, marks of direction; not the joiners
# in emoji (U+200C, U+200D).
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    file: str  # for messages
    line: int  # from 1; 0 if the row is the whole file
    fields: dict[str, str]  # column to value, from which nothing is stripped

    @property
    def where(self) -> str:
        """The file and the line, for messages."""
        return f"{self.file}, line {self.line}" if self.line else self.file

    def error(self, expected: str, found: str, *todo: str) -> RawError:
        """Return the error that names this row."""
        return RawError(self.where, expected, found, *todo)

    def filled(self, column: str) -> str:
        """Return a value that must not be empty, without white space around it."""
        if not (value := self.fields[column].strip()):
            raise self.error(f"a value in the column {column}", "none")
        return value


def decoded_lines(data: bytes | Iterable[bytes], where: str) -> Iterator[tuple[int, str]]:
    """Yield each line that is not empty, without its line end, with its number.

    Only a line feed ends a line, with or without a carriage return before it. A byte order mark
    at the beginning is removed. A line of spaces is skipped, a line of tabs is not. ``data`` is the
    file, whole or by its lines, and ``where`` its name for messages.
    """
    is_empty = True
    for number, line in enumerate(io.BytesIO(data) if isinstance(data, bytes) else data, 1):
        line_where = f"{where}, line {number}"
        if len(line) > LONGEST_ROW or number > MOST_LINES:
            expected = f"at most {MOST_LINES:,} lines of at most {LONGEST_ROW:,} bytes"
            found = f"a line of {len(line):,} bytes" if number <= MOST_LINES else "more"
            raise RawError(line_where, expected, found)
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise RawError(line_where, "UTF-8", str(error), "convert the file to UTF-8") from None
        text = text.removesuffix("\n").removesuffix("\r")
        if "\r" in text:
            found = "a carriage return inside the line"
            raise RawError(
                line_where, "lines that end in a line feed", found, "convert the line ends"
            )
        if text.strip(" "):
            is_empty = False
            yield number, text
    if is_empty:
        raise RawError(where, "one line or more", "an empty file")


def every_line(data: bytes, where: str) -> list[str]:
    """Return the lines of a file, see ``decoded_lines``, with the blank ones, which are ""."""
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    if count > MOST_RECORDS:
        raise RawError(where, f"at most {MOST_RECORDS:,} lines", f"{count:,}")
    lines = [""] * count
    for number, line in decoded_lines(data, where):
        lines[number - 1] = line
    return lines


def table_rows(data: bytes, where: str, columns: Sequence[str], *, header: bool) -> Iterator[Row]:
    """Yield the rows of a table; lines are those of ``decoded_lines``.

    A quotation mark is an ordinary character, so an unclosed one does no harm.

    Args:
        data: the file.
        where: the file, for messages.
        columns: the required columns.
        header: whether the first line names the columns, which may then be more, and in any order
            (white space around names is ignored); otherwise the columns are exactly these.
    """
    lines = decoded_lines(data, where)
    names = list(columns)
    if header:
        number, text = next(lines)
        names = [name.strip() for name in text.split("\t")]
        for count, fault in ((0, "no"), (2, "more than one")):
            if faulty := [name for name in columns if min(names.count(name), 2) == count]:
                expected = f"each of the columns {', '.join(columns)} once"
                found = f"{fault} {', '.join(faulty)} in {text[:200]!r}"
                raise RawError(f"{where}, line {number}", expected, found)
    for number, text in lines:
        fields = text.split("\t")
        row = Row(where, number, dict(zip(names, fields, strict=False)))
        if len(fields) != len(names):
            expected = f"{len(names)} fields between tabs: {', '.join(names)}"
            raise row.error(expected, f"{len(fields)} in {text[:200]!r}")
        yield row


def matched_rows(data: bytes, where: str, pattern: re.Pattern[str], expected: str) -> Iterator[Row]:
    """Yield the lines of a file, see ``decoded_lines``; the groups of a pattern are their fields.

    A group that takes no part in the match is "". ``expected`` is a line in words, for messages.
    """
    for number, line in decoded_lines(data, where):
        parts = pattern.fullmatch(line)
        row = Row(where, number, parts.groupdict("") if parts else {})
        if parts is None:
            raise row.error(expected, repr(line[:200]))
        yield row


def csv_rows(
    data: bytes, where: str, columns: Callable[[Sequence[str], str], Sequence[str]]
) -> Iterator[Row]:
    """Yield the rows of a CSV that are not empty; a row names the line where it begins.

    Args:
        data: the file.
        where: the file, for messages.
        columns: checks the header, given its place too, and returns the names of the columns.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RawError(where, "UTF-8", str(error), "convert the file to UTF-8") from None
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        names = columns(next(table, []), f"{where}, line 1")
        line = table.line_num + 1
        for cells in table:
            number, line = line, table.line_num + 1
            if cells and len(cells) != len(names):
                expected = f"{len(names)} fields between commas, as in the header"
                found = f"{len(cells)}, which begin with {', '.join(cells[:4])}"
                raise RawError(f"{where}, line {number}", expected, found)
            if any(cell.strip() for cell in cells):
                yield Row(where, number, dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        expected = "a CSV with closed quotation marks"
        raise RawError(f"{where}, line {line}", expected, str(error)) from None


def natural_text(text: str) -> str:
    """Return a text on one line, in NFC, with single spaces and without invisible characters."""
    line = " ".join(nfc(INVISIBLE.sub("", text)).split())
    if not line:
        raise Dropped("empty_text")
    return line


def parse_class(raw: str, collection: str, corpus: Corpus, row: Row) -> str:
    """Return the name of the class that a source spells ``raw``, apart from white space."""
    if collection not in corpus.facts.collections:
        where, todo = f"corpus.yaml of {corpus.recipe}", "add it, or correct the name in recipe.py"
        raise InputError(where, f"collections.{collection}", "no such key", todo)
    labels = corpus.facts.collections[collection].labels
    spelling = raw.strip()
    name = labels.get(spelling) if labels else spelling
    if not name:
        raise row.error(f"a label among {', '.join(labels)}" if labels else "a label", repr(raw))
    return name


def parse_score(raw: str, collection: str, corpus: Corpus, row: Row) -> float:
    """Return the score of an example."""
    scale = corpus.facts.collections[collection].scale
    assert scale is not None, f"{collection} has no scores"
    lowest, highest = scale
    score = parse_number(raw)
    if not lowest <= score <= highest:
        raise row.error(f"a score from {lowest} to {highest}", repr(raw))
    return score


def parse_number(raw: str) -> float:
    """Return the decimal number in a field, ignoring white space around it; NaN if not a number."""
    # Not float() alone: it takes "inf", and "0_3" for 3.
    number = float(raw) if _NUMBER.fullmatch(raw.strip()) else math.nan
    return number if math.isfinite(number) else math.nan


def collect_examples(rows: Iterable[Row], make: Callable[[Row], Example]) -> BlockResult:
    """Return the examples of a block's rows; those that ``make`` drops are counted by reason."""
    result = BlockResult()
    for row in rows:
        if len(result.records) == MOST_RECORDS:
            raise row.error(f"at most {MOST_RECORDS:,} examples in a file", "more")
        with result.counting("examples"):
            result.records.append(make(row))
    return result


def scored_pairs(pairs: Member, gold: Member) -> Iterator[Row]:
    """Yield sentence_1, sentence_2 and score of each line; a row names the gold file."""
    texts, scores = (every_line(file.read(), file.where) for file in (pairs, gold))
    if len(texts) != len(scores):
        expected = f"{len(texts)} lines, one for each line of {pairs.where}"
        todo = "use both files of the same release; a pair without a score has an empty line"
        raise RawError(gold.where, expected, str(len(scores)), todo)
    for number, (pair, score) in enumerate(zip(texts, scores, strict=True), 1):
        sentences = pair.split("\t")
        if len(sentences) != 2:
            where = f"{pairs.where}, line {number}"
            raise RawError(where, "two sentences and a tab between them", repr(pair[:200]))
        first, second = sentences
        fields = {"sentence_1": first, "sentence_2": second, "score": score}
        yield Row(gold.where, number, fields)


def scored(row: Row) -> str:
    """Return the score of a row of ``scored_pairs``, as written; Dropped without a score."""
    if not row.fields["score"].strip():
        raise Dropped("no_score")
    return row.fields["score"]
