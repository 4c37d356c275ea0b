"""The index of a multistream dump: the positions of its compressed streams."""

import bz2
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LONGEST_HEADER, MOST_STREAMS

CHUNK_BYTES = 1 << 20
# Of an index, in bytes; MediaWiki keeps titles under 256.
_LONGEST_LINE = 1 << 16
# Lines offset:id:title of one offset, as many as follow each other.
_INDEX_GROUP = re.compile(rb"(\d{1,18}):(\d{1,18}):[^\n]*\n(?:\1:(\d{1,18}):[^\n]*\n)*")


@dataclass(frozen=True, slots=True)
class Stream:
    """A bz2 stream of a multistream dump, according to the index.

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


def index_path(dump: Path) -> Path:
    """Return the path of a multistream dump's index."""
    return dump.with_name(dump.name.removesuffix(".xml.bz2") + "-index.txt.bz2")


def read_index(index: Path) -> list[Stream]:
    """Read the index of a multistream dump, lines of offset:id:title.

    Raises:
        InputError: it is missing or damaged, a line is not of that form, or offsets do not ascend.
    """
    groups = list(islice(_index_groups(index), MOST_STREAMS + 1))
    if len(groups) > MOST_STREAMS:
        raise InputError(
            index,
            expected=f"at most {MOST_STREAMS:,} streams",
            found="more",
            todo="fetch the index again",
        )
    stops = [*(group[0] for group in groups[1:]), None]
    return [
        Stream(offset, stop, first, last, pages)
        for (offset, first, last, pages), stop in zip(groups, stops, strict=True)
    ]


def first_offset(index: Path) -> int:
    """Return the offset of the first stream of pages, from the beginning of an index.

    Raises:
        InputError: the beginning is damaged, or the offset is too large for a header.
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
            while chunk := file.read(CHUNK_BYTES):
                text = rest + chunk
                end = text.rfind(b"\n") + 1
                if not end and len(text) > _LONGEST_LINE:
                    # Not an index: the caller rejects this text.
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
