"""Reads arXiv's metadata into documents, one per abstract.

The metadata come as JSON Lines (the snapshot arxiv-metadata-oai-snapshot.json, 2.5 million lines)::

    {"id": "0704.0001", "title": "…", "comments": "37 pages", "categories": "math.CO cs.CG",
     "abstract": "  We describe the $(k,\\\\ell)$-pebble game\\nwith colors …\\n", …}

or as pages of OAI-PMH records in the form arXivRaw, with elements of the same names. An abstract
has LaTeX, and line breaks at 80 characters; a line that begins with a space begins a paragraph.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.corpora.arxiv.latex import LOST, plain
from corpora_recipes.formats.json_lines import (
    Line,
    LineRange,
    line_ranges,
    parse_lines,
    range_lines,
)
from corpora_recipes.formats.oai import OAI, parse_page
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Document, Drops, split_at_drops
from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.text.cleaning import clean, damage
from corpora_recipes.text.language import identify
from corpora_recipes.text.tidying import flaw, tidy_sentences

RAW = "{http://arxiv.org/OAI/arXivRaw/}"
KEYS = ("id", "title", "categories", "abstract")
PACKED = (".zip", ".gz", ".bz2", ".xz", ".7z")
_DELETED = object()

_WITHDRAWN = re.compile(
    r"\bwithdrawn (?:by|due|because|from|since|for|pending|as)\b"
    r"|\b(?:paper|article|manuscript|submission|preprint|version|work|note|letter|abstract)\b"
    r"[^.]{0,60}\b(?:is|was|been|being)\s+(?:\w+\s+)?(?:withdrawn|retracted)\b"
    r"|\A\W*(?:withdrawn|retracted)\b"
)
_PARAGRAPH = re.compile(r"\n[ \t]*(?=\n|[ \t])")
_WRAPPED = re.compile(r"(?<=\w-)\n(?=\w)")
_ABRIDGED = re.compile(r"\s*[\[(](?:\w+ )?abridged[^\[\]()]{0,20}[\])]\.?\s*\Z", re.IGNORECASE)
_LABEL = re.compile(r"\W{0,3}(?:abstract|summary)\s*[:.—–-]+\s*", re.IGNORECASE)
# An abstract without any of these words is rarely in English.
_ENGLISH = re.compile(r"\b(?:the|of|and)\b")


@dataclass(frozen=True, slots=True)
class Page:
    """A block: one page of OAI-PMH records."""

    key: str
    path: Path


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a record in a page, for messages, as ``Line`` is of one in a file."""

    path: Path
    number: int

    def error(self, expected: str, found: str) -> InputError:
        return RawError(f"{self.path}, record {self.number}", expected, found)


def blocks(raw: Path, corpus: Corpus) -> Sequence[LineRange | Page]:
    """List the ranges of the files of JSON Lines, and the pages."""
    listed: list[LineRange | Page] = []
    for path in sorted(raw.rglob("[!.]*")):
        name = path.relative_to(raw).as_posix()
        if path.suffix == ".json":
            listed += line_ranges(path, name)
        elif path.suffix == ".xml":
            listed.append(Page(name, path))
        elif path.suffix in PACKED:
            expected = "the snapshot unpacked, so that several processes can read it"
            todo = f"unpack it (`unzip {path.name}`, or gunzip, …) and put the .json file there"
            raise InputError(path, expected, "a packed file", todo)
    if not listed:
        expected = "arxiv-metadata-oai-snapshot.json, or pages of records in the form arXivRaw"
        raise no_files(corpus, raw, expected, "no such file, or an empty one")
    return listed


def read_block(block: LineRange | Page, corpus: Corpus) -> BlockResult:
    """Read one range or page; raises InputError if a record is not of the form above."""
    result = BlockResult()
    language = corpus.language.partition("-")[0]
    for where, row in _lines(block) if isinstance(block, LineRange) else _page(block):
        with result.counting("documents"):
            if row is _DELETED:
                raise Dropped("deleted")
            result.records.append(_document(_fields(row, where), language, result.drops))
    return result


def _lines(block: LineRange) -> Iterator[tuple[Line, Any]]:
    todo = "fetch the file again, or correct the line"
    return parse_lines(range_lines(block), block.path, block.start, todo)


def _page(block: Page) -> Iterator[tuple[_Place, Any]]:
    """Yield the place and the fields of each record, or that it is deleted."""
    records = parse_page(block.path).iterfind(f"*/{OAI}record")
    for number, record in enumerate(records, 1):
        where = _Place(block.path, number)
        header = record.find(f"{OAI}header")
        raw = record.find(f"{OAI}metadata/{RAW}arXivRaw")
        if header is not None and header.get("status") == "deleted":
            yield where, _DELETED
        elif raw is None:
            raise where.error("a record with metadataPrefix=arXivRaw", "another form")
        else:
            yield where, {child.tag.removeprefix(RAW): child.text or "" for child in raw}


def _fields(row: Any, where: Line | _Place) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise where.error(f"an object with the keys {', '.join(KEYS)}", repr(row)[:60])
    for key in KEYS:
        if not isinstance(row.get(key), str):
            found = repr(row[key])[:60] if key in row else f"only {', '.join(row) or 'nothing'}"
            raise where.error(f"{key}, a string", found)
        if damage(row[key]) == "unpaired_surrogate":
            raise where.error(f"{key} in Unicode", "half a surrogate pair")
    if not row["id"].strip():
        raise where.error("the id of the paper", "an empty one")
    return row


def _document(fields: Mapping[str, Any], language: str, drops: Drops) -> Document:
    raw = fields["abstract"].strip()
    if not raw:
        raise Dropped("no_abstract")
    comments = fields.get("comments")
    if _is_withdrawn(raw) or (isinstance(comments, str) and _is_withdrawn(comments)):
        raise Dropped("withdrawn")
    if not (language == "en" and _ENGLISH.search(raw)) and identify(raw) != language:
        raise Dropped("other_language")
    paragraphs = [
        [_checked(sentence, drops) for sentence in tidy_sentences(clean(lines), language)]
        for lines in _PARAGRAPH.split(plain(_body(raw)))
    ]
    sections = split_at_drops("", 1, paragraphs)
    if not sections:
        raise Dropped("no_sentences")
    archive = fields["categories"].split(maxsplit=1)[:1]
    return Document(
        id=fields["id"].strip(),
        title=clean(plain(fields["title"])),
        topics=[category.partition(".")[0] for category in archive],
        sections=sections,
    )


def _is_withdrawn(text: str) -> bool:
    lowered = text.lower()
    return ("withdrawn" in lowered or "retracted" in lowered) and bool(_WITHDRAWN.search(lowered))


def _body(abstract: str) -> str:
    """Return an abstract without its label, the note that it was abridged, and breaks in words."""
    if label := _LABEL.match(abstract):
        abstract = abstract[label.end() :]
    if "bridged" in abstract[-30:].lower():
        abstract = _ABRIDGED.sub("", abstract)
    return _WRAPPED.sub("", abstract) if "-\n" in abstract else abstract


def _checked(sentence: str, drops: Drops) -> str | None:
    """Count the sentence and return it, or None if it cannot be used."""
    reason = flaw(sentence)
    if LOST in sentence:
        reason = "latex"
    elif sentence.count("(") != sentence.count(")") or sentence.count("[") != sentence.count("]"):
        reason = "broken_bracket"
    return drops.sift("sentences", sentence, reason)
