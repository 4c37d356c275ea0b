r"""Reads the parsed papers of PeerRead into documents: the abstract, and sections of the middle.

A paper is a file ``data/<venue>/<part>/parsed_pdfs/<number>.pdf.json``, made by science-parse::

    {"name": "104.pdf", "metadata": {"source": "CRF", "title": "…", "authors": […], "year": 2016,
     "abstractText": "We propose …", "sections": [{"heading": null, "text": "ar X\niv :0 …"},
     {"heading": "1 Introduction", "text": "…"}, {"heading": "2.1 Kernel learn-\ning", …}], …}}

The files are in a folder or in the repository's archive. The abstract is the document's summary.
Introduction and conclusion repeat it, so they are skipped, as is what follows the conclusion;
sentences whose form shows that they are no part of an abstract are dropped (see corpus.yaml). A
line break in a text is the end of a paragraph, or a position where something was between the lines:
a formula, a footnote, the foot of a page.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.formats.archives import ARCHIVES, Member, Members, list_members, read_members
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Document, Drops, Section, split_at_drops
from corpora_recipes.running.errors import RawError
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.language import is_language
from corpora_recipes.text.pdf import mend
from corpora_recipes.text.tidying import find_flaw, tidy_sentences

ENDING = ".pdf.json"
PARSED = "parsed_pdfs"
# Papers of an archive in a block: enough to hide the cost of opening it.
PAPERS_A_BLOCK = 200

_LABEL = re.compile(r"(?:abstract|summary)\b\s*[.:—–-]*\s*", re.IGNORECASE)
# A heading inside a section, without a stop, is joined to the sentence that follows.
_GLUED_HEADING = re.compile(
    r"(?:[A-Z][\w-]*,? (?:(?:and|of|for|the|in|on|with) )?){1,5}(?:We|Our|The|In|This|These|To|For"
    r"|An?|It|As|Let|Given|Since|When|If|There|Here|One|While) [a-z]"
)


def blocks(raw: Path, corpus: Corpus) -> Sequence[Members]:
    """List the parsed papers in the folder and in archives."""
    blocks: list[Members] = []
    for path in sorted(path for path in raw.rglob("*") if path.is_file()):
        papers = [m for m in list_members(path, raw) if _is_paper(m)]
        size = PAPERS_A_BLOCK if path.name.endswith(ARCHIVES) else 1
        for start in range(0, len(papers), size):
            batch = tuple(papers[start : start + size])
            blocks.append(Members(batch[0].key, batch))
    if not blocks:
        raise no_files(corpus, raw, f"parsed papers, data/<venue>/<part>/{PARSED}/*{ENDING}")
    return blocks


def _is_paper(member: Member) -> bool:
    return member.key.endswith(ENDING) and member.key.split("/")[-2:-1] == [PARSED]


def read_block(block: Members, corpus: Corpus) -> BlockResult:
    """Read some papers."""
    rules = _Rules.of(corpus)
    result = BlockResult()
    for member, data in zip(block.files, read_members(block.files), strict=True):
        with result.counting("documents", member):
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
    if reason := find_flaw(sentence):
        return reason
    for name, pattern in rules.sentences:
        if pattern.search(sentence):
            return name
    if not sentence[:1].isupper() and not sentence.startswith(tuple("\"“‘'")):
        return "lost_beginning"
    return "glued_heading" if _GLUED_HEADING.match(sentence) else None


# --- text and headings of a PDF ------------------------------------------------------------------

LOST = "\ufffc"  # OBJECT REPLACEMENT CHARACTER: a sentence that has it is not whole

_PARTED = re.compile(r"([^\W\d_]+)-\n([a-z]+)")
_ENDS = re.compile(r"[.!?:][\"'”’)\]]*$")
_WORD = re.compile(r"[^\W\d_]{2,}")
# In a line of prose, two thirds of the pieces between spaces have words.
_MIN_PROSE_SHARE = 2 / 3
_MIN_WORDS = 3

_NUMBER = re.compile(r"(?:(-?\d+(?:\.\d+)*)|([IVX]+|[A-Z])(?:\.\d+)*)[.):]?\s+(?=\S)")
_ROMAN = re.compile(r"[IVX]+")


def paragraphs(text: str, language_words: frozenset[str]) -> list[str]:
    """Return the paragraphs of a section.

    Parts of a word at a line break are joined, with the hyphen if the paper has the word with it
    elsewhere. A line that is no prose, as of a formula, is skipped. ``LOST`` marks a skipped line,
    and a break after which the line does not continue the one before it.
    ``language_words`` are those of the paper in lower case, with and without hyphens.
    """
    text = _PARTED.sub(lambda parts: _join_word(parts[1], parts[2], language_words), mend(text, {}))
    texts: list[str] = []
    after_loss = False
    for line in map(str.strip, text.split("\n")):
        if not line:
            continue
        if not _is_prose(line):
            after_loss = True
            continue
        goes_on = bool(texts) and not _ENDS.search(texts[-1])
        starts_low = line[0].islower()
        if after_loss or goes_on != starts_low:
            if goes_on:
                texts[-1] += f" {LOST}"
            texts.append(f"{LOST} {line}" if after_loss or starts_low else line)
        elif goes_on:
            texts[-1] += f" {line}"
        else:
            texts.append(line)
        after_loss = False
    if after_loss and texts and not _ENDS.search(texts[-1]):
        texts[-1] += f" {LOST}"
    return texts


def words_of(texts: Sequence[str]) -> frozenset[str]:
    """Return the words of texts in lower case, with and without hyphens inside."""
    return frozenset(
        word.lower() for text in texts for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)?", text)
    )


def _join_word(first: str, second: str, words: frozenset[str]) -> str:
    unhyphenated = f"{first}{second}"
    hyphenated = f"{first}-{second}"
    return (
        hyphenated
        if hyphenated.lower() in words and unhyphenated.lower() not in words
        else unhyphenated
    )


def _is_prose(line: str) -> bool:
    pieces = line.split()
    with_words = sum(_WORD.search(piece) is not None or piece.isalpha() for piece in pieces)
    return len(_WORD.findall(line)) >= _MIN_WORDS and with_words >= _MIN_PROSE_SHARE * len(pieces)


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a section (level 2) or a subsection (3 …), without its number.

    ``number`` is that of the section that it belongs to or is, "" without one, or a letter, as in
    appendices.
    """

    text: str
    level: int
    number: str
    is_lettered: bool


def parse_heading(raw: str) -> Heading | None:
    """Return a heading: "3.1 THE MODEL" is "The model", of level 3, in section 3.

    It is None if the text has no letters.
    """
    raw = " ".join(raw.split())
    if not any(map(str.isalpha, raw)):
        return None
    start = _NUMBER.match(raw)
    # "A simple model" has no number.
    if start and len(start[2] or "") == 1 and not re.match(r"[A-Z][.\d)]", raw):
        start = None if raw[start.end() :][:1].islower() else start
    text = raw[start.end() :] if start else raw
    if text.isupper():
        text = text.capitalize()
    number = (start[1] or start[0].rstrip(" .):")) if start else ""
    is_lettered = bool(start and start[2] and not _ROMAN.fullmatch(start[2]))
    return Heading(text, 2 + number.count("."), number.split(".")[0], is_lettered)


def reasons(
    headings: Iterable[Heading | None], ends: Mapping[str, Sequence[str]]
) -> list[str | None]:
    """Return for each heading of a paper why its section is not of the middle, None if it is.

    ``ends`` are reasons to the words of such headings; a subsection goes with the section whose
    number it has.
    """
    patterns = {
        reason: re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)
        for reason, words in ends.items()
    }
    section_reasons: list[str | None] = []
    parents: dict[str, str | None] = {}
    for heading in headings:
        if heading is None:
            section_reasons.append("no_heading")
            continue
        reason = next((r for r, p in patterns.items() if p.search(heading.text)), None)
        if reason is None and heading.is_lettered:
            reason = "appendix"
        if reason is None and heading.level > 2:
            reason = parents.get(heading.number)
        elif heading.number:
            parents.setdefault(heading.number, reason)
        section_reasons.append(reason)
    return section_reasons
