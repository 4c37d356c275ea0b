"""Plans how a dump is read: finds it in a folder, and cuts it into blocks.

A multistream dump has an index, lines of offset:id:title, which says where its bz2 streams are;
blocks are groups of them. Other dumps are cut into ranges of bytes. Tags are matched by their local
names: the namespace URI changes with the export version (0.10, 0.11 …).
"""

import bz2
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import islice
from pathlib import Path

from corpora_recipes.corpora.wikipedia.chunks import (
    DECOMPRESSED,
    check_end,
    read_plain,
    read_streams,
)
from corpora_recipes.fetching.ranges import part_name, parts_folder, read_manifest
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import LONGEST_HEADER, MOST_STREAMS

# Streams of 100 pages in one block: about 0.2 s of work, and few pages read beyond a quota.
STREAMS_PER_BLOCK = 4
# Bytes of a plain dump in one block: about as much text.
RANGE = 4 << 20
# Bytes of a compressed dump without an index in one block: about nine blocks of bzip2. One more is
# decompressed for its last page.
COMPRESSED_RANGE = 2 << 20
# Of an index, in bytes; MediaWiki keeps titles under 256.
_LONGEST_LINE = 1 << 16

_DUMP_NAME = re.compile(
    r"(?P<wiki>\w+)-(?P<date>\d{8}|latest)-pages-articles(?:-multistream)?\.xml(?:\.bz2)?"
)
_NAMESPACE = re.compile(rb'<namespace key="(-?\d{1,9})"[^<>]*?(?:/>|>([^<>]*)</namespace>)')
_DBNAME = re.compile(rb"<dbname>([^<>]*)</dbname>")
# Lines offset:id:title of one offset, as many as follow each other.
_INDEX_GROUP = re.compile(rb"(\d{1,18}):(\d{1,18}):[^\n]*\n(?:\1:(\d{1,18}):[^\n]*\n)*")


@dataclass(frozen=True, slots=True)
class Site:
    """The wiki that the header of a dump describes: (number, local name) of each namespace."""

    dbname: str
    namespaces: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """A bz2 stream of a multistream dump, according to the index.

    It has so many pages, with the ids ``first`` to ``last``; the next one starts at byte ``stop``,
    None for the last one that the index lists.
    """

    offset: int
    stop: int | None
    first: int
    last: int
    pages: int


@dataclass(frozen=True, slots=True)
class DumpBlock:
    """A part of the dump ``path`` that can be read without the rest.

    A multistream dump with an index has ``streams``; in others the next part starts at ``stop``.
    ``part`` names the file that holds the bytes, if the dump was not fetched whole.
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


def wiki_of(language: str) -> str:
    """Return the name of a language's Wikipedia, such as eswiki."""
    return f"{language.split('-')[0].lower()}wiki"


def find_dump(raw: Path, language: str) -> Path:
    """Return the newest dump of the language's Wikipedia in folder ``raw``.

    Of two dumps of one date the one with an index is preferred, then the compressed one. A partly
    fetched dump (``<dump>.parts``) counts as present.
    """
    wiki = wiki_of(language)
    paths = {path.parent.with_suffix("") for path in raw.glob("*.xml.bz2.parts/manifest.json")}
    names = {path: _DUMP_NAME.fullmatch(path.name) for path in paths.union(raw.glob("*.xml*"))}
    dumps = {path: match for path, match in names.items() if match}
    ranks = [
        (match["date"], index_path(path).exists(), path.suffix == ".bz2", path)
        for path, match in dumps.items()
        if match["wiki"] == wiki
    ]
    if not ranks:
        others = ", ".join(sorted(path.name for path in dumps))
        expected = f"a dump {wiki}-<date>-pages-articles[-multistream].xml[.bz2]"
        found = others or ("no dump" if raw.is_dir() else "no such folder")
        todo = "run fetch, or put the dump (and its index) into this folder"
        raise RawError(raw, expected, found, todo)
    return max(ranks)[-1]


def list_blocks(dump: Path) -> list[DumpBlock]:
    """Cut a dump into blocks: of a few streams if it has an index, otherwise ranges of bytes."""
    index = index_path(dump)
    manifest = None if dump.exists() else read_manifest(dump)
    if dump.suffix == ".xml" or (manifest is None and not index.exists()):
        return _ranges(dump)
    streams = read_index(index)
    size = dump.stat().st_size if manifest is None else manifest.size
    if streams[-1].offset >= size:
        expected = f"a stream at byte {streams[-1].offset:,}, as {index.name} says"
        found = f"{size:,} bytes: the dump is cut, or the index belongs to another dump"
        raise RawError(dump, expected, found)
    head = parts_folder(dump) / part_name(0, streams[0].offset)
    site = read_site(dump, None if manifest is None else head)
    blocks = []
    for i in range(0, len(streams), STREAMS_PER_BLOCK):
        group = tuple(streams[i : i + STREAMS_PER_BLOCK])
        part = "" if manifest is None else part_name(group[0].offset, group[-1].stop or size)
        blocks.append(DumpBlock(dump, site, group[0].offset, None, group, part))
    return blocks


def _ranges(dump: Path) -> list[DumpBlock]:
    """Cut a dump without an index into blocks, after a check that it is whole."""
    site = read_site(dump)
    size = dump.stat().st_size
    if dump.suffix == ".xml":
        step = RANGE
        end = b"".join(read_plain(dump, max(0, size - 4096))).rstrip()
        if not end.endswith(b"</mediawiki>"):
            found = f"a cut dump: …{end[-60:].decode('utf-8', 'replace')!r}"
            raise RawError(f"{dump}, byte {size:,}", "</mediawiki> at the end of the dump", found)
    else:
        step = COMPRESSED_RANGE
        check_end(dump)
    return [DumpBlock(dump, site, start, min(start + step, size)) for start in range(0, size, step)]


def read_site(dump: Path, part: Path | None = None) -> Site:
    """Read the header of a dump, or of the part with its first stream.

    A document type is refused: MediaWiki never declares one, and it can define entity bombs and
    external entities.
    """
    header = b""
    compressed = dump.suffix == ".bz2"
    chunks = (c for _, c in read_streams(dump, 0, part)) if compressed else read_plain(dump, 0)
    for chunk in chunks:
        header += chunk
        if len(header) > LONGEST_HEADER or b"</siteinfo>" in header or b"<page>" in header:
            break
    if b"<!DOCTYPE" in header or b"<!ENTITY" in header:
        found = "a document type declaration, which can hide an entity bomb"
        raise RawError(dump, "a MediaWiki dump, which has no <!DOCTYPE> and no entities", found)
    head, siteinfo, _ = header.partition(b"</siteinfo>")
    if b"<mediawiki" not in head or not siteinfo:
        found = repr(header[:60]) if header else "an empty file"
        raise RawError(dump, "<mediawiki …><siteinfo>…</siteinfo> at the start", found)
    dbname = _DBNAME.search(head)
    try:
        names = tuple((int(key), unescape(name.decode())) for key, name in _NAMESPACE.findall(head))
        return Site(dbname[1].decode() if dbname else "", names)
    except UnicodeDecodeError as error:
        raise RawError(dump, "a header in UTF-8", str(error)) from None


# --- the index -----------------------------------------------------------------------------------


def index_path(dump: Path) -> Path:
    """Return the path of a multistream dump's index."""
    return dump.with_name(dump.name.removesuffix(".xml.bz2") + "-index.txt.bz2")


def read_index(index: Path) -> list[Stream]:
    """Read the index of a multistream dump, lines of offset:id:title."""
    groups = list(islice(_index_groups(index), MOST_STREAMS + 1))
    if len(groups) > MOST_STREAMS:
        raise RawError(index, f"at most {MOST_STREAMS:,} streams", "more")
    stops = [*(group[0] for group in groups[1:]), None]
    return [
        Stream(offset, stop, first, last, pages)
        for (offset, first, last, pages), stop in zip(groups, stops, strict=True)
    ]


def first_offset(index: Path) -> int:
    """Return the offset of the first stream of pages, from the beginning of an index."""
    offset = next(_index_groups(index))[0]
    if not 0 < offset <= LONGEST_HEADER:
        raise RawError(index, "a first stream right after the dump's header", f"byte {offset:,}")
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
                where = f"{index}, after {done:,} lines"
                raise RawError(where, "lines of offset:id:title", "a line of another form")
            count = lines.count(b"\n", position, match.end())
            if not (pages and int(match[1]) == offset):
                if pages:
                    yield offset, first, last, pages
                if pages and int(match[1]) < offset:
                    raise RawError(index, "offsets that ascend", "others")
                offset, first, pages = int(match[1]), int(match[2]), 0
            last = int(match[3] or match[2])
            pages += count
            position = match.end()
        done += lines.count(b"\n")
    if not pages:
        raise RawError(index, "the streams of a dump", "an empty index")
    yield offset, first, last, pages


def _index_lines(index: Path) -> Iterator[bytes]:
    """Yield the text of an index in chunks of whole lines."""
    rest = b""
    try:
        with bz2.open(index) as file:
            while chunk := file.read(DECOMPRESSED):
                text = rest + chunk
                end = text.rfind(b"\n") + 1
                if not end and len(text) > _LONGEST_LINE:
                    # Not an index: the caller rejects this text.
                    end = len(text)
                yield text[:end]
                rest = text[end:]
    except (OSError, EOFError) as error:
        raise RawError(index, "a bz2 file", str(error)) from None
    if rest:
        yield rest + b"\n"
