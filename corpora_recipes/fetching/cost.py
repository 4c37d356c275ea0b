"""What a download will cost, before it is paid: bytes, disk and time."""

import shutil
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from corpora_recipes.facts import Source
from corpora_recipes.fetching.session import look_at
from corpora_recipes.running.errors import InputError

# Seconds and bytes from which on a rate means something.
_LONG, _MUCH = 3.0, 1_000_000


def announce(wanted: Iterable[Source], out: Path) -> dict[str, int]:
    """Say what will be downloaded, and check the disk.

    Args:
        wanted: the files of a corpus; those without addresses are not downloaded.
        out: the folder; files in it are not downloaded again.

    Returns:
        File to bytes: those of the pin, or what the server says; 0 if unknown.

    Raises:
        InputError: the disk is too small.
    """
    sizes: dict[str, int | None] = {}
    hosts = []
    for source in wanted:
        own = source.packed or source
        if source.urls and not (out / source.file).exists():
            said = look_at(own.urls[0], only_head=True) if own.size is None else None
            if said is None or said.status not in (404, 410):
                sizes[source.file] = own.size if said is None else said.size
                hosts.append(urlsplit(own.urls[0]).netloc)
    needed, free = sum(size or 0 for size in sizes.values()), free_at(out)
    if sizes:
        _say(
            f"{out}: {_files(len(sizes))} from {', '.join(dict.fromkeys(hosts))}, "
            f"{sizes_in_words(sizes.values())}; {in_words(free)} free on the disk"
        )
    if needed > free:
        raise InputError(
            out,
            expected=f"a disk with {needed:,} free bytes ({in_words(needed)})",
            found=f"{free:,} ({in_words(free)})",
            todo="make room, or put the folder on another disk",
        )
    return {file: size or 0 for file, size in sizes.items()}


def tell_time_left(done: int, left: int, seconds: float) -> None:
    """Say how long the bytes that are left will take, if those that came in some seconds tell."""
    if left > _MUCH and done > _MUCH and seconds > _LONG:
        rate = done / seconds
        _say(f"{in_words(left)} left, at {in_words(rate)} a second: {_time(left / rate)}")


def in_words(size: float) -> str:
    """Return a number of bytes in words, such as "7.0 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


def sizes_in_words(sizes: Collection[int | None]) -> str:
    """Return the sum of sizes in words, and how many are unknown."""
    known = [size for size in sizes if size is not None]
    said = [in_words(sum(known))] if known or not sizes else []
    if unknown := len(sizes) - len(known):
        said.append(f"{_files(unknown)} of unknown size")
    return " and ".join(said)


def free_at(folder: Path) -> int:
    """Return the free bytes of the disk that has a folder, or will have it."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


def _say(text: str) -> None:
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)
