"""Reads a Wikipedia dump into documents: blocks of streams, pages, sections, sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from corpora_recipes.corpora.wikipedia import editions, partial, prose, upstream
from corpora_recipes.corpora.wikipedia.pages import Page, parse_page, read_pages
from corpora_recipes.corpora.wikipedia.plan import DumpBlock, Site, find_dump, list_blocks, wiki_of
from corpora_recipes.corpora.wikipedia.wikiextractor import extract
from corpora_recipes.corpora.wikipedia.wikitext import Article, Parser
from corpora_recipes.facts import Source
from corpora_recipes.fetching.transfer import NotFound
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Finding
from corpora_recipes.records import Document, Drops, Section, Window, split_at_drops
from corpora_recipes.running.errors import ParamsError, RawError

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
TOGETHER = 400


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
    """Compare the files of a content export with the checksums beside them.

    Raises:
        InputError: the export is not complete, or a file has another checksum.
    """
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
    return editions.settled_export(corpus) if is_export else upstream.settled_dump(corpus)


def examine(corpus: Corpus) -> Iterator[Finding]:
    """Yield the date of the newest finished dump, if the options leave the date open."""
    if corpus.options["date"] == "latest" and not editions.is_export(corpus):
        newest, files = upstream.newest_dump(corpus)
        note = f"the newest finished dump is of {newest.options['date']}, {files[0].size:,} bytes"
        yield Finding(files[0].file, note=note)


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Download an export; or a dump and its index, or the parts that the quota needs."""
    if editions.is_export(corpus):
        editions.fetch_export(corpus, out)
        return
    try:
        partial.fetch(corpus, out)
    except NotFound:
        if error := upstream.gone_dump(corpus):
            raise error from None
        raise


def read_block(block: DumpBlock, corpus: Corpus) -> BlockResult:
    """Read the articles of a block.

    Documents dropped: created_before, redirect, other_namespace, not_wikitext, invalid_utf8,
    disambiguation, no_prose (no whole sentence is left). Sentences dropped: see prose.fault.

    Returns:
        Documents with the page id as id, the categories as topics, and sections with prose.
    """
    result = BlockResult()
    lead_only = corpus.options["sections"] == "lead"
    parsed = _articles(block, corpus.language, result.drops, lead_only=lead_only)
    if corpus.options["extractor"] == "wikiextractor":
        parsed = extract(parsed, block.site, corpus.language)
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
    while pages := list(islice(parsed, TOGETHER)):
        sections = sections_of([article for *_, article in pages], language, drops)
        for (page_id, title, _, article), kept in zip(pages, sections, strict=True):
            yield Document(page_id, title, article.topics, kept)


def sections_of(
    articles: Sequence[Article], language: str, drops: Drops
) -> Iterator[list[Section]]:
    """Yield for each article the sections with prose."""
    parts = [part for article in articles for part in article.blocks]
    texts = [paragraph for part in parts for paragraph in part.paragraphs]
    split = iter(prose.sentences(texts, language, drops))
    for article in articles:
        sections = []
        for part in article.blocks:
            if paragraphs := list(islice(split, len(part.paragraphs))):
                sections += split_at_drops(prose.heading(part.heading), part.level, paragraphs)
        yield sections
