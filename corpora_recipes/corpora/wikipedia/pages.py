"""Reads the pages of a block of a dump, from bytes, without an XML parser.

In a dump each ``<`` of a title or a text is escaped, so that the bytes ``<page>`` and ``</page>``
are always tags: pages are extracted by them, in bounded memory, and a bad entity costs at most one
page instead of the whole dump.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpora_recipes.corpora.wikipedia.plan import (
    CHUNK,
    DumpBlock,
    Site,
    Stream,
    read_blocks,
    read_plain,
    read_streams,
)
from corpora_recipes.fetching.ranges import parts_folder
from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.running.limits import LONGEST_PAGE

# Bytes that hold a tag and the white space after it: <page>, or </mediawiki> at the end.
_END_BYTES = 64

PAGE_ID = re.compile(rb"<id>\s*(\d{1,18})\s*</id>")
_TITLE = re.compile(rb"<title>([^<>]*)</title>")
_NS = re.compile(rb"<ns>\s*(-?\d{1,9})\s*</ns>")
_MODEL = re.compile(rb"<model>([^<>]*)</model>")
_TEXT = re.compile(rb"<text(?:\s[^<>]*)?>")
# "#REDIRECT [[…" in any language: old dumps have no <redirect> element.
_REDIRECT = re.compile(rb"\s*#[^\s\[\]#*:;]+\s*:?\s*\[\[")
_ENTITY = re.compile(r"&(lt|gt|quot|amp|apos|#x[0-9a-fA-F]{1,6}|#[0-9]{1,7});")
_CHARACTERS = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "apos": "'"}


def read_pages(block: DumpBlock) -> Iterator[bytes]:
    """Yield the pages of a block, from ``<page>`` up to ``</page>``, in bounded memory."""
    if block.stop is not None:
        read_range = _read_range if block.path.suffix == ".xml" else _read_compressed_range
        yield from read_range(block.path, block.start, block.stop)
    part = parts_folder(block.path) / block.part if block.part else None
    for stream in block.streams:
        yield from _read_stream(block.path, stream, part)


class _Pages:
    """Cuts pages out of chunks of bytes."""

    def __init__(self, where: Path | str, unit: str, offset: int = 0, *, inside: bool = False):
        """Start at byte ``offset`` of ``where``; ``inside``: it may lie inside a page."""
        self.where = where
        self.unit = unit
        self.buffer = bytearray()
        self.offset = offset
        self.inside = inside
        self.page_offset = offset

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take a chunk and yield the pages that it completes."""
        buffer = self.buffer
        # A tag may lie across two chunks.
        search = max(0, len(buffer) - len(b"</page>"))
        buffer += chunk
        position = 0
        if self.inside:
            start = buffer.find(b"<page>")
            if start < 0:
                drop = max(0, len(buffer) - _END_BYTES)
                del buffer[:drop]
                self.offset += drop
                return
            self.inside = False
            position = search = start
        while (end := buffer.find(b"</page>", search)) >= 0:
            start = buffer.find(b"<page>", position, end)
            if start < 0 or buffer.find(b"<page>", start + 6, end) >= 0:
                raise self._cut(position if start < 0 else start)
            self.page_offset = self.offset + start
            yield bytes(buffer[start:end])
            position = search = end + len(b"</page>")
        del buffer[:position]
        self.offset += position
        if len(buffer) > LONGEST_PAGE:
            raise self._cut(0)

    def feed_before(self, chunk: bytes, stop: int | None) -> Iterator[bytes]:
        """Take a chunk and yield the pages that it completes and that start before ``stop``."""
        for page in self.feed(chunk):
            if stop is not None and self.page_offset >= stop:
                return
            yield page

    def passed(self, stop: int) -> bool:
        """Return whether no page that starts before ``stop`` is still to come."""
        # The rest starts with the next page, if the buffer already contains its start.
        start = self.buffer.find(b"<page>")
        next_page = self.offset + (start if start >= 0 else len(self.buffer) - 6)
        return max(self.page_offset, next_page) >= stop

    def finish(self, *, end_of_dump: bool) -> None:
        """Check that nothing remains except, at the end of a dump, its end tag."""
        remainder = bytes(self.buffer).strip()
        if b"<page>" in remainder or (end_of_dump and not remainder.endswith(b"</mediawiki>")):
            raise self._cut(max(0, self.buffer.find(b"<page>")))

    def _cut(self, position: int) -> InputError:
        begin = bytes(self.buffer[position : position + 80]).decode("utf-8", "replace")
        return RawError(
            f"{self.where}, {self.unit} {self.offset + position:,}",
            "pages <page> … </page>, and </mediawiki> at the end of the dump",
            f"a page without an end, or a cut dump: {begin!r}",
        )


def _read_range(dump: Path, start: int, stop: int) -> Iterator[bytes]:
    pages = _Pages(dump, "byte", start, inside=start > 0)
    for chunk in read_plain(dump, start):
        yield from pages.feed_before(chunk, stop)
        if pages.passed(stop):
            return
    pages.finish(end_of_dump=False)


def _read_compressed_range(dump: Path, start: int, end: int) -> Iterator[bytes]:
    """Yield the pages that start in a bzip2 block which starts in the range."""
    pages = _Pages(f"{dump}, from byte {start:,}", "decompressed byte", inside=start > 0)
    stop: int | None = None
    n_read = 0
    for offset, content in read_blocks(dump, start):
        if stop is None and offset >= end:
            if not n_read:
                return
            stop = n_read
        for position in range(0, len(content), CHUNK):
            yield from pages.feed_before(content[position : position + CHUNK], stop)
            if stop is not None and pages.passed(stop):
                return
        n_read += len(content)
    if n_read:
        pages.finish(end_of_dump=True)


def _read_stream(dump: Path, stream: Stream, part: Path | None) -> Iterator[bytes]:
    where = f"{dump}, stream at byte {stream.offset:,}"
    pages = _Pages(where, "decompressed byte")
    count = 0
    last = b""
    end = stream.offset
    for position, chunk in read_streams(dump, stream.offset, part, single=True):
        end = position
        for page in pages.feed(chunk):
            if count == 0:
                _check_index(where, "its first page", stream.first, page)
            count += 1
            last = page
            yield page
    pages.finish(end_of_dump=False)
    _check_index(where, "its last page", stream.last, last)
    if count != stream.pages or (stream.stop is not None and end != stream.stop):
        stop = f"the next stream at byte {stream.stop or end:,}"
        raise _index_error(
            where, f"{stream.pages} pages, then {stop}", f"{count}, up to byte {end:,}"
        )
    if stream.stop is None:
        where = f"{dump}, stream at byte {end:,}"
        footer = _Pages(where, "decompressed byte")
        for _, chunk in read_streams(dump, end, part):
            for page in footer.feed(chunk):
                raise _index_error(where, "the end of the dump", repr(page[:80]))
        footer.finish(end_of_dump=True)


def _check_index(where: str, which: str, expected: int, page: bytes) -> None:
    page_id = PAGE_ID.search(page)
    if page_id is None or int(page_id[1]) != expected:
        found = f"id {page_id[1].decode()}" if page_id else "no id"
        raise _index_error(where, f"{which} has the id {expected}, as the index says", found)


def _index_error(where: str, expected: str, found: str) -> InputError:
    todo = "the index belongs to another dump: fetch the dump and the index of the same date"
    return InputError(where, expected, found, todo)


# --- the fields of a page ------------------------------------------------------------------------


class Page(NamedTuple):
    """The fields of a page; title and text are still escaped UTF-8 bytes.

    The namespace is 0 for articles, the content model "wikitext" where the dump names none.
    """

    id: str
    namespace: int
    model: str
    redirect: bool
    title_bytes: bytes
    text_bytes: bytes

    def title(self) -> str:
        """Return the title; raises UnicodeDecodeError if it is not UTF-8."""
        return unescape(self.title_bytes.decode())

    def text(self) -> str:
        """Return the wikitext; raises UnicodeDecodeError if it is not UTF-8."""
        return unescape(self.text_bytes.decode())


def parse_page(raw: bytes, site: Site) -> Page:
    """Read the fields of a page; raises ValueError if it has no title, id or text."""
    title = _TITLE.search(raw)
    page_id = PAGE_ID.search(raw)
    text = _TEXT.search(raw, max(0, raw.find(b"<text")))
    end = _end_of_text(raw, text) if text else -1
    if not (title and page_id and text) or end < 0:
        fields = {"title": title, "id": page_id, "text": end >= 0}
        missing = [name for name, value in fields.items() if not value]
        raise ValueError(f"a page without {' and '.join(missing)}")
    namespace = _NS.search(raw, 0, text.start())
    model = _MODEL.search(raw, 0, text.start())
    body = raw[text.end() : end]
    return Page(
        id=str(int(page_id[1])),
        namespace=int(namespace[1]) if namespace else _namespace_of(title[1], site),
        model=model[1].decode("ascii", "replace") if model else "wikitext",
        redirect=b"<redirect" in raw[: text.start()] or _REDIRECT.match(body) is not None,
        title_bytes=title[1],
        text_bytes=body,
    )


def _end_of_text(raw: bytes, start: re.Match[bytes]) -> int:
    """Return where the text with this start tag ends; -1 if it has no end."""
    if start[0].endswith(b"/>"):
        return start.end()
    # Its end is the next tag; one byte is found much faster than several.
    tag = raw.find(b"<", start.end())
    return tag if raw.startswith(b"</text>", tag) else raw.find(b"</text>", start.end())


def unescape(text: str) -> str:
    """Undo XML's escapes: the five named entities and character references, nothing else."""
    pieces = _ENTITY.split(text)
    if len(pieces) > 1:
        pieces[1::2] = [_CHARACTERS.get(name) or _character(name) for name in pieces[1::2]]
    return "".join(pieces)


def _character(reference: str) -> str:
    """Return the character of a reference such as #233 or #xe9."""
    code = int(reference[2:], 16) if reference[1] == "x" else int(reference[1:])
    if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return "\ufffd"
    return chr(code)


def _namespace_of(title: bytes, site: Site) -> int:
    """Return the namespace by the title's prefix: exports before 0.6 have no <ns>."""
    prefix, colon, _ = title.decode("utf-8", "replace").partition(":")
    names = {name.casefold(): number for number, name in site.namespaces if name}
    return names.get(prefix.replace("_", " ").casefold(), 0) if colon else 0
