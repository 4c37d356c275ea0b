"""What stands first: a warning of samples, which encoder is best, and the averages."""

from statistics import fmean

from evaluation.reporting.averages import Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    COVERED,
    NONE,
    Cell,
    Row,
    Table,
    bracketed,
    headings,
    percent_cell,
    unused_name,
)
from evaluation.reporting.notes import NOT_SHOWN, SAMPLE
from evaluation.reporting.tables.marks import BOLD, best_marked, sampled
from evaluation.reporting.tables.papers import published_means
from evaluation.reporting.tables.scores import OF_SCALE, depends_on_scale, metric_of
from evaluation.results.comparison import tied_with

# Most encoders that a sentence lists, if there are two others or more.
LISTED = 3


def warning(inputs: Inputs) -> str:
    """Return what must be known before any score is read: samples, missing datasets; "" if none."""
    parts = (_of_samples(inputs), _of_missing(inputs), _of_left_out(inputs))
    return " ".join(filter(None, parts))


def _of_left_out(inputs: Inputs) -> str:
    if not inputs.left_out:
        return ""
    why = " ".join(f"{what}: {' '.join(fault.split())}." for what, fault in inputs.left_out.items())
    return f"Left out for a fault, so that averages may be incomplete: {why}"


def _of_missing(inputs: Inputs) -> str:
    if not inputs.missing:
        return ""
    how = " ".join(dict.fromkeys(inputs.missing.values()))
    return (
        f"Incomplete: missing are {', '.join(inputs.missing)}, whose corpora must be asked for, so "
        f"that averages over them are incomplete. {how}"
    )


def _of_samples(inputs: Inputs) -> str:
    count, total = len(inputs.samples), sum(map(len, inputs.audited.values()))
    if not count:
        return ""
    which = f"all {total}" if count == total else f"{count} of {total}"
    return (
        f"Sample data, do not report: {which} datasets were built from the small samples that are "
        f"part of Probeta to try it out, not from the corpora. Their scores are marked {SAMPLE}; "
        "no figures of papers are shown beside them."
    )


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
    benchmarks = dict.fromkeys(average.benchmark for average in inputs.averages)
    return [_averages(inputs, benchmark) for benchmark in benchmarks]


def _averages(inputs: Inputs, benchmark: str) -> Table:
    *groups, whole = (own for own in inputs.averages if own.benchmark == benchmark)
    columns = [_means(inputs, average) for average in (whole, *groups)]
    ranks = inputs.ranks[benchmark]
    rows = []
    for name in (*ranks, *(name for name in inputs.names if name not in ranks)):
        rank = ranks.get(name)
        place = (
            Cell(_rank(rank.value), bracketed(rank.interval, _rank), value=rank.value)
            if rank and len(ranks) > 1
            else Cell(NONE)
        )
        cells = (sampled(inputs, whole.datasets, place), *(column[name] for column in columns))
        rows.append(Row((Cell(name), *cells), "encoder"))
    rows += published_means(inputs, [whole, *groups])
    trivial = (percent_cell(fmean(map(inputs.trivial, own.datasets))) for own in (whole, *groups))
    rows.append(Row((Cell("trivial baselines"), Cell(NONE), *trivial)))
    about = [
        "Means over the datasets of a group (their number in brackets), and over all of them; "
        f"below, the {COVERED} interval. Mean rank: that of the encoder among those with "
        "all datasets, where 1 is the best. Trivial baselines: the means of Majority or Best "
        "trivial, whichever is higher. "
        + ", ".join(
            f"{own.group.abbreviation} {own.group.title.lower()}" for own in groups if own.group
        )
        + "."
    ]
    if whole.missing:
        about.append(f"Not in this report, so not in the means: {', '.join(whole.missing)}.")
    about += [
        f"Withdrawn, so in no mean, nor in those of papers: {name}; {why}."
        for name, why in whole.withdrawn.items()
    ]
    lacking = {
        name: [one for one in whole.datasets if name not in inputs.datasets[one]]
        for name in inputs.names
    }
    about += [f"{name} lacks {', '.join(ones)}." for name, ones in lacking.items() if ones]
    if len(inputs.names) > 1:
        about[0] += f" {BOLD.format('encoder of a column')}"
    table = f"scores-{unused_name(benchmark, ())}"
    header = (
        *headings("Encoder", "Mean rank"),
        *(
            Cell(
                own.heading,
                title=own.title,
                link=f"#{table}-title"
                + (f"?{table}.group={own.group.abbreviation}" if own.group else ""),
            )
            for own in (whole, *groups)
        ),
    )
    return Table(
        f"averages-{unused_name(benchmark, ())}",
        f"Averages: {benchmark}",
        header,
        tuple(rows),
        tuple(about),
        caption=(
            f"{metric_of(own.group for own in groups if own.group)} on test; probe protocol "
            f"{inputs.protocol['name']}.",
            *([OF_SCALE] if depends_on_scale(inputs) else ()),
        ),
    )


def _means(inputs: Inputs, average: Average) -> dict[str, Cell]:
    """Return encoder to the cell of its mean over the datasets of an average."""
    blind = fmean(map(inputs.blind, average.datasets))
    cells, beating = {}, set()
    for name in inputs.names:
        mean = inputs.mean(average, name)
        if mean is None:
            cells[name] = Cell(NONE)
            continue
        marks = () if _beats_trivial(inputs, average, name) else (NOT_SHOWN,)
        cells[name] = percent_cell(mean.value, bracketed(mean.interval), marks)
        if mean.interval[0] > blind:
            beating.add(name)
    marked = best_marked(cells, average.what, inputs.differences, beating)
    return {name: sampled(inputs, average.datasets, cell) for name, cell in marked.items()}


def _beats_trivial(inputs: Inputs, average: Average, name: str) -> bool:
    mean = inputs.mean(average, name)
    return mean is not None and mean.interval[0] > fmean(map(inputs.trivial, average.datasets))


def _rank(value: float) -> str:
    return f"{value:.1f}"
