"""Reads pages of OAI-PMH records into documents, one per abstract of a thesis, and harvests them.

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
a record tells. The folder holds ``<host>/page-*.xml``, or the pages themselves.

The protocol is OAI-PMH 2.0 (https://www.openarchives.org/OAI/openarchivesprotocol.html). The client
libraries (oaipmh-scythe, sickle) parse pages with recovery, so that a truncated page counts as the
last one; here an incomplete page is refused.
"""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from lxml import etree
from tqdm import tqdm

from corpora_recipes.fetching.downloads import download
from corpora_recipes.fetching.transfer import look_at, read_document
from corpora_recipes.formats.oai import OAI, Page, iter_records, parse_page, parse_response
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Finding, Source, no_files
from corpora_recipes.records import Document, Drops, Window, split_at_drops
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from corpora_recipes.running.limits import LARGEST_XML, is_number
from corpora_recipes.text.cleaning import clean, nfc
from corpora_recipes.text.language import identify
from corpora_recipes.text.pdf import Words, has_cut_word, mend
from corpora_recipes.text.tidying import find_flaw, tidy_sentences

DC = "{http://purl.org/dc/elements/1.1/}"
XOAI = "{http://www.lyncode.com/xoai}"
# Texts with fewer words are notes ("Incluye referencias bibliográficas"); a text that begins like a
# degree statement is one if it has fewer than the second, with faculty and supervisors.
MIN_WORDS, MIN_STATEMENT_WORDS = 20, 60

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


def sources(corpus: Corpus) -> list[Source]:
    """Return the pattern of each server's pages, for mirrors, which may lack some servers."""
    return [Source(f"{name}/page-*.xml", optional=True) for name in _folders(corpus)]


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Harvest all servers of the options; one that gives no page is skipped, and named."""
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
        note = f"{name} gave no page and is skipped: {why.found} (at {why.where})"
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
        skipped = Finding(finding.what, note=f"skipped: {finding.fault}")
        yield skipped if finding.fault and is_enough else finding


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
    for where, record in iter_records(block.path):
        with result.counting("documents", where):
            if isinstance(record, RawError):
                raise record
            result.records.append(_read(record, where, rules, result.drops))
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
    words: Words

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
            corpus.words,
        )


def texts(block: Page, corpus: Corpus) -> Iterator[str]:
    """Yield the descriptions of one page's records."""
    for record in parse_page(block.path).iterfind(f"*/{OAI}record"):
        yield from (f.text for f in _fields(record, str(block.path)) if f.element == "description")


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no sentence of the corpus may match."""
    return list(_Rules.of(corpus).boilerplate)


def _read(record: etree._Element, where: str, rules: _Rules, drops: Drops) -> Document:
    header = record.find(f"{OAI}header")
    if header is not None and header.get("status") == "deleted":
        raise Dropped("deleted")
    identifier = record.findtext(f"{OAI}header/{OAI}identifier", "").strip()
    if not identifier:
        raise Dropped("no_identifier")
    fields = _fields(record, where)
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


def _fields(record: etree._Element, where: str) -> list[_Field]:
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
        raise RawError(where, "a record in the form oai_dc or xoai", found, todo)
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
    values = [f.text.strip() for f in fields if f.element == "date"]
    dates = [match[0] for match in map(_DATE.search, values) if match]
    if not dates:
        raise Dropped("no_date")
    for text in dates:
        first = f"{text}-01-01"[:10]
        if first < day or text == day:
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


def _shorten_spaces(text: str) -> str:
    """Return the text with up to two line breaks, or a space, for each long run of white space."""
    return _LONG_SPACE.sub(lambda run: "\n" * min(2, run[0].count("\n")) or " ", text)


def _is_abstract(text: str, rules: _Rules) -> bool:
    words = len(text.split())
    text = _shorten_spaces(text)
    is_statement = any(pattern.match(text) for pattern in rules.not_abstracts)
    return words >= (MIN_STATEMENT_WORDS if is_statement else MIN_WORDS)


def _paragraphs(abstract: str, rules: _Rules, drops: Drops) -> list[list[str | None]]:
    """Split an abstract into paragraphs of sentences, with None in place of dropped ones."""
    text = nfc(re.sub(r"\r\n?", "\n", abstract))
    text = _shorten_spaces(text)
    for pattern in rules.boilerplate:
        text = pattern.sub("", text)
    for pattern in rules.sentence_breaks:
        text = pattern.sub("\n\n", text)
    paragraphs = []
    for lines in re.split(r"\n\s*\n", text):
        sentences = tidy_sentences(clean(mend(lines, rules.words)), rules.language)
        paragraphs.append([drops.sift("sentences", s, _damage(s)) for s in sentences])
    return paragraphs


def _damage(sentence: str) -> str | None:
    """Return why the sentence cannot be used, None if it can."""
    reason = find_flaw(sentence)
    if reason in (None, "broken_quotation", "no_letters"):
        if _OCR.search(sentence):
            return "ocr_damage"
        if has_cut_word(sentence):
            return "hyphenated_word"
        if _LOST_BEGINNING.match(sentence):
            return "lost_beginning"
    return reason


# --- OAI-PMH -------------------------------------------------------------------------------------

# Of a server: the largest has some hundreds of thousands of records, 100 on a page.
MAX_PAGES = 50_000
# In a row: some servers leave out hidden records without filling up the page.
MAX_EMPTY_PAGES = 20
_RECORD, _TOKEN = f"{OAI}ListRecords/{OAI}record", f"{OAI}ListRecords/{OAI}resumptionToken"
_HINTS = {
    "badResumptionToken": "its place in the list has expired: remove this server's folder of pages "
    "and fetch again",
    "noRecordsMatch": "correct `set` in `servers`; ?verb=ListSets lists them. Or choose an earlier "
    "day in `created_after`",
    "cannotDisseminateFormat": "correct `metadata_prefix` in `servers`",
}


def harvest(
    url: str,
    record_set: str | None,
    metadata_prefix: str,
    folder: Path,
    delay: float,
    since: str | None = None,
) -> None:
    """Fetch all records of a server, or of one set, into ``folder`` as page-0000.xml and so on.

    Pages of an earlier run stay, and the resumption token of the last one continues it.

    Args:
        url: the server's OAI-PMH address.
        record_set: the set (setSpec) to fetch, None for everything.
        metadata_prefix: the form of the records, such as "oai_dc".
        folder: where the pages are stored.
        delay: seconds to wait between two requests.
        since: fetch only records changed on this day, as in 2026-01-01, or later. None for all.
    """
    pages = sorted(folder.glob("page-*.xml"))
    query = {"verb": "ListRecords", "metadataPrefix": metadata_prefix}
    if record_set is not None:
        query["set"] = record_set
    if since is not None:
        query["from"] = since
    token = ""
    bar: tqdm[Any]
    with tqdm(desc=f"harvest {folder.name}", unit="record", disable=None) as bar:
        if pages:
            _check_request(parse_page(pages[0]), pages[0], query)
            token = _show_progress(bar, parse_page(pages[-1]))
            if not token:
                return
        seen = _Seen()
        for number in range(len(pages), MAX_PAGES):
            if token:
                seen.tokens.add(token)
                query = {"verb": "ListRecords", "resumptionToken": token}
            page = folder / f"page-{number:04d}.xml"
            download(
                [f"{url}?{urlencode(query)}"],
                page,
                check=_check_page,
                check_sees_end=True,
                max_size=LARGEST_XML,
            )
            root = parse_page(page)
            try:
                seen.check(url, root)
            except InputError:
                page.unlink()
                raise
            token = _show_progress(bar, root)
            if not token:
                return
            time.sleep(delay)
        raise _endless_list_error(url, f"{MAX_PAGES:,} pages, and a token for more")


class _Seen:
    """Detects that a server sends the same tokens or pages again and again."""

    def __init__(self) -> None:
        self.tokens: set[str] = set()
        self._pages: set[int] = set()
        self._cursor = -1
        self._empty = 0

    def check(self, url: str, root: etree._Element) -> None:
        """Refuse a page that repeats an earlier one, or one after too many without a record."""
        token = root.find(_TOKEN)
        if token is not None and (text := (token.text or "").strip()) in self.tokens:
            raise _endless_list_error(url, f"the token {text[:100]!r} once more")
        cursor = "" if token is None else token.get("cursor", "")
        if is_number(cursor):
            if int(cursor) <= self._cursor:
                raise _endless_list_error(
                    url, f"the place {cursor} in the list, after {self._cursor}"
                )
            self._cursor = int(cursor)
        records = root.iterfind(f"{_RECORD}/{OAI}header/{OAI}identifier")
        page = hash(tuple(identifier.text for identifier in records))
        empty = root.find(_RECORD) is None
        self._empty = self._empty + 1 if empty else 0
        if self._empty > MAX_EMPTY_PAGES:
            raise _endless_list_error(url, f"{self._empty} pages without a record")
        if not empty and page in self._pages:
            raise _endless_list_error(url, "the records of an earlier page")
        self._pages.add(page)


def _endless_list_error(url: str, found: str) -> InputError:
    todo = "the server goes in circles; contact its administrators"
    return InputError(url, "pages that go on to the end of a list", found, todo)


def _check_page(path: Path) -> None:
    root = parse_page(path)
    request = root.findtext(f"{OAI}request", "").strip() or str(path)
    error = root.find(f"{OAI}error")
    if error is not None:
        raise _protocol_error(error, request, "records")
    if root.find(f"{OAI}ListRecords") is None:
        tags = ", ".join(str(child.tag) for child in root)
        todo = "check the server's address in `servers`"
        raise InputError(request, "a list of records (ListRecords)", tags, todo)


def _check_request(root: etree._Element, page: Path, query: dict[str, str]) -> None:
    """Compare the request of an earlier harvest's first page with the current one."""
    request = root.find(f"{OAI}request")
    if request is None or "metadataPrefix" not in request.attrib:
        return
    for name in ("metadataPrefix", "set", "from"):
        before, now = request.get(name), query.get(name)
        # An earlier day has the records of the later ones too.
        if before != now and not (name == "from" and (before or "") < (now or "")):
            todo = "remove the folder of pages and fetch again"
            raise InputError(page, f"pages with {name} {now}", f"{name} {before}", todo)


def _show_progress(bar: "tqdm[Any]", root: etree._Element) -> str:
    """Move the bar to the page's position in the list; return the token for the next page."""
    token = root.find(_TOKEN)
    if token is None:
        return ""
    size, cursor = token.get("completeListSize", ""), token.get("cursor", "")
    if is_number(size) and is_number(cursor):
        bar.total = int(size)
        bar.n = int(cursor) + len(root.findall(_RECORD))
        bar.refresh()
    return (token.text or "").strip()


def examine_server(name: str, url: str, prefix: str) -> Finding:
    """Return whether the server at an address answers and has records in a form such as oai_dc."""
    # Asked once: what reads documents is patient.
    if fault := look_at(f"{url}?verb=Identify").fault:
        return Finding(name, fault=f"{url}: {fault}")
    try:
        title = _ask(url, "Identify").findtext(f".//{OAI}repositoryName", "")
        formats = _ask(url, "ListMetadataFormats").iter(f"{OAI}metadataPrefix")
        prefixes = [(element.text or "").strip() for element in formats]
    except InputError as error:
        return Finding(name, fault=error.found)
    if prefix not in prefixes:
        offered = ", ".join(prefixes) or "none"
        return Finding(name, fault=f"no records in the form {prefix}; those it has: {offered}")
    return Finding(name, note=f"is {title.strip()!r}, whose size is not known before")


def _ask(url: str, verb: str) -> etree._Element:
    address = f"{url}?{urlencode({'verb': verb})}"
    root = parse_response(read_document([address]), address)
    if (error := root.find(f"{OAI}error")) is not None:
        raise _protocol_error(error, address, f"an answer to {verb}")
    return root


def _protocol_error(error: etree._Element, where: str, expected: str) -> InputError:
    """Return the error that a server reports."""
    code = error.get("code", "")
    found = f"the error {code}: {(error.text or '').strip() or '(no text)'}"
    todo = _HINTS.get(code, "look the error up in the OAI-PMH specification, section 3.6")
    return InputError(where, expected, found, todo)
