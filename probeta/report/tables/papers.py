"""Scores of papers beside ours, why some are not shown, and what differs from the papers."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from builders.tasks.differences import DIFFERENCES, differences_of
from evaluation.results.rankings import RankScore
from probeta.report import layout
from probeta.report.averages import Average
from probeta.report.inputs import Inputs
from probeta.report.layout import NONE, Cell, Column, Row, Table, columns_of, lay_out
from probeta.report.published import PAPERS, PEOPLE, Paper, Published
from probeta.report.tables.marks import by_dataset
from probeta.report.texts import phrase, translated


def published_means(inputs: Inputs, averages: Sequence[Average]) -> list[Row]:
    """Return a row for each encoder of the papers with one of these averages, of one benchmark.

    Its first cell names it.
    """

    def mean(paper: Paper, scores: Published, average: Average) -> float | None:
        if average.group is None or average.missing or average.too_small:
            return None
        if any(_why_not(inputs, paper, name) for name in average.datasets):
            return None
        # The mean that a paper states is over datasets that are withdrawn since then, too.
        if average.group.abbreviation in scores and not average.withdrawn:
            return scores[average.group.abbreviation]
        known = [scores[name] for name in average.datasets if name in scores]
        return fmean(known) if len(known) == len(average.datasets) else None

    return _rows(
        averages[0].benchmark,
        lambda paper, scores: [mean(paper, scores, each) for each in averages],
    )


def published_scores(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Row]:
    """Return a row for each encoder of the papers that has a score on one of the datasets."""
    return _rows(
        benchmark,
        lambda paper, scores: [
            None if _why_not(inputs, paper, name) else scores.get(name) for name in datasets
        ],
    )


def published_ranks(
    inputs: Inputs, ranked: RankScore, columns: Sequence[tuple[str, str]]
) -> list[Row]:
    """Return a row for each encoder of the papers that was ranked on a dataset.

    ``columns`` are measures and similarities; papers report by cosine.
    """
    name, sample = ranked.dataset, ranked.dataset in inputs.samples

    def values(paper: Paper, scores: Published) -> list[float | None]:
        if paper.why_not(name, ranked.task, ranked.pairs, sample=sample):
            return [None]
        return [scores.get(f"{name} {m}") if by == "cosine" else None for m, by in columns]

    return _rows(inputs.benchmark(name), values)


def published_ranges(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Column]:
    """Return a column for each paper: dataset to its encoders' lowest and highest score."""

    def span(paper: Paper, dataset: str) -> Cell | None:
        encoders = [scores for name, scores in paper.scores.items() if name != PEOPLE]
        values = [scores[dataset] for scores in encoders if dataset in scores]
        if not values or _why_not(inputs, paper, dataset):
            return None
        return Cell(f"{min(values):.1f} … {max(values):.1f}", value=max(values) / 100)

    papers = [
        paper
        for paper in PAPERS
        if benchmark in paper.benchmarks and any(span(paper, name) for name in datasets)
    ]
    return columns_of(papers, span, lambda paper: Cell(paper.paper, marks=(layout.OTHERS,)))


def papers(inputs: Inputs) -> list[Table]:
    """Return whether each paper's scores on a dataset stand beside those here, or why not."""
    rows = [
        (dataset, paper)
        for dataset in inputs.datasets
        for paper in PAPERS
        if inputs.benchmark(dataset) in paper.benchmarks and dataset in paper.rows
    ]
    columns = [
        Column("paper", lambda row: row[1].paper),
        Column("beside_ours", lambda row: _why_not(inputs, row[1], row[0]) or phrase("beside")),
        Column("rows_here", lambda row: layout.counted(inputs.any_score(row[0]).asked)),
        Column("rows_there", lambda row: layout.counted(row[1].rows[row[0]])),
    ]
    return by_dataset(inputs, "papers", columns, rows, texts=3)


def differs(inputs: Inputs) -> list[Table]:
    """Return how the probes and the datasets here depart from those of their papers, and why."""
    known: dict[str, dict[str, None]] = {}
    if said := DIFFERENCES["protocols"].get(inputs.protocol["name"]):
        known[said] = {phrase("protocol", name=inputs.protocol["name"]): None}
    for name, task in _tasks(inputs):
        for text in differences_of(name, task, str(inputs.audit[name].get("benchmark", ""))):
            known.setdefault(text, {})[name] = None
    columns = [
        Column("differs_of", lambda text: ", ".join(known[text])),
        Column("differs", lambda text: Cell(text, english=True)),
    ]
    return [lay_out("differs", known, columns, texts=2)] if known else []


def _tasks(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield the name and the task of all datasets."""
    for name in inputs.datasets:
        yield name, inputs.any_score(name).task
    yield from dict.fromkeys((s.dataset, s.task) for each in inputs.rankings for s in each.scores)
    yield from dict.fromkeys(
        (s.dataset, "paradigms") for each in inputs.paradigms for s in each.scores
    )


def _why_not(inputs: Inputs, paper: Paper, dataset: str) -> str:
    """Return why a paper's scores on a probed dataset cannot stand beside those here, or ""."""
    score, sample = inputs.any_score(dataset), dataset in inputs.samples
    return paper.why_not(dataset, score.task, score.asked, sample=sample)


def _rows(benchmark: str, values_of: Callable[[Paper, Published], list[float | None]]) -> list[Row]:
    """Return a row for each encoder of the papers on a benchmark that has one of the values."""
    rows = []
    for paper in PAPERS:
        for encoder, scores in paper.scores.items() if benchmark in paper.benchmarks else ():
            values = values_of(paper, scores)
            if any(value is not None for value in values):
                name = Cell(f"{translated(encoder)}, {paper.paper}", marks=(layout.OTHERS,))
                cells = (
                    Cell(NONE) if v is None else Cell(f"{v:.1f}", value=v / 100) for v in values
                )
                rows.append(Row((name, *cells), "published"))
    return rows
