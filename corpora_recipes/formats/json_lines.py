"""JSON Lines: a file as ranges of bytes for workers, and each line with its place for messages."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.errors import InputError

# Large enough that reading it hides the cost of a task, small enough for any worker's memory.
BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class LineRange:
    """A block: the lines that begin in a range of a file's bytes.

    Attributes:
        key: the file's name in the corpus and ``start``.
        path: the file.
        start: the range's first byte.
        end: the byte after it.
    """

    key: str
    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """Where a line stands; its number in the file is counted only when a message needs it.

    Attributes:
        path: the file.
        number: of the line, from 1, in what was read.
        start: the byte from which on lines were read.
        todo: the next step for whatever is wrong with the file, where its user did not write it.
    """

    path: Path
    number: int
    start: int = 0
    todo: str | None = None

    def error(self, expected: str, found: str, todo: str = "correct it") -> InputError:
        """Return the error that names this line."""
        before = 0
        if self.start:
            with self.path.open("rb") as file:
                before = sum(1 for _ in _until(file, self.start))
        where = f"{self.path}, line {before + self.number}"
        return InputError(where, expected=expected, found=found, todo=self.todo or todo)


def line_ranges(path: Path, name: str) -> list[LineRange]:
    """Cut a file into ranges of ``BLOCK_BYTES``; ``name`` is its name in the corpus."""
    size = path.stat().st_size
    return [
        LineRange(f"{name}:{start}", path, start, min(start + BLOCK_BYTES, size))
        for start in range(0, size, BLOCK_BYTES)
    ]


def range_lines(block: LineRange) -> Iterator[bytes]:
    """Yield the lines of a range; a line belongs to the range that its first byte lies in."""
    with block.path.open("rb") as file:
        if block.start:
            # The range before has the line that covers its last byte.
            file.seek(block.start - 1)
            file.readline()
        yield from _until(file, block.end - file.tell())


def parse_lines(
    lines: Iterable[bytes], path: Path, start: int = 0, todo: str | None = None
) -> Iterator[tuple[Line, Any]]:
    """Yield the value of each line that is not empty, and where the line stands.

    Args:
        lines: of the file ``path``, from byte ``start`` on.
        path: the file, for messages.
        start: 0 for the beginning of the file, where a byte order mark may stand.
        todo: the next step that messages name; None for correcting the line.

    Raises:
        InputError: a line is no JSON, or not in UTF-8.
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
            raise where.error(
                "a line that is one JSON object",
                f"{text[:60]!r} … ({error})",
                "correct the JSON of this line; a document stands on one line",
            ) from None
        yield where, value


def _until(lines: Iterable[bytes], end: int) -> Iterator[bytes]:
    """Yield the lines that begin before byte ``end``, the first one beginning at byte 0."""
    position = 0
    for line in lines:
        if position >= end:
            return
        position += len(line)
        yield line
