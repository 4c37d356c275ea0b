"""What a download will cost, before it is paid: bytes, disk and time."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from corpora_recipes.facts import Source
from corpora_recipes.fetching.session import CONTACT, look_at
from corpora_recipes.running.errors import InputError

# Seconds and bytes from which on a rate means something.
_LONG, _MUCH = 3.0, 1_000_000


def in_words(size: float) -> str:
    """Return a number of bytes in words, such as "7.0 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


def free_at(folder: Path) -> int:
    """Return the free bytes of the disk that has a folder, or will have it."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def contact_wanted() -> str:
    """Return the command that states a contact for the servers' owners, "" if there is one."""
    return "" if os.environ.get(CONTACT) else f"export {CONTACT}=you@example.org"


class Cost:
    """The files of a corpus that are to be downloaded, one after the other.

    Attributes:
        size: bytes of those whose size is known.
    """

    def __init__(self, wanted: Sequence[Source], out: Path) -> None:
        """Find the sizes: those of the pins, or what servers say.

        Args:
            wanted: the files, with addresses.
            out: the folder; files in it are not downloaded again.
        """
        self._out = out
        self._sizes: dict[str, int | None] = {}
        self._hosts: dict[str, None] = {}
        for source in wanted:
            if not source.urls or (out / source.file).exists():
                continue
            own = source.packed or source
            size = own.size
            if size is None:
                said = look_at(own.urls[0], only_head=True)
                if said.status in (404, 410):
                    continue
                size = said.size
            self._sizes[source.file] = size
            self._hosts[urlsplit(own.urls[0]).netloc] = None
        self._left = dict(self._sizes)
        self._seconds = 0.0
        self._bytes = 0
        self.size = sum(size or 0 for size in self._sizes.values())

    def announce(self) -> None:
        """Say what will be downloaded, and check the disk.

        Raises:
            InputError: the disk is too small.
        """
        if not self._sizes:
            return
        unknown = sum(size is None for size in self._sizes.values())
        more = f" and {_files(unknown)} of unknown size" if unknown else ""
        free = free_at(self._out)
        _say(
            f"{self._out}: {_files(len(self._sizes))} from {', '.join(self._hosts)}, "
            f"{in_words(self.size)}{more}; {in_words(free)} free on the disk"
        )
        if self.size > free:
            raise InputError(
                self._out,
                expected=f"a disk with {self.size:,} free bytes ({in_words(self.size)})",
                found=f"{free:,} ({in_words(free)})",
                todo="make room, or put the folder on another disk",
            )

    def took(self, file: str, seconds: float) -> None:
        """Note that a file was downloaded, and say how long the others will take."""
        self._bytes += self._left.pop(file, None) or 0
        self._seconds += seconds
        left = sum(size or 0 for size in self._left.values())
        if left > _MUCH and self._bytes > _MUCH and self._seconds > _LONG:
            rate = self._bytes / self._seconds
            _say(f"{in_words(left)} left, at {in_words(rate)} a second: {_time(left / rate)}")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


def _say(text: str) -> None:
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)
