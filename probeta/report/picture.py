"""The picture of the averages: encoders × groups of tasks, a dot and its interval, as SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from markupsafe import Markup

from corpora_recipes.escaping import render_html
from probeta.report.averages import Average, Mean
from probeta.report.inputs import Inputs
from probeta.report.layout import COVERED, bracketed, percent
from probeta.report.tables.marks import people_mean
from probeta.report.texts import phrase, translated

# Most encoders that are drawn, the best ones; and most characters of a name.
MOST, LONGEST = 20, 24
# Pixels: a letter of a name, the plots of all groups and of one group, and what is between two.
_LETTER, _WIDE, _NARROW, _GAP = 7.8, 190, 120, 32
# The heights of a row, of a line of a heading, and of the numbers below.
_ROW, _LINE, _FOOT = 22, 15, 26
STYLE = Path(__file__).with_name("picture.css")


@dataclass(frozen=True, slots=True)
class Panel:
    """The means of an average, drawn from ``left`` on, ``width`` pixels wide.

    Attributes:
        heading: lines of text above it.
        means: encoder to mean, of those that have one.
        trivial: the mean without an encoder; ``people``: that of people, if all datasets have one.
        ends: of the scale, multiples of 0.1.
    """

    heading: tuple[str, ...]
    means: Mapping[str, Mean]
    trivial: float
    people: float | None
    ends: tuple[float, float]
    left: int
    width: int

    def place(self, value: float) -> str:
        """Return where a score stands, in pixels."""
        low, high = self.ends
        return f"{self.left + self.width * (value - low) / (high - low):.1f}"


@dataclass(frozen=True, slots=True)
class Picture:
    """The panels of a benchmark, that of all groups first.

    ``names``: encoder to its name as it is drawn, the best one first; ``more``: number of others.
    """

    benchmark: str
    names: Mapping[str, str]
    more: int
    panels: tuple[Panel, ...]

    @property
    def width(self) -> int:
        """In pixels, as all that follows."""
        return self.panels[-1].left + self.panels[-1].width + _GAP // 2

    @property
    def top(self) -> int:
        """Where its plots begin."""
        return _LINE // 2 + _LINE * max(len(panel.heading) for panel in self.panels)

    @property
    def bottom(self) -> int:
        """Where its plots end."""
        return self.top + _ROW * len(self.names)

    @property
    def height(self) -> int:
        """With the numbers below the plots."""
        return self.bottom + _FOOT


def pictures(inputs: Inputs) -> dict[str, Picture]:
    """Return benchmark to its picture; without one that has no average."""
    return {
        name: _picture(inputs, whole) for name, whole in inputs.wholes.items() if whole.datasets
    }


def _picture(inputs: Inputs, whole: Average) -> Picture:
    of_benchmark = (a for a in inputs.averages if a.benchmark == whole.benchmark and a.datasets)
    groups = [average for average in of_benchmark if average.group]
    order = list(dict.fromkeys([*inputs.means(whole.datasets), *inputs.names]))
    names = {name: name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in order}
    shown = {name: names[name] for name in order[:MOST]}
    panels: list[Panel] = []
    left = math.ceil(_LETTER * max(map(len, shown.values()))) + _GAP // 2
    # A single group is all of them.
    for average in [whole, *groups] if len(groups) > 1 else groups:
        width = _NARROW if panels else _WIDE
        panels.append(_panel(inputs, average, [*shown], left, width))
        left += width + _GAP
    return Picture(translated(whole.benchmark), shown, len(order) - len(shown), tuple(panels))


def _panel(
    inputs: Inputs, average: Average, encoders: Sequence[str], left: int, width: int
) -> Panel:
    datasets = average.datasets
    means = {name: mean for name in encoders if (mean := inputs.mean(datasets, name))}
    trivial = inputs.trivial(*datasets)
    people = people_mean(inputs, datasets)
    drawn = [trivial, *(end for mean in means.values() for end in mean.interval)]
    drawn += [] if people is None else [people]
    low, high = math.floor(10 * min(drawn)) / 10, math.ceil(10 * max(drawn)) / 10
    title = translated(average.group.title) if average.group else phrase("all_groups")
    heading = (average.heading, *wrap(title, width // 6))
    return Panel(heading, means, trivial, people, (low, max(high, low + 0.1)), left, width)


def draw(shown: Sequence[Picture], *, alone: bool = False, sample: bool = False) -> Markup:
    """Return pictures as one SVG element, below each other; ``alone``: as a file.

    A file has its colours, and says so if scores are those of a ``sample``.
    """
    first, *_ = shown
    label = phrase("picture", benchmarks=", ".join(picture.benchmark for picture in shown))
    people = any(panel.people is not None for picture in shown for panel in picture.panels)
    return Markup(
        render_html(
            Path(__file__).with_name("picture.svg"),
            pictures=shown,
            width=max(picture.width for picture in shown),
            row=_ROW,
            line=_LINE,
            label=label,
            people=people,
            more=first.more,
            alone=alone,
            sample=sample,
            style=Markup(STYLE.read_text("utf-8")),
            phrase=phrase,
            percent=percent,
            bracketed=bracketed,
            covered=COVERED,
        )
    )
