"""Reads a Wikipedia dump into documents: blocks of streams, pages, sections, sentences."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from corpora_recipes.errors import InputError
from corpora_recipes.recipes import BlockResult, Corpus
from corpora_recipes.records import Document, Drops, Section, split_at_drops
from corpora_recipes.wikipedia import prose
from corpora_recipes.wikipedia.dump import (
    DumpBlock,
    Site,
    find_dump,
    list_blocks,
    parse_page,
    read_pages,
)
from corpora_recipes.wikipedia.wikitext import Article, Parser

EXTRACTORS = ("native", "wikiextractor")


def blocks(raw: Path, corpus: Corpus) -> list[DumpBlock]:
    """List the blocks of the newest dump of the corpus's language in folder ``raw``.

    Raises:
        InputError: no such dump, a damaged header or index, an unknown extractor.
    """
    if corpus.options["extractor"] not in EXTRACTORS:
        raise InputError(
            f"corpora.{corpus.name}.extractor",
            expected=" or ".join(EXTRACTORS),
            found=repr(corpus.options["extractor"]),
            todo="correct it in params.yaml",
        )
    return list_blocks(find_dump(raw, corpus.language))


def read_block(block: DumpBlock, corpus: Corpus) -> BlockResult:
    """Read the articles of a block.

    Documents dropped: redirect, other_namespace, not_wikitext, invalid_utf8, disambiguation,
    no_prose (no whole sentence is left). Sentences dropped: see prose.fault.

    Returns:
        Documents with the page id as id, the categories as topics, and sections with prose.

    Raises:
        InputError: the dump is damaged there, or its index does not fit.
    """
    result = BlockResult()
    parsed = _articles(block, corpus.language, result.drops)
    if corpus.options["extractor"] == "wikiextractor":
        from corpora_recipes.wikipedia.wikiextractor import extract

        documents = extract(parsed, block.site, corpus.language, result.drops)
    else:
        documents = (
            Document(
                page_id, title, article.topics, sections_of(article, corpus.language, result.drops)
            )
            for page_id, title, _, article in parsed
        )
    for document in documents:
        if document.sections and document.sections[0].level > 1:
            # Without its lead: what comes first is not how the article begins.
            lead = Section("", 1, [])
            result.records.append(replace(document, sections=[lead, *document.sections]))
        elif document.sections:
            result.records.append(document)
        else:
            result.drops.dropped["documents", "no_prose"] += 1
    return result


def _articles(
    block: DumpBlock, language: str, drops: Drops
) -> Iterator[tuple[str, str, str, Article]]:
    """Yield (id, title, wikitext, parsed page) of the pages that are articles."""
    parser = _parser(language, block.site)
    for raw in read_pages(block):
        drops.seen["documents"] += 1
        try:
            page = parse_page(raw, block.site)
        except UnicodeDecodeError:
            drops.dropped["documents", "invalid_utf8"] += 1
            continue
        except ValueError as error:
            raise InputError(
                block.path,
                expected="pages with a title, an id and a text",
                found=f"{error}: {raw[:120].decode('utf-8', 'replace')!r}",
                todo="compare the file's checksum with the published one",
            ) from None
        if page.namespace != 0:
            drops.dropped["documents", "other_namespace"] += 1
        elif page.redirect:
            drops.dropped["documents", "redirect"] += 1
        elif page.model != "wikitext":
            drops.dropped["documents", "not_wikitext"] += 1
        else:
            try:
                title, text = page.title(), page.text()
            except UnicodeDecodeError:
                drops.dropped["documents", "invalid_utf8"] += 1
                continue
            article = parser.parse(title, text)
            if article.disambiguation:
                drops.dropped["documents", "disambiguation"] += 1
            else:
                yield page.id, title, text, article


@lru_cache(maxsize=4)
def _parser(language: str, site: Site) -> Parser:
    return Parser(language, site.namespaces)


def sections_of(article: Article, language: str, drops: Drops) -> list[Section]:
    """Return the sections of a page that have prose."""
    sections = []
    for part in article.blocks:
        paragraphs = [prose.sentences(p, language, drops) for p in part.paragraphs]
        sections += split_at_drops(prose.heading(part.heading), part.level, paragraphs)
    return sections
