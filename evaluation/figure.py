"""The figure of a report: a line a dataset, a dot an encoder, with intervals and baselines."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from evaluation.results import Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito 2008, "Color universal design", without black and the yellow that white swallows;
# a marker of its own for each encoder besides.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "D", "^", "v", "P")
# So many lines stand in one column of the figure.
LONGEST = 16


def draw(
    encoders: Sequence[str],
    datasets: Mapping[str, Mapping[str, Score]],
    trivial: Mapping[str, float],
) -> "Figure":
    """Draw the scores.

    Args:
        encoders: their names.
        datasets: dataset to encoder to score, in the order of the lines.
        trivial: dataset to the score of its best trivial baseline, 0 … 1.

    Returns:
        A figure of as many columns as keep each within ``LONGEST`` datasets.
    """
    from matplotlib.figure import Figure

    names = list(datasets)
    count = -(-len(names) // LONGEST)
    lines = -(-len(names) // count)
    height = 0.3 + 0.2 * len(encoders)
    figure = Figure(figsize=(7 * count + 1, 1.6 + height * lines), layout="constrained")
    for column, axes in enumerate(figure.subplots(1, count, squeeze=False)[0]):
        own = names[column * lines : (column + 1) * lines]
        _draw_column(axes, encoders, {name: datasets[name] for name in own}, trivial, lines)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
    return figure


def _draw_column(
    axes: "Axes",
    encoders: Sequence[str],
    datasets: Mapping[str, Mapping[str, Score]],
    trivial: Mapping[str, float],
    height: int,
) -> None:
    any_score = [next(iter(scores.values())) for scores in datasets.values()]
    ticks: list[tuple[str, list[float | None], str, Literal["solid", "dotted", "dashed"]]] = [
        ("majority", [score.majority for score in any_score], "#666666", "solid"),
        ("chance", [score.chance for score in any_score], "#666666", "dotted"),
        ("best trivial", [trivial[dataset] for dataset in datasets], "#000000", "dashed"),
    ]
    for label, values, colour, style in ticks:
        # Correlations have neither majority nor chance.
        there = [(line, 100 * value) for line, value in enumerate(values) if value is not None]
        axes.vlines(
            [value for _, value in there],
            [line - 0.4 for line, _ in there],
            [line + 0.4 for line, _ in there],
            colour,
            style,
            linewidth=1.5,
            label=label,
        )
    for i, encoder in enumerate(encoders):
        offset = 0.6 * ((i + 0.5) / len(encoders) - 0.5)
        own = [
            (line, scores[encoder])
            for line, scores in enumerate(datasets.values())
            if encoder in scores
        ]
        axes.errorbar(
            [100 * score.value for _, score in own],
            [line + offset for line, _ in own],
            # Resampling can leave the score itself just outside of its interval.
            xerr=[
                [100 * max(0.0, score.value - score.interval[0]) for _, score in own],
                [100 * max(0.0, score.interval[1] - score.value) for _, score in own],
            ],
            fmt=MARKERS[i % len(MARKERS)],
            color=COLOURS[i % len(COLOURS)],
            markersize=6,
            capsize=3,
            # A dot at 0 or 100 is drawn whole.
            clip_on=False,
            label=encoder,
        )
    named = [
        f"{score.dataset}\n({'in folds' if score.folds else 'test'}: {score.asked:,})"
        for score in any_score
    ]
    axes.set_yticks(range(len(datasets)), named)
    axes.set_ylim(height - 0.5, -0.5)
    # Correlations can be negative.
    lowest = min(score.interval[0] for scores in datasets.values() for score in scores.values())
    axes.set_xlim(min(0, 100 * lowest), 100)
    metrics = {score.metric for score in any_score}
    axes.set_xlabel(
        " or ".join(
            words
            for metric, words in (
                ("accuracy", "accuracy (%)"),
                ("pearson", "Pearson correlation (× 100)"),
            )
            if metric in metrics
        )
        + " on test, 95 % interval"
    )
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def image(figure: "Figure", kind: str) -> bytes:
    """Return the figure as "svg" or "png"; the same scores give the same bytes."""
    import matplotlib

    # Neither a date nor random identifiers.
    metadata: dict[str, None] = {"svg": {"Date": None}, "png": {"Software": None}}[kind]
    stream = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "probeta"}):
        figure.savefig(stream, format=kind, metadata=metadata, dpi=150)
    return stream.getvalue()
