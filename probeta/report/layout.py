"""Tables independent of a format: their cells, their marks, and the format of numbers."""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import Any, Literal, TypeVar

from evaluation.measures import COVERAGE
from probeta.report.texts import all_texts, phrase, translated

NONE = "–"
# The coverage of all intervals.
COVERED = f"{100 * COVERAGE:.0f} %"
SMALL, NOT_SHOWN, FEW, OTHERS, LEAKS = "*", "†", "‡", "§", "¶"
TIED, SAMPLE, DIFFERENT = "≈", "(s)", "(d)"

Kind = Literal["fact", "encoder", "published"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        detail: further content, shown less visibly beside the text.
        marks: of the notes in the table of texts.
        value: of a score as a fraction, or the number that the text writes; None for a text.
    """

    text: str
    detail: str = ""
    marks: tuple[str, ...] = ()
    value: float | None = None
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, the first cell of which names it."""

    cells: tuple[Cell, ...]
    kind: Kind = "fact"


@dataclass(frozen=True, slots=True)
class Table:
    """A table independent of a format; without rows, only ``about`` is shown.

    Attributes:
        name: of letters, digits and hyphens, unique in a report.
        about: paragraphs that explain it.
        texts: number of text columns at the left; the others are numbers.
        caption: the explanation that a table in a paper needs.
    """

    name: str
    title: str
    header: tuple[Cell, ...]
    rows: tuple[Row, ...]
    about: tuple[str, ...] = ()
    texts: int = 1
    caption: tuple[str, ...] = ()


Content = Cell | str | float | None
"""What stands in a cell: a text; a share or a correlation, shown × 100; or nothing."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading or the key of its phrase; ``cell`` returns the content about a row."""

    heading: Cell | str
    cell: Callable[[Any], Content]


def columns_of(
    items: Iterable[Item],
    cell: Callable[[Item, Any], Content],
    heading: Callable[[Item], Cell | str] = str,
) -> list[Column]:
    """Return a column for each item; ``cell`` takes the item, and what a row is about."""
    return [Column(cell_of(heading(item)), partial(cell, item)) for item in items]


def rows_of(
    subjects: Iterable[Any], columns: Sequence[Column], kind: Kind = "fact"
) -> tuple[Row, ...]:
    """Return a row about each subject."""
    return tuple(
        Row(tuple(cell_of(column.cell(subject)) for column in columns), kind)
        for subject in subjects
    )


def lay_out(
    key: str,
    subjects: Iterable[Any] = (),
    columns: Sequence[Column] = (),
    *,
    name: str = "",
    texts: int = 1,
    more: Sequence[str] = (),
    kind: Kind = "fact",
    last: Iterable[Row] = (),
    **words: object,
) -> Table:
    """Return a table with a row about each subject, of a ``kind``, and the ``last`` rows.

    ``key``: of its title and what explains it (``more``: further paragraphs; ``words``: what stands
    in the braces) in the table of texts. ``name``: of the table, if it is not the key; ``texts``:
    number of text columns.
    """
    return Table(
        name or key,
        all_texts()[key].get("title", "").format(**words),
        tuple(
            h if isinstance(h := column.heading, Cell) else Cell(phrase(h)) for column in columns
        ),
        (*rows_of(subjects, columns, kind), *last),
        (*paragraphs(key, **words), *more),
        texts,
        paragraphs(key, "caption", **words),
    )


def paragraphs(key: str, part: str = "about", /, **words: object) -> tuple[str, ...]:
    """Return what explains a table, "about" it or as its "caption"."""
    written = (text.format(covered=COVERED, **words) for text in all_texts()[key].get(part, ()))
    return tuple(filter(None, written))


def cell_of(content: Content) -> Cell:
    """Return the cell with some content."""
    if isinstance(content, Cell):
        return content
    return Cell(content) if isinstance(content, str) else percent_cell(content)


def percent(value: float | None) -> str:
    """Return a share or a correlation × 100 with one decimal."""
    return NONE if value is None else f"{100 * value:z.1f}"


def signed(value: float) -> str:
    """Return a difference × 100 with one decimal and its sign."""
    text = f"{100 * value:+z.1f}"
    return "0.0" if text == "+0.0" else text


def bracketed(ends: tuple[float, float], write: Callable[[float], str] = percent) -> str:
    """Return an interval."""
    return f"[{', '.join(map(write, ends))}]"


def name_cell(encoder: str) -> Cell:
    """Return the cell that names an encoder in a row."""
    return Cell(encoder, strong=True)


def percent_cell(
    value: float | None, detail: str = "", marks: tuple[str, ...] = (), strong: bool = False
) -> Cell:
    """Return the cell of a share or a correlation; None if there is no value."""
    return Cell(percent(value), detail, marks, value, strong)


def count_cell(value: float, text: str = "{:,}", detail: str = "") -> Cell:
    """Return the cell of a number, as ``text`` formats it."""
    return Cell(text.format(value), detail, value=value)


def spaced(name: str) -> str:
    """Return a name of the data in words."""
    return translated(name.replace("_", " "))


def in_words(parts: Iterable[object]) -> str:
    """Return a name of the data and its values in words, each one translated."""
    return " ".join(spaced(str(part)) for part in parts)


def unused_name(text: str, used: Container[str] = ()) -> str:
    """Return a name of letters, digits and hyphens like a text, and not one of those in use."""
    plain = re.sub("[^A-Za-z0-9]+", "-", text).strip("-") or "encoder"
    numbered = (f"{plain}-{number}" for number in count(2))
    return next(name for name in chain([plain], numbered) if name not in used)
