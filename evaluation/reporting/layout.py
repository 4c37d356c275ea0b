"""Tables without a format: what stands in them, and how numbers are written."""

import re
from collections.abc import Container
from dataclasses import dataclass
from itertools import chain, count
from typing import Literal

from evaluation.comparison import Difference

NONE = "–"
BOLD = "and what the paired test cannot tell from it"

Kind = Literal["fact", "encoder", "published"]
Tone = Literal["", "better", "worse", "tie", "pass", "chance", "inherited", "miss"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what stands in it.
        detail: what stands beside it, less visibly.
        marks: of ``evaluation.report.tables.NOTES``.
        value: what rows are sorted by; None for the text.
        strong: whether it stands out.
        tone: what it says at a glance; never the only sign of it.
        strip: of a score, the interval's ends and what is to be beaten.
        unit: of ``value``, where a column has several; rows are sorted by it first.
    """

    text: str
    detail: str = ""
    marks: tuple[str, ...] = ()
    value: float | None = None
    strong: bool = False
    tone: Tone = ""
    strip: tuple[float, float, float] | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: the first one names the row.
        kind: whether it is of an encoder, of what others published, or something else.
        group: the group of tasks that it is of, if it is of one.
    """

    cells: tuple[Cell, ...]
    kind: Kind = "fact"
    group: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table without a format.

    Attributes:
        name: of letters, digits and hyphens, unique in a report.
        title: heading and caption.
        header: the names of the columns.
        rows: each as long as the header; where there are none, what it is about is all there is.
        about: what to know before reading it, a paragraph each.
        texts: so many columns at the left are text, the others are numbers.
        caption: what of the introduction a table needs that stands alone, as in a paper.
    """

    name: str
    title: str
    header: tuple[Cell, ...]
    rows: tuple[Row, ...]
    about: tuple[str, ...] = ()
    texts: int = 1
    caption: tuple[str, ...] = ()


def percent(value: float | None) -> str:
    """Return a share or a correlation × 100 with one decimal."""
    return NONE if value is None else f"{100 * value:z.1f}"


def signed(value: float) -> str:
    """Return a difference × 100 with one decimal and its sign."""
    text = f"{100 * value:+z.1f}"
    return "0.0" if text == "+0.0" else text


def named(encoder: str) -> Cell:
    """Return the cell that names an encoder in a row."""
    return Cell(encoder, strong=True)


def percent_cell(value: float | None, detail: str = "", strong: bool = False) -> Cell:
    """Return the cell of a share or a correlation, None for none."""
    return Cell(percent(value), detail, (), value, strong)


def difference_cell(difference: Difference | None) -> Cell:
    """Return the cell of a difference of two encoders, None for none."""
    if difference is None:
        return Cell(NONE)
    low, high = difference.interval
    return Cell(
        signed(difference.value),
        f"[{signed(low)}, {signed(high)}]" + " tie" * difference.tie,
        (),
        difference.value,
        not difference.tie,
        tone(difference),
    )


def tone(difference: Difference) -> Tone:
    """Return how the first of two encoders stands to the second."""
    if difference.tie:
        return "tie"
    return "better" if difference.value > 0 else "worse"


def about_differences(drawn: str) -> str:
    """Return what to know of differences.

    Args:
        drawn: what the bootstrap resamples, such as "the clusters".
    """
    return (
        "Points that the first encoder is ahead of the second, with the 95 % interval of the "
        f"difference by the paired bootstrap: both are measured in the same resamples of {drawn}. "
        "Where the interval holds 0 the two are tied: the test cannot tell them apart. The "
        "intervals are of single differences: of twenty ties, one is expected to look like a "
        "difference. Differences in bold are no ties."
    )


def headings(*names: str) -> tuple[Cell, ...]:
    """Return the names of columns."""
    return tuple(map(Cell, names))


def spaced(name: str) -> str:
    """Return a name in words."""
    return name.replace("_", " ")


def titled(name: str) -> str:
    """Return a name in words, as a heading."""
    return spaced(name).capitalize()


def unused_name(wanted: str, used: Container[str]) -> str:
    """Return a name of letters, digits and hyphens that is as wanted as can be.

    Args:
        wanted: any text.
        used: what it must not be.
    """
    plain = re.sub("[^A-Za-z0-9]+", "-", wanted).strip("-") or "encoder"
    numbered = (f"{plain}-{place}" for place in count(2))
    return next(name for name in chain([plain], numbered) if name not in used)
