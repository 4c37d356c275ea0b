"""The figures: averages as an SVG of dots and intervals, layers and ranks by matplotlib."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from builders.tasks.benchmarks import Group
from corpora_recipes.escaping import render_html
from evaluation.arrays import Doubles
from probeta.report.layout import COVERED, bracketed, percent
from probeta.report.statistics import Average, Mean, Report
from probeta.report.tables import people_mean
from probeta.report.tables.encoders import Profile
from probeta.report.texts import phrase, translated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure


# Most encoders that are drawn, the best ones; and most characters of a name.
MAX_DRAWN, MAX_NAME_LENGTH = 20, 24
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
        baseline: the mean without an encoder; ``people``: that of people, if all datasets have one.
        ends: of the scale, multiples of 0.1.
    """

    heading: tuple[str, ...]
    means: Mapping[str, Mean]
    baseline: float
    people: float | None
    ends: tuple[float, float]
    left: int
    width: int

    def x(self, value: float) -> str:
        """Return the place of a score, in pixels."""
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


def pictures(report: Report) -> dict[str, Picture]:
    """Return benchmark to its picture; without one that has no average."""
    averages = report.benchmark_averages.items()
    return {name: _picture(report, average) for name, average in averages if average.datasets}


def _picture(report: Report, whole: Average) -> Picture:
    averages = [a for a in report.averages if a.benchmark == whole.benchmark and a.datasets]
    groups = [average for average in averages if average.group]
    order = list(dict.fromkeys([*report.means(whole.datasets), *report.names]))
    names = {name: _cut_name(name) for name in order[:MAX_DRAWN]}
    panels: list[Panel] = []
    left = math.ceil(_LETTER * max(map(len, names.values()))) + _GAP // 2
    # A single group is all of them.
    for average in [whole, *groups] if len(groups) > 1 else groups:
        width = _NARROW if panels else _WIDE
        panels.append(_panel(report, average, [*names], left, width))
        left += width + _GAP
    return Picture(translated(whole.benchmark), names, len(order) - len(names), tuple(panels))


def _cut_name(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"


def _panel(
    report: Report, average: Average, encoders: Sequence[str], left: int, width: int
) -> Panel:
    datasets = average.datasets
    means = {name: mean for name in encoders if (mean := report.mean(datasets, name))}
    baseline = report.baseline_score(*datasets)
    people = people_mean(report, datasets)
    drawn = [baseline, *(end for mean in means.values() for end in mean.interval)]
    drawn += [] if people is None else [people]
    low, high = math.floor(10 * min(drawn)) / 10, math.ceil(10 * max(drawn)) / 10
    title = translated(average.group.title) if average.group else phrase("all_groups")
    heading = (average.heading, *wrap(title, width // 6))
    return Panel(heading, means, baseline, people, (low, max(high, low + 0.1)), left, width)


def draw_averages(drawn: Sequence[Picture], *, alone: bool = False, sample: bool = False) -> Markup:
    """Return pictures as one SVG element, below each other; ``alone``: as a file.

    A file has its colours, and says so if scores are those of a ``sample``.
    """
    first, *_ = drawn
    label = phrase("picture", benchmarks=", ".join(picture.benchmark for picture in drawn))
    people = any(panel.people is not None for picture in drawn for panel in picture.panels)
    return Markup(
        render_html(
            Path(__file__).with_name("picture.svg"),
            pictures=drawn,
            width=max(picture.width for picture in drawn),
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


# Okabe and Ito 2008, "Color universal design", without black, and without yellow, which is hard to
# see on white; each encoder has its marker, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "D", "^", "v", "P")
# Most pixels of a picture's height or width; matplotlib refuses 65,536.
MAX_PIXELS = 30_000
# Standard deviations at which the colours of the heatmap end.
MAX_DEVIATION = 2.5


def _escape(name: str) -> str:
    """Return a name escaped for matplotlib, which reads text between $ as a formula."""
    return name.replace("$", r"\$")


def draw_layers(profiles: Sequence[Profile], *, sample: bool = False) -> "Figure":
    """Draw a heatmap for each encoder and benchmark: rows are layers, columns datasets.

    As Figure 8 of Chen et al. (2019): each column is standardised over the layers. A dot marks its
    best layer, or all that share the best score; the layers' average is a separate row below.
    """
    from matplotlib.figure import Figure

    heights = [len(profile.rows) for profile in profiles]
    widest = max(len(profile.datasets) for profile in profiles)
    # Names of datasets, groups and encoders take two inches of a panel.
    size = (max(6, 2 + 0.34 * widest), 0.27 * sum(heights) + 2.4 * len(profiles) + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(profiles), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, profile in zip(panels, profiles, strict=True):
        mesh = _draw_profile(axes, profile)
    if sample:
        figure.supxlabel(phrase("sample_figure"))
    bar = figure.colorbar(mesh, ax=list(panels), location="bottom", pad=0.01, aspect=40)
    bar.set_label(phrase("deviations_axis"))
    bar.outline.set_visible(False)
    return figure


def draw_groups(profiles: Sequence[Profile], *, sample: bool = False) -> "Figure":
    """Draw the mean score of each group of a benchmark by layer, a line for each encoder.

    As Figure 10 of Araujo et al. (2022). A mean is over the datasets that all encoders have.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(profile.encoder for profile in profiles))
    shared: dict[str, set[str]] = {}
    for profile in profiles:
        datasets = set(profile.datasets)
        shared[profile.benchmark] = shared.get(profile.benchmark, datasets) & datasets
    panels: dict[tuple[str, Group], list[tuple[Profile, list[int]]]] = {}
    for profile in profiles:
        columns: dict[Group, list[int]] = {}
        for i, (name, group) in enumerate(zip(profile.datasets, profile.groups, strict=True)):
            if name in shared[profile.benchmark]:
                columns.setdefault(group, []).append(i)
        for group, places in columns.items():
            panels.setdefault((profile.benchmark, group), []).append((profile, places))
    width = min(3, len(panels))
    height = -(-len(panels) // width)
    figure = Figure(figsize=(3.2 * width + 1, 2.6 * height + 0.6), layout="constrained")
    grid = figure.subplots(height, width, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.remove()
    handles: dict[str, Any] = {}
    for axes, ((benchmark, group), lines) in zip(grid, panels.items(), strict=False):
        for profile, places in lines:
            i = names.index(profile.encoder)
            (handles[profile.encoder],) = axes.plot(
                list(map(int, profile.layers)),
                100 * profile.values[: len(profile.layers), places].mean(axis=1),
                color=COLOURS[i % len(COLOURS)],
                marker=MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],
                markersize=4,
            )
        axes.set_title(
            f"{group.abbreviation}, {_escape(translated(benchmark))}", fontsize=10, loc="left"
        )
        axes.grid(axis="y", color="#dddddd")
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.get_major_locator().set_params(integer=True)
    label = phrase("layer_axis")
    label = f"{label}. {phrase('sample_figure')}" if sample else label
    figure.supxlabel(label, fontsize=10)
    figure.supylabel(phrase("means_axis"), fontsize=10)
    labels = list(map(_escape, handles))
    figure.legend(
        list(handles.values()), labels, loc="outside upper center", ncols=5, frameon=False
    )
    return figure


def _draw_profile(axes: "Axes", profile: Profile) -> "QuadMesh":
    count = len(profile.layers)
    # Upwards from the lowest layer; the others are half a row below it.
    places = [*range(count), *(-1.5 - i for i in range(len(profile.apart)))]
    columns = range(len(profile.datasets) + 1)
    blocks = [(0.0, count, 0)]
    blocks += [(place, 1, count + i) for i, place in enumerate(places[count:])]
    for place, height, start in blocks:
        mesh = axes.pcolormesh(
            columns,
            [place + i for i in range(height + 1)],
            profile.standard[start : start + height],
            cmap="PuOr_r",
            vmin=-MAX_DEVIATION,
            vmax=MAX_DEVIATION,
            edgecolors="white",
            linewidth=0.5,
        )
    axes.plot(
        [column + 0.5 for column, best in enumerate(profile.best) for _ in best],
        [index + 0.5 for best in profile.best for index in best],
        "o",
        color="black",
        markersize=4,
        label="best layer",
    )
    axes.set_yticks([place + 0.5 for place in places], list(map(_escape, profile.rows)))
    names = list(map(_escape, profile.datasets))
    axes.set_xticks([i + 0.5 for i in range(len(names))], names, rotation=90)
    start = 0
    for group, datasets in groupby(profile.groups):
        width = len(list(datasets))
        title = group.abbreviation
        # Two letters a column stand upright.
        turned = 90 if len(title) > 2 * width else 0
        axes.text(start + width / 2, count + 0.2, title, ha="center", va="bottom", rotation=turned)
        if start:
            axes.axvline(start, color="black", linewidth=1)
        start += width
    axes.set_ylabel(phrase("layer_axis"))
    title = _escape(f"{profile.encoder}, {translated(profile.benchmark)}\n{profile.best_layer}")
    axes.set_title(title, fontsize=10, loc="left", pad=52)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return mesh


def draw_ranks(
    ranks: Mapping[str, tuple[Doubles, Doubles]], encoders: Sequence[str], *, sample: bool = False
) -> "Figure":
    """Draw a panel for each measure: each encoder's rank by it, and by the mean of all tasks.

    As Figure 4 of Wang, Kuo and Li (2022).
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(ranks), 4.6), layout="constrained")
    panels = figure.subplots(1, len(ranks), squeeze=False)[0]
    for axes, (measure, places) in zip(panels, ranks.items(), strict=True):
        axes.axline((1, 1), slope=1, color="#dddddd")
        axes.plot(*places, "o", color=COLOURS[0])
        for name, x, y in zip(encoders, *places, strict=True):
            axes.annotate(_escape(name), (x, y), (4, 4), textcoords="offset points", fontsize=8)
        axes.set(title=_escape(measure), xlabel=phrase("by_measure"), ylabel=phrase("by_tasks"))
        axes.margins(0.35, 0.1)
    if sample:
        figure.supxlabel(phrase("sample_figure"))
    return figure


def image(figure: "Figure", kind: str) -> bytes:
    """Return the figure as "svg" or "png"; the same scores give the same bytes."""
    import matplotlib

    # No date, no random identifiers.
    metadata: dict[str, None] = {"svg": {"Date": None}, "png": {"Software": None}}[kind]
    stream = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "probeta"}):
        dpi = min(150.0, MAX_PIXELS / max(figure.get_size_inches()))
        figure.savefig(stream, format=kind, metadata=metadata, dpi=dpi)
    return stream.getvalue()


def inline(figure: "Figure", label: str) -> str:
    """Return the figure as an SVG element for a page: text is text, black is the page's colour."""
    import matplotlib

    stream = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "probeta", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    svg = stream.getvalue().decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    # The page gives the size and the colours.
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    points = f"{72 * figure.get_figwidth():.0f}"
    svg = svg.replace("#000000", "currentColor").replace("#dddddd", "var(--grid)")
    svg = svg.replace("#666666", "var(--muted)")
    attributes = f'role="img" aria-label="{escape(label)}" style="--points: {points}"'
    return svg.replace("<svg", f"<svg {attributes}", 1)
