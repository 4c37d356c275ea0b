"""Tables of plain text: tab-separated fields, without quoting."""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LONGEST_ROW, MOST_LINES


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        file: the file, for messages.
        line: number of the row's line, from 1; 0 if the row is the whole file.
        fields: column to value; nothing is stripped from the values.
    """

    file: str
    line: int
    fields: dict[str, str]

    @property
    def where(self) -> str:
        """The file and the line, for messages."""
        return f"{self.file}, line {self.line}" if self.line else self.file

    def error(self, expected: str, found: str, todo: str = "correct the row") -> InputError:
        """Return the error that names this row."""
        return InputError(self.where, expected=expected, found=found, todo=todo)


def decoded_lines(data: Iterable[bytes], where: str) -> Iterator[tuple[int, str]]:
    """Yield each line that is not empty, without its line end, with its number.

    Only a line feed ends a line, with or without a carriage return before it. A byte order mark
    at the beginning is removed. A line of spaces is skipped, a line of tabs is not.

    Args:
        data: the lines as bytes.
        where: the file, for messages.

    Yields:
        The number of the line, from 1, and the line.

    Raises:
        InputError: a line is not in UTF-8, holds a carriage return or is longer than
            ``LONGEST_ROW``, or the file is empty.
    """
    count = 0
    for number, line in enumerate(data, 1):
        if len(line) > LONGEST_ROW or number > MOST_LINES:
            raise InputError(
                f"{where}, line {number}",
                expected=f"at most {MOST_LINES:,} lines of at most {LONGEST_ROW:,} bytes",
                found=f"one of {len(line):,} bytes" if number <= MOST_LINES else "more",
                todo="check that it is the right file, and use it as published",
            )
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{where}, line {number}",
                expected="UTF-8 throughout the file",
                found=str(error),
                todo="convert the file, or this line of it, to UTF-8",
            ) from None
        text = text.removesuffix("\n").removesuffix("\r")
        if "\r" in text:
            raise InputError(
                f"{where}, line {number}",
                expected="lines that end in a line feed, with or without a carriage return",
                found="a carriage return inside the line",
                todo="convert the line ends of the file",
            )
        if text.strip(" "):
            count += 1
            yield number, text
    if not count:
        raise InputError(
            where, expected="one line or more", found="an empty file", todo="fetch the file again"
        )


def table_rows(data: bytes, where: str, columns: Sequence[str], *, header: bool) -> Iterator[Row]:
    """Yield the rows of a table; lines are those of ``decoded_lines``.

    A quotation mark is an ordinary character, so an unclosed one does no harm.

    Args:
        data: the file.
        where: the file, for messages.
        columns: the required columns.
        header: whether the first line names the columns, which may then be more, and in any order
            (white space around names is ignored); otherwise the columns are exactly these.

    Raises:
        InputError: a column is missing or named twice, a row has another number of fields, or the
            lines are not as ``decoded_lines`` wants them.
    """
    lines = decoded_lines(io.BytesIO(data), where)
    names = list(columns)
    if header:
        number, text = next(lines)
        first = Row(where, number, {})
        names = [name.strip() for name in text.split("\t")]
        if twice := sorted({name for name in columns if names.count(name) > 1}):
            found = f"{', '.join(twice)} more than once"
            raise first.error("each column once", found, "take the file as its publisher gives it")
        if missing := [column for column in columns if column not in names]:
            raise first.error(
                f"the names of the columns, with {', '.join(columns)} among them",
                f"no {', '.join(missing)} in {text[:200]!r}",
                "take the file as its publisher gives it, or restore the header line",
            )
    for number, text in lines:
        fields = text.split("\t")
        row = Row(where, number, dict(zip(names, fields, strict=False)))
        if len(fields) != len(names):
            raise row.error(
                f"{len(names)} fields between tabs: {', '.join(names)}",
                f"{len(fields)} in {text[:200]!r}",
                "take the file as its publisher gives it, or correct the line",
            )
        yield row
