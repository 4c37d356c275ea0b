"""Reads the user's documents from JSON Lines or Parquet; corpus.yaml describes the keys.

Two lines of such a file::

    {"id": "r1", "title": "Lentejas", "text": "Quedan bien. Hay que esperar.\\n\\nSin prisa."}
    {"id": "r2", "sections": [{"heading": "Historia", "paragraphs": ["Nació en 1900. Murió."]}]}
"""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpora_recipes.formats.json_lines import (
    Line,
    LineRange,
    line_ranges,
    parse_lines,
    range_lines,
)
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import SPLITS, Document, Drops, split_at_drops
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import (
    DEEPEST_SECTION,
    LARGEST_FILE,
    LARGEST_PACKED,
    MOST_LINES,
    MOST_RECORDS,
    whole_lines,
)
from corpora_recipes.text.cleaning import clean, damage
from corpora_recipes.text.sentences import split_sentences

KEYS = ("id", "title", "summary", "text", "paragraphs", "sections", "topics", "split")
SECTION_KEYS = ("heading", "level", "paragraphs")


@dataclass(frozen=True, slots=True)
class Part:
    """A block: a whole .gz file, or one row group (of number ``group``) of a .parquet file."""

    key: str
    path: Path
    group: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """The position of a row in a .parquet file, for messages."""

    path: Path
    group: int
    number: int

    def error(self, expected: str, found: str, todo: str = "correct it") -> RawError:
        """Return the error that names this row."""
        where = f"{self.path}, row group {self.group}, row {self.number}"
        return RawError(where, expected, found, todo)


Where = Line | Row


def blocks(raw: Path, corpus: Corpus) -> Sequence[LineRange | Part]:
    """List the parts of all files in the folder and its sub-folders.

    Raises:
        InputError: no file was found, all files are empty, or a Parquet file is damaged.
    """
    parts: list[LineRange | Part] = []
    patterns = [source.file for source in corpus.facts.sources]
    files = {p for pattern in patterns for p in raw.rglob(pattern) if p.is_file()}
    for file in sorted(files):
        name = file.relative_to(raw).as_posix()
        # fetch has made links; messages name the user's files.
        path = file.resolve()
        if path.name.endswith(".jsonl"):
            parts += line_ranges(path, name)
        elif path.name.endswith(".gz"):
            parts.append(Part(f"{name}:0", path))
        else:
            with _whole_parquet(path):
                groups = pq.ParquetFile(path).num_row_groups
            parts += [Part(f"{name}:{group}", path, group) for group in range(groups)]
    if not parts:
        expected = f"documents in files named {', '.join(patterns)}"
        raise no_files(corpus, raw, expected, "none, or empty files")
    return parts


def read_block(block: LineRange | Part, corpus: Corpus) -> BlockResult:
    """Read one part.

    Raises:
        InputError: a line or row is not a document as corpus.yaml describes it.
    """
    result = BlockResult()
    for where, row in _rows(block):
        if len(result.records) == MOST_RECORDS and block.path.suffix == ".gz":
            raise _unpack(block.path, f"at most {MOST_RECORDS:,} documents")
        with result.counting("documents"):
            document = _document(row, where, corpus.language, result.drops)
            if not document.sections:
                raise Dropped("no_sentences")
            result.records.append(document)
    return result


def _rows(block: LineRange | Part) -> Iterator[tuple[Where, Any]]:
    if isinstance(block, LineRange):
        yield from parse_lines(range_lines(block), block.path, block.start)
    elif block.path.suffix == ".gz":
        yield from parse_lines(_unpacked(block.path), block.path)
    else:
        with _whole_parquet(block.path):
            yield from _parquet_rows(block)


def _unpacked(path: Path) -> Iterator[bytes]:
    unpacked = 0
    try:
        with gzip.open(path, "rb") as packed:
            for number, line in enumerate(whole_lines(packed, path), 1):
                unpacked += len(line)
                if unpacked > LARGEST_PACKED:
                    raise _unpack(path, f"at most {LARGEST_PACKED:,} bytes, unpacked")
                if number > MOST_LINES:
                    raise _unpack(path, f"at most {MOST_LINES:,} lines")
                yield line
    except (OSError, EOFError, zlib.error) as error:
        raise RawError(path, "a whole gzip file", str(error), "copy it again") from None


def _unpack(path: Path, expected: str) -> RawError:
    todo = "unpack it: a plain .jsonl file, of any size, is read in parts"
    return RawError(path, expected, "more", todo)


@contextmanager
def _whole_parquet(path: Path) -> Iterator[None]:
    """Refuse a damaged Parquet file."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RawError(path, "a whole Parquet file", str(error), "write or copy it again") from None


def _parquet_rows(block: Part) -> Iterator[tuple[Row, Any]]:
    file = pq.ParquetFile(block.path)
    # A value can be as large as the whole group, if rows share it.
    size = file.metadata.row_group(block.group).total_byte_size
    rows_at_once = max(1, min(1000, LARGEST_FILE // max(1, size)))
    characters = number = 0
    for batch in file.iter_batches(rows_at_once, row_groups=[block.group]):
        characters += sum(map(_characters, batch.to_pylist()))
        if characters > LARGEST_PACKED:
            expected = f"at most {LARGEST_PACKED:,} characters in row group {block.group}"
            todo = "write the file with smaller row groups, such as row_group_size=10_000"
            raise RawError(block.path, expected, "more", todo)
    for batch in file.iter_batches(rows_at_once, row_groups=[block.group]):
        for row in batch.to_pylist():
            number += 1
            yield Row(block.path, block.group, number), row


def _characters(value: Any) -> int:
    """Count the characters of all texts in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_characters, value)) if isinstance(value, list) else len(str(value))


def _document(row: Any, where: Where, language: str, drops: Drops) -> Document:
    fields = _fields(row, KEYS, where, "a document")
    forms = [key for key in ("text", "paragraphs", "sections") if key in fields]
    if len(forms) != 1:
        found = " and ".join(forms or fields) or "nothing"
        raise where.error("exactly one of text, paragraphs and sections", found)
    if fields.get("id") in (None, ""):
        raise where.error("an id", repr(fields.get("id")), "give each document a unique id")
    if "text" in fields:
        paragraphs = re.split(r"\n\s*\n", _string(fields["text"], "text", where))
        parts = [("", 1, paragraphs)]
    elif "paragraphs" in fields:
        parts = [("", 1, _strings(fields["paragraphs"], "paragraphs", where))]
    else:
        parts = [_section(value, where) for value in _list(fields["sections"], "sections", where)]
    split = fields.get("split")
    if split is not None and split not in SPLITS:
        raise where.error(f"split among {', '.join(SPLITS)}", repr(split))
    return Document(
        id=_string(fields["id"], "id", where),
        title=clean(_string(fields.get("title", ""), "title", where)),
        topics=[clean(topic) for topic in _strings(fields.get("topics", []), "topics", where)],
        sections=[
            section
            for heading, level, texts in parts
            for section in split_at_drops(clean(heading), level, _sentences(texts, language, drops))
        ],
        split=split,
        summary=_summary(_string(fields.get("summary", ""), "summary", where), language, drops),
    )


def _section(value: Any, where: Where) -> tuple[str, int, list[str]]:
    fields = _fields(value, SECTION_KEYS, where, "a section")
    heading = _string(fields.get("heading", ""), "heading", where)
    level = fields.get("level", 2 if heading else 1)
    if type(level) is not int or not 1 <= level <= DEEPEST_SECTION:
        raise where.error(f"level, an integer from 1 to {DEEPEST_SECTION}", repr(level)[:60])
    if "paragraphs" not in fields:
        raise where.error("paragraphs in each section", f"none in {heading!r}")
    return heading, level, _strings(fields["paragraphs"], "paragraphs", where)


def _summary(text: str, language: str, drops: Drops) -> list[str]:
    (sentences,) = _sentences([text], language, drops, "summary_sentences")
    return [sentence for sentence in sentences if sentence is not None]


def _sentences(
    texts: Sequence[str], language: str, drops: Drops, unit: str = "sentences"
) -> list[list[str | None]]:
    """Split paragraphs into sentences, with None in place of dropped ones."""
    paragraphs: list[list[str | None]] = []
    for text in texts:
        paragraphs.append([])
        for sentence in split_sentences(clean(text), language):
            reason = damage(sentence) or ("" if any(map(str.isalpha, sentence)) else "no_letters")
            paragraphs[-1].append(drops.sift(unit, sentence, reason))
    return paragraphs


def _fields(value: Any, known: Sequence[str], where: Where, what: str) -> dict[str, Any]:
    """Return the keys that have a value; null counts as a missing key."""
    if not isinstance(value, dict):
        raise where.error(f"{what}, an object with keys among {', '.join(known)}", repr(value)[:60])
    unknown = [key for key in value if key not in known]
    if unknown:
        expected = f"{what} with keys among {', '.join(known)}"
        raise where.error(expected, ", ".join(unknown), "rename or remove it")
    return {key: content for key, content in value.items() if content is not None}


def _list(value: Any, key: str, where: Where) -> list[Any]:
    if not isinstance(value, list):
        raise where.error(f"{key}, a list", repr(value)[:60])
    return value


def _strings(value: Any, key: str, where: Where) -> list[str]:
    each = f"{key}, a list of strings: each"
    return [_string(item, each, where) for item in _list(value, key, where)]


def _string(value: Any, key: str, where: Where) -> str:
    if not isinstance(value, str):
        is_number = isinstance(value, int | float)
        todo = f'put it in quotes: "{value}"' if is_number else "correct it"
        raise where.error(f"{key}, a string", repr(value)[:60], todo)
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise where.error(f"{key} in Unicode", "half a surrogate pair", "write it in UTF-8")
    return value
