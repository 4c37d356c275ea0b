"""Tables as they are read: numbers and names as texts, lines and columns of a data frame."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from evaluation.measures import COVERAGE
from probeta.report.texts import all_texts, phrase, translated

NONE = "–"
# The coverage of all intervals.
COVERED = f"{100 * COVERAGE:.0f} %"
SMALL, NOT_SHOWN, FEW, OTHERS, LEAKS = "*", "†", "‡", "§", "¶"
SAMPLE, DIFFERENT = "(s)", "(d)"
# Most names that a sentence lists, if there are two others or more.
MAX_LISTED = 3
# Most characters of an error that a list quotes.
MAX_ERROR_LENGTH = 80
KINDS = ("fact", "encoder", "published", "reported", "baseline", "people")
"""What a number is of, in the order of lines; of an encoder if it is not said."""
# Columns whose values are shown as they are, and those whose values are names in code.
_USERS = {"encoder", "dataset", "new", "old"}
_CODE = {"baseline", "casing", "layers", "measure", "probe", "similarity", "task", "vectors"}
_CODE |= {"vocabulary"}


Number = dict[str, Any]
"""A row of a table: column to value."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, further content shown less visibly, marks of "notes", and whether bold."""

    text: str
    detail: str = ""
    marks: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table independent of a format.

    Attributes:
        name: of letters, digits and hyphens, unique in a report.
        about: paragraphs that explain it.
        texts: number of text columns at the left; the others are numbers.
        header: cells.
        rows: the kind of a line, see ``KINDS``, and its cells.
    """

    name: str
    title: str
    about: tuple[str, ...]
    texts: int
    header: list[Cell]
    rows: list[tuple[str, list[Cell]]]


class Layout:
    """How numbers stand as tables.

    Attributes:
        key: of the title and the paragraphs in the table of texts.
        rows, columns, tables: the columns of the numbers that name a line, a column, and a table;
            given as words of one text.
    """

    def __init__(self, key: str, rows: str, columns: str, tables: str = "") -> None:
        self.key, self.rows = key, rows.split()
        self.columns, self.tables = columns.split(), tables.split()


def lay_out(
    layout: Layout, numbers: Iterable[Number], marks: Callable[[str], str] = lambda dataset: ""
) -> list[Table]:
    """Return the tables of some numbers; without any, none.

    The braces of the texts are filled from the first number of a table.

    Args:
        layout: how they stand.
        numbers: see ``probeta.report.tables``.
        marks: returns those of a dataset.
    """
    parts: dict[tuple[Any, ...], list[Number]] = {}
    for each in numbers:
        parts.setdefault(tuple(each[key] for key in layout.tables), []).append(each)
    tables: list[Table] = []
    for values, part in parts.items():
        labels = map(label, layout.tables, values)
        words = part[0] | dict(zip(layout.tables, labels, strict=True))
        name = unused_name(" ".join(map(str, (layout.key, *values))), [t.name for t in tables])
        title = all_texts()[layout.key]["title"].format(**words)
        # What holds for all tables is said with the first one.
        written = paragraphs(layout.key, "caption", **words)
        written += () if tables else paragraphs(layout.key, "about", **words)
        tables.append(_pivot(layout, part, marks, name, title, written))
    return tables


def _pivot(
    layout: Layout,
    part: Sequence[Number],
    marks: Callable[[str], str],
    name: str,
    title: str,
    about: tuple[str, ...],
) -> Table:
    cells: dict[tuple[Any, ...], dict[tuple[Any, ...], Cell]] = {}
    columns: dict[tuple[Any, ...], None] = {}
    for each in part:
        line = (each.get("kind", "encoder"), *(each[key] for key in layout.rows))
        column = tuple(each[key] for key in layout.columns)
        columns[column] = None
        cells.setdefault(line, {})[column] = _number_cell(each)

    def names(keys: Sequence[str], values: Sequence[Any], kind: str = "encoder") -> Iterator[Cell]:
        for key, value in zip(keys, values, strict=True):
            mark = OTHERS if kind == "published" and key == "encoder" else ""
            yield Cell(label(key, value, kind), marks=marks(value) if key == "dataset" else mark)

    header = [Cell(phrase(key)) for key in layout.rows]
    for column in columns:
        named = list(names(layout.columns, column))
        text, mark = ", ".join(c.text for c in named), " ".join(c.marks for c in named).strip()
        header.append(Cell(text, marks=mark))
    rows = []
    for line in sorted(cells, key=lambda line: KINDS.index(line[0])):
        kind, *values = line
        numbers = [cells[line].get(column, Cell(NONE)) for column in columns]
        rows.append((kind, [*names(layout.rows, values, kind), *numbers]))
    return Table(name, title, about, len(layout.rows), header, rows)


def _number_cell(number: Number) -> Cell:
    value, note, unit = number["value"], number.get("note", ""), number.get("unit", "")
    if value is None:
        return Cell(note or NONE)
    text = UNITS[unit](value)
    if (deviation := number.get("deviation")) is not None:
        text += f" ± {percent(deviation)}"
    if "low" in number:
        ends = (number["low"], number["high"])
        note = f"{bracketed(ends, UNITS[unit])} {note}".rstrip()
    mark = number.get("mark", "")
    marks = {
        NOT_SHOWN: mark in ("w", "s"),
        SAMPLE: number.get("sample", False),
        DIFFERENT: number.get("different", False),
    }
    shown = " ".join(each for each, applies in marks.items() if applies)
    return Cell(text, note, shown, number.get("strong", mark in ("L", "l")))


def label(key: str, value: Any, kind: str = "encoder") -> str:
    """Return what a line or column is called by a value in a column of a data frame."""
    if kind in ("fact", "baseline", "people") and key in ("encoder", "trained_on"):
        return phrase(str(value))
    if key in _USERS:
        return str(value)
    return spaced(str(value)) if key in _CODE else translated(str(value))


def paragraphs(key: str, part: str = "about", /, **words: object) -> tuple[str, ...]:
    """Return what explains a table, "about" it or as its "caption"."""
    written = (text.format(covered=COVERED, **words) for text in all_texts()[key].get(part, ()))
    return tuple(filter(None, written))


def percent(value: float | None) -> str:
    """Return a share or a correlation × 100 with one decimal."""
    return NONE if value is None else f"{100 * value:z.1f}"


def signed(value: float) -> str:
    """Return a difference × 100 with one decimal and its sign."""
    text = f"{100 * value:+z.1f}"
    return "0.0" if text == "+0.0" else text


def with_minus(number: str) -> str:
    """Return a number as a sentence writes it: with a minus sign."""
    return number.replace("-", "−")


def bracketed(ends: tuple[float, float], write: Callable[[float], str] = percent) -> str:
    """Return an interval."""
    return f"[{', '.join(map(write, ends))}]"


UNITS: Mapping[str, Callable[[float], str]] = {
    "": percent,
    "points": signed,
    "number": "{:,.1f}".format,
    "ratio": "{:,.2f}".format,
    "fraction": "{:,.3f}".format,
    "count": "{:,.0f}".format,
}
"""Unit of a number to the function that writes it."""


def spaced(name: str) -> str:
    """Return a name of the data in words."""
    return translated(name.replace("_", " "))


def in_words(parts: Iterable[object]) -> str:
    """Return a name of the data and its values in words, each one translated."""
    return " ".join(spaced(str(part)) for part in parts)


def abbreviate(names: Sequence[str]) -> str:
    """Return some names in words: a few of them, and how many others there are."""
    others = len(names) - MAX_LISTED
    if others < 2:
        return ", ".join(names)
    return phrase("others", names=", ".join(names[:MAX_LISTED]), others=others)


def shorten_error(why: str) -> str:
    """Return the part "found" of the message of an error; of another text its first line."""
    match = re.search(r"^ *found: *(.*)", why, re.MULTILINE)
    text = match[1] if match else why.partition("\n")[0]
    return text if len(text) <= MAX_ERROR_LENGTH else f"{text[:MAX_ERROR_LENGTH]} …"


def unused_name(text: str, used: Container[str] = ()) -> str:
    """Return a name of letters, digits and hyphens like a text, and not one of those in use."""
    plain = re.sub("[^A-Za-z0-9]+", "-", text).strip("-") or "encoder"
    numbered = (f"{plain}-{number}" for number in count(2))
    return next(name for name in chain([plain], numbered) if name not in used)
