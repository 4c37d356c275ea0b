"""What stands first: a warning of samples, which encoder is best, and the averages."""

from dataclasses import replace
from statistics import fmean

from evaluation.reporting.averages import Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Column,
    Row,
    Table,
    bracketed,
    columns_of,
    lay_out,
    percent_cell,
    unused_name,
)
from evaluation.reporting.notes import SAMPLE
from evaluation.reporting.tables.marks import BOLD, compared, mean_cell, sampled
from evaluation.reporting.tables.papers import published_means
from evaluation.reporting.tables.scores import OF_SCALE, depends_on_scale, metric_of
from evaluation.results.comparison import tied_with

# Most encoders that a sentence lists, if there are two others or more.
LISTED = 3


def warning(inputs: Inputs) -> str:
    """Return what must be known before any score is read: samples, missing datasets; "" if none."""
    parts = []
    if inputs.samples:
        count, total = len(inputs.samples), sum(map(len, inputs.audited.values()))
        which = f"all {total}" if count == total else f"{count} of {total}"
        parts.append(
            f"Sample data, do not report: {which} datasets were built from the small samples that "
            "are part of Probeta to try it out, not from the corpora. Their scores are marked "
            f"{SAMPLE}; no figures of papers are shown beside them."
        )
    if inputs.missing:
        parts.append(
            f"Incomplete: missing are {', '.join(inputs.missing)}, whose corpora must be asked "
            "for, so that averages over them are incomplete. "
            + " ".join(dict.fromkeys(inputs.missing.values()))
        )
    if inputs.left_out:
        faults = (f"{what}: {' '.join(why.split())}." for what, why in inputs.left_out.items())
        parts.append(
            f"Left out for a fault, so that averages may be incomplete: {' '.join(faults)}"
        )
    return " ".join(parts)


def answers(inputs: Inputs) -> list[tuple[str, str]]:
    """Return each benchmark, with which encoder is best on it, and whether that is real."""
    return [
        (f"{average.benchmark}:", _answer(inputs, average))
        for average in inputs.averages
        if average.group is None
    ]


def _answer(inputs: Inputs, average: Average) -> str:
    ranks = inputs.ranks[average.benchmark]
    if not ranks:
        return "No encoder was probed on all of its datasets."
    best, *others = ranks
    below = [name for name in ranks if not _beats_trivial(inputs, average, name)]
    trivial = "Not shown to beat the trivial baselines on average: {}."
    none = "No encoder is shown to beat the trivial baselines on average."
    if not others:
        said = trivial.format(best) if below else "It beats the trivial baselines on average."
        return f"{best} is the only encoder with all of its datasets. {said}"
    tied = tied_with(best, average.what, inputs.differences)
    among = _some([name for name in others if name in tied])
    test = f"cannot distinguish it from {among}" if among else "distinguishes it from all others"
    mean = ranks[best]
    said = "All are shown to beat the trivial baselines on average."
    if below:
        said = trivial.format(_some(below)) if len(below) < len(ranks) else none
    return (
        f"{best} has the best mean rank of {len(ranks)} encoders, {mean.value:.1f} "
        f"{bracketed(mean.interval, _rank)}; by its mean score, the paired test {test}. {said}"
    )


def _some(names: list[str]) -> str:
    """Return some names of encoders, in words: a few of them, and how many others there are."""
    others = len(names) - LISTED
    if others < 2:
        return ", ".join(names)
    return f"{', '.join(names[:LISTED])} and {others} others"


def averages(inputs: Inputs) -> list[Table]:
    """Return the averages of each benchmark, and those over the user's own datasets."""
    return [_averages(inputs, benchmark) for benchmark in inputs.benchmarks]


def _averages(inputs: Inputs, benchmark: str) -> Table:
    *groups, whole = (average for average in inputs.averages if average.benchmark == benchmark)
    averages = [whole, *groups]
    ranks = inputs.ranks[benchmark]
    names = [*ranks, *(name for name in inputs.names if name not in ranks)]
    scores = f"scores-{unused_name(benchmark, ())}"

    def rank(encoder: str) -> Cell | None:
        if encoder not in ranks or len(ranks) == 1:
            return None
        mean = ranks[encoder]
        cell = Cell(_rank(mean.value), bracketed(mean.interval, _rank), value=mean.value)
        return sampled(inputs, whole.datasets, cell)

    def heading(average: Average) -> Cell:
        group = f"?{scores}.group={average.group.abbreviation}" if average.group else ""
        return Cell(average.heading, title=average.title, link=f"#{scores}-title{group}")

    means = {average.what: _means(inputs, average) for average in averages}
    columns = [
        Column("Encoder", Cell),
        Column("Mean rank", rank),
        *columns_of(averages, lambda average, encoder: means[average.what][encoder], heading),
    ]
    titles = [average.group for average in groups if average.group]
    bold = f" {BOLD.format('encoder of a column')}"
    missing = f"Not in this report, so not in the means: {', '.join(whole.missing)}."
    table = lay_out(
        "averages",
        names,
        columns,
        name=f"averages-{unused_name(benchmark, ())}",
        more=_not_averaged(inputs, whole),
        kind="encoder",
        words={
            "benchmark": benchmark,
            "groups": ", ".join(f"{group.abbreviation} {group.title.lower()}" for group in titles),
            "bold": bold if len(inputs.names) > 1 else "",
            "missing": missing if whole.missing else "",
            "metric": metric_of(titles),
            "protocol": inputs.protocol["name"],
            "of_scale": OF_SCALE if depends_on_scale(inputs) else "",
        },
    )
    trivial = (percent_cell(inputs.mean_trivial(average.datasets)) for average in averages)
    last = Row((Cell("trivial baselines"), Cell(NONE), *trivial))
    return replace(table, rows=(*table.rows, *published_means(inputs, averages), last))


def _not_averaged(inputs: Inputs, whole: Average) -> list[str]:
    """Return paragraphs on datasets that are withdrawn, or that encoders lack."""
    withdrawn = [
        f"Withdrawn, so in no mean, nor in those of papers: {name}; {why}."
        for name, why in whole.withdrawn.items()
    ]
    lacking = {
        name: [dataset for dataset in whole.datasets if name not in inputs.datasets[dataset]]
        for name in inputs.names
    }
    return withdrawn + [
        f"{name} lacks {', '.join(datasets)}." for name, datasets in lacking.items() if datasets
    ]


def _means(inputs: Inputs, average: Average) -> dict[str, Cell]:
    """Return encoder to the cell of its mean over the datasets of an average."""
    blind = fmean(map(inputs.blind, average.datasets))
    trivial = inputs.mean_trivial(average.datasets)
    means = {name: inputs.mean(average.datasets, name) for name in inputs.names}
    cells = {name: mean_cell(mean, trivial) for name, mean in means.items()}
    beating = {name for name, mean in means.items() if mean and mean.interval[0] > blind}
    return compared(inputs, average.datasets, cells, average.what, beating)


def _beats_trivial(inputs: Inputs, average: Average, name: str) -> bool:
    mean = inputs.mean(average.datasets, name)
    return mean is not None and mean.interval[0] > inputs.mean_trivial(average.datasets)


def _rank(value: float) -> str:
    return f"{value:.1f}"
