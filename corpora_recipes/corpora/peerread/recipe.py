"""Reads the parsed papers of PeerRead into documents: the abstract, and the sections in the middle.

A paper is a file ``data/<venue>/<part>/parsed_pdfs/<number>.pdf.json``, made by science-parse::

    {"name": "104.pdf", "metadata": {"source": "CRF", "title": "…", "authors": […], "year": 2016,
     "abstractText": "We propose …", "sections": [{"heading": null, "text": "ar X\\niv :0 …"},
     {"heading": "1 Introduction", "text": "…"}, {"heading": "2.1 Kernel learn-\\ning", …}], …}}

The files are in a folder or in the repository's archive. The abstract is the document's summary.
Introduction and conclusion repeat it, so they are left out, as what is behind them; sentences that
show by their form that they are no part of an abstract are too (see corpus.yaml).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.corpora.peerread.pdf import LOST, paragraphs, parse_heading, reasons, words_of
from corpora_recipes.formats.archives import ARCHIVES, Member, contents, members
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Document, Drops, Section, split_at_drops
from corpora_recipes.running.errors import RawError
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.language import is_language
from corpora_recipes.text.tidying import flaw, tidy_sentences

ENDING = ".pdf.json"
PARSED = "parsed_pdfs"
# Papers of an archive in a block: enough to hide the cost of opening it.
BATCH = 200

_LABEL = re.compile(r"(?:abstract|summary)\b\s*[.:—–-]*\s*", re.IGNORECASE)
# A heading inside a section, without a stop, is joined to the sentence that follows.
_GLUED_HEADING = re.compile(
    r"(?:[A-Z][\w-]*,? (?:(?:and|of|for|the|in|on|with) )?){1,5}(?:We|Our|The|In|This|These|To|For"
    r"|An?|It|As|Let|Given|Since|When|If|There|Here|One|While) [a-z]"
)


@dataclass(frozen=True, slots=True)
class Papers:
    """A block: one file, or some files of an archive."""

    key: str
    files: tuple[Member, ...]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Papers]:
    """List the parsed papers in the folder and in archives."""
    blocks: list[Papers] = []
    for path in sorted(path for path in raw.rglob("*") if path.is_file()):
        papers = [m for m in members(path, raw) if _is_paper(m)]
        size = BATCH if path.name.endswith(ARCHIVES) else 1
        for start in range(0, len(papers), size):
            batch = tuple(papers[start : start + size])
            blocks.append(Papers(batch[0].key, batch))
    if not blocks:
        raise no_files(corpus, raw, f"parsed papers, data/<venue>/<part>/{PARSED}/*{ENDING}")
    return blocks


def _is_paper(member: Member) -> bool:
    return member.key.endswith(ENDING) and member.key.split("/")[-2:-1] == [PARSED]


def read_block(block: Papers, corpus: Corpus) -> BlockResult:
    """Read some papers."""
    rules = _Rules.of(corpus)
    result = BlockResult()
    for member, data in zip(block.files, contents(block.files), strict=True):
        with result.counting("documents"):
            fields = _fields(data, member.where)
            result.records.append(_document(_id(member.key), fields, rules, result.drops))
    return result


def _id(key: str) -> str:
    """Return venue, part and number of a paper, such as acl_2017/train/104."""
    *_, venue, part, _, name = f"//{key}".split("/")
    return f"{venue}/{part}/{name.removesuffix(ENDING)}"


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of corpus.yaml, compiled."""

    language: str
    ends: dict[str, list[str]]
    sentences: list[tuple[str, re.Pattern[str]]]

    @classmethod
    def of(cls, corpus: Corpus) -> "_Rules":
        rules = corpus.facts.special
        return cls(
            corpus.language,
            rules["not_middle"],
            [(rule["name"], re.compile(rule["pattern"])) for rule in rules["sentences"]],
        )


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no sentence of the corpus may match."""
    return [pattern for _, pattern in _Rules.of(corpus).sentences]


def _fields(data: bytes, where: str) -> dict[str, Any]:
    """Return the metadata of a paper."""
    expected = 'a record of science-parse, {"name": …, "metadata": {"sections": […], …}}'
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RawError(where, expected, str(error)) from None
    fields = record.get("metadata") if isinstance(record, dict) else None
    if not isinstance(fields, dict):
        raise RawError(where, expected, repr(record)[:60])
    for name, fits in (("title", str), ("abstractText", str), ("sections", list)):
        if not isinstance(fields.get(name), fits | None):
            raise RawError(where, expected, f"{name}: {fields[name]!r}"[:80])
    for section in fields.get("sections") or []:
        heading = section.get("heading") if isinstance(section, dict) else 0
        if not isinstance(heading, str | None) or not isinstance(section.get("text"), str):
            expected = "sections, each with a heading (or null) and a text"
            raise RawError(where, expected, repr(section)[:80])
    return fields


def _document(name: str, fields: dict[str, Any], rules: _Rules, drops: Drops) -> Document:
    sections = fields.get("sections")
    if not sections:
        raise Dropped("no_sections")
    headings = [parse_heading(s.get("heading") or "") for s in sections]
    abstract = fields.get("abstractText") or next(
        (s["text"] for h, s in zip(headings, sections, strict=True) if h and h.text == "Abstract"),
        "",
    )
    if not abstract.strip():
        raise Dropped("no_abstract")
    if not is_language(clean(abstract), rules.language):
        raise Dropped("other_language")
    words = words_of([s["text"] for s in sections])
    label = _LABEL.match(abstract.strip())
    abstract = abstract.strip()[label.end() :] if label else abstract
    summary = _sentences(abstract, words, "summary_sentences", rules, drops)
    middle: list[Section] = []
    why = reasons(headings, rules.ends)
    for heading, section, reason in zip(headings, sections, why, strict=True):
        if heading is None or reason is not None:
            drops.seen["sections"] += 1
            drops.dropped["sections", reason or "no_heading"] += 1
            continue
        sentences = _sentences(section["text"], words, "sentences", rules, drops)
        middle += split_at_drops(clean(heading.text), heading.level, [sentences])
    if not middle:
        raise Dropped("no_middle")
    return Document(
        name, clean(fields.get("title") or ""), [], middle, summary=[s for s in summary if s]
    )


def _sentences(
    text: str, words: frozenset[str], unit: str, rules: _Rules, drops: Drops
) -> list[str | None]:
    """Split a text into sentences, with None in place of those that cannot be used."""
    sentences: list[str | None] = []
    for paragraph in paragraphs(text, words):
        split = tidy_sentences(clean(paragraph), rules.language)
        sentences += [drops.sift(unit, sentence, _reason(sentence, rules)) for sentence in split]
    return sentences


def _reason(sentence: str, rules: _Rules) -> str | None:
    if LOST in sentence:
        return "broken"
    if reason := flaw(sentence):
        return reason
    for name, pattern in rules.sentences:
        if pattern.search(sentence):
            return name
    if not sentence[:1].isupper() and not sentence.startswith(tuple("\"“‘'")):
        return "lost_beginning"
    return "glued_heading" if _GLUED_HEADING.match(sentence) else None
