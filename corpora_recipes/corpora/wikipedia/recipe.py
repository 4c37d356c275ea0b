"""Reads articles of any language's Wikipedia, from a pages-articles dump, into documents.

A dump is XML: a header ``<siteinfo>``, then ``<page>`` elements with ``<title>``, ``<ns>``,
``<id>`` and a ``<revision>`` with ``<model>`` and ``<text>``, the wikitext. Multistream dumps are
bz2 streams of 100 pages each, with an index of ``offset:id:title`` lines, so that any part can be
read alone. Other dumps, plain or compressed, are read from any byte on. Content File Exports are
several such dumps.

Order: plan.py cuts a dump, pages.py reads it, wikitext.py and templates.py clean, prose.py splits.

The option ``extractor: wikiextractor`` reads the same articles through the wikiextractor command,
as a reference for comparison. wikiextractor is AGPL: it is run as a program and never imported. It
drops the values of templates, so that sentences can have unmarked gaps ("Midió de altura."): build
datasets with the native extractor.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from itertools import islice
from pathlib import Path

from corpora_recipes.corpora.wikipedia import editions, plan, prose
from corpora_recipes.corpora.wikipedia.pages import Page, parse_page, read_pages
from corpora_recipes.corpora.wikipedia.plan import DumpBlock, Site, find_dump, list_blocks, wiki_of
from corpora_recipes.corpora.wikipedia.wikitext import Article, Block, Parser
from corpora_recipes.fetching.transfer import NotFound
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Finding, Source
from corpora_recipes.records import Document, Drops, Section, Window, split_at_drops
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from corpora_recipes.text.cleaning import unescape

# Valid values of the options: as a pattern, and in words.
OPTIONS = {
    "extractor": ("native|wikiextractor", "native or wikiextractor"),
    "sections": ("all|lead", "all or lead"),
    "date": (r"latest|\d{8}", "latest, or a date such as 20260101"),
    "created_after": (
        r"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))?",
        "a day such as 2026-01-01",
    ),
    "export": ("pages_articles|content_current", "pages_articles or content_current"),
}
# Articles whose paragraphs are searched together: fewer calls, at a millisecond per call.
ARTICLES_A_BATCH = 400


def blocks(raw: Path, corpus: Corpus) -> Sequence[DumpBlock]:
    """List the blocks of the newest dump of the corpus's language in folder ``raw``."""
    _check_options(corpus)
    listed: list[DumpBlock] = []
    for dump in _dumps(raw, corpus):
        listed += list_blocks(dump)
        wiki = listed[-1].site.dbname
        if wiki and not dump.name.startswith(f"{wiki}-"):
            expected = f"the dump of {dump.name.partition('-')[0]}, as its name says"
            todo = "restore its original name, and set its language in params.yaml"
            raise RawError(dump, expected, f"<dbname>{wiki}</dbname> in its header", todo)
    return editions.blocks_after(listed, corpus)


def sources(corpus: Corpus) -> Sequence[Source]:
    """Return the raw files, as corpus.yaml lists them, or those of a content export."""
    _check_options(corpus)
    is_export = editions.is_export(corpus)
    return editions.export_sources(corpus) if is_export else corpus.facts.sources


def verify(raw: Path, corpus: Corpus) -> None:
    """Compare the files of a content export with the checksums beside them."""
    if editions.is_export(corpus):
        editions.check_sums(_dumps(raw, corpus), wiki_of(corpus.language))


def window(blocks: Sequence[DumpBlock], corpus: Corpus) -> Window | None:
    """Return between which days the pages were created; None if all pages are taken."""
    return editions.window(blocks)


def _dumps(raw: Path, corpus: Corpus) -> list[Path]:
    """Return the files of the newest dump in a folder: one, or those of a content export."""
    if editions.is_export(corpus):
        return editions.find_shards(raw, wiki_of(corpus.language))
    return [find_dump(raw, corpus.language)]


def _check_options(corpus: Corpus) -> None:
    options = corpus.options
    for option, (pattern, expected) in OPTIONS.items():
        if not re.fullmatch(pattern, options[option] or ""):
            raise ParamsError(f"{corpus.where}.corpus.{option}", expected, repr(options[option]))
    if options["extractor"] != "native" and options["sections"] != "all":
        where = f"{corpus.where}.corpus.sections"
        expected = "all, with the extractor wikiextractor"
        raise ParamsError(where, expected, repr(options["sections"]))


def settled(corpus: Corpus) -> Corpus:
    """Return the corpus with the date that the dump servers have for `latest`."""
    _check_options(corpus)
    is_export = editions.is_export(corpus)
    return editions.settled_export(corpus) if is_export else plan.settled_dump(corpus)


def examine(corpus: Corpus) -> Iterator[Finding]:
    """Yield the date of the newest finished dump, if the options leave the date open."""
    if corpus.options["date"] == "latest" and not editions.is_export(corpus):
        newest, files = plan.newest_dump(corpus)
        note = f"the newest finished dump is of {newest.options['date']}, {files[0].size:,} bytes"
        yield Finding(files[0].file, note=note)


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Download an export; or a dump and its index, or the parts that the quota needs."""
    if editions.is_export(corpus):
        editions.fetch_export(corpus, out)
        return
    try:
        editions.fetch(corpus, out)
    except NotFound:
        if error := plan.gone_dump(corpus):
            raise error from None
        raise


def read_block(block: DumpBlock, corpus: Corpus) -> BlockResult:
    """Read the articles of a block.

    Documents dropped: created_before, redirect, other_namespace, not_wikitext, invalid_utf8,
    disambiguation, no_prose (no whole sentence is left). Sentences dropped: see prose.fault. Lines
    dropped, of articles: those that readers see, but that are no prose, such as lists.

    Returns:
        Documents with the page id as id, the categories as topics, and sections with prose.
    """
    result = BlockResult()
    lead_only = corpus.options["sections"] == "lead"
    parsed = _articles(block, corpus.language, result.drops, lead_only=lead_only)
    if corpus.options["extractor"] == "wikiextractor":
        parsed = extract_with_wikiextractor(parsed, block.site, corpus.language)
    for document in _documents(parsed, corpus.language, result.drops):
        if document.sections and document.sections[0].level > 1:
            # Its lead has no prose: an empty one shows that the text does not begin the article.
            lead = Section("", 1, [])
            result.records.append(replace(document, sections=[lead, *document.sections]))
        elif document.sections:
            result.records.append(document)
        else:
            result.drops.dropped["documents", "no_prose"] += 1
    return result


def _articles(
    block: DumpBlock, language: str, drops: Drops, *, lead_only: bool
) -> Iterator[tuple[str, str, str, Article]]:
    """Yield (id, title, wikitext, parsed page) of the pages that are articles."""
    parser = _parser(language, block.site)
    for raw in read_pages(block):
        drops.seen["documents"] += 1
        try:
            page = _article(raw, block)
            title, text = page.title(), page.text()
            article = parser.parse(title, text, lead_only=lead_only)
            if article.disambiguation:
                raise Dropped("disambiguation")
        except UnicodeDecodeError:
            drops.dropped["documents", "invalid_utf8"] += 1
        except Dropped as dropped:
            drops.dropped["documents", dropped.reason] += 1
        except RawError as fault:
            drops.drop("documents", fault.reason, fault)
        else:
            yield page.id, title, text, article


def _article(raw: bytes, block: DumpBlock) -> Page:
    """Return the fields of a page that is an article; raises Dropped if it is not."""
    if not editions.is_after(raw, block):
        raise Dropped("created_before")
    try:
        page = parse_page(raw, block.site)
    except ValueError as error:
        found = f"{error}: {raw[:120].decode('utf-8', 'replace')!r}"
        raise RawError(block.path, "pages with a title, an id and a text", found) from None
    if page.namespace != 0:
        raise Dropped("other_namespace")
    if page.redirect:
        raise Dropped("redirect")
    if page.model != "wikitext":
        raise Dropped("not_wikitext")
    return page


@lru_cache(maxsize=4)
def _parser(language: str, site: Site) -> Parser:
    return Parser(language, site.namespaces)


def _documents(
    parsed: Iterator[tuple[str, str, str, Article]], language: str, drops: Drops
) -> Iterator[Document]:
    while pages := list(islice(parsed, ARTICLES_A_BATCH)):
        sections = sections_of([article for *_, article in pages], language, drops)
        for (page_id, title, _, article), article_sections in zip(pages, sections, strict=True):
            yield Document(page_id, title, article.topics, article_sections)


def sections_of(
    articles: Sequence[Article], language: str, drops: Drops
) -> Iterator[list[Section]]:
    """Yield for each article the sections with prose; lines that are no prose are counted."""
    for article in articles:
        for kind, n_lines in article.lines.items():
            drops.seen["lines"] += n_lines
            drops.dropped["lines", kind] += n_lines
    parts = [part for article in articles for part in article.blocks]
    texts = [paragraph for part in parts for paragraph in part.paragraphs]
    split = iter(prose.sentences(texts, language, drops))
    for article in articles:
        sections = []
        for part in article.blocks:
            if paragraphs := list(islice(split, len(part.paragraphs))):
                sections += split_at_drops(prose.heading(part.heading), part.level, paragraphs)
        yield sections


# --- wikiextractor -------------------------------------------------------------------------------

# Seconds for one block, which takes about one; a failed worker can make the command wait forever.
TIMEOUT = 300.0
COMMAND = (sys.executable, "-m", "wikiextractor.WikiExtractor")

_HEADING = re.compile(r"<h([1-6])>(.*)</h[1-6]>")
_LIST_TAG = re.compile(r"<(/?)(?:ul|ol|dl)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def extract_with_wikiextractor(
    pages: Iterator[tuple[str, str, str, Article]], site: Site, language: str
) -> Iterator[tuple[str, str, str, Article]]:
    """Yield pages (id, title, wikitext, parsed page) with wikiextractor's text in place of ours."""
    originals: list[tuple[str, str, str, Article]] = []
    with tempfile.TemporaryDirectory(prefix="probeta-") as folder:
        dump = Path(folder, "pages.xml")
        with dump.open("w", encoding="utf-8") as file:
            file.write(_export_header(site, language))
            for page_id, title, text, article in pages:
                originals.append((page_id, title, text, article))
                file.write(
                    f"<page>\n<title>{escape(title)}</title>\n<ns>0</ns>\n<id>{page_id}</id>\n"
                    f"<revision>\n<id>1</id>\n<text>{escape(text)}</text>\n</revision>\n</page>\n"
                )
            file.write("</mediawiki>\n")
        output = Path(folder, "pages.jsonl")
        if originals:
            _run_wikiextractor(dump, output)
            with output.open(encoding="utf-8") as lines:
                texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
    for page_id, title, text, article in originals:
        article = replace(article, blocks=_parse_html(texts.get(page_id, "")), lines={})
        yield page_id, title, text, article


def _export_header(site: Site, language: str) -> str:
    # Without a template namespace it would treat all pages as templates.
    names = "\n".join(
        f'<namespace key="{number}">{escape(name)}</namespace>'
        for number, name in {10: "Template", **dict(site.namespaces)}.items()
    )
    return (
        f'<mediawiki xml:lang="{escape(language)}">\n<siteinfo>\n<dbname>{escape(site.dbname)}'
        "</dbname>\n<base>https://example.org/wiki/Main</base>\n"
        f"<namespaces>\n{names}\n</namespaces>\n</siteinfo>\n"
    )


def _run_wikiextractor(dump: Path, output: Path) -> None:
    command = [*COMMAND, str(dump), "--html", "--json", "--no-templates", "--processes", "1"]
    with output.open("wb") as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, "-q", "-o", "-"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,
        )
        try:
            status = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            found = f"nothing after {TIMEOUT:g} seconds"
        else:
            if status == 0:
                return
            errors.seek(0)
            found = f"exit status {status}: {errors.read()[-500:].decode('utf-8', 'replace')}"
        finally:
            if process.poll() is None:  # with its workers
                if sys.platform == "win32":
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    todo = "install it: `uv pip install 'wikiextractor>=3.1.0'`, or set `extractor: native`"
    raise InputError("wikiextractor", "the text of the pages", found, todo)


def _parse_html(text: str) -> list[Block]:
    """Turn wikiextractor's HTML into blocks: headings, lists, and one line per paragraph."""
    blocks = [Block("", 1)]
    depth = 0
    repeated = ""
    for line in text.split("\n"):
        if match := _HEADING.fullmatch(line):
            heading = _strip_tags(match[2])
            blocks.append(Block(heading, int(match[1])))
            depth = 0
            # wikiextractor repeats a heading like a sentence.
            repeated = heading + "."
            continue
        lists = _LIST_TAG.findall(line)
        if lists:
            depth = max(0, depth + sum(-1 if closing else 1 for closing in lists))
            continue
        plain = _strip_tags(line)
        if depth == 0 and plain and plain != repeated and not line.startswith("<li>"):
            blocks[-1].paragraphs.append(plain)
        repeated = ""
    return blocks


def _strip_tags(line: str) -> str:
    return _TAG.sub("", unescape(line)).strip()
