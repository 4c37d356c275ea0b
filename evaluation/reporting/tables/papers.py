"""Figures of papers, which stand only beside scores on whole corpora and whole benchmarks."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from evaluation.reporting.averages import Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import NONE, Cell, Row
from evaluation.reporting.notes import OTHERS
from evaluation.reporting.published import PAPERS, PEOPLE, Paper


def published_means(inputs: Inputs, averages: Sequence[Average]) -> list[Row]:
    """Return a row for each encoder of the papers with one of these averages, of one benchmark.

    The first two cells name it, and stand for its mean rank.
    """
    whole = [
        own.datasets if not own.missing and _comparable(inputs, own.datasets) else ()
        for own in averages
    ]

    def mean(scores: Mapping[str, float], place: int) -> float | None:
        group, datasets = averages[place].group, whole[place]
        if not datasets or group is None:
            return None
        # The mean that a paper states is over datasets that are withdrawn since then, too.
        if group.abbreviation in scores and not averages[place].withdrawn:
            return scores[group.abbreviation]
        known = [scores[name] for name in datasets if name in scores]
        return fmean(known) if len(known) == len(datasets) else None

    rows = []
    for paper in _papers(averages[0].benchmark):
        for encoder, scores in paper.scores.items():
            values = [mean(scores, place) for place in range(len(averages))]
            rows += _row(paper, encoder, [None, *values])
    return rows


def published_scores(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Row]:
    """Return a row for each encoder of the papers that has a score on one of the datasets."""
    rows = []
    for paper in _papers(benchmark):
        for encoder, scores in paper.scores.items():
            values = [
                scores.get(name) if _comparable(inputs, [name]) else None for name in datasets
            ]
            rows += _row(paper, encoder, values)
    return rows


def published_ranges(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Cell]:
    """Return the lowest and highest score of the papers' encoders; [] if they have none."""
    cells = []
    for name in datasets:
        own = [
            scores[name]
            for paper in _papers(benchmark)
            for encoder, scores in paper.scores.items()
            if name in scores and encoder != PEOPLE
        ]
        shown = own and _comparable(inputs, [name])
        cells.append(
            Cell(f"{min(own):.1f} … {max(own):.1f}", value=max(own) / 100) if shown else Cell(NONE)
        )
    return cells if any(cell.value is not None for cell in cells) else []


def _papers(benchmark: str) -> Iterator[Paper]:
    return (paper for paper in PAPERS if benchmark in paper.benchmarks)


def _comparable(inputs: Inputs, datasets: Sequence[str]) -> bool:
    return inputs.samples.isdisjoint(datasets)


def _row(paper: Paper, encoder: str, values: Sequence[float | None]) -> list[Row]:
    """Return a row with a paper's scores of an encoder; none if it has none."""
    cells = [Cell(NONE) if v is None else Cell(f"{v:.1f}", value=v / 100) for v in values]
    if all(cell.value is None for cell in cells):
        return []
    return [Row((Cell(f"{encoder}, {paper.paper}", marks=(OTHERS,)), *cells), "published")]
