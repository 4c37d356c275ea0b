"""Fetches byte ranges of one large remote file into a folder, each complete or not at all.

The ranges of ``dump.bz2`` are in the folder ``dump.bz2.parts``: one file ``<start>-<stop>`` each,
and ``manifest.json`` with the file's address, its size and its version on the server.
"""

import re
from bisect import bisect_right, insort
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from corpora_recipes.fetching.downloads import LOCK, read_note, write_note
from corpora_recipes.fetching.transfer import (
    BeyondEnd,
    Broken,
    Changed,
    FileResponse,
    Transfer,
    Version,
    first_that_works,
    open_session,
)
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

# A file of such a folder; the first group is the name of the whole file.
PART = re.compile(r"(.+)\.parts/(?:\d{15}-\d{15}|manifest\.json)")


class NoRanges(Exception):
    """The server does not support ranges of one version of a file; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Manifest(Version):
    """The version of the whole file of the parts in a folder, and its address."""

    size: int
    url: str


def parts_folder(file: Path) -> Path:
    """Return the folder with the parts of a partially fetched file."""
    return file.with_name(file.name + ".parts")


def part_name(start: int, stop: int) -> str:
    """Return the name of the part with the bytes from ``start`` up to ``stop``, exclusive."""
    return f"{start:015}-{stop:015}"


def part_range(name: str) -> tuple[int, int]:
    """Return the first byte of a part, and the byte after its last, from its name."""
    start, stop = name.split("-")
    return int(start), int(stop)


def read_manifest(file: Path) -> Manifest | None:
    """Return the manifest of a file's parts, None if it does not exist."""
    folder = parts_folder(file)
    todo = f"remove {folder}, and run fetch again"
    return read_note(folder / "manifest.json", Manifest, todo)


class RangeFetcher:
    """Fetches ranges of one file; a context manager, whose ``fetch`` is thread-safe.

    The number of connections is bounded by ``patience.CONNECTIONS``. All ranges are of one version
    of the file: another address is used only for the version that the first one gave.

    Attributes:
        manifest: the whole file of the parts; None before the first range is fetched.
        fetched: number of bytes received.
    """

    def __init__(self, urls: Sequence[str], file: Path, size: int | None = None) -> None:
        """Prepare to fetch parts of the file that would be stored whole as ``file``."""
        self.file = file
        self.manifest = read_manifest(file)
        self.fetched = 0
        self._size = size
        self._lock = Lock()
        self._stack = ExitStack()
        self._urls = list(urls)
        if self.manifest is not None:
            if self.manifest.url not in urls:
                raise self._changed(f"parts of {self.manifest.url}")
            self._prefer(self.manifest.url)

    def __enter__(self) -> "RangeFetcher":
        self._session = self._stack.enter_context(open_session())
        self._bar = self._stack.enter_context(progress(None, self.file.name, "B"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def fetch(self, start: int, stop: int) -> None:
        """Fetch the bytes from ``start`` up to ``stop``, exclusive, into the folder if missing."""
        target = parts_folder(self.file) / part_name(start, stop)
        if target.is_file() and target.stat().st_size == stop - start:
            return

        def fill(url: str, hurried: bool) -> str:
            with whole_file(target) as temporary, temporary.open("wb") as file:
                self._fill(Transfer(self._session, url, hurried=hurried), file, start, stop)
            return url

        self._prefer(first_that_works(self._urls, fill))

    def _prefer(self, url: str) -> None:
        """Try an address first from now on."""
        with self._lock:
            self._urls = sorted(self._urls, key=lambda candidate: candidate != url)

    def _fill(self, transfer: Transfer, file: BinaryIO, position: int, stop: int) -> None:
        """Write the bytes; if the transfer breaks off, request the rest."""
        while position < stop:
            try:
                with transfer.ask(position, stop, self.manifest) as answer:
                    self._check(transfer.url, answer, stop)
                    for chunk in transfer.read_body(answer):
                        file.write(chunk)
                        position += len(chunk)
                        with self._lock:
                            self.fetched += len(chunk)
                            self._bar.update(len(chunk))
                if position < stop:
                    raise Broken(f"the server sent less than the range, up to byte {position:,}")
            except Broken as broken:
                transfer.prepare_retry(broken, position)
            except Changed as changed:
                raise self._changed(f"another version on the server ({changed})") from None
            except BeyondEnd as size:
                raise self._too_short(transfer.url, stop, str(size)) from None

    def _check(self, url: str, answer: FileResponse, stop: int) -> None:
        """Check that an answer is a range, of the version of the other parts."""
        size, validator = answer.version.size, answer.version.validator
        changed = f"another version on the server ({validator or 'unnamed'})"
        if not answer.is_range:
            # The answer to If-Range is the whole file, too, if it has changed (RFC 9110, 13.1.5).
            if self.manifest is not None and validator != self.manifest.validator:
                raise self._changed(changed)
            raise NoRanges("the server does not support ranges of files")
        if size is None:
            raise NoRanges("the server does not state the size of the file")
        if size < stop:
            raise self._too_short(url, stop, str(size))
        with self._lock:
            manifest = self.manifest
            if manifest is None:
                self._begin(Manifest(size=size, validator=validator, url=url))
            # Another thread may have begun since this range was requested.
            elif size != manifest.size or validator not in ("", manifest.validator):
                raise self._changed(changed)

    def _begin(self, manifest: Manifest) -> None:
        if self._size not in (None, manifest.size):
            expected, found = f"{self._size:,} bytes", f"{manifest.size:,} bytes"
            raise InputError(manifest.url, expected, found, "correct corpus.yaml")
        if not manifest.validator:
            raise NoRanges("the server does not state the file's version")
        write_note(parts_folder(self.file) / "manifest.json", asdict(manifest))
        self.manifest = manifest

    def _changed(self, found: str) -> InputError:
        assert self.manifest is not None
        folder = parts_folder(self.file)
        todo = f"remove {folder} and the entry of the file's index in {LOCK}, and fetch again; "
        todo += "a fixed `date:` in params.yaml, instead of latest, keeps to one version"
        expected = f"parts of one version, {self.manifest.validator}"
        return InputError(f"{folder}, parts of {self.manifest.url}", expected, found, todo)

    def _too_short(self, url: str, stop: int, size: str) -> InputError:
        if self.manifest is not None and size != str(self.manifest.size):
            return self._changed(f"a file of {size or 'fewer'} bytes on the server")
        found = f"{int(size):,} bytes" if size.isdecimal() else "fewer"
        todo = "the index belongs to another dump: fetch a dump and an index of the same date"
        return InputError(url, f"a file of {stop:,} bytes or more", found, todo)


_PART = re.compile(r"\d{15}-\d{15}")


class PartialFile:
    """A file of bytes with ``seek`` and ``read``, made of the parts that a RangeFetcher stored."""

    def __init__(self, file: Path, fetcher: RangeFetcher | None = None) -> None:
        """Open the file for reading; ``file`` is where the whole one would be.

        ``fetcher``, which must have fetched a range already, fetches what is missing; without one
        that is an error.
        """
        manifest = fetcher.manifest if fetcher else read_manifest(file)
        assert manifest is not None
        self.file = file
        self.size = manifest.size
        self._fetcher = fetcher
        self._parts = _parts_of(parts_folder(file).resolve())
        if fetcher is not None:
            self._parts.refresh()
        self._position = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a byte, counted from the beginning, the position (1) or the end (2)."""
        self._position = offset + (0, self._position, self.size)[whence]
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Return the next ``size`` bytes, or all; fewer only at the end of the file."""
        stop = self.size if size < 0 else min(self._position + size, self.size)
        if self._fetcher is not None:
            self.fetch(self._position, stop)
        chunks = []
        while self._position < stop:
            chunk = self._parts.read(self._position, stop)
            if not chunk:
                expected = f"bytes {self._position:,} to {stop - 1:,} of {self.file.name}"
                todo = "run fetch again, with the seed and the number of documents of this run"
                found = "only other parts of the file"
                raise InputError(parts_folder(self.file), expected, found, todo)
            chunks.append(chunk)
            self._position += len(chunk)
        return b"".join(chunks)

    def fetch(self, start: int, stop: int) -> None:
        """Fetch the missing bytes from ``start`` up to ``stop``; threads may call it."""
        assert self._fetcher is not None
        for missing in self._parts.missing(start, stop):
            self._fetcher.fetch(*missing)
            self._parts.add(missing)

    def discard(self, start: int, stop: int) -> None:
        """Remove the parts that hold any of these bytes: they are to be fetched again."""
        self._parts.discard(start, stop)


class _Parts:
    """The parts in a folder, listed once for all files of a process, as listing takes long."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self.refresh()

    def refresh(self) -> None:
        """Look at the folder again."""
        names = (path.name for path in self._folder.iterdir())
        # Disjoint, since only what is missing is fetched.
        self._ranges = sorted(part_range(name) for name in names if _PART.fullmatch(name))

    def add(self, part: tuple[int, int]) -> None:
        """Take a new part."""
        with self._lock:
            insort(self._ranges, part)

    def missing(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the ranges between ``start`` and ``stop`` that no part has."""
        missing = []
        with self._lock:
            at = max(0, bisect_right(self._ranges, start, key=itemgetter(0)) - 1)
            while start < stop and at < len(self._ranges) and self._ranges[at][0] < stop:
                begin, end = self._ranges[at]
                if start < begin:
                    missing.append((start, begin))
                start = max(start, end)
                at += 1
        return [*missing, (start, stop)] if start < stop else missing

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes of one part from ``start`` on, none if no part has it."""
        for attempt in range(2):
            if attempt:
                # Another process may have fetched or removed parts.
                self.refresh()
            with self._lock:
                at = bisect_right(self._ranges, start, key=itemgetter(0)) - 1
                begin, end = self._ranges[at] if at >= 0 else (0, 0)
            if start < end:
                try:
                    with (self._folder / part_name(begin, end)).open("rb") as file:
                        file.seek(start - begin)
                        return file.read(min(stop, end) - start)
                except FileNotFoundError:
                    pass
        return b""

    def discard(self, start: int, stop: int) -> None:
        """Remove the parts that have any of these bytes."""
        with self._lock:
            for part in [part for part in self._ranges if part[0] < stop and start < part[1]]:
                (self._folder / part_name(*part)).unlink()
                self._ranges.remove(part)


@lru_cache(maxsize=1)
def _parts_of(folder: Path) -> _Parts:
    return _Parts(folder)
