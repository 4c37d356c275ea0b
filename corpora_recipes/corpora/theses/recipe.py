"""Reads pages of OAI-PMH records into documents, one per abstract of a thesis.

A page is a repository's response to ListRecords, in one of two forms. ``oai_dc`` is simple Dublin
Core, which uses one name for all kinds of descriptions::

    <record>
      <header><identifier>oai:repositorio.uchile.cl:2250/1</identifier>…</header>
      <metadata><oai_dc:dc …>
        <dc:title>El título</dc:title>
        <dc:description>Memoria para optar al título de Ingeniera Civil</dc:description>
        <dc:description>El presente trabajo …</dc:description>
        <dc:subject>Hidrología</dc:subject>
        <dc:type>Tesis</dc:type>
        <dc:language>es</dc:language>
      </oai_dc:dc></metadata>
    </record>

``xoai`` is specific to DSpace and distinguishes them by the path of elements dc, description,
abstract and a language (or "none"), with ``<field name="value">`` at its end. A deleted record is
only a header with status="deleted". Repositories hold articles, chapters and books too: the type of
a record tells.

The folder holds ``<host>/page-*.xml``, or the pages themselves.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lxml import etree
from tqdm import tqdm

from corpora_recipes.corpora.theses.harvest import examine_server, harvest
from corpora_recipes.facts import Source
from corpora_recipes.formats.oai import OAI, parse_page
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Finding
from corpora_recipes.records import Document, Drops, Window, split_at_drops
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.text.cleaning import clean, nfc
from corpora_recipes.text.language import identify
from corpora_recipes.text.tidying import flaw, tidy_sentences

DC = "{http://purl.org/dc/elements/1.1/}"
XOAI = "{http://www.lyncode.com/xoai}"
# Texts with fewer words than SHORTEST are notes ("Incluye referencias bibliográficas"); those with
# fewer than SHORT that begin like a degree statement are one, with faculty and supervisors.
SHORTEST, SHORT = 20, 60

# The rules' patterns take the cube of its length for a run of white space.
_LONG_SPACE = re.compile(r"\s{20,}")

# Function words that OCR has split ("d e l a"), and marks inside or at the end of words.
_OCR = re.compile(
    r"(?<!\S)(?:d el?|l [ao]s?|e [ln]|q ue|p or|c on|u n|s e)(?!\S)|\w~|\w·(?!\w)|\w\((?!\S)",
    re.IGNORECASE,
)
# As ISO 8601, or at least the year.
_DATE = re.compile(r"\A\d{4}-\d\d(?:-\d\d)?|(?<!\d)(?:19|20)\d\d(?!\d)")
# A closing mark, or a word in lower case, except the letter of an item: "b) el agua".
_LOST_BEGINNING = re.compile(r"[,;:.)\]!?](?!\.)|[a-záéíóúñ]+[\s,;.:](?<!\A\w.)")


@dataclass(frozen=True, slots=True)
class Page:
    """A block: one page of records."""

    key: str
    path: Path


def sources(corpus: Corpus) -> list[Source]:
    """Return the pattern of each server's pages, for mirrors, which may lack some servers."""
    return [Source(f"{name}/page-*.xml", optional=True) for name in _folders(corpus)]


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Harvest all servers of the options; one that gives no page is left out, and named."""
    # A record that was made after the day was not changed before it.
    day = _created_after(corpus)
    silent: dict[str, InputError] = {}
    broken: list[InputError] = []
    for name, server in _folders(corpus).items():
        try:
            harvest(
                server["url"],
                server.get("set"),
                server.get("metadata_prefix", "oai_dc"),
                out / name,
                corpus.options["delay_seconds"],
                since=day,
            )
        except InputError as error:
            if any((out / name).glob("page-*.xml")):
                broken.append(error)
            else:
                silent[name] = error
    for name, why in silent.items():
        note = f"{name} gave no page and is left out: {why.found} (at {why.where})"
        tqdm.write(note, file=sys.stderr)
    if broken:
        raise broken[0]
    if len(silent) == len(_folders(corpus)):
        todo = "check the network, and run fetch again; `servers` can name other repositories"
        expected = "an answer from at least one of the servers"
        raise InputError(", ".join(silent), expected, "none: see above", todo)


def examine(corpus: Corpus) -> Iterator[Finding]:
    """Yield what each server says of itself; a fault only if none has records, as in a fetch."""
    folders = _folders(corpus)
    urls = [server["url"] for server in folders.values()]
    prefixes = [server.get("metadata_prefix", "oai_dc") for server in folders.values()]
    with ThreadPoolExecutor(len(urls) or 1) as threads:
        findings = list(threads.map(examine_server, folders, urls, prefixes))
    is_enough = any(not finding.fault for finding in findings)
    for finding in findings:
        left_out = Finding(finding.what, note=f"left out: {finding.fault}")
        yield left_out if finding.fault and is_enough else finding


def _folders(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Return folder name to server."""
    folders: dict[str, dict[str, Any]] = {}
    for server in corpus.options["servers"]:
        name = _host(server)
        if name and server.get("set"):
            name += "-" + re.sub(r"\W", "_", server["set"])
        if not name or name in folders:
            expected = "url, optionally set and metadata_prefix, of another host or set than others"
            raise ParamsError(f"{corpus.where}.corpus.servers", expected, repr(server))
        folders[name] = server
    return folders


def _host(server: Any) -> str | None:
    """Return the host of an entry of `servers`, None if the entry is wrong."""
    keys = {"url", "set", "metadata_prefix"}
    if not isinstance(server, dict) or not server.keys() <= keys:
        return None
    if not all(value is None or isinstance(value, str) for value in server.values()):
        return None
    try:
        host = urlsplit(server.get("url") or "").hostname or ""
    except ValueError:  # such as http://[
        return None
    # It is the name of a folder, which ".." must not be.
    return host if re.fullmatch(r"\w[\w.-]*", host) else None


def blocks(raw: Path, corpus: Corpus) -> Sequence[Page]:
    """List the pages in the folder and in its sub-folders; raises InputError without any."""
    paths = sorted([*raw.glob("page-*.xml"), *raw.glob("*/page-*.xml")])
    if not paths:
        raise no_files(corpus, raw, "pages of OAI-PMH records, <host>/page-0000.xml and so on")
    return [Page(path.relative_to(raw).as_posix(), path) for path in paths]


def window(blocks: Sequence[Page], corpus: Corpus) -> Window | None:
    """Return after which day the theses were made; None if all are taken."""
    day = _created_after(corpus)
    known_by = "the earliest date in each record; a year or a month counts from its first day"
    return Window(day, "", 0, known_by) if day else None


def _created_after(corpus: Corpus) -> str | None:
    """Return the day of the option; raises InputError if it is no day."""
    day: str | None = corpus.options["created_after"]
    if day is None:
        return None
    with suppress(ValueError):
        if date.fromisoformat(day).isoformat() == day:
            return day
    raise ParamsError(f"{corpus.where}.corpus.created_after", "a day such as 2026-01-01", repr(day))


def read_block(block: Page, corpus: Corpus) -> BlockResult:
    """Read one page."""
    rules = _Rules.of(corpus)
    result = BlockResult()
    for record in parse_page(block.path).iterfind(f"*/{OAI}record"):
        with result.counting("documents"):
            result.records.append(_read(record, block, rules, result.drops))
    return result


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of corpus.yaml and of the options, ready for use."""

    language: str
    types: Sequence[str]
    created_after: str | None
    not_abstracts: Sequence[re.Pattern[str]]
    boilerplate: Sequence[re.Pattern[str]]
    sentence_breaks: Sequence[re.Pattern[str]]

    @classmethod
    def of(cls, corpus: Corpus) -> "_Rules":
        flags = re.IGNORECASE | re.DOTALL
        rules = corpus.facts.special
        return cls(
            corpus.language.split("-")[0],
            [str(name).casefold() for name in corpus.options["types"]],
            _created_after(corpus),
            [re.compile(rule["pattern"], flags) for rule in rules["not_abstracts"]],
            [re.compile(rule["pattern"], flags) for rule in rules["boilerplate"]],
            [re.compile(rule["pattern"]) for rule in rules["sentence_breaks"]],
        )


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no sentence of the corpus may match."""
    return list(_Rules.of(corpus).boilerplate)


def _read(record: etree._Element, block: Page, rules: _Rules, drops: Drops) -> Document:
    header = record.find(f"{OAI}header")
    if header is not None and header.get("status") == "deleted":
        raise Dropped("deleted")
    identifier = record.findtext(f"{OAI}header/{OAI}identifier", "").strip()
    if not identifier:
        raise Dropped("no_identifier")
    fields = _fields(record, block)
    if not _is_thesis(fields, rules):
        raise Dropped("not_a_thesis")
    if rules.created_after is not None:
        _check_date(fields, rules.created_after)
    paragraphs = _paragraphs(_abstract(fields, rules), rules, drops)
    sections = split_at_drops("", 1, paragraphs)
    if not sections:
        raise Dropped("no_sentences")
    titles = [clean(f.text) for f in fields if f.element == "title" and not f.qualifier]
    topics: dict[str, str] = {}
    for field in fields:
        if field.element == "subject" and (topic := clean(field.text)):
            topics.setdefault(topic.casefold(), topic)
    return Document(
        id=identifier,
        title=next(filter(None, titles), ""),
        topics=list(topics.values()),
        sections=sections,
    )


@dataclass(frozen=True, slots=True)
class _Field:
    """A value of Dublin Core: element, qualifier ("" in oai_dc) and text."""

    element: str
    qualifier: str
    text: str


def _fields(record: etree._Element, block: Page) -> list[_Field]:
    """Return the record's Dublin Core values, in the order of the record."""
    metadata = record.find(f"{OAI}metadata")
    if metadata is None:
        return []
    root = metadata.find(f"{XOAI}metadata")
    if root is not None:
        return list(_xoai_fields(root))
    fields = [
        _Field(element.tag.removeprefix(DC), "", _text(element))
        for element in metadata.iter(f"{DC}*")
    ]
    if not fields and len(metadata) and metadata[0].tag.rpartition("}")[2] != "dc":
        todo = "set `metadata_prefix` in `servers` to oai_dc or xoai and fetch again"
        found = f"the element {metadata[0].tag}"
        raise InputError(block.path, "records in the form oai_dc or xoai", found, todo)
    return fields


def _xoai_fields(root: etree._Element) -> Iterator[_Field]:
    for element in root.iterfind(f"{XOAI}element[@name='dc']/{XOAI}element"):
        name = element.get("name", "")
        for value in element.iterfind(f"{XOAI}element/{XOAI}field[@name='value']"):
            yield _Field(name, "", _text(value))
        for qualified in element.iterfind(f"{XOAI}element"):
            for value in qualified.iterfind(f"{XOAI}element/{XOAI}field[@name='value']"):
                yield _Field(name, qualified.get("name", ""), _text(value))


def _text(element: etree._Element) -> str:
    return "".join(map(str, element.itertext()))


def _is_thesis(fields: Sequence[_Field], rules: _Rules) -> bool:
    """Return whether a type of the record names a thesis, or none is given."""
    types = [f.text.casefold() for f in fields if f.element == "type" and f.text.strip()]
    return not types or any(name in text for text in types for name in rules.types)


def _check_date(fields: Sequence[_Field], day: str) -> None:
    """Raise Dropped unless the earliest of a record's dates is after a day."""
    texts = [f.text.strip() for f in fields if f.element == "date"]
    dates = [match[0] for match in map(_DATE.search, texts) if match]
    if not dates:
        raise Dropped("no_date")
    for known in dates:
        first = f"{known}-01-01"[:10]
        if first < day or known == day:
            raise Dropped("created_before")


def _abstract(fields: Sequence[_Field], rules: _Rules) -> str:
    """Return the longest description in the corpus's language that is not a degree statement."""
    descriptions = [f for f in fields if f.element == "description"]
    qualified = [f for f in descriptions if f.qualifier == "abstract"]
    texts = [f.text.strip() for f in qualified or descriptions if f.qualifier in ("", "abstract")]
    abstracts = sorted((t for t in texts if _is_abstract(t, rules)), key=len, reverse=True)
    if not abstracts:
        raise Dropped("no_abstract")
    for text in abstracts:
        if identify(text) == rules.language:
            return text
    raise Dropped("other_language")


def _with_short_spaces(text: str) -> str:
    """Return the text with up to two line breaks, or a space, for each long run of white space."""
    return _LONG_SPACE.sub(lambda run: "\n" * min(2, run[0].count("\n")) or " ", text)


def _is_abstract(text: str, rules: _Rules) -> bool:
    words = len(text.split())
    text = _with_short_spaces(text)
    is_statement = any(pattern.match(text) for pattern in rules.not_abstracts)
    return words >= (SHORT if is_statement else SHORTEST)


def _paragraphs(abstract: str, rules: _Rules, drops: Drops) -> list[list[str | None]]:
    """Split an abstract into paragraphs of sentences, with None in place of dropped ones."""
    text = nfc(re.sub(r"\r\n?", "\n", abstract))
    text = _with_short_spaces(text)
    for pattern in rules.boilerplate:
        text = pattern.sub("", text)
    text = re.sub(r"\xad\s*", "", text)
    for pattern in rules.sentence_breaks:
        text = pattern.sub("\n\n", text)
    paragraphs = []
    for lines in re.split(r"\n\s*\n", text):
        sentences = tidy_sentences(clean(lines), rules.language)
        paragraphs.append([drops.sift("sentences", s, _damage(s)) for s in sentences])
    return paragraphs


def _damage(sentence: str) -> str | None:
    """Return why the sentence cannot be used, None if it can."""
    reason = flaw(sentence)
    if reason in (None, "broken_quotation", "no_letters"):
        if _OCR.search(sentence):
            return "ocr_damage"
        if _LOST_BEGINNING.match(sentence):
            return "lost_beginning"
    return reason
