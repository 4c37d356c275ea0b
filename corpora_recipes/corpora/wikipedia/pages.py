"""Reads MediaWiki dumps (pages-articles) page by page, from bytes, without an XML parser.

In a dump each ``<`` of a title or a text is escaped, so that the bytes ``<page>`` and ``</page>``
are always tags: pages are extracted by them, in bounded memory, and a bad entity costs at most one
page instead of the whole dump. Tags are matched by their local names: the namespace URI changes
with the export version (0.10, 0.11 …).
"""

import bz2
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from corpora_recipes.corpora.wikipedia.chunks import blocks_from, check_end
from corpora_recipes.corpora.wikipedia.editions import Creation, find_creation
from corpora_recipes.corpora.wikipedia.page import (
    PAGE_ID,
    Revision,
    Site,
    parse_revision,
    unescape,
)
from corpora_recipes.corpora.wikipedia.plan import (
    CHUNK_BYTES,
    Stream,
    index_path,
    read_index,
)
from corpora_recipes.fetching.ranges import (
    part_name,
    part_range,
    parts_folder,
    read_manifest,
)
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LONGEST_HEADER, LONGEST_PAGE

# Streams of 100 pages in one block: about 0.2 s of work, and few pages read beyond a quota.
STREAMS_PER_BLOCK = 4
# Bytes of a plain dump in one block: about as much text.
RANGE = 4 << 20
# Bytes of a compressed dump without an index in one block: about nine blocks of bzip2. One more is
# decompressed for its last page.
COMPRESSED_RANGE = 2 << 20
_CHUNK = 1 << 18
# Bytes that hold a tag and the white space after it: <page>, or </mediawiki> at the end.
_END_BYTES = 64

_NAMESPACE = re.compile(rb'<namespace key="(-?\d{1,9})"[^<>]*?(?:/>|>([^<>]*)</namespace>)')
_DBNAME = re.compile(rb"<dbname>([^<>]*)</dbname>")


@dataclass(frozen=True, slots=True)
class DumpBlock:
    """A part of a dump that can be read without the rest.

    Attributes:
        path: the dump.
        site: its header.
        start: first byte of the part.
        stop: in a dump without an index, the byte where the next part starts; else None.
        streams: in a multistream dump with an index, the streams of the part; else empty.
        part: name of the file in the dump's folder of parts that holds the bytes, if the dump was
            not fetched whole; else empty.
        created: which of its pages are wanted by their time of creation; None for all.
    """

    path: Path
    site: Site
    start: int = 0
    stop: int | None = None
    streams: tuple[Stream, ...] = ()
    part: str = ""
    created: Creation | None = None

    @property
    def key(self) -> str:
        """File name and first byte: the same on every machine."""
        return f"{self.path.name}@{self.start}"


def list_blocks(dump: Path) -> list[DumpBlock]:
    """Cut a dump into blocks.

    A multistream dump with its index gives blocks of a few streams, any other dump ranges of
    bytes, plain or compressed.

    Raises:
        InputError: the header or the index is damaged, or they do not belong together.
    """
    if dump.suffix == ".xml":
        site = read_site(dump)
        size = dump.stat().st_size
        _check_end(dump, size)
        return _ranges(dump, site, size, RANGE)
    index = index_path(dump)
    manifest = None if dump.exists() else read_manifest(dump)
    if manifest is None and not index.exists():
        site = read_site(dump)
        check_end(dump)
        return _ranges(dump, site, dump.stat().st_size, COMPRESSED_RANGE)
    streams = read_index(index)
    size = dump.stat().st_size if manifest is None else manifest.size
    if streams[-1].offset >= size:
        raise InputError(
            dump,
            expected=f"a stream at byte {streams[-1].offset:,}, as {index.name} says",
            found=f"{size:,} bytes: the dump is cut, or the index belongs to another dump",
            todo="fetch the dump and its index again",
        )
    head = parts_folder(dump) / part_name(0, streams[0].offset)
    site = read_site(dump, None if manifest is None else head)
    blocks = []
    for i in range(0, len(streams), STREAMS_PER_BLOCK):
        group = tuple(streams[i : i + STREAMS_PER_BLOCK])
        part = "" if manifest is None else part_name(group[0].offset, group[-1].stop or size)
        blocks.append(DumpBlock(dump, site, group[0].offset, None, group, part))
    return blocks


def wanted_blocks(
    blocks: Sequence[DumpBlock],
    corpus: Corpus,
    fetch: Callable[[DumpBlock], None] = lambda block: None,
) -> Sequence[DumpBlock]:
    """Return the blocks that may hold pages created after the day that a corpus asks for, if any.

    Args:
        blocks: of a dump, as ``list_blocks`` returns them; those returned say which pages.
        corpus: with the option ``created_after``.
        fetch: called before a block is read.

    Raises:
        InputError: see ``find_creation``; or a block is damaged.
    """
    day = corpus.options["created_after"]
    if day is None:
        return blocks

    def read(number: int) -> list[Revision]:
        fetch(blocks[number])
        return [_revision(raw, blocks[number].path) for raw in read_pages(blocks[number])]

    created = find_creation(len(blocks), read, day, f"{corpus.where}.corpus.created_after")
    return [replace(block, created=created) for block in blocks[created.block :]]


def is_wanted(raw: bytes, block: DumpBlock) -> bool:
    """Return whether a page of a block was created when the pages are to be that are wanted.

    Raises:
        InputError: it has no id, or no revision with id and time.
    """
    return block.created is None or block.created.takes(_revision(raw, block.path))


def _revision(raw: bytes, dump: Path) -> Revision:
    try:
        return parse_revision(raw)
    except ValueError as error:
        raise InputError(
            dump,
            expected="pages with an id, and a revision with id and time",
            found=f"{error}: {raw[:120].decode('utf-8', 'replace')!r}",
            todo="compare the file's checksum with the published one",
        ) from None


def _ranges(dump: Path, site: Site, size: int, step: int) -> list[DumpBlock]:
    return [DumpBlock(dump, site, start, min(start + step, size)) for start in range(0, size, step)]


def read_site(dump: Path, part: Path | None = None) -> Site:
    """Read the header of a dump, plain or compressed.

    Args:
        dump: the dump.
        part: the file with its first stream, if the dump was not fetched whole.

    Raises:
        InputError: it is not a MediaWiki dump, or it declares a document type (MediaWiki never
            does; such a declaration can define entity bombs and external entities).
    """
    header = bytearray()
    for _, chunk in _decompressed(dump, 0, part) if dump.suffix == ".bz2" else _plain(dump, 0):
        header += chunk
        if len(header) > LONGEST_HEADER or b"</siteinfo>" in header or b"<page>" in header:
            break
    if b"<!DOCTYPE" in header or b"<!ENTITY" in header:
        raise InputError(
            dump,
            expected="a MediaWiki dump, which has no <!DOCTYPE> and defines no entities",
            found="a document type declaration, which can hide an entity bomb",
            todo="use the dump from dumps.wikimedia.org",
        )
    head = bytes(header).partition(b"</siteinfo>")
    if b"<mediawiki" not in head[0] or not head[1]:
        raise InputError(
            dump,
            expected="<mediawiki …><siteinfo>…</siteinfo> at the start",
            found=repr(bytes(header[:60])) if header else "an empty file",
            todo="fetch the dump again",
        )
    dbname = _DBNAME.search(head[0])
    try:
        names = tuple(
            (int(key), unescape(name.decode())) for key, name in _NAMESPACE.findall(head[0])
        )
        return Site(dbname[1].decode() if dbname else "", names)
    except UnicodeDecodeError as error:
        raise InputError(
            dump, expected="a header in UTF-8", found=str(error), todo="fetch the dump again"
        ) from None


def read_pages(block: DumpBlock) -> Iterator[bytes]:
    """Yield the pages of a block, from ``<page>`` up to ``</page>``, in bounded memory.

    Raises:
        InputError: this part of the dump is truncated or damaged, or its index does not match.
    """
    if block.stop is not None and block.path.suffix == ".xml":
        yield from _read_range(block)
    elif block.stop is not None:
        yield from _read_compressed_range(block)
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
        left = self.buffer.find(b"<page>")
        next_page = self.offset + (left if left >= 0 else len(self.buffer) - 6)
        return max(self.page_offset, next_page) >= stop

    def finish(self, *, end_of_dump: bool) -> None:
        """Check that nothing remains except, at the end of a dump, its end tag."""
        rest = bytes(self.buffer).strip()
        if b"<page>" in rest or (end_of_dump and not rest.endswith(b"</mediawiki>")):
            raise self._cut(max(0, self.buffer.find(b"<page>")))

    def _cut(self, position: int) -> InputError:
        found = bytes(self.buffer[position : position + 80]).decode("utf-8", "replace")
        return InputError(
            f"{self.where}, {self.unit} {self.offset + position:,}",
            expected="pages <page> … </page>, and </mediawiki> at the end of the dump",
            found=f"a page without an end, or a cut dump: {found!r}",
            todo="compare the file's checksum with the published one, and fetch the dump again",
        )


def _read_range(block: DumpBlock) -> Iterator[bytes]:
    assert block.stop is not None
    pages = _Pages(block.path, "byte", block.start, inside=block.start > 0)
    for _, chunk in _plain(block.path, block.start):
        yield from pages.feed_before(chunk, block.stop)
        if pages.passed(block.stop):
            return
    pages.finish(end_of_dump=False)


def _read_compressed_range(block: DumpBlock) -> Iterator[bytes]:
    """Yield the pages that start in a bzip2 block which starts in the range."""
    assert block.stop is not None
    where = f"{block.path}, from byte {block.start:,}"
    pages = _Pages(where, "decompressed byte", inside=block.start > 0)
    stop: int | None = None
    read = 0
    for offset, content in blocks_from(block.path, block.start):
        if stop is None and offset >= block.stop:
            if not read:
                return
            stop = read
        for start in range(0, len(content), _CHUNK):
            yield from pages.feed_before(content[start : start + _CHUNK], stop)
            if stop is not None and pages.passed(stop):
                return
        read += len(content)
    if read:
        pages.finish(end_of_dump=True)


def _check_end(dump: Path, size: int) -> None:
    """Check that a plain dump is whole, before its parts are read."""
    with dump.open("rb") as file:
        file.seek(max(0, size - 4096))
        end = file.read().rstrip()
    if not end.endswith(b"</mediawiki>"):
        raise InputError(
            f"{dump}, byte {size:,}",
            expected="</mediawiki> at the end of the dump",
            found=f"a cut dump: …{end[-60:].decode('utf-8', 'replace')!r}",
            todo="fetch the dump again (a partial download resumes)",
        )


def _read_stream(dump: Path, stream: Stream, part: Path | None) -> Iterator[bytes]:
    where = f"{dump}, stream at byte {stream.offset:,}"
    pages = _Pages(where, "decompressed byte")
    count = 0
    last = b""
    end = stream.offset
    for position, chunk in _decompressed(dump, stream.offset, part, single=True):
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
        raise _misfit(
            where,
            f"{stream.pages} pages, then the next stream at byte {stream.stop or end:,}",
            f"{count} pages, up to byte {end:,}",
        )
    if stream.stop is None:
        footer = _Pages(f"{dump}, stream at byte {end:,}", "decompressed byte")
        for _, chunk in _decompressed(dump, end, part):
            for page in footer.feed(chunk):
                raise _misfit(str(footer.where), "the end of the dump", repr(page[:80]))
        footer.finish(end_of_dump=True)


def _check_index(where: str, which: str, expected: int, page: bytes) -> None:
    found = PAGE_ID.search(page)
    if found is None or int(found[1]) != expected:
        raise _misfit(
            where,
            f"{which} has the id {expected}, as the index says",
            f"id {found[1].decode()}" if found else "no id",
        )


def _misfit(where: str, expected: str, found: str) -> InputError:
    return InputError(
        where,
        expected=expected,
        found=found,
        todo="the index belongs to another dump: fetch the dump and the index of the same date",
    )


def _plain(path: Path, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield (end offset, chunk) of a file from byte ``start``."""
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(_CHUNK):
            yield file.tell(), chunk


def _decompressed(
    path: Path, start: int = 0, part: Path | None = None, *, single: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield decompressed chunks from the bz2 stream at byte ``start``.

    Args:
        path: the file.
        start: where a stream starts.
        part: the file with that part of it, if it was not fetched whole.
        single: stop after this stream, instead of continuing with the following ones.

    Yields:
        (compressed bytes read up to here, chunk of at most CHUNK_BYTES bytes).
    """
    offset = start
    shift = part_range(part.name)[0] if part else 0
    with _open_part(path, part) if part else path.open("rb") as file:
        file.seek(start - shift)
        data = file.read(_CHUNK)
        if not data and not single:
            return
        while True:
            decompressor = bz2.BZ2Decompressor()
            while not decompressor.eof:
                if decompressor.needs_input and not data and not (data := file.read(_CHUNK)):
                    raise InputError(
                        f"{path}, stream at byte {offset:,}",
                        expected="a whole bz2 stream",
                        found=f"its end at byte {file.tell() + shift:,}: the dump is cut, or the "
                        "index belongs to another dump",
                        todo="fetch the dump again (a partial download resumes)",
                    )
                try:
                    chunk = decompressor.decompress(data, CHUNK_BYTES)
                except OSError as error:
                    raise InputError(
                        f"{path}, stream at byte {offset:,}",
                        expected="a bz2 stream (at the offsets of the index, if there is one)",
                        found=str(error),
                        todo="compare the checksums, and fetch the dump and its index again",
                    ) from None
                data = b""
                if chunk or decompressor.eof:
                    end = file.tell() + shift - len(decompressor.unused_data)
                    yield end, chunk
            data = decompressor.unused_data or file.read(_CHUNK)
            offset = file.tell() + shift - len(data)
            if single or not data:
                return


def _open_part(dump: Path, part: Path) -> BinaryIO:
    start, stop = part_range(part.name)
    size = part.stat().st_size if part.is_file() else None
    if size != stop - start:
        raise InputError(
            part,
            expected=f"bytes {start:,} to {stop - 1:,} of {dump.name}, {stop - start:,} in all",
            found="no such file" if size is None else f"{size:,} bytes",
            todo="run `probeta fetch` after a change of quota, seed or code: it downloads only the "
            "parts that they need",
        )
    return part.open("rb")
