"""Reads a remote file of which only some ranges are here, and fetches others if it may."""

import re
from bisect import bisect_right, insort
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from threading import Lock

from corpora_recipes.fetching.ranges import (
    RangeFetcher,
    part_name,
    part_range,
    parts_folder,
    read_manifest,
)
from corpora_recipes.running.errors import InputError

_PART = re.compile(r"\d{15}-\d{15}")


class PartialFile:
    """A file of bytes with ``seek`` and ``read``, made of the parts that a RangeFetcher stored."""

    def __init__(self, file: Path, fetcher: RangeFetcher | None = None) -> None:
        """Open the file for reading.

        Args:
            file: where the whole file would be.
            fetcher: fetches what is missing; it must have fetched a range already. None: what is
                missing is an error.
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
        """Return the next ``size`` bytes, or all; fewer only at the end of the file.

        Raises:
            InputError: some were not fetched; see also ``RangeFetcher.fetch``.
        """
        stop = self.size if size < 0 else min(self._position + size, self.size)
        if self._fetcher is not None:
            self.fetch(self._position, stop)
        chunks = []
        while self._position < stop:
            chunk = self._parts.read(self._position, stop)
            if not chunk:
                raise InputError(
                    parts_folder(self.file),
                    expected=f"bytes {self._position:,} to {stop - 1:,} of {self.file.name}",
                    found="only other parts of the file",
                    todo="run fetch again, with the seed and the number of documents of this run",
                )
            chunks.append(chunk)
            self._position += len(chunk)
        return b"".join(chunks)

    def fetch(self, start: int, stop: int) -> None:
        """Fetch those bytes from ``start`` up to ``stop`` that are not here; threads may call it.

        Raises:
            NoRanges, InputError: see ``RangeFetcher.fetch``.
        """
        assert self._fetcher is not None
        for missing in self._parts.missing(start, stop):
            self._fetcher.fetch(*missing)
            self._parts.add(missing)

    def discard(self, start: int, stop: int) -> None:
        """Remove the parts that hold any of these bytes: they are to be fetched again."""
        self._parts.discard(start, stop)


class _Parts:
    """The parts in a folder, which the files of one process share: a list takes long to make."""

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
        found = []
        with self._lock:
            at = max(0, bisect_right(self._ranges, start, key=itemgetter(0)) - 1)
            while start < stop and at < len(self._ranges) and self._ranges[at][0] < stop:
                begin, end = self._ranges[at]
                if start < begin:
                    found.append((start, begin))
                start = max(start, end)
                at += 1
        return [*found, (start, stop)] if start < stop else found

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
