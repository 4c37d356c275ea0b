r"""Reads the user's documents: texts, tables, JSON Lines, Arrow; corpus.yaml describes the keys.

Two lines of JSON Lines::

    {"id": "r1", "title": "Lentejas", "text": "Quedan bien. Hay que esperar.\n\nSin prisa."}
    {"id": "r2", "sections": [{"heading": "Historia", "paragraphs": ["Nació en 1900. Murió."]}]}

The ending of a file's name decides how its rows are read; a row becomes a document, or is dropped
for an error that names the row, the key and what is wrong with it.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from corpora_recipes.fetching.sources import download, find_on_hub
from corpora_recipes.formats import tables
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Finding, no_files
from corpora_recipes.records import SPLITS, Document, Drops, split_at_drops
from corpora_recipes.running.errors import EncodingError, RawError, nearest
from corpora_recipes.running.limits import (
    DEEPEST_SECTION,
    LARGEST_FILE,
    LARGEST_PACKED,
    LARGEST_TEXT,
    MOST_LINES,
    MOST_RECORDS,
    read_whole,
    whole_lines,
)
from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.encoding import restore
from corpora_recipes.text.pdf import has_cut_word, mend
from corpora_recipes.text.sentences import split_sentences
from corpora_recipes.validation import validate

# A heading of Markdown (CommonMark 0.31, section 4.2): its marks and its text.
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$", re.MULTILINE)
_SPLIT_ADVICE = (
    "write it as .jsonl or .parquet, which are read in parts of any number, or cut it up"
)
_UTF_8_ADVICE = "convert the file to UTF-8, or move it out of the folder if it is no text"


class EmptyError(RawError):
    """A row has no text."""

    reason = "empty_text"


# Our key to the name of the column that has it; empty if columns are named like our keys.
Columns = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A block: a whole file, a row group of a .parquet file, or a batch of an .arrow file."""

    key: str  # the file's name in the corpus, a colon, and ``group``
    path: Path
    group: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """The location of a row that is no line of JSON, for messages."""

    where: str

    def error(self, expected: str, found: str, todo: str = "correct it") -> RawError:
        """Return the error that names this row."""
        return RawError(self.where, expected, found, todo)


Location = tables.Line | Row
# Locations and contents of rows: a line of JSON, an object, or the error that says why not.
Contents = Iterator[tuple[Location, Any]]


Key = Literal["id", "title", "summary", "text", "paragraphs", "sections", "topics", "split"]
KEYS = get_args(Key)
SECTION_KEYS = ("heading", "level", "paragraphs")


# A document has one of these keys.
FORMS = ("text", "paragraphs", "sections")
_NULL_ADVICE = "fill it, or remove the row"
# The endings of files of which each is a document, named like it.
TEXTS = (".txt", ".md")


def blocks(raw: Path, corpus: Corpus) -> Sequence[tables.LineRange | Part]:
    """List the parts of all files in the folder and its sub-folders.

    Beside other files, texts are no documents: they explain them, as README.md or LICENSE.txt.
    """
    _columns(corpus)
    parts: list[tables.LineRange | Part] = []
    patterns = _patterns(corpus)
    files = {p for pattern in patterns for p in raw.rglob(pattern) if p.is_file()}
    for file in sorted([file for file in files if file.suffix not in TEXTS] or files):
        # fetch has made links; messages name the user's files.
        parts += parts_of(file.resolve(), file.relative_to(raw).as_posix())
    if not parts:
        expected = f"documents in files named {', '.join(patterns)}"
        raise no_files(corpus, raw, expected, "none, or empty files")
    return parts


def read_block(block: tables.LineRange | Part, corpus: Corpus) -> BlockResult:
    """Read one part."""
    result, columns = BlockResult(), _columns_of(block, corpus)
    for location, content in contents_of(block, columns):
        if len(result.records) == MOST_RECORDS and isinstance(block, Part):
            found, todo = "more", "cut it up, or write it as .jsonl, which is read in parts"
            raise RawError(block.path, f"at most {MOST_RECORDS:,} documents", found, todo)
        with result.counting("documents", location):
            row = _restored(_parse(content, columns, location), result.drops)
            document = document_of(row, location, corpus, result.drops)
            if not document.sections:
                raise Dropped("no_sentences")
            result.records.append(document)
    return result


def texts(block: tables.LineRange | Part, corpus: Corpus) -> Iterator[str]:
    """Yield the texts of one part, without those of bad rows, of as many rows as are read."""
    columns = _columns_of(block, corpus)
    for location, content in islice(contents_of(block, columns), MOST_RECORDS):
        with suppress(RawError):
            yield from _texts_in(_restored(_parse(content, columns, location), Drops()))


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the strings of a row."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part)
    elif isinstance(value, str):
        yield value


def _restored(value: Any, drops: Drops) -> Any:
    """Return a row with its texts restored, and count them; its id stays."""
    if isinstance(value, dict):
        return {k: v if k == "id" else _restored(v, drops) for k, v in value.items()}
    if isinstance(value, list):
        return [_restored(part, drops) for part in value]
    if not isinstance(value, str) or (text := restore(value)) == value:
        return value
    drops.seen["restored_texts"] += 1
    return text


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Download the files of the dataset that the option ``path`` names, at one commit."""
    download(corpus.options["path"], _patterns(corpus), out)


def examine(corpus: Corpus) -> Iterator[Finding]:
    """Ask the Hub for the size of the dataset that the option ``path`` names."""
    name = corpus.options["path"]
    dataset = find_on_hub(name, _patterns(corpus))
    size = sum(dataset.files.values())
    yield Finding(name, note=f"commit {dataset.commit}", to_download=size)


def _patterns(corpus: Corpus) -> list[str]:
    return [source.file for source in corpus.facts.sources]


def _columns(corpus: Corpus) -> Columns:
    where = f"{corpus.where}.corpus.columns"
    return validate(dict[Key, str], corpus.options.get("columns", {}), where)


def _file_of(block: tables.LineRange | Part) -> Path:
    """Return a file's name in the corpus: its path may lead to a name without an ending."""
    return Path(block.key.rpartition(":")[0])


# --- the document of a row -----------------------------------------------------------------------


def document_of(row: Any, location: Location, corpus: Corpus, drops: Drops) -> Document:
    """Return the document of a row, without the sentences that it counts as dropped.

    A row without the key ``id`` gets the digest of its texts, and is counted as one.
    """
    fields = _fields(row, KEYS, location, "a document")
    forms = [key for key in FORMS if key in fields]
    if not forms and (empty := [key for key in FORMS if key in row]):
        raise EmptyError(
            location.where, "a text", f"null in column {', '.join(empty)}", _NULL_ADVICE
        )
    if len(forms) != 1:
        found = " and ".join(forms or fields) or "nothing"
        raise location.error("exactly one of text, paragraphs and sections", found)
    if row.get("id", "digest") in (None, ""):
        raise location.error(
            "an id", repr(row["id"]), "give each document a unique id, or none an id"
        )
    if "text" in fields:
        parts = [("", 1, paragraphs(_string(fields["text"], "text", location)))]
    elif "paragraphs" in fields:
        parts = [("", 1, _strings(fields["paragraphs"], "paragraphs", location))]
    else:
        parts = [
            _section(value, location) for value in _list(fields["sections"], "sections", location)
        ]
    if "id" not in fields:
        drops.seen["digests_as_ids"] += 1
        texts = (text for heading, _, texts in parts for text in (heading, *texts))
        fields["id"] = f"{keyed_hash(0, *texts):016x}"
    split = fields.get("split") or None
    if split is not None and split not in SPLITS:
        raise location.error(f"split among {', '.join(SPLITS)}", repr(split))
    return Document(
        id=_name(fields["id"], "id", location),
        title=clean(_string(fields.get("title", ""), "title", location)),
        topics=_topics(fields.get("topics", []), location),
        sections=[
            section
            for heading, level, texts in parts
            for section in split_at_drops(clean(heading), level, _sentences(texts, corpus, drops))
        ],
        split=split,
        summary=_summary(_string(fields.get("summary", ""), "summary", location), corpus, drops),
    )


def _topics(value: Any, location: Location) -> list[str]:
    """Return the topics of a list, or the only one, which may be the number of a class."""
    topics = value if isinstance(value, list) else [value]
    return list(filter(None, (clean(_name(topic, "topics", location)) for topic in topics)))


def _section(value: Any, location: Location) -> tuple[str, int, list[str]]:
    fields = _fields(value, SECTION_KEYS, location, "a section")
    heading = _string(fields.get("heading", ""), "heading", location)
    level = fields.get("level", 2 if heading else 1)
    if type(level) is not int or not 1 <= level <= DEEPEST_SECTION:
        raise location.error(f"level, an integer from 1 to {DEEPEST_SECTION}", repr(level)[:60])
    if "paragraphs" not in fields:
        raise location.error("paragraphs in each section", f"none in {heading!r}")
    return heading, level, _strings(fields["paragraphs"], "paragraphs", location)


def _summary(text: str, corpus: Corpus, drops: Drops) -> list[str]:
    (sentences,) = _sentences([text], corpus, drops, "summary_sentences")
    return [sentence for sentence in sentences if sentence is not None]


def _sentences(
    texts: Sequence[str], corpus: Corpus, drops: Drops, unit: str = "sentences"
) -> list[list[str | None]]:
    """Split paragraphs into sentences, with None in place of dropped ones."""
    paragraphs: list[list[str | None]] = []
    for text in texts:
        paragraphs.append([])
        for sentence in split_sentences(clean(mend(text, corpus.words)), corpus.language):
            reason = find_damage(sentence)
            if not reason and has_cut_word(sentence):
                reason = "hyphenated_word"
            if not reason and not any(map(str.isalpha, sentence)):
                reason = "no_letters"
            paragraphs[-1].append(drops.sift(unit, sentence, reason))
    return paragraphs


def _fields(value: Any, allowed: Sequence[str], location: Location, subject: str) -> dict[str, Any]:
    """Return the keys that have a value; null counts as a missing key."""
    if not isinstance(value, dict):
        raise location.error(
            f"{subject}, an object with keys among {', '.join(allowed)}", repr(value)[:60]
        )
    unknown = [key for key in value if key not in allowed]
    if unknown:
        expected = f"{subject} with keys among {', '.join(allowed)}"
        todo = "rename or remove it; or name those to read in `columns` of the corpus's entry, as "
        todo += f"in columns: {{text: {unknown[0]}}} (`probeta init --columns text={unknown[0]}`): "
        todo += "all others are ignored then"
        raise location.error(expected, ", ".join(map(str, unknown)), todo)
    return {key: content for key, content in value.items() if content is not None}


def _list(value: Any, key: str, location: Location) -> list[Any]:
    if not isinstance(value, list):
        raise location.error(f"{key}, a list", repr(value)[:60])
    return value


def _strings(value: Any, key: str, location: Location) -> list[str]:
    """Return the texts of a list; a null is an empty one."""
    item_name = f"{key}, a list of strings: each"
    listed = _list(value, key, location)
    return [_string("" if item is None else item, item_name, location) for item in listed]


def _name(value: Any, key: str, location: Location) -> str:
    return _string(str(value) if type(value) is int else value, key, location)


def _string(value: Any, key: str, location: Location) -> str:
    if not isinstance(value, str):
        is_number = isinstance(value, int | float)
        todo = f'put it in quotes: "{value}"' if is_number else "correct it"
        raise location.error(f"{key}, a string", repr(value)[:60], todo)
    return value


# --- the rows of a file --------------------------------------------------------------------------


def parts_of(path: Path, name: str) -> Sequence[tables.LineRange | Part]:
    """Cut a file into blocks; ``name`` is its name in the corpus."""
    if name.endswith(".jsonl"):
        return tables.line_ranges(path, name)
    count = 1
    with _refuse_damage(path):
        if name.endswith(".parquet"):
            count = pq.ParquetFile(path).num_row_groups
        elif name.endswith(".arrow"):
            count = sum(1 for _ in _batches(path))
    return [Part(f"{name}:{group}", path, group) for group in range(count)]


def _columns_of(block: tables.LineRange | Part, corpus: Corpus) -> Columns:
    """Return the columns of the file of a block; a text has none."""
    return {} if _file_of(block).suffix in TEXTS else _columns(corpus)


def contents_of(block: tables.LineRange | Part, columns: Columns) -> Contents:
    """Yield the location and the content of each row of a block, for ``_parse``."""
    if isinstance(block, tables.LineRange):
        return tables.locate_lines(tables.range_lines(block), block.path, block.start)
    return _READERS[_file_of(block).suffix](block, columns)


def _parse(content: Any, columns: Columns, location: Location) -> Any:
    """Return a row with our keys: objects may lack what documents may lack."""
    if isinstance(content, RawError):
        raise content
    row = location.parse(content) if isinstance(location, tables.Line) else content
    if not (columns and isinstance(row, dict)):
        return row
    needed = {key: name for key, name in columns.items() if key in _NEEDED}
    _check(row, needed, location)
    return {key: row[name] for key, name in columns.items() if name in row}


def _text(block: Part, _: Columns) -> Contents:
    location, name = Row(str(block.path)), _file_of(block).with_suffix("").as_posix()
    try:
        text = _decode(read_whole(block.path, LARGEST_TEXT), block.path)
    except RawError as fault:
        yield location, fault
        return
    yield location, {"id": name, "text": text}


def _markdown(block: Part, _: Columns) -> Contents:
    """Yield a text cut into sections at its headings; the first one of level 1 is the title."""
    ((location, row),) = _text(block, _)
    if isinstance(row, RawError):
        yield location, row
        return
    preamble, *pieces = _HEADING.split(row.pop("text"))
    headed = [("#", "", preamble), *zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)]
    row["title"] = next((heading for marks, heading, _ in headed if heading and marks == "#"), "")
    row["sections"] = [
        {"heading": heading, "level": len(marks), "paragraphs": paragraphs(text)}
        for marks, heading, text in headed
    ]
    yield location, row


def paragraphs(text: str) -> list[str]:
    """Return the parts of a text between empty lines."""
    return re.split(r"\n\s*\n", text)


def _separated(block: Part, columns: Columns) -> Contents:
    """Yield the rows of a table with a header; see ``csv_rows``."""
    is_tsv = _file_of(block).suffix == ".tsv"

    def names(header: Sequence[str], where: str) -> Sequence[str]:
        if header:
            _check(header, columns, Row(where))
        return header

    with block.path.open("rb") as file:
        lines = _limit_lines(file, block.path, _SPLIT_ADVICE)
        header = next(lines, b"")
        delimiter = "\t" if is_tsv else tables.csv_delimiter(header)
        for row in tables.csv_rows(chain([header], lines), str(block.path), names, delimiter):
            fields = row.fields
            # A program may have quoted a field with tabs like CSV, with doubled quotation marks.
            if is_tsv:
                fields = {name: tables.unquote(v) if '""' in v else v for name, v in fields.items()}
            yield Row(row.where), row.fault or fields


def _packed(block: Part, _: Columns) -> Contents:
    todo = "unpack it: a plain .jsonl file, of any size, is read in parts"
    with _refuse_damage(block.path), gzip.open(block.path, "rb") as packed:
        yield from tables.locate_lines(_limit_lines(packed, block.path, todo), block.path)


def _limit_lines(file: Any, path: Path, todo: str) -> Iterator[bytes]:
    """Yield the lines of a file whose records a worker holds."""
    size = 0
    for number, line in enumerate(whole_lines(file, path), 1):
        size += len(line)
        if size > LARGEST_PACKED:
            raise RawError(path, f"at most {LARGEST_PACKED:,} bytes, unpacked", "more", todo)
        if number > MOST_LINES:
            raise RawError(path, f"at most {MOST_LINES:,} lines", "more", todo)
        yield line


def _decode(data: bytes, path: Path) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EncodingError(path, "text in UTF-8", str(error), _UTF_8_ADVICE) from None
    if "\0" in text:
        raise RawError(
            path, "text in UTF-8", "a zero byte, as in files that are no text", _UTF_8_ADVICE
        )
    return text


def _parquet(block: Part, columns: Columns) -> Contents:
    with _refuse_damage(block.path):
        file = pq.ParquetFile(block.path)
        where = f"{block.path}, row group {block.group}"
        _check(file.schema_arrow.names, columns, Row(str(block.path)))
        # A value can be as large as the whole group, if rows share it.
        size = file.metadata.row_group(block.group).total_byte_size
        selection = {"row_groups": [block.group], "columns": [*columns.values()] or None}
        at_once = _rows_at_once(size)
        yield from _iter_columnar_rows(lambda: file.iter_batches(at_once, **selection), where)


def _arrow(block: Part, columns: Columns) -> Contents:
    """Yield the rows of a batch of a file that ``Dataset.save_to_disk`` wrote."""
    with _refuse_damage(block.path):
        batch = next(b for number, b in enumerate(_batches(block.path)) if number == block.group)
        _check(batch.schema.names, columns, Row(str(block.path)))
        batch = batch.select([*columns.values()]) if columns else batch
        batch.validate(full=True)
        step = _rows_at_once(batch.nbytes)
        slices = [batch.slice(start, step) for start in range(0, batch.num_rows, step)]
        yield from _iter_columnar_rows(lambda: slices, f"{block.path}, batch {block.group}")


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the batches of an Arrow file, which is a stream or has a footer; none is copied."""
    with pa.memory_map(str(path)) as file:
        if file.read(6) == b"ARROW1":  # Arrow columnar format 1.5, IPC file format
            footed = pa.ipc.open_file(file)
            yield from map(footed.get_batch, range(footed.num_record_batches))
        else:
            file.seek(0)
            yield from pa.ipc.open_stream(file)


def _rows_at_once(size: int) -> int:
    return max(1, min(1000, LARGEST_FILE // max(1, size)))


def _iter_columnar_rows(batches: Callable[[], Iterable[pa.RecordBatch]], where: str) -> Contents:
    characters = number = 0
    for batch in batches():
        characters += sum(map(_characters, batch.to_pylist()))
        if characters > LARGEST_PACKED:
            expected = f"at most {LARGEST_PACKED:,} characters in a row group or batch"
            todo = "write the file with smaller row groups, such as row_group_size=10_000"
            raise RawError(where, expected, "more", todo)
    for batch in batches():
        for row in batch.to_pylist():
            number += 1
            yield Row(f"{where}, row {number}"), row


def _characters(value: Any) -> int:
    """Count the characters of all texts in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_characters, value)) if isinstance(value, list) else len(str(value))


@contextmanager
def _refuse_damage(path: Path) -> Iterator[None]:
    """Refuse a damaged file."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        format_name = {".gz": "gzip", ".arrow": "Arrow"}.get(path.suffix, "Parquet")
        expected = f"a whole {format_name} file"
        raise RawError(path, expected, str(error), "write or copy it again") from None


def _check(names: Iterable[str], columns: Columns, location: Location) -> None:
    """Refuse a table that lacks a column, or has two of a name."""
    names = list(names)
    if missing := [name for name in columns.values() if name not in names]:
        expected = f"the columns that `columns` names, among {', '.join(names)}"
        near = nearest(missing, names)
        todo = f"did you mean {near}? " if near else ""
        todo += "correct `columns` (`--columns` of `probeta init`)"
        raise location.error(expected, f"no {', '.join(missing)}", todo)
    if len(set(names)) < len(names):
        raise location.error("columns that differ in their names", ", ".join(names))


_NEEDED = ("id", *FORMS)
_READERS: Mapping[str, Callable[[Part, Columns], Contents]] = {
    ".txt": _text,
    ".md": _markdown,
    ".csv": _separated,
    ".tsv": _separated,
    ".gz": _packed,
    ".parquet": _parquet,
    ".arrow": _arrow,
}
