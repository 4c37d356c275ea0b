"""JSON Lines: ranges of bytes for workers, and the place of each line for messages."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import whole_lines

# Large enough to hide the cost of a task, small enough for any worker's memory.
BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class LineRange:
    """A block: the lines that begin in a range of a file's bytes."""

    key: str  # the file's name in the corpus and ``start``
    path: Path
    start: int
    end: int  # the byte after the last


@dataclass(frozen=True, slots=True)
class Line:
    """The place of a line; its number in the file is counted only for messages."""

    path: Path
    number: int  # of the line, from 1, in the range read
    start: int = 0  # the first byte of the range
    todo: str | None = None  # the advice for any fault of the file, if the user did not write it

    def error(self, expected: str, found: str, todo: str = "correct the line") -> RawError:
        """Return the error that names this line."""
        before = 0
        if self.start:
            with self.path.open("rb") as file:
                before = sum(1 for _ in _until(whole_lines(file, self.path), self.start))
        where = f"{self.path}, line {before + self.number}"
        return RawError(where, expected, found, self.todo or todo)


def line_ranges(path: Path, name: str) -> list[LineRange]:
    """Cut a file into ranges of ``BLOCK_BYTES``; ``name`` is its name in the corpus."""
    size = path.stat().st_size
    return [
        LineRange(f"{name}:{start}", path, start, min(start + BLOCK_BYTES, size))
        for start in range(0, size, BLOCK_BYTES)
    ]


def range_lines(block: LineRange) -> Iterator[bytes]:
    """Yield the lines of a range; a line belongs to the range of its first byte."""
    with block.path.open("rb") as file:
        lines = whole_lines(file, block.path)
        if block.start:
            # The range before has the line that covers its last byte.
            file.seek(block.start - 1)
            next(lines, b"")
        yield from _until(lines, block.end - file.tell())


def parse_lines(
    lines: Iterable[bytes], path: Path, start: int = 0, todo: str | None = None
) -> Iterator[tuple[Line, Any]]:
    """Yield the place and the value of each line that is not empty.

    Args:
        lines: of the file ``path``, from byte ``start`` on.
        path: the file, for messages.
        start: 0 for the beginning of the file, which may have a byte order mark.
        todo: the advice in messages; None for correcting the line.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = Line(path, number, start, todo)
        try:
            text = line.decode("utf-8-sig" if number == 1 and not start else "utf-8")
            value = json.loads(text)
        except UnicodeDecodeError as error:
            raise where.error("UTF-8", str(error), "convert the file to UTF-8") from None
        except (ValueError, RecursionError) as error:
            found = f"{text[:60]!r} … ({error})"
            raise where.error("a line that is one JSON object", found) from None
        yield where, value


def _until(lines: Iterable[bytes], end: int) -> Iterator[bytes]:
    """Yield the lines that begin before byte ``end``, the first one beginning at byte 0."""
    position = 0
    for line in lines:
        if position >= end:
            return
        position += len(line)
        yield line
