"""Figures of papers, which stand only beside scores on whole corpora and whole benchmarks."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from evaluation.reporting.averages import Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import NONE, Cell, Row
from evaluation.reporting.notes import OTHERS
from evaluation.reporting.published import PAPERS, PEOPLE

Published = Mapping[str, float]
"""Group or dataset to what a paper states of an encoder, in per cent."""


def published_means(inputs: Inputs, averages: Sequence[Average]) -> list[Row]:
    """Return a row for each encoder of the papers with one of these averages, of one benchmark.

    The first two cells name it, and stand for its mean rank.
    """

    def mean(scores: Published, average: Average) -> float | None:
        if average.group is None or average.missing or not _whole(inputs, average.datasets):
            return None
        # The mean that a paper states is over datasets that are withdrawn since then, too.
        if average.group.abbreviation in scores and not average.withdrawn:
            return scores[average.group.abbreviation]
        known = [scores[name] for name in average.datasets if name in scores]
        return fmean(known) if len(known) == len(average.datasets) else None

    def means(scores: Published) -> list[float | None]:
        return [None, *(mean(scores, average) for average in averages)]

    return _rows(averages[0].benchmark, means)


def published_scores(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Row]:
    """Return a row for each encoder of the papers that has a score on one of the datasets."""
    whole = {name for name in datasets if _whole(inputs, [name])}
    return _rows(
        benchmark, lambda scores: [scores.get(name) if name in whole else None for name in datasets]
    )


def published_ranges(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> dict[str, Cell]:
    """Return dataset to the lowest and highest score of the papers' encoders, if they have any."""
    cells = {}
    for name in datasets:
        values = [
            scores[name]
            for paper in PAPERS
            for encoder, scores in paper.scores.items()
            if benchmark in paper.benchmarks and name in scores and encoder != PEOPLE
        ]
        if values and _whole(inputs, [name]):
            span = f"{min(values):.1f} … {max(values):.1f}"
            cells[name] = Cell(span, value=max(values) / 100)
    return cells


def _whole(inputs: Inputs, datasets: Sequence[str]) -> bool:
    """Return whether none of the datasets is a sample, so that papers' scores can be compared."""
    return inputs.samples.isdisjoint(datasets)


def _rows(benchmark: str, values_of: Callable[[Published], list[float | None]]) -> list[Row]:
    """Return a row for each encoder of the papers on a benchmark that has one of the values."""
    rows = []
    for paper in PAPERS:
        for encoder, scores in paper.scores.items() if benchmark in paper.benchmarks else ():
            values = values_of(scores)
            if any(value is not None for value in values):
                name = Cell(f"{encoder}, {paper.paper}", marks=(OTHERS,))
                cells = (
                    Cell(NONE) if v is None else Cell(f"{v:.1f}", value=v / 100) for v in values
                )
                rows.append(Row((name, *cells), "published"))
    return rows
