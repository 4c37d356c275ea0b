"""Tables independent of a format: their cells, and the format of numbers."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, TypeVar

from corpora_recipes.running.yaml_text import load_yaml
from evaluation.measures.intervals import COVERAGE
from evaluation.results.comparison import Difference

NONE = "–"
# The coverage of all intervals.
COVERED = f"{100 * COVERAGE:.0f} %"
TABLES: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name("tables.yaml"))
"""What is written above tables, by their names, and "notes": mark to its explanation."""

Kind = Literal["fact", "encoder", "published"]
Tone = Literal["", "better", "worse", "tie", "pass", "chance", "inherited", "undeclared", "miss"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: its content.
        detail: further content, shown less visibly beside it.
        marks: of ``evaluation.reporting.notes.NOTES``.
        value: the sort key of rows; None to sort by the text.
        strong: whether it is bold.
        tone: its meaning as a colour; the text says the same.
        strip: for a score, the interval's ends and the baseline to beat.
        unit: of ``value``, in a column of several units; rows are sorted by unit first.
        title: what the text stands for, shown when it is pointed at.
        link: the part of the page that says more, and the state to show it in.
    """

    text: str
    detail: str = ""
    marks: tuple[str, ...] = ()
    value: float | None = None
    strong: bool = False
    tone: Tone = ""
    strip: tuple[float, float, float] | None = None
    unit: str = ""
    title: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: the first one names the row.
        kind: a row of an encoder, of published scores, or of other facts.
        group: abbreviation of its group of tasks, if it has one.
    """

    cells: tuple[Cell, ...]
    kind: Kind = "fact"
    group: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table independent of a format.

    Attributes:
        name: of letters, digits and hyphens, unique in a report.
        title: heading and caption.
        header: the names of the columns.
        rows: each as long as the header; without rows, only ``about`` is shown.
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
    """A column of a table.

    Attributes:
        heading: its name.
        cell: returns its content in the row about a subject.
    """

    heading: Cell | str
    cell: Callable[[Any], Content]


def columns_of(
    items: Iterable[Item],
    cell: Callable[[Item, Any], Content],
    heading: Callable[[Item], Cell | str] = str,
) -> list[Column]:
    """Return a column for each item; ``cell`` takes the item, and what a row is about."""
    return [Column(heading(item), partial(cell, item)) for item in items]


def rows_of(
    subjects: Iterable[Any],
    columns: Sequence[Column],
    kind: Kind = "fact",
    group: Callable[[Any], str] = lambda subject: "",
) -> tuple[Row, ...]:
    """Return a row about each subject, of the group that ``group`` returns for it."""
    return tuple(
        Row(tuple(cell_of(column.cell(subject)) for column in columns), kind, group(subject))
        for subject in subjects
    )


def lay_out(
    key: str,
    subjects: Iterable[Any],
    columns: Sequence[Column],
    *,
    name: str = "",
    texts: int = 0,
    more: Sequence[str] = (),
    kind: Kind = "fact",
    group: Callable[[Any], str] = lambda subject: "",
    words: Mapping[str, object] | None = None,
) -> Table:
    """Return a table with a row about each subject.

    Args:
        key: of the table in tables.yaml, which has its title and what explains it.
        subjects: what the rows are about.
        columns: those of the table.
        name: of the table, if it is not ``key``.
        texts: the number of text columns, if tables.yaml does not say it.
        more: further paragraphs that explain it.
        kind: of its rows.
        group: returns the group of a row.
        words: what stands in the braces of tables.yaml.
    """
    declared = TABLES[key]
    return Table(
        name or key,
        declared["title"].format(**(words or {})),
        headings(columns),
        rows_of(subjects, columns, kind, group),
        (*paragraphs(key, words), *more),
        texts or declared.get("texts", 1),
        paragraphs(key, words, "caption"),
    )


def paragraphs(
    key: str, words: Mapping[str, object] | None, what: str = "about"
) -> tuple[str, ...]:
    """Return what explains a table by tables.yaml, "about" it or as its "caption"."""
    written = (text.format(covered=COVERED, **(words or {})) for text in TABLES[key].get(what, ()))
    return tuple(filter(None, written))


def headings(columns: Iterable[Column]) -> tuple[Cell, ...]:
    """Return the names of columns."""
    return tuple(cell_of(column.heading) for column in columns)


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


def named(encoder: str) -> Cell:
    """Return the cell that names an encoder in a row."""
    return Cell(encoder, strong=True)


def percent_cell(
    value: float | None, detail: str = "", marks: tuple[str, ...] = (), strong: bool = False
) -> Cell:
    """Return the cell of a share or a correlation; None if there is no value."""
    return Cell(percent(value), detail, marks, value, strong)


def difference_cell(difference: Difference | None) -> Cell:
    """Return the cell of a difference of two encoders; None if there is no difference."""
    if difference is None:
        return Cell(NONE)
    return Cell(
        signed(difference.value),
        bracketed(difference.interval, signed) + (" tie" if difference.tie else ""),
        (),
        difference.value,
        not difference.tie,
        tone(difference),
    )


def tone(difference: Difference) -> Tone:
    """Return how the first of two encoders compares to the second."""
    if difference.tie:
        return "tie"
    return "better" if difference.value > 0 else "worse"


def about_differences(unit: str) -> str:
    """Return an explanation of the differences.

    Args:
        unit: what is left out, such as "cluster".
    """
    return paragraphs("difference", {"unit": unit})[0]


def spaced(name: str) -> str:
    """Return a name with spaces for underscores."""
    return name.replace("_", " ")


def titled(name: str) -> str:
    """Return a name in words, as a heading."""
    return spaced(name).capitalize()


def unused_name(wanted: str, used: Container[str]) -> str:
    """Return a name of letters, digits and hyphens, as similar to the wanted one as possible.

    Args:
        wanted: any text.
        used: names that are taken.
    """
    plain = re.sub("[^A-Za-z0-9]+", "-", wanted).strip("-") or "encoder"
    numbered = (f"{plain}-{place}" for place in count(2))
    return next(name for name in chain([plain], numbered) if name not in used)
