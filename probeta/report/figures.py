"""The figures: means as an SVG of dots and intervals, layers and ranks by matplotlib."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.tasks.benchmarks import Group
from corpora_recipes.escaping import render_html
from evaluation.arrays import Doubles
from probeta.report.names import benchmark_name, group_name
from probeta.report.sentences import FEW
from probeta.report.statistics import Report
from probeta.report.tables.encoders import Profile
from probeta.report.texts import phrase, translated

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Pixels: a letter, the longest name, what is drawn beside it, a row, what is above and below them.
_LETTER, _NAME, _WIDTH, _ROW, _TOP, _FOOT = 7.2, 170, 460, 30, 46, 24
# Lanes of a row, between its encoders.
_LANE = 8


def draw_scores(report: Report) -> str:
    """Return the means of the best encoders as an SVG, a row each benchmark, on one scale.

    With intervals and the trivial baselines; of a single benchmark, a row each of its groups.
    """
    wholes = [average for average in report.benchmark_averages.values() if average.datasets]
    averages = [a for a in report.averages if a.datasets and (len(wholes) == 1 or not a.group)]
    encoders = report.names[:FEW]
    shown: list[dict[str, Any]] = []
    for average in averages:
        means = (report.mean(average.datasets, name) for name in encoders)
        whole = benchmark_name(average.benchmark, report.inputs)
        row = {
            "name": group_name(average.group) if average.group else whole,
            "baseline": report.baseline_score(*average.datasets),
            "people": report.people_mean(average.datasets),
            "means": [
                (mean, report.beats_baseline(mean, *average.datasets) > 0) if mean else None
                for mean in means
            ],
        }
        shown.append(row)
    low = min([0.0, *(m[0].interval[0] for row in shown for m in row["means"] if m)])
    start = -1.0 if low < -0.5 else -0.5 if low < 0 else 0.0
    ticks = [start + n * (1 - start) / 4 for n in range(5)]
    # The names of encoders stand beside each other above the rows.
    ends = accumulate(_LETTER * len(name) + 30 for name in encoders)
    return render_html(
        Path(__file__).with_name("picture.svg"),
        label=phrase("picture", benchmarks=", ".join(row["name"] for row in shown)),
        rows=shown,
        encoders=list(zip([0, *ends], [*encoders, ""], strict=True)),
        people=any(row["people"] is not None for row in shown),
        sample=bool(report.inputs.samples),
        ticks=ticks,
        x=lambda value: f"{_NAME + _WIDTH * (value - start) / (1 - start):.1f}",
        sizes={
            "width": _NAME + _WIDTH + 14,
            "row": _ROW,
            "top": _TOP,
            "foot": _FOOT,
            "lane": _LANE,
        },
        phrase=phrase,
    )


# Okabe and Ito 2008, "Color universal design", without black, and without yellow, which is hard to
# see on white; each encoder has its marker, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "D", "^", "v", "P")
# Most pixels of a picture's height or width; matplotlib refuses 65,536.
MAX_PIXELS = 30_000


def _escape(name: str) -> str:
    """Return a name escaped for matplotlib, which reads text between $ as a formula."""
    return name.replace("$", r"\$")


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
    if layout := figure.get_layout_engine():
        # Once; otherwise each file would be laid out and drawn twice.
        layout.execute(figure)
        figure.set_layout_engine(None)
    with matplotlib.rc_context({"svg.hashsalt": "probeta"}):
        dpi = min(150.0, MAX_PIXELS / max(figure.get_size_inches()))
        figure.savefig(stream, format=kind, metadata=metadata, dpi=dpi)
    return stream.getvalue()
