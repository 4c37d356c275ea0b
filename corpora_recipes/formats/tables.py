"""Reads TSV, CSV, JSON Lines and pairs with gold scores, and turns their rows into examples.

A row that cannot be read is a row with a ``fault``, which ``collect_examples`` counts and drops.
"""

import csv
import io
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from corpora_recipes.formats.archives import Member
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.running.errors import EncodingError, InputError, RawError
from corpora_recipes.running.limits import (
    LONGEST_LINE,
    LONGEST_ROW,
    MOST_COLUMNS,
    MOST_LINES,
    MOST_RECORDS,
    decode_json,
    whole_lines,
)
from corpora_recipes.text.cleaning import nfc
from corpora_recipes.text.tokens import is_blank

# Large enough to hide the cost of a task, small enough for any worker's memory.
BLOCK_BYTES = 8 << 20
UTF_8_ADVICE = "convert the file to UTF-8"


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

    @property
    def where(self) -> str:
        """The file and the line, for messages."""
        return f"{self.path}, line {count_lines(self.path, self.start) + self.number}"

    def error(self, expected: str, found: str, todo: str = "correct the line") -> RawError:
        """Return the error that names this line."""
        return RawError(self.where, expected, found, self.todo or todo)

    def parse(self, line: bytes) -> Any:
        """Return the JSON of this line."""
        try:
            text = line.decode("utf-8-sig" if self.number == 1 and not self.start else "utf-8")
            return decode_json(text)
        except UnicodeDecodeError as error:
            todo = self.todo or UTF_8_ADVICE
            raise EncodingError(self.where, "UTF-8", str(error), todo) from None
        except ValueError as error:
            found = f"{text[:60]!r} … ({error})"
            raise self.error("a line that is one JSON object", found) from None


# A worker reads one range after the other, and each of them may have several faults.
@lru_cache(maxsize=1)
def count_lines(path: Path, end: int) -> int:
    """Count the lines of a file that begin before a byte, at which a range of lines begins."""
    if not end:
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in _until(whole_lines(file, path), end))


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

# Labels that their authors keep to themselves, or have not given.
_WITHHELD = frozenset(("", "-1", "?", "null", "none", "nan"))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_CSV_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    file: str  # for messages
    line: int  # from 1; 0 if the row is the whole file
    fields: dict[str, str]  # column to value, from which nothing is stripped
    fault: RawError | None = None  # why it cannot be read; it may then lack fields

    @property
    def where(self) -> str:
        """The file and the line, for messages."""
        return f"{self.file}, line {self.line}" if self.line else self.file

    def error(self, expected: str, found: str, *todo: str) -> RawError:
        """Return the error that names this row."""
        return RawError(self.where, expected, found, *todo)

    def refused(self, expected: str, found: str, *todo: str) -> "Row":
        """Return this row as one that cannot be read."""
        return replace(self, fault=self.error(expected, found, *todo))

    def filled(self, column: str) -> str:
        """Return a value that must not be empty, without white space around it."""
        if not (value := self.fields[column].strip()):
            raise self.error(f"a value in the column {column}", "none")
        return value


def decoded_lines(data: bytes | Iterable[bytes], where: str) -> Iterator[Row]:
    """Yield each line that is not empty, without its line end, as a row with the field ``line``.

    Only a line feed ends a line, with or without a carriage return before it. A byte order mark
    at the beginning is removed. A line of spaces is skipped, a line of tabs is not. ``data`` is the
    file, whole or by its lines, and ``where`` its name for messages.
    """
    is_empty = True
    for number, line in enumerate(io.BytesIO(data) if isinstance(data, bytes) else data, 1):
        if number > MOST_LINES:
            raise RawError(where, f"at most {MOST_LINES:,} lines", "more")
        row = _decoded(line, Row(where, number, {"line": ""}))
        if row.fault or row.fields["line"].strip(" "):
            is_empty = False
            yield row
    if is_empty:
        raise RawError(where, "one line or more", "an empty file")


def _decoded(line: bytes, row: Row) -> Row:
    """Return a row with the text of its line."""
    if len(line) > LONGEST_ROW:
        found = f"a line of {len(line):,} bytes"
        return row.refused(f"lines of at most {LONGEST_ROW:,} bytes", found)
    try:
        text = line.decode("utf-8-sig" if row.line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        return replace(row, fault=EncodingError(row.where, "UTF-8", str(error), UTF_8_ADVICE))
    text = text.removesuffix("\n").removesuffix("\r")
    if "\r" in text:
        found, todo = "a carriage return inside the line", "convert the line ends"
        return row.refused("lines that end in a line feed", found, todo)
    row.fields["line"] = text
    return row


def every_line(data: bytes, where: str) -> list[Row]:
    """Return the lines of a file, see ``decoded_lines``, with the blank ones, which are ""."""
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    if count > MOST_RECORDS:
        raise RawError(where, f"at most {MOST_RECORDS:,} lines", f"{count:,}")
    lines = [Row(where, number, {"line": ""}) for number in range(1, count + 1)]
    for row in decoded_lines(data, where):
        lines[row.line - 1] = row
    return lines


def table_rows(
    data: bytes, where: str, columns: Sequence[str], *, header: bool, fill: bool = False
) -> Iterator[Row]:
    """Yield the rows of a table; lines are those of ``decoded_lines``.

    A quotation mark is an ordinary character, so an unclosed one does no harm.

    Args:
        data: the file.
        where: the file, for messages.
        columns: the required columns.
        header: whether the first line names the columns, which may then be more, and in any order
            (white space around names is ignored); otherwise the columns are exactly these.
        fill: whether a row may end early; its last fields are empty then.
    """
    lines = decoded_lines(data, where)
    names = list(columns)
    if header:
        first = next(lines)
        if first.fault:
            raise first.fault
        names = [name.strip() for name in first.fields["line"].split("\t")]
        if len(names) > MOST_COLUMNS:
            raise first.error(f"at most {MOST_COLUMNS} columns", f"{len(names):,}")
        for count, fault in ((0, "no"), (2, "more than one")):
            if faulty := [name for name in columns if min(names.count(name), 2) == count]:
                expected = f"each of the columns {', '.join(columns)} once"
                found = f"{fault} {', '.join(faulty)} in {first.fields['line'][:200]!r}"
                raise first.error(expected, found)
    for line in lines:
        if line.fault:
            yield replace(line, fields={})
            continue
        text = line.fields["line"]
        fields = text.split("\t")
        if fill:
            fields += [""] * (len(names) - len(fields))
        row = replace(line, fields=dict(zip(names, fields, strict=False)))
        if len(fields) != len(names):
            expected = f"{len(names)} fields between tabs: {', '.join(names)}"
            row = row.refused(expected, f"{len(fields)} in {text[:200]!r}")
        yield row


def matched_rows(data: bytes, where: str, pattern: re.Pattern[str], expected: str) -> Iterator[Row]:
    """Yield the lines of a file, see ``decoded_lines``; the groups of a pattern are their fields.

    A group that takes no part in the match is "". ``expected`` is a line in words, for messages.
    """
    for row in decoded_lines(data, where):
        line = row.fields["line"]
        if row.fault:
            yield row
        elif parts := pattern.fullmatch(line):
            yield replace(row, fields=parts.groupdict(""))
        else:
            yield row.refused(expected, repr(line[:200]))


def unquote(text: str) -> str:
    """Undo the quoting of a CSV field that is quoted from end to end.

    Any other field is returned unchanged, such as one that only begins with a quotation mark.
    """
    quoted = _CSV_QUOTED.fullmatch(text)
    return quoted[1].replace('""', '"') if quoted else text


# A zero, or a byte that is not UTF-8.
_NO_TEXT = re.compile("[\0\udc80-\udcff]")


def csv_delimiter(header: bytes) -> str:
    """Return what stands between the fields of a CSV: the more frequent one in its first line."""
    return ";" if header.count(b";") > header.count(b",") else ","


def csv_rows(
    lines: Iterable[bytes],
    where: str,
    columns: Callable[[Sequence[str], str], Sequence[str]],
    delimiter: str = ",",
) -> Iterator[Row]:
    """Yield the rows of a table that are not empty; a row names the line where it begins.

    With commas or semicolons it is CSV (RFC 4180), whose fields may be in quotation marks; with
    tabs these are ordinary characters. A row that cannot be read, or that seems to have swallowed
    others by a quotation mark that is never closed, is one with a fault, and ends with its first
    line: the others are read.

    Args:
        lines: those of the file, with their line ends.
        where: the file, for messages.
        columns: checks the header, given its place too, and returns the names of the columns.
        delimiter: what stands between fields.
    """
    csv.field_size_limit(LONGEST_LINE)
    quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    todo = "correct the row: a text with a separator or a line end needs quotation marks"
    if delimiter == "\t":
        todo = "correct the row: with tabs no text is quoted; texts with tabs or line ends need CSV"
    numbered, again = enumerate(lines, 1), deque[tuple[int, bytes]]()
    taken: list[tuple[int, bytes]] = []  # of the row that is being read

    def texts() -> Iterator[str]:
        while line := again.popleft() if again else next(numbered, None):
            taken.append(line)
            yield line[1].decode("utf-8-sig" if line[0] == 1 else "utf-8", "surrogateescape")

    names: Sequence[str] | None = None
    while True:
        taken.clear()
        fault, cells = "", list[str]()
        try:
            cells = next(csv.reader(texts(), delimiter=delimiter, quoting=quoting, strict=True))
        except StopIteration:
            break
        except csv.Error as error:
            fault = str(error)
        row = Row(where, taken[0][0], {})
        if not fault and len(taken) > 1 and _has_swallowed(taken, cells, delimiter):
            fault = "a quoted field with lines that are rows by themselves"
        if fault:
            expected = f"a row with {delimiter!r} between its fields, and closed quotation marks"
            row = row.refused(
                expected, f"{fault}, in {taken[0][1][:60].decode(errors='replace')!r}", todo
            )
            again.extendleft(reversed(taken[1:]))
        elif bad := _NO_TEXT.search("\n".join(cells)):
            found = f"byte 0x{ord(bad[0]) & 0xFF:02x}"
            row = replace(row, fault=EncodingError(row.where, "UTF-8", found, UTF_8_ADVICE))
        elif not cells:
            continue
        elif names is not None and len(cells) != len(names):
            found = f"{len(cells)} that begin {cells[:2]!r}"[:200]
            row = row.refused(f"{len(names)} fields: {', '.join(names)}", found, todo)
        if row.fault and names is None:
            raise row.fault
        if row.fault:
            yield row
        elif names is None:
            names = columns(cells, row.where)
        elif any(cell.strip() for cell in cells):
            yield replace(row, fields=dict(zip(names, cells, strict=True)))
    if names is None:
        columns([], f"{where}, line 1")


def _has_swallowed(
    taken: Sequence[tuple[int, bytes]], cells: Sequence[str], delimiter: str
) -> bool:
    """Return whether a line inside of a row looks like a row by its first cell, or its last one."""
    # That cell of the row is outside of the field with line ends; the other has the same form, with
    # a number, as ids have, or is equal.
    column, inside = (0, taken[1:]) if "\n" not in cells[0] else (-1, taken[:-1])
    cell, form = cells[column].strip(), _form(cells[column])
    split = (line.decode(errors="replace").split(delimiter) for _, line in inside)
    similar = [fields[column].strip() for fields in split if len(fields) >= len(cells) > 1]
    return "\n" not in cell and any(
        other and (other == cell or ("0" in form and _form(other) == form)) for other in similar
    )


def _form(cell: str) -> str:
    """Return a cell with 0 for its numbers, and a for its words."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell.strip()))


def natural_text(text: str) -> str:
    """Return a text on one line, in NFC, with single spaces and without invisible characters."""
    line = " ".join(nfc(INVISIBLE.sub("", text)).split())
    if is_blank(line):
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
    if labels and not name and spelling.lower() in _WITHHELD:
        raise Dropped("withheld_label")
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
    """Return the examples of a block's rows.

    Those that cannot be read, or that ``make`` drops, are counted by reason.
    """
    result = BlockResult()
    for row in rows:
        if len(result.records) == MOST_RECORDS:
            raise row.error(f"at most {MOST_RECORDS:,} examples in a file", "more")
        with result.counting("examples", row):
            if row.fault:
                raise row.fault
            result.records.append(make(row))
    return result


def scored_pairs(pairs: Member, gold: Member) -> Iterator[Row]:
    """Yield sentence_1, sentence_2 and score of each line; a row names the gold file."""
    texts, scores = (every_line(file.read(), file.where) for file in (pairs, gold))
    if len(texts) != len(scores):
        expected = f"{len(texts)} lines, one for each line of {pairs.where}"
        todo = "use both files of the same release; a pair without a score has an empty line"
        raise RawError(gold.where, expected, str(len(scores)), todo)
    for pair, score in zip(texts, scores, strict=True):
        sentences = pair.fields["line"].split("\t")
        if len(sentences) != 2 and not pair.fault:
            expected, found = "two sentences and a tab between them", pair.fields["line"][:200]
            pair = pair.refused(expected, repr(found))
        fields = {"sentence_1": sentences[0], "sentence_2": sentences[-1]}
        fields["score"] = score.fields["line"]
        yield replace(score, fields=fields, fault=pair.fault or score.fault)


def scored(row: Row) -> str:
    """Return the score of a row of ``scored_pairs``, as written; Dropped without a score."""
    if not row.fields["score"].strip():
        raise Dropped("no_score")
    return row.fields["score"]
