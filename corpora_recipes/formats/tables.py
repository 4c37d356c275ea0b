"""Tables of plain text: rows of fields between tabs, without quoting, as data are published."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpora_recipes.errors import InputError


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        where: the file and the number of the line, from 1, for messages.
        fields: column to value; nothing is stripped from the values.
    """

    where: str
    fields: dict[str, str]

    def error(self, expected: str, found: str, todo: str = "correct it") -> InputError:
        """Return the error that names this row."""
        return InputError(self.where, expected=expected, found=found, todo=todo)


def decoded_lines(data: Iterable[bytes], where: str) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, without its end, and where it stands.

    Only a line feed ends a line, with or without a carriage return before it. A byte order mark
    at the beginning is removed. A line of blanks is skipped, one of tabs is not.

    Args:
        data: the lines as bytes.
        where: the file, for messages.

    Yields:
        "FILE, line N", and the line.

    Raises:
        InputError: a line is not in UTF-8, or holds a carriage return, or there is no line.
    """
    count = 0
    for number, line in enumerate(data, 1):
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
            yield f"{where}, line {number}", text
    if not count:
        raise InputError(
            where, expected="one line or more", found="an empty file", todo="fetch the file again"
        )


def table_rows(data: bytes, where: str, columns: Sequence[str], *, header: bool) -> Iterator[Row]:
    """Yield the rows of a table; lines are those of ``decoded_lines``.

    A quotation mark is a character like any other: one that never closes swallows nothing.

    Args:
        data: the file.
        where: the file, for messages.
        columns: the columns that are needed.
        header: whether the first line names the columns, which may then be more, and in any order
            (blanks around the names do not count); else the columns are exactly these.

    Raises:
        InputError: a column is missing or named twice, a row has another number of fields, or the
            lines are not as ``decoded_lines`` wants them.
    """
    lines = decoded_lines(data.split(b"\n"), where)
    names = list(columns)
    if header:
        first, text = next(lines)
        names = [name.strip() for name in text.split("\t")]
        if twice := sorted({name for name in columns if names.count(name) > 1}):
            raise InputError(
                first,
                expected="each column once",
                found=f"{', '.join(twice)} more than once",
                todo="take the file as its publisher gives it",
            )
        if missing := [column for column in columns if column not in names]:
            raise InputError(
                first,
                expected=f"the names of the columns, with {', '.join(columns)} among them",
                found=f"no {', '.join(missing)} in {text[:200]!r}",
                todo="take the file as its publisher gives it, or restore the header line",
            )
    for place, text in lines:
        fields = text.split("\t")
        if len(fields) != len(names):
            raise InputError(
                place,
                expected=f"{len(names)} fields between tabs: {', '.join(names)}",
                found=f"{len(fields)} in {text[:200]!r}",
                todo="take the file as its publisher gives it, or correct the line",
            )
        yield Row(place, dict(zip(names, fields, strict=True)))
