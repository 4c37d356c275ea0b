"""From results to what is read: a Markdown table, a figure and DVC's metrics."""

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_file
from evaluation.results import Results, Score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A test smaller than this gets a note: at 1,000 rows the standard error reaches 1.6 points.
SMALL_TEST = 1000
# Okabe and Ito 2008, "Color universal design", without black and the yellow that white swallows;
# a marker of its own for each encoder besides.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "D", "^", "v", "P")


def write_report(results: Sequence[Results], out: Path) -> None:
    """Write ``report.md``, ``scores.svg``, ``scores.png`` and ``metrics.json`` into a folder.

    Args:
        results: one an encoder.
        out: the folder; made if need be.

    Raises:
        InputError: there are none, two are of one encoder, or two are of different rows, seeds or
            protocols.
    """
    if not results:
        raise InputError(
            out,
            expected="results of one encoder or more",
            found="none",
            todo="probe an encoder of params.yaml: `dvc repro`",
        )
    encoders = sorted(results, key=lambda r: r.name)
    _check_comparable(encoders)
    datasets = _by_dataset(encoders)
    figure = draw(encoders, datasets)
    files = {
        "report.md": table(encoders, datasets).encode(),
        "scores.svg": _image(figure, "svg"),
        "scores.png": _image(figure, "png"),
        "metrics.json": (json.dumps(metrics(encoders), indent=2) + "\n").encode(),
    }
    for name, content in files.items():
        with whole_file(out / name) as temporary:
            temporary.write_bytes(content)


def metrics(encoders: Sequence[Results]) -> dict[str, dict[str, float]]:
    """Return dataset to encoder to accuracy, 0 … 1."""
    datasets = _by_dataset(encoders)
    return {
        dataset: {name: score.accuracy for name, score in scores.items()}
        for dataset, scores in datasets.items()
    }


def table(encoders: Sequence[Results], datasets: dict[str, dict[str, Score]]) -> str:
    """Return the report as Markdown.

    Args:
        encoders: the results, sorted by name.
        datasets: dataset to encoder to score.
    """
    first = encoders[0]
    header = ["Dataset", "Task", "Train / validation / test", "Chance", "Majority"]
    rows = [[*header, *(results.name for results in encoders)]]
    rows.append(["---", "---", "---:", "---:", "---:", *("---:" for _ in encoders)])
    small = False
    for dataset, scores in datasets.items():
        any_score = next(iter(scores.values()))
        is_small = any_score.rows["test"] < SMALL_TEST
        small |= is_small
        rows.append(
            [
                dataset + (" \\*" if is_small else ""),
                any_score.task.replace("_", " "),
                " / ".join(f"{count:,}" for count in any_score.rows.values()),
                _percent(any_score.chance),
                _percent(any_score.majority),
                *(_cell(scores.get(results.name)) for results in encoders),
            ]
        )
    coverage = f"{100 * first.bootstrap['coverage']:.0f} %"
    lines = [
        "# Scores",
        "",
        f"Accuracy on test in per cent, with the {coverage} bootstrap interval in brackets "
        f"({first.bootstrap['resamples']:,} resamples of the test's documents). Majority is the "
        "accuracy of always answering with train's most frequent class. Probe protocol "
        f"`{first.protocol['name']}`, version {first.protocol['version']}; seed {first.seed}.",
        "",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
    if small:
        lines += [
            f"\\* The test has fewer than {SMALL_TEST:,} rows: differences of a few points may be "
            "chance.",
            "",
        ]
    lines += ["![Scores](scores.svg)", "", "## Encoders", ""]
    for results in encoders:
        encoder = results.encoder
        options = ", ".join(f"{key} {value}" for key, value in encoder["options"].items())
        lines.append(
            f"- `{results.name}`: {encoder['encoder']}, revision {encoder['revision']}, "
            f"{encoder['dimension']} dimensions, {encoder['form']} text"
            + (f"; {options}" if options else "")
        )
    return "\n".join(lines) + "\n"


def draw(encoders: Sequence[Results], datasets: dict[str, dict[str, Score]]) -> "Figure":
    """Draw the scores: a line a dataset, a dot an encoder, with interval, majority and chance.

    Args:
        encoders: the results, sorted by name.
        datasets: dataset to encoder to score.
    """
    from matplotlib.figure import Figure

    height = 0.3 + 0.2 * len(encoders)
    figure = Figure(figsize=(8, 1.6 + height * len(datasets)), layout="constrained")
    axes = figure.add_subplot()
    lines = range(len(datasets))
    any_score = [next(iter(scores.values())) for scores in datasets.values()]
    low, high = [line - 0.4 for line in lines], [line + 0.4 for line in lines]
    majority = [100 * score.majority for score in any_score]
    chance = [100 * score.chance for score in any_score]
    axes.vlines(majority, low, high, "#666666", "solid", linewidth=1.5, label="majority")
    axes.vlines(chance, low, high, "#666666", "dotted", linewidth=1.5, label="chance")
    for i, results in enumerate(encoders):
        offset = 0.6 * ((i + 0.5) / len(encoders) - 0.5)
        own = [
            (line, scores[results.name])
            for line, scores in enumerate(datasets.values())
            if results.name in scores
        ]
        axes.errorbar(
            [100 * score.accuracy for _, score in own],
            [line + offset for line, _ in own],
            # Resampling can leave the accuracy itself just outside of its interval.
            xerr=[
                [100 * max(0.0, score.accuracy - score.interval[0]) for _, score in own],
                [100 * max(0.0, score.interval[1] - score.accuracy) for _, score in own],
            ],
            fmt=MARKERS[i % len(MARKERS)],
            color=COLOURS[i % len(COLOURS)],
            markersize=6,
            capsize=3,
            label=results.name,
        )
    axes.set_yticks(
        lines, [f"{score.dataset}\n(test: {score.rows['test']:,})" for score in any_score]
    )
    axes.set_ylim(len(datasets) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("accuracy on test (%), 95 % interval")
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


def _check_comparable(encoders: Sequence[Results]) -> None:
    first = encoders[0]
    digests: dict[str, tuple[str, str]] = {}
    names: set[str] = set()
    for results in encoders:
        if results.name in names:
            raise _not_comparable(results.name, "one result file an encoder", "two")
        names.add(results.name)
        for what, of in _SHARED.items():
            if of(results) != of(first):
                raise _not_comparable(
                    results.name, f"the {what} of {first.name}, {of(first)}", str(of(results))
                )
        for score in results.scores:
            digest, other = digests.setdefault(score.dataset, (score.digest, results.name))
            if digest != score.digest:
                raise _not_comparable(
                    f"{results.name}, dataset {score.dataset}",
                    f"the rows that {other} was probed on, SHA-256 {digest}",
                    score.digest,
                )


_SHARED: dict[str, Callable[[Results], Any]] = {
    "seed": lambda results: results.seed,
    "protocol": lambda results: results.protocol,
    "bootstrap": lambda results: results.bootstrap,
}


def _not_comparable(where: str, expected: str, found: str) -> InputError:
    return InputError(
        f"results of {where}",
        expected=expected,
        found=found,
        todo="probe all encoders on the same instances: `dvc repro`",
    )


def _by_dataset(encoders: Sequence[Results]) -> dict[str, dict[str, Score]]:
    """Return dataset to encoder to score; datasets by task, then name."""
    scores = chain.from_iterable(results.scores for results in encoders)
    order = sorted({(score.task, score.dataset) for score in scores})
    return {
        dataset: {
            results.name: score
            for results in encoders
            for score in results.scores
            if score.dataset == dataset
        }
        for _, dataset in order
    }


def _image(figure: "Figure", kind: str) -> bytes:
    import matplotlib

    # Neither a date nor random identifiers, so that the same scores give the same bytes.
    metadata: dict[str, None] = {"svg": {"Date": None}, "png": {"Software": None}}[kind]
    stream = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "probeta"}):
        figure.savefig(stream, format=kind, metadata=metadata, dpi=150)
    return stream.getvalue()


def _cell(score: Score | None) -> str:
    if score is None:
        return "–"
    low, high = score.interval
    return f"{_percent(score.accuracy)} [{_percent(low)}, {_percent(high)}]"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"
