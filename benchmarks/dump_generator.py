"""Makes a multistream MediaWiki dump of any size from the pages of other dumps.

A page stays as it is, byte for byte, except its id, and its title in every copy after the first:
ids count up from 1, and a title that comes for the second time gets " (×2)". The layout is the real
one: a header stream, streams of 100 pages, a footer stream, and an index of offset:id:title beside
it. One stream at a time is held in memory.
"""

import bz2
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from corpora_recipes.recipe import RECIPES
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.outputs import whole_file

SAMPLE = RECIPES / "wikipedia/sample/es/eswiki-20260101-pages-articles-multistream.xml.bz2"
PAGES_PER_STREAM = 100
FOOTER = b"</mediawiki>\n"
_TITLE = re.compile(rb"<title>([^<>]*)</title>")
_ID = re.compile(rb"<id>\s*\d+\s*</id>")


class PageXml(NamedTuple):
    """A ``<page>`` element with what the index says of it; the title is escaped as in the dump."""

    id: int
    title: bytes
    xml: bytes


def write_multistream(
    path: Path, header: bytes, pages: Iterable[PageXml], *, per_stream: int = PAGES_PER_STREAM
) -> int:
    """Write a multistream dump, and its index beside it; neither appears before both are whole.

    The pages come in ascending order of their ids; ``per_stream`` of them are a stream.
    """
    index_path = path.with_name(path.name.removesuffix(".xml.bz2") + "-index.txt.bz2")
    pages = iter(pages)
    n_pages = 0
    with (
        whole_file(path) as dump_part,
        whole_file(index_path) as index_part,
        dump_part.open("wb") as dump,
        bz2.open(index_part, "wb") as index,
    ):
        dump.write(bz2.compress(header))
        while stream := list(islice(pages, per_stream)):
            for page in stream:
                index.write(b"%d:%d:%s\n" % (dump.tell(), page.id, page.title))
            dump.write(bz2.compress(b"".join(page.xml for page in stream)))
            n_pages += len(stream)
        dump.write(bz2.compress(FOOTER))
    return n_pages


def read_header(dump: Path) -> bytes:
    """Return everything before the first page of a dump; nothing if it has pages only."""
    header = bytearray()
    for line in _lines(dump):
        if line.strip() == b"<page>":
            break
        header += line
    return bytes(header)


def read_pages(dump: Path) -> Iterator[bytes]:
    """Yield the ``<page>`` elements of a dump (plain or .bz2) or of a file of pages only."""
    page: list[bytes] = []
    has_pages = False
    for line in _lines(dump):
        tag = line.strip()
        if page or tag == b"<page>":
            page.append(line if line.endswith(b"\n") else line + b"\n")
        if page and tag == b"</page>":
            yield b"".join(page)
            page = []
            has_pages = True
    if page or not has_pages:
        found = "a page without an end" if page else "no page"
        raise RawError(dump, "lines <page> and </page>, as MediaWiki writes them", found)


def generate(
    out: Path, dumps: Sequence[Path] = (), *, times: int = 1, pages: int | None = None
) -> int:
    """Write a dump of so many copies of the dumps' pages, or of so many pages; return the latter.

    The pages come from ``dumps``, or the wikipedia recipe's sample if there are none. The header is
    that of the first one that has any, else the sample's.
    """
    dumps = dumps or [SAMPLE]
    headers = (read_header(dump) for dump in (*dumps, SAMPLE))
    header = next(header for header in headers if b"</siteinfo>" in header)
    n_copies = Counter[bytes]()
    sources = list(dumps) * times if pages is None else cycle(dumps)
    copies = (
        _copy_page(xml, number, n_copies, dump)
        for number, (dump, xml) in enumerate(
            ((dump, xml) for dump in sources for xml in read_pages(dump)), start=1
        )
    )
    return write_multistream(out, header, islice(copies, pages))


def _lines(dump: Path) -> Iterator[bytes]:
    with (bz2.open if dump.suffix == ".bz2" else open)(dump, "rb") as lines:
        yield from lines


def _copy_page(xml: bytes, number: int, n_copies: Counter[bytes], dump: Path) -> PageXml:
    head, tag, rest = xml.partition(b"<text")
    match = _TITLE.search(head)
    if match is None or _ID.search(head) is None:
        found = repr(xml[:120].decode("utf-8", "replace"))
        raise RawError(dump, "pages with a title and an id", found)
    title = match[1]
    n_copies[title] += 1
    if n_copies[title] > 1:
        # No title of Wikipedia ends so, as some end in "(2)".
        title += f" (×{n_copies[title]})".encode()
        head = head[: match.start(1)] + title + head[match.end(1) :]
    return PageXml(number, title, _ID.sub(b"<id>%d</id>" % number, head, count=1) + tag + rest)
