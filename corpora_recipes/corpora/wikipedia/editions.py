"""Editions of a dump: pages created after a day, Content File Exports, and parts for a quota.

A dump does not say when a page was created, except of pages that nobody has edited since: their
revision has no ``<parentid>``, and its time is theirs. But page ids rise with time, and so the
first id after a day is found by bisection. A tenth or more of these pages can be off the line:
imported pages have new ids and old times, and undeleted ones once got new ids. (Of the Latgalian
Wikipedia's 291 such pages none is off the line; of Afar's 270, 48 are.) So the id is that which the
fewest pages contradict, where new times at old ids, which have no such cause, count more. Nothing
in a dump tells an imported page that was edited since from a new one: it is taken.

Wikimedia's Content File Exports succeed the pages-articles dumps
(https://wikitech.wikimedia.org/wiki/MediaWiki_Content_File_Exports). A folder
``<wiki>/<date>/xml/bzip2`` has files ``<wiki>-<date>-p<first>p<last>.xml.bz2``, named by their page
ids, ``SHA256SUMS``, and ``_SUCCESS``, which is written when all else is complete. Each file is a
whole dump, of pages of all namespaces.
"""

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from pathlib import Path
from typing import ParamSpec, TypeVar

from tqdm import tqdm

from corpora_recipes.corpora.wikipedia.pages import PAGE_ID, read_pages
from corpora_recipes.corpora.wikipedia.plan import (
    DumpBlock,
    dated,
    dates_listed,
    dump_is_gone,
    first_offset,
    list_blocks,
    wiki_of,
)
from corpora_recipes.fetching.downloads import Locked, add_to_lock, fetch_whole, read_lock, today
from corpora_recipes.fetching.ranges import NoRanges, RangeFetcher, part_range, parts_folder
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.fetching.transfer import NotFound, look_at, read_document
from corpora_recipes.hashing import sha256_of
from corpora_recipes.reading import read_corpus
from corpora_recipes.recipe import Corpus, Source
from corpora_recipes.records import Window
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from corpora_recipes.running.outputs import write_whole

# Blocks that are read at most. Bisection among 2 to the power of 18 needs 19.
MAX_BLOCKS = 20
# A block with fewer pages of a known time is judged together with the next ones, or at the end of
# the dump with the ones before.
MIN_DATED = 5
# What a new time at an old id counts against the boundary; an old time at a new id counts 1.
LATE_WEIGHT = 3
SUMS, SUCCESS = "SHA256SUMS", "_SUCCESS"

_REVISION = re.compile(
    rb"<revision>\s*<id>\s*(\d+)\s*</id>\s*(?:<parentid>\s*(\d+)\s*</parentid>\s*)?"
    rb"<timestamp>(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)</timestamp>"
)
_SHARD = re.compile(r"(?P<wiki>\w+)-(?P<date>\d{4}-\d\d-\d\d)-p(?P<first>\d+)p\d+\.xml\.bz2")
# As sha256sum writes it; its * stands for a file that was read as binary.
_SUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a page; ``parent`` is the id of that before it, 0 if it is the first.

    The time is as in 2026-01-01T00:00:00Z.
    """

    page: int
    id: int
    parent: int
    time: str


@dataclass(frozen=True, slots=True)
class Creation:
    """Which pages of a dump were created after a day.

    ``page`` is the id of the first such page (0: all are), in the block of number ``block``, made
    at ``time``; a page before it at ``before``, the last known time up to the day. A page whose
    parent revision is not newer than ``revision`` existed on the day, whatever its id. Of the
    ``dated`` pages of known time in the ``blocks`` that were read, ``off`` contradict ``page``.
    """

    after: str
    block: int
    page: int
    time: str
    before: str
    revision: int
    blocks: int
    dated: int
    off: int

    def takes(self, revision: Revision) -> bool:
        """Return whether a page was created after the day, as far as its revision tells."""
        return (
            revision.page >= self.page
            and revision.time[:10] > self.after
            and not 0 < revision.parent <= self.revision
        )

    @property
    def uncertainty(self) -> int:
        """Days between the known pages before and after the boundary, rounded up."""
        return (_day(self.time) - _day(self.before)).days + 1 if self.before else 0


@dataclass(frozen=True, slots=True)
class DatedBlock(DumpBlock):
    """A block of which only the pages created after a day are read."""

    created: Creation | None = None


def blocks_after(
    blocks: Sequence[DumpBlock],
    corpus: Corpus,
    fetch: Callable[[DumpBlock], None] = lambda block: None,
) -> Sequence[DumpBlock]:
    """Return the blocks that may hold pages created after the day that a corpus names, if any.

    ``fetch`` is called before a block is read.
    """
    day = corpus.options["created_after"]
    if day is None:
        return blocks

    def read(number: int) -> list[Revision]:
        fetch(blocks[number])
        dump = blocks[number].path
        return [parse_revision(raw, dump) for raw in read_pages(blocks[number])]

    created = find_creation(len(blocks), read, day, f"{corpus.where}.corpus.created_after")
    return [
        DatedBlock(b.path, b.site, b.start, b.stop, b.streams, b.part, created)
        for b in blocks[created.block :]
    ]


def is_after(raw: bytes, block: DumpBlock) -> bool:
    """Return whether a page of a block was created after its day, if it has one."""
    created = block.created if isinstance(block, DatedBlock) else None
    return created is None or created.takes(parse_revision(raw, block.path))


def window(blocks: Sequence[DumpBlock]) -> Window | None:
    """Return between which days the pages were created; None if all pages are taken."""
    created = blocks[0].created if isinstance(blocks[0], DatedBlock) else None
    if created is None:
        return None
    known_by = "page ids: all pages of the dump"
    if created.before:
        known_by = (
            f"page ids from {created.page} on: that page was created at {created.time}, and the "
            f"last before it with a known time at {created.before}; {created.off} of "
            f"{created.dated} pages with a known time contradict ({created.blocks} blocks read)"
        )
    match = re.search(r"-(\d{4})-?(\d\d)-?(\d\d)-p", blocks[0].path.name)
    until = "-".join(match.groups()) if match else ""
    return Window(created.after, until, created.uncertainty, known_by)


def parse_revision(raw: bytes, dump: Path) -> Revision:
    """Read whose revision a page holds, and of when."""
    page = PAGE_ID.search(raw)
    match = _REVISION.search(raw)
    if page is None or match is None:
        expected = "pages with an id, and a revision with id and time"
        raise RawError(dump, expected, raw[:120].decode("utf-8", "replace"))
    return Revision(int(page[1]), int(match[1]), int(match[2] or 0), match[3].decode())


def find_creation(
    count: int, read_revisions: Callable[[int], Sequence[Revision]], after: str, where: str
) -> Creation:
    """Find the first page id after a day, such as 2026-01-01, in at most ``MAX_BLOCKS`` blocks.

    ``read_revisions`` returns the revisions of one of the ``count`` blocks, by its number; blocks
    are in the order of page ids. ``where`` is the option that names the day.
    """
    blocks_read: dict[int, Sequence[Revision]] = {}

    def is_late(number: int) -> bool:
        """Return whether most pages of a block, and of its neighbours, were created after it."""
        late: list[bool] = []
        for block in (*range(number, count), *reversed(range(number))):
            if block not in blocks_read:
                if len(blocks_read) == MAX_BLOCKS:
                    break
                blocks_read[block] = read_revisions(block)
            late += [r.time[:10] > after for r in blocks_read[block] if not r.parent]
            if len(late) >= MIN_DATED:
                break
        return LATE_WEIGHT * late.count(True) > late.count(False)

    # All blocks up to ``early`` are before the day, those from ``late`` on after it. The last one
    # is looked at first: most days that are asked for are near it.
    early, late = -1, count
    middle = count - 1
    while late - early > 1 and len(blocks_read) < MAX_BLOCKS:
        if is_late(middle):
            late = middle
        else:
            early = middle
        middle = (early + late) // 2
    return _fit(blocks_read, after, where)


def _fit(blocks_read: dict[int, Sequence[Revision]], after: str, where: str) -> Creation:
    """Return the page id that the revisions of the blocks that were read contradict least."""
    revisions = [revision for block in blocks_read.values() for revision in block]
    dated_pages = sorted((r.page, r.time) for r in revisions if not r.parent)
    if len(dated_pages) == len(revisions):
        expected = "a dump whose pages name the revision before (<parentid>, since export 0.7)"
        todo = "use a newer dump, or remove the option"
        raise ParamsError(where, expected, f"{len(revisions):,} pages, none with it", todo)
    late = [time[:10] > after for _, time in dated_pages]
    cut = _cut(late)
    first = next((page for page in dated_pages[cut:] if page[1][:10] > after), None)
    if first is None:
        newest = max((time for _, time in dated_pages), default="(no page)")
        found = (
            f"{after}; the newest of {len(dated_pages):,} pages with a known time is of {newest}"
        )
        todo = "name an earlier day, or take a newer dump"
        raise ParamsError(
            where, "a day before the last pages of the dump were created", found, todo
        )
    before = [time for _, time in dated_pages[:cut] if time[:10] <= after]
    edits = sorted((r.id, r.time) for r in revisions)
    edits = edits[: _cut([time[:10] > after for _, time in edits])]
    page = first[0] if before else 0
    starts = [number for number, block in blocks_read.items() if block and block[0].page <= page]
    return Creation(
        after=after,
        block=max(starts, default=0),
        page=page,
        time=first[1],
        before=max(before, default=""),
        revision=max((number for number, time in edits if time[:10] <= after), default=0),
        blocks=len(blocks_read),
        dated=len(dated_pages),
        off=late[:cut].count(True) + late[cut:].count(False),
    )


def _cut(late: Sequence[bool]) -> int:
    """Return where a sequence is best cut into early and late ones."""
    steps = (LATE_WEIGHT if is_late else -1 for is_late in late)
    against = list(accumulate(steps, initial=late.count(False)))
    return len(late) - against[::-1].index(min(against))


def _day(time: str) -> date:
    return date.fromisoformat(time[:10])


# --- content exports -----------------------------------------------------------------------------


def is_export(corpus: Corpus) -> bool:
    """Return whether a corpus is read from a content export."""
    return bool(corpus.options["export"] == "content_current")


def folder_of(wiki: str, date: str) -> str:
    """Return the path of a wiki's export; ``date`` is as in 20260801, or "*"."""
    day = date if date == "*" else f"{date[:4]}-{date[4:6]}-{date[6:]}"
    return f"{wiki}/{day}/xml/bzip2"


def export_sources(corpus: Corpus) -> list[Source]:
    """Return the raw files of an export, or of all there are, as patterns."""
    wiki, day = wiki_of(corpus.language), corpus.options["date"]
    folder = folder_of(wiki, "*" if day == "latest" else day)
    return [Source(f"{folder}/{name}") for name in (f"{wiki}-*-p*p*.xml.bz2", SUMS, SUCCESS)]


def read_sums(text: str, where: Path | str, wiki: str) -> dict[str, str]:
    """Return the SHA-256 of each file that SHA256SUMS lists, in the order of their page ids."""
    sums: dict[tuple[int, str], str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _SUM.fullmatch(line)
        if match is None:
            expected = "a SHA-256, two blanks and a file's name"
            raise RawError(f"{where}, line {number}", expected, repr(line[:100]))
        shard = _SHARD.fullmatch(match[2])
        if shard and shard["wiki"] == wiki:
            sums[int(shard["first"]), match[2]] = match[1]
    if not sums:
        expected = f"sums of files {wiki}-<date>-p<first>p<last>.xml.bz2"
        raise RawError(where, expected, f"{len(text.splitlines())} lines, none of such a file")
    return {name: sums[first, name] for first, name in sorted(sums)}


def find_shards(raw: Path, wiki: str) -> list[Path]:
    """Return the files of a wiki's newest export, which must be complete, by their page ids."""
    shards: dict[tuple[str, Path], set[str]] = {}
    for path in raw.rglob(f"{wiki}-*.xml.bz2"):
        if match := _SHARD.fullmatch(path.name):
            shards.setdefault((match["date"], path.parent), set()).add(path.name)
    if not shards:
        expected = f"an export {folder_of(wiki, '*')}/{wiki}-<date>-p<first>p<last>.xml.bz2"
        found = "no file of that name" if raw.is_dir() else "no such folder"
        todo = f"run fetch, or put the files into such a folder, with {SUMS} and {SUCCESS}"
        raise RawError(raw, expected, found, todo)
    (_, folder), names = max(shards.items())
    for name in (SUCCESS, SUMS):
        if not (folder / name).is_file():
            todo = "an export without it was not finished: fetch it again, or take another date"
            raise RawError(folder / name, "the file of a complete export", "no such file", todo)
    sums = read_sums((folder / SUMS).read_text("utf-8"), folder / SUMS, wiki)
    if names != sums.keys():
        missing, unexpected = sorted(sums.keys() - names), sorted(names - sums.keys())
        found = f"{missing[0]} missing" if missing else f"{unexpected[0]}, which it does not list"
        raise RawError(folder, f"the files that {SUMS} lists", found)
    return [folder / name for name in sums]


def check_sums(shards: Sequence[Path], wiki: str) -> None:
    """Compare the files of an export, as ``find_shards`` returned them, with its SHA256SUMS."""
    sums = shards[0].with_name(SUMS)
    for name, expected in read_sums(sums.read_text("utf-8"), sums, wiki).items():
        path = sums.with_name(name)
        if (sha256 := sha256_of(path)) != expected:
            raise RawError(path, f"SHA-256 {expected}, as {SUMS} says", f"SHA-256 {sha256}")


def settled_export(corpus: Corpus) -> Corpus:
    """Return the corpus with the date of the newest complete export in place of `latest`."""
    if corpus.options["date"] != "latest":
        return corpus
    wiki = wiki_of(corpus.language)
    bases = [f"{base}{wiki}/" for base in corpus.facts.special["exports"]]
    key = f"{bases[0]}latest/"
    if (locked := read_lock().get(key)) is not None:
        return dated(corpus, locked.file.split("/")[1].replace("-", ""))
    dates = dates_listed(bases)
    for day in reversed(dates):
        try:
            read_document(_addresses(corpus, day, SUCCESS))
        except NotFound:
            continue
        add_to_lock(key, Locked(today(), folder_of(wiki, day), size=0))
        return dated(corpus, day)
    found = f"{', '.join(dates) or 'no date'}, without it"
    todo = "wait until one is complete, or use `export: pages_articles`"
    raise InputError(bases[0], f"an export with {SUCCESS}", found, todo)


def fetch_export(corpus: Corpus, out: Path) -> None:
    """Download all files of a content export, pinned by its SHA256SUMS, and the marker last."""
    wiki, day = wiki_of(corpus.language), corpus.options["date"]
    folder = folder_of(wiki, day)
    if (out / folder / SUCCESS).is_file():
        return
    marks, lists = _addresses(corpus, day, SUCCESS), _addresses(corpus, day, SUMS)
    try:
        read_document(marks)
    except NotFound:
        dates = dates_listed([f"{base}{wiki}/" for base in corpus.facts.special["exports"]])
        if day not in dates:
            raise dump_is_gone(corpus, day, dates) from None
        todo = f"wait until it is written, or take another date: {', '.join(dates)}"
        raise InputError(marks[0], "a complete export", "no such file", todo) from None
    text = read_document(lists).decode("utf-8", "replace")
    files = [
        Source(f"{folder}/{name}", tuple(_addresses(corpus, day, name)), sha256=sha256)
        for name, sha256 in read_sums(text, lists[0], wiki).items()
    ]
    fetch_whole(files, out)
    for name, content in ((SUMS, text), (SUCCESS, "")):
        write_whole(out / folder / name, content)


def _addresses(corpus: Corpus, day: str, name: str) -> list[str]:
    """Return where servers have a file of an export."""
    path = f"{folder_of(wiki_of(corpus.language), day)}/{name}"
    return [base + path for base in corpus.facts.special["exports"]]


# --- parts of a dump -----------------------------------------------------------------------------

# Blocks fetched ahead of the one that is read; as many can be fetched beyond the quota. From four
# blocks (1,600 pages) on, the surplus is at most half of the blocks needed.
LOOK_AHEAD = 2

_P = ParamSpec("_P")
_T = TypeVar("_T")


def fetch(corpus: Corpus, out: Path) -> None:
    """Fetch a dump and its index into folder ``out``: whole, or the parts that the quota needs.

    If the option ``partial`` is set, only the index and the header are fetched, and then the blocks
    in the order in which ``read`` takes them. To detect when the quota is full, each block is read
    as soon as it is fetched, by the code of ``read``, in this process; ``read`` reads it again. The
    index is checked against sources.lock, and each block against the index. A larger quota
    continues where this one ends. The whole dump is fetched, and a message says why, if all
    documents are wanted, the dump has no index, or the server does not support byte ranges; if it
    is there already, it stays.
    """
    dump, index = list_sources(corpus)
    path = out / dump.file
    files = [dump, index]
    if corpus.options["partial"]:
        why = ""
        try:
            fetch_whole([index], out)
            if corpus.documents is None:
                why = f"corpora.{corpus.name}.corpus.documents asks for all"
            elif not path.exists():
                _fetch_parts(corpus, dump, path, out / index.file)
                return
        except NotFound as error:
            if error.where != index.urls[0]:
                raise
            why = f"the server has no {index.file}"
            files = [dump]
        except NoRanges as error:
            why = str(error)
        if why and not path.exists():
            size = look_at(dump.urls[0]).size
            size_text = "size unknown" if size is None else f"{size:,} bytes"
            tqdm.write(f"fetching the whole of {dump.file}, {size_text}: {why}", file=sys.stderr)
    fetch_whole(files, out)
    shutil.rmtree(parts_folder(path), ignore_errors=True)


def _fetch_parts(corpus: Corpus, dump: Source, path: Path, index: Path) -> None:
    locked = read_lock().get(dump.urls[0])
    with RangeFetcher(dump.urls, path, locked.size if locked else None) as parts:
        parts.fetch(0, first_offset(index))

        def fetch_block(block: DumpBlock) -> None:
            parts.fetch(*part_range(block.part))

        blocks = blocks_after(list_blocks(path), corpus, fetch_block)
        bar = tqdm(total=corpus.documents, desc=f"accept {corpus.name}", unit="doc", disable=None)
        with _FetchFirst(parts) as executor, bar:
            for records, _ in read_corpus(blocks, corpus, executor, 1 + LOOK_AHEAD):
                bar.update(len(records))
        assert parts.manifest is not None
        size = sum(part.stat().st_size for part in parts_folder(path).glob("*-*"))
        note = f"{dump.file}: {size:,} of its {parts.manifest.size:,} bytes are present, "
        note += f"{parts.fetched:,} of them new"
        tqdm.write(note, file=sys.stderr)


class _FetchFirst(Executor):
    """Reads blocks in this process one after another; threads fetch their bytes in advance."""

    def __init__(self, parts: RangeFetcher) -> None:
        self.parts = parts
        self.fetchers = ThreadPoolExecutor(patience.CONNECTIONS)
        self.reader = ThreadPoolExecutor(1)

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Schedule the call of ``fn`` for when the block among its arguments is fetched."""
        (block,) = (argument for argument in args if isinstance(argument, DumpBlock))
        fetched = self.fetchers.submit(self.parts.fetch, *part_range(block.part))

        def read() -> _T:
            fetched.result()
            return fn(*args, **kwargs)

        return self.reader.submit(read)

    def __exit__(self, kind: object, *error: object) -> None:
        """End; without an error, after all blocks that were to be fetched in advance.

        Which of them are there would otherwise depend on who was faster, and another run would
        fetch what this one has not.
        """
        self.shutdown(cancel_futures=kind is not None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the threads after their current tasks."""
        # The fetchers first: the reader may be waiting for one.
        self.fetchers.shutdown(wait, cancel_futures=cancel_futures)
        self.reader.shutdown(wait, cancel_futures=cancel_futures)
