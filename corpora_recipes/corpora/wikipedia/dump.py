"""Reads MediaWiki dumps (pages-articles) page by page, from bytes, without an XML parser.

In a dump every ``<`` of a title or a text is escaped, so that the bytes ``<page>`` and ``</page>``
are always tags: pages are cut out by them, in bounded memory, and one bad entity costs one page at
most instead of the whole dump. Tags are known by their local names: the namespace URI changes with
the export version (0.10, 0.11 …).
"""

import bz2
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from corpora_recipes.errors import InputError
from corpora_recipes.ranges import part_name, part_range, parts_folder, read_manifest

# Streams of 100 pages in one block: about 0.2 s of work, and few pages read beyond a quota.
STREAMS_PER_BLOCK = 4
# Bytes of a plain dump in one block: about as much text.
RANGE = 4 << 20
# MediaWiki keeps a text under 2 MiB; escaped for XML it can be six times as long.
LONGEST_PAGE = 32 << 20
LONGEST_HEADER = 1 << 20
_CHUNK = 1 << 18
_DECOMPRESSED = 1 << 20
# Of an index, in bytes; MediaWiki keeps titles under 256.
_LONGEST_LINE = 1 << 16

_DUMP_NAME = re.compile(
    r"(?P<wiki>\w+)-(?P<date>\d{8}|latest)-pages-articles(?:-multistream)?\.xml(?:\.bz2)?"
)
# Lines offset:id:title of one offset, as many as follow each other.
_INDEX_GROUP = re.compile(rb"(\d{1,18}):(\d{1,18}):[^\n]*\n(?:\1:(\d{1,18}):[^\n]*\n)*")
_NAMESPACE = re.compile(rb'<namespace key="(-?\d+)"[^<>]*?(?:/>|>([^<>]*)</namespace>)')
_DBNAME = re.compile(rb"<dbname>([^<>]*)</dbname>")
_TITLE = re.compile(rb"<title>([^<>]*)</title>")
_NS = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_ID = re.compile(rb"<id>\s*(\d+)\s*</id>")
_MODEL = re.compile(rb"<model>([^<>]*)</model>")
_TEXT = re.compile(rb"<text(?:\s[^<>]*)?>")
# "#REDIRECT [[…" in any language: old dumps have no <redirect> element.
_REDIRECT = re.compile(rb"\s*#[^\s\[\]#*:;]+\s*:?\s*\[\[")
_ENTITY = re.compile(r"&(lt|gt|quot|amp|apos|#x[0-9a-fA-F]{1,6}|#[0-9]{1,7});")
_CHARACTERS = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "apos": "'"}


@dataclass(frozen=True, slots=True)
class Site:
    """What the header of a dump says of its wiki.

    Attributes:
        dbname: its name, e.g. "eswiki".
        namespaces: (number, local name) of each namespace.
    """

    dbname: str
    namespaces: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """A bz2 stream of a multistream dump, as the index has it.

    Attributes:
        offset: where it starts in the file, in bytes.
        stop: where the next one starts; None for the last one that the index lists.
        first: id of its first page.
        last: id of its last page.
        pages: number of its pages.
    """

    offset: int
    stop: int | None
    first: int
    last: int
    pages: int


@dataclass(frozen=True, slots=True)
class DumpBlock:
    """A part of a dump that can be read without the rest.

    Attributes:
        path: the dump.
        site: what its header says.
        start: first byte of the part.
        stop: in a plain dump, the byte where the next part starts; else None.
        streams: in a multistream dump with an index, the streams of the part; else empty.
        part: name of the file in the dump's folder of parts that holds the bytes, if the dump was
            not fetched whole; else empty.
    """

    path: Path
    site: Site
    start: int = 0
    stop: int | None = None
    streams: tuple[Stream, ...] = ()
    part: str = ""

    @property
    def key(self) -> str:
        """File name and first byte: the same on every machine."""
        return f"{self.path.name}@{self.start}"


@dataclass(frozen=True, slots=True)
class Page:
    """The fields of a page; title and text are still escaped UTF-8 bytes.

    Attributes:
        id: its page id.
        namespace: number of its namespace, 0 for articles.
        model: its content model, "wikitext" where the dump names none.
        redirect: whether it only leads to another page.
        title_bytes: its title.
        text_bytes: its wikitext.
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


def find_dump(raw: Path, language: str) -> Path:
    """Return the newest dump of the language's Wikipedia in folder ``raw``.

    Of two dumps of one date the one with an index is taken, then the compressed one. A dump of
    which parts were fetched (``<dump>.parts``) counts as if it were there.

    Raises:
        InputError: there is none.
    """
    wiki = f"{language.split('-')[0].lower()}wiki"
    found = []
    names = []
    places = list(raw.glob("*-pages-articles*.xml*")) if raw.is_dir() else []
    places += [path.parent.with_suffix("") for path in raw.glob("*.xml.bz2.parts/manifest.json")]
    for path in sorted(set(places)):
        match = _DUMP_NAME.fullmatch(path.name)
        if not match:
            continue
        names.append(path.name)
        if match["wiki"] == wiki:
            compressed = path.suffix == ".bz2"
            found.append((match["date"], index_path(path).exists(), compressed, path))
    if not found:
        raise InputError(
            raw,
            expected=f"a dump {wiki}-<date>-pages-articles[-multistream].xml[.bz2]",
            found=", ".join(names) or ("no dump" if raw.is_dir() else "no such folder"),
            todo="run fetch, or put the dump (and its index) into this folder",
        )
    return max(found)[-1]


def index_path(dump: Path) -> Path:
    """Return where the index of a multistream dump lies."""
    return dump.with_name(dump.name.removesuffix(".xml.bz2") + "-index.txt.bz2")


def list_blocks(dump: Path) -> list[DumpBlock]:
    """Cut a dump into blocks.

    A multistream dump with its index gives blocks of a few streams, a plain dump ranges of
    bytes, any other compressed dump one block (it is read as it is decompressed).

    Raises:
        InputError: the header or the index is damaged, or they do not belong together.
    """
    if dump.suffix == ".xml":
        site = read_site(dump)
        size = dump.stat().st_size
        _check_end(dump, size)
        return [
            DumpBlock(dump, site, start, min(start + RANGE, size))
            for start in range(0, size, RANGE)
        ]
    index = index_path(dump)
    manifest = None if dump.exists() else read_manifest(dump)
    if manifest is None and not index.exists():
        return [DumpBlock(dump, read_site(dump))]
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


def read_site(dump: Path, part: Path | None = None) -> Site:
    """Read the header of a dump, plain or compressed.

    Args:
        dump: the dump.
        part: the file with its first stream, if it was not fetched whole.

    Raises:
        InputError: it is not a MediaWiki dump, or it declares a document type (MediaWiki never
            does: that is where entity bombs and external entities are defined).
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
            todo="take the dump from dumps.wikimedia.org",
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


def read_index(index: Path) -> list[Stream]:
    """Read the index of a multistream dump, lines of offset:id:title.

    Raises:
        InputError: it is missing or damaged, a line is not of that form, or offsets do not ascend.
    """
    groups = list(_index_groups(index))
    stops = [*(group[0] for group in groups[1:]), None]
    return [
        Stream(offset, stop, first, last, pages)
        for (offset, first, last, pages), stop in zip(groups, stops, strict=True)
    ]


def first_offset(index: Path) -> int:
    """Return where the first stream of pages starts, from the beginning of an index.

    Raises:
        InputError: the index is damaged there, or no header is that long.
    """
    offset = next(_index_groups(index))[0]
    if not 0 < offset <= LONGEST_HEADER:
        raise InputError(
            index,
            expected="a first stream right after the dump's header",
            found=f"one at byte {offset:,}",
            todo="fetch the index again",
        )
    return offset


def _index_groups(index: Path) -> Iterator[tuple[int, int, int, int]]:
    """Yield offset, first id, last id and number of pages of each stream in an index."""
    offset = first = last = pages = done = 0
    for lines in _index_lines(index):
        position = 0
        while position < len(lines):
            match = _INDEX_GROUP.match(lines, position)
            if match is None:
                done += lines.count(b"\n", 0, position)
                raise InputError(
                    f"{index}, after {done:,} lines",
                    expected="lines of offset:id:title",
                    found="a line of another form",
                    todo="fetch the index again",
                )
            count = lines.count(b"\n", position, match.end())
            if not (pages and int(match[1]) == offset):
                if pages:
                    yield offset, first, last, pages
                if pages and int(match[1]) < offset:
                    raise _bad_index(index, "others")
                offset, first, pages = int(match[1]), int(match[2]), 0
            last = int(match[3] or match[2])
            pages += count
            position = match.end()
        done += lines.count(b"\n")
    if not pages:
        raise _bad_index(index, "an empty index")
    yield offset, first, last, pages


def _index_lines(index: Path) -> Iterator[bytes]:
    """Yield the text of an index in chunks of whole lines."""
    rest = b""
    try:
        with bz2.open(index) as file:
            while chunk := file.read(_DECOMPRESSED):
                text = rest + chunk
                end = text.rfind(b"\n") + 1
                if not end and len(text) > _LONGEST_LINE:
                    # No index: let it be refused as it is.
                    end = len(text)
                yield text[:end]
                rest = text[end:]
    except (OSError, EOFError) as error:
        raise InputError(
            index, expected="a bz2 file", found=str(error), todo="fetch the index again"
        ) from None
    if rest:
        yield rest + b"\n"


def _bad_index(index: Path, found: str) -> InputError:
    return InputError(
        index, expected="offsets that ascend", found=found, todo="fetch the index again"
    )


def read_pages(block: DumpBlock) -> Iterator[bytes]:
    """Yield the pages of a block, from ``<page>`` up to ``</page>``, in bounded memory.

    Raises:
        InputError: the dump is cut or damaged there, or its index does not fit.
    """
    if block.stop is not None:
        yield from _read_range(block)
    elif not block.streams:
        pages = _Pages(block.path, "decompressed byte")
        for _, chunk in _decompressed(block.path):
            yield from pages.feed(chunk)
        pages.finish(end_of_dump=True)
    part = parts_folder(block.path) / block.part if block.part else None
    for stream in block.streams:
        yield from _read_stream(block.path, stream, part)


def parse_page(raw: bytes, site: Site) -> Page:
    """Read the fields of a page.

    Raises:
        ValueError: it has no title, id or text.
    """
    title = _TITLE.search(raw)
    page_id = _ID.search(raw)
    text = _TEXT.search(raw)
    empty = text is not None and text[0].endswith(b"/>")
    end = text.end() if text and empty else raw.find(b"</text>", text.end() if text else 0)
    if end < 0:
        text = None
    if not (title and page_id and text):
        missing = [
            name for name, match in (("title", title), ("id", page_id), ("text", text)) if not match
        ]
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
                drop = max(0, len(buffer) - len(b"<page>"))
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

    def finish(self, *, end_of_dump: bool) -> None:
        """Check that nothing is left over but, at the end of a dump, its end tag."""
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
        for page in pages.feed(chunk):
            if pages.page_offset >= block.stop:
                return
            yield page
        # What is left starts with the next page, if the chunk holds its start already.
        left = pages.buffer.find(b"<page>")
        if pages.offset + (left if left >= 0 else len(pages.buffer) - 6) >= block.stop:
            return
    pages.finish(end_of_dump=False)


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
    found = _ID.search(page)
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
        todo="the index belongs to another dump: fetch the dump and its index of one date",
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
        single: stop after this stream, instead of going on with the ones that follow.

    Yields:
        (compressed bytes read up to here, chunk of at most _DECOMPRESSED bytes).
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
                    chunk = decompressor.decompress(data, _DECOMPRESSED)
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
            todo="fetch brings what the quota in params.yaml needs: run it again after any change "
            "of it, of the seed or of the code (with DVC: dvc repro -f fetch@CORPUS)",
        )
    return part.open("rb")
