"""Plans how a dump is read: finds it in a folder or on the servers, and cuts it into blocks.

A multistream dump has an index, lines of offset:id:title, which says where its bz2 streams are;
blocks are groups of them. Other dumps are cut into ranges of bytes. Tags are matched by their local
names: the namespace URI changes with the export version (0.10, 0.11 …).

bzip2 compresses 900 kB at a time. Each such block begins with 48 bits, at any bit of a byte, that
mark it, and a stream ends with 48 others: bzip2recover finds blocks by these marks. So a file of
one long stream can be read by many workers, each from any byte on.

On the servers a wiki's folder has a folder for each date, with the dump and ``dumpstatus.json``,
which says which jobs are done, and size and SHA-1 of their files. Dumps are made once a month and
kept for some months. The date and the files are pinned in sources.lock, so that another run takes
the same dump.
"""

import bz2
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from corpora_recipes.fetching.downloads import LOCK, Locked, add_to_lock, read_lock, today
from corpora_recipes.fetching.ranges import part_name, part_range, parts_folder, read_manifest
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.fetching.transfer import NotFound, read_document, read_json
from corpora_recipes.recipe import Corpus, Source
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from corpora_recipes.running.limits import LONGEST_HEADER, MOST_STREAMS

# Streams of 100 pages in one block: about 0.2 s of work, and few pages read beyond a quota.
STREAMS_PER_BLOCK = 4
# Bytes of a plain dump in one block: about as much text.
RANGE = 4 << 20
# Bytes of a compressed dump without an index in one block: about nine blocks of bzip2. One more is
# decompressed for its last page.
COMPRESSED_RANGE = 2 << 20
# Of an index, in bytes; MediaWiki keeps titles under 256.
_MAX_LINE = 1 << 16

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
        other_dumps = ", ".join(sorted(path.name for path in dumps))
        expected = f"a dump {wiki}-<date>-pages-articles[-multistream].xml[.bz2]"
        found = other_dumps or ("no dump" if raw.is_dir() else "no such folder")
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
    incomplete = b""
    try:
        with bz2.open(index) as file:
            while chunk := file.read(DECOMPRESSED):
                text = incomplete + chunk
                end = text.rfind(b"\n") + 1
                if not end and len(text) > _MAX_LINE:
                    # Not an index: the caller rejects this text.
                    end = len(text)
                yield text[:end]
                incomplete = text[end:]
    except (OSError, EOFError) as error:
        raise RawError(index, "a bz2 file", str(error)) from None
    if incomplete:
        yield incomplete + b"\n"


# --- bz2 streams and blocks ----------------------------------------------------------------------

# Bytes read at once, and the most that are decompressed at once.
CHUNK, DECOMPRESSED = 1 << 18, 1 << 20

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS, _CRC_BITS = 48, 32
# A compressed block has at most a hundredth more bytes than its content; in bits.
_MAX_BLOCK_BITS = 8 * 1_000_000
# Bytes from the first of a mark to the last, wherever in a byte it begins.
_SPAN = 7
# The five bytes that a mark fills, to the mark and the bit of the byte before in which it begins.
_MIDDLES = {
    (mark << (8 - bit)).to_bytes(_SPAN)[1:6]: (mark, bit)
    for mark in (_BLOCK, _END)
    for bit in range(8)
}
_MIDDLE = re.compile(b"|".join(map(re.escape, _MIDDLES)), re.DOTALL)


def read_plain(path: Path, start: int) -> Iterator[bytes]:
    """Yield a file in chunks, from byte ``start`` on."""
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(CHUNK):
            yield chunk


def read_streams(
    path: Path, start: int = 0, part: Path | None = None, *, single: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Decompress a file from the bz2 stream at byte ``start`` on, or this stream alone.

    ``part`` is the file with that part of it, if it was not fetched whole.

    Yields:
        (compressed bytes read up to here, chunk of at most DECOMPRESSED bytes).
    """
    offset = start
    shift = part_range(part.name)[0] if part else 0
    with _open_part(path, part) if part else path.open("rb") as file:
        file.seek(start - shift)
        data = file.read(CHUNK)
        if not data and not single:
            return
        while True:
            decompressor = bz2.BZ2Decompressor()
            while not decompressor.eof:
                try:
                    if decompressor.needs_input and not data and not (data := file.read(CHUNK)):
                        raise EOFError(f"its end at byte {file.tell() + shift:,}")
                    chunk = decompressor.decompress(data, DECOMPRESSED)
                except (OSError, EOFError) as error:
                    where = f"{path}, stream at byte {offset:,}"
                    found = f"{error}: the dump is cut or damaged, or not that of its index"
                    raise RawError(where, "a whole bz2 stream", found) from None
                data = b""
                if chunk or decompressor.eof:
                    yield file.tell() + shift - len(decompressor.unused_data), chunk
            data = decompressor.unused_data or file.read(CHUNK)
            offset = file.tell() + shift - len(data)
            if single or not data:
                return


def _open_part(dump: Path, part: Path) -> BinaryIO:
    start, stop = part_range(part.name)
    size = part.stat().st_size if part.is_file() else None
    if size != stop - start:
        expected = f"bytes {start:,} to {stop - 1:,} of {dump.name}, {stop - start:,} in all"
        found = "no such file" if size is None else f"{size:,} bytes"
        todo = "run `probeta fetch` after each change of quota, seed or code"
        raise InputError(part, expected, found, todo)
    return part.open("rb")


def read_blocks(path: Path, start: int) -> Iterator[tuple[int, bytes]]:
    """Decompress the blocks of a bz2 file whose marks begin at byte ``start`` or later.

    Yields:
        (byte in which the block begins, its content): usually 900 kB, at most 46 MB.
    """
    with path.open("rb") as searched, path.open("rb") as file:
        begin = None
        for bit, mark in _marks(searched, start):
            if begin is not None:
                content = _decompress(file, begin, bit)
                if content is None and bit - begin <= _MAX_BLOCK_BITS:
                    continue  # these 48 bits are no mark, but occur by chance in the block
                if content is None:
                    raise _damage_error(path, begin, "a damaged block")
                yield begin // 8, content
            begin = bit if mark == _BLOCK else None
    if begin is not None:
        raise _damage_error(path, begin, "a damaged block, or a cut file")


def check_end(path: Path) -> None:
    """Check that a bz2 file ends where a stream ends; raises InputError if not."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(3) == b"BZh":
            for bit, mark in _marks(file, max(0, size - 2 * _SPAN - _CRC_BITS // 8)):
                if mark == _END and (bit + _MARK_BITS + _CRC_BITS + 7) // 8 == size:
                    return
    raise _damage_error(path, 8 * size, "another end: the file is cut, or no bz2 file")


def _marks(file: BinaryIO, offset: int) -> Iterator[tuple[int, int]]:
    """Yield (bit of the file, mark) of all marks from byte ``offset`` on."""
    file.seek(offset)
    data = b""
    while chunk := file.read(CHUNK):
        data += chunk
        for match in _MIDDLE.finditer(data):
            first = match.start() - 1
            if first < 0 or first + _SPAN > len(data):
                continue  # it began before ``offset``; or the next chunk has its end
            mark, bit = _MIDDLES[match[0]]
            bits = int.from_bytes(data[first : first + _SPAN])
            if bits >> (8 - bit) & ((1 << _MARK_BITS) - 1) == mark:
                yield 8 * (offset + first) + bit, mark
        done = max(0, len(data) - _SPAN + 1)
        data = data[done:]
        offset += done


def _decompress(file: BinaryIO, begin: int, end: int) -> bytes | None:
    """Return the content of the block in bits ``begin`` to ``end``; None if they are no block."""
    bits = end - begin
    file.seek(begin // 8)
    data = file.read((end + 7) // 8 - begin // 8)
    block = int.from_bytes(data) >> (-end % 8) & ((1 << bits) - 1)
    if bits < _MARK_BITS + _CRC_BITS:
        return None
    # The checksum follows the mark; a stream of one block has the same at its end.
    crc = block >> (bits - _MARK_BITS - _CRC_BITS) & ((1 << _CRC_BITS) - 1)
    stream = (block << _MARK_BITS | _END) << _CRC_BITS | crc
    bits += _MARK_BITS + _CRC_BITS
    decompressor = bz2.BZ2Decompressor()
    try:
        stream_bytes = (stream << (-bits % 8)).to_bytes((bits + 7) // 8)
        content = decompressor.decompress(b"BZh9" + stream_bytes)
    except OSError:
        return None
    return content if decompressor.eof else None


def _damage_error(path: Path, bit: int, found: str) -> RawError:
    return RawError(f"{path}, byte {bit // 8:,}", "whole blocks of a bz2 stream", found)


# --- the dates on the dump servers ---------------------------------------------------------------

STATUS = "dumpstatus.json"
# The job of the dump; that whose name begins so makes one file of the parts of a large dump.
JOB = "articlesmultistreamdump"
_DATE = re.compile(r"\d{8}")
_LINK = re.compile(r'href="(?:[^"]*/)?(\d{4}-?\d\d-?\d\d)/?"')


def settled_dump(corpus: Corpus) -> Corpus:
    """Return the corpus with a date in place of `latest`; its dump and index are in the lock."""
    lock = read_lock()
    date = str(corpus.options["date"])
    if date == "latest":
        key = _parent(_dump(corpus, "latest").urls[0])
        match = _DATE.search(lock[key].file) if key in lock else None
        if match is None:
            newest, files = newest_dump(corpus)
            _lock(newest, files)
            add_to_lock(key, files[0])
            return newest
        date = match[0]
    with_date = dated(corpus, date)
    if any(source.urls[0] in lock for source in list_sources(with_date)):
        return with_date
    try:
        status = _status(_dump(corpus, date))
    except NotFound:
        if error := gone_dump(with_date):
            raise error from None
        return with_date  # a server without this document
    files, missing = _finished_files(with_date, status)
    if missing:
        where = f"{_parent(_dump(corpus, date).urls[0])}{STATUS}"
        todo = "wait until it is done, which takes days, or take an earlier date"
        raise InputError(where, f"a finished dump of {date}: the job {JOB} done", missing, todo)
    _lock(with_date, files)
    return with_date


def gone_dump(corpus: Corpus) -> InputError | None:
    """Return the error of a date that the servers do not list; None if they list it, or none."""
    dates, date = _dump_dates(corpus), corpus.options["date"]
    return dump_is_gone(corpus, date, dates) if dates and date not in dates else None


def newest_dump(corpus: Corpus) -> tuple[Corpus, list[Locked]]:
    """Return the corpus with the newest date whose dump is finished, and what its files are."""
    unfinished = []
    for date in reversed(_dump_dates(corpus)):
        with_date = dated(corpus, date)
        try:
            files, missing = _finished_files(with_date, _status(_dump(corpus, date)))
        except NotFound:
            missing = f"no {STATUS}"
        if not missing:
            return with_date, files
        unfinished.append(f"{date}: {missing}")
    where, found = _parent(_dump(corpus, "latest").urls[0], 2), "; ".join(unfinished) or "no date"
    todo = "look at the address in a browser, or name the date of a dump: `date: 20260101`"
    raise InputError(where, f"a date whose job {JOB} is done", found, todo)


def _finished_files(corpus: Corpus, status: Mapping[str, Any]) -> tuple[list[Locked], str]:
    """Return what the dump and its index are, and "" or what is not done."""
    jobs = status["jobs"]
    listed: dict[str, Any] = {}
    for name, job in jobs.items():
        if name.startswith(JOB) and job.get("status") == "done":
            listed |= job.get("files", {})
    files = []
    for source in list_sources(corpus):
        entry = listed.get(source.file, {})
        if not ({"size", "sha1"} <= entry.keys()):
            return [], f"{JOB} {jobs.get(JOB, {}).get('status', 'not there')}"
        size, sha1 = int(entry["size"]), str(entry["sha1"])
        files.append(Locked(today(), source.file, size=size, sha1=sha1))
    return files, ""


def _lock(corpus: Corpus, files: Sequence[Locked]) -> None:
    for source, file in zip(list_sources(corpus), files, strict=True):
        add_to_lock(source.urls[0], file)


def _status(dump: Source) -> dict[str, Any]:
    """Return the dumpstatus.json beside a dump."""
    urls = [_parent(url) + STATUS for url in dump.urls]
    status = read_json(urls)
    if not isinstance(status, dict) or not isinstance(status.get("jobs"), dict):
        todo = "look at the address in a browser"
        raise InputError(urls[0], "the jobs of a dump", repr(status)[:100], todo)
    return status


def _dump_dates(corpus: Corpus) -> list[str]:
    return dates_listed([_parent(url, 2) for url in _dump(corpus, "latest").urls])


def dates_listed(folders: Sequence[str]) -> list[str]:
    """Return the dates that a wiki's folder lists, as YYYYMMDD; empty if no server lists any."""
    try:
        page = read_document(folders).decode("utf-8", "replace")
    except NotFound:
        return []
    return sorted({date.replace("-", "") for date in _LINK.findall(page)})


def dump_is_gone(corpus: Corpus, date: str, dates: Sequence[str]) -> InputError:
    """Return the error of a date that is not among those of the server."""
    return ParamsError(
        f"{corpus.where}.corpus.date",
        f"a date that the server has: {', '.join(dates) or 'none now'}",
        f"{date}, which is not there",
        "dumps are made once a month and kept for some months: write one of these dates, or "
        f"latest; where {LOCK} has kept a date for latest, remove its entry",
    )


def dated(corpus: Corpus, date: str) -> Corpus:
    """Return a corpus with another date."""
    return replace(corpus, options={**corpus.options, "date": date})


def _dump(corpus: Corpus, date: str) -> Source:
    return list_sources(dated(corpus, date))[0]


def _parent(url: str, steps: int = 1) -> str:
    """Return the address of the folder that a file, or a folder, is in."""
    return url.rsplit("/", steps)[0] + "/"
