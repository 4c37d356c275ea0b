"""The summary of a report as lines for a terminal: averages, or the scores on small datasets."""

from collections.abc import Iterator, Mapping, Sequence

from builders.audit_report import DETECTABLE_AT_MOST, detectable_of
from evaluation.results.scores import Score
from probeta.report.layout import NONE, bracketed, percent
from probeta.report.statistics import Average, Mean, Report
from probeta.report.texts import phrase
from probeta.scores import OWN, align

MAX_COLUMNS = 80
# Characters that are shown of a name.
_MAX_NAME_LENGTH = 24


def summarise(report: Report) -> str:
    """Return the averages over benchmarks, and the scores on benchmarks that have none.

    Rows are benchmarks or datasets, columns encoders, the best one first. Scores are points of 100,
    with 95 % intervals; a line has ``MAX_COLUMNS`` characters at most.
    """
    averages = report.benchmark_averages.values()
    means = {average.benchmark: report.means(average.datasets) for average in averages}
    rows = {
        average.benchmark: [_count(average), percent(report.baseline_score(*average.datasets))]
        for average in averages
        if means[average.benchmark]
    }
    lines = [phrase("summary")]
    if rows:
        heading = phrase("summary_averages").split()
        lines += ["", *_table(heading, rows, report.names, means)]
    for average in averages:
        if average.benchmark not in rows:
            lines += ["", *_describe_datasets(report, average)]
    return "\n".join(lines) + "\n"


def _count(average: Average) -> str:
    """Return how many datasets of a benchmark are averaged: "11", or "9 of 11"."""
    n, n_others = len(average.datasets), len(average.missing + average.too_small)
    return phrase("some_of", count=n, all=n + n_others) if n_others else str(n)


def _describe_datasets(report: Report, average: Average) -> Iterator[str]:
    """Yield the scores on the datasets of a benchmark without an average, and what they bear."""
    inputs = report.inputs
    names = [name for name in inputs.datasets if inputs.benchmark(name) == average.benchmark]
    rows = {}
    for name in names:
        shares = detectable_of(inputs.audit[name]), report.baseline_score(name)
        rows[name] = [f"{inputs.any_score(name).n_rows:,}", *map(percent, shares)]
    heading = [average.benchmark, *phrase("summary_scores").split()]
    yield from _table(heading, rows, report.names, inputs.datasets)
    if not average.too_small:
        yield phrase("summary_incomplete")
        return
    yield phrase("summary_small", least=100 * DETECTABLE_AT_MOST)
    if average.benchmark == OWN:
        in_folds = all(inputs.any_score(name).folds for name in names)
        yield phrase("summary_documents" if in_folds else "summary_folds")


def _table(
    heading: Sequence[str],
    rows: Mapping[str, Sequence[str]],
    encoders: Sequence[str],
    scores: Mapping[str, Mapping[str, Mean | Score]],
) -> Iterator[str]:
    """Yield a table, of as many blocks below each other as its encoders need."""
    names = list(map(_shorten, [heading[0], *rows]))
    facts = [[name, *(facts[n] for facts in rows.values())] for n, name in enumerate(heading[1:])]
    blocks = [[names, *facts]]
    for encoder in encoders:
        column = [_shorten(encoder), *(_cell(scores[row].get(encoder)) for row in rows)]
        if max(map(len, align([*blocks[-1], column], {0}))) > MAX_COLUMNS:
            blocks.append([names])
        blocks[-1].append(column)
    for block in blocks:
        yield from align(block, {0})


def _cell(score: Mean | Score | None) -> str:
    return f"{percent(score.value)} {bracketed(score.interval)}" if score else NONE


def _shorten(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
