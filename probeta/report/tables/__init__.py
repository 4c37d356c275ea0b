"""What all tables of the report share: cells with marks, their notes, and the papers' scores."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from builders.audit_report import DETECTABLE_AT_MOST
from corpora_recipes.yaml_files import load_yaml
from evaluation.measures import MIN_DOCUMENTS
from evaluation.results.comparison import Difference, tied_with
from probeta.report import layout
from probeta.report.layout import NONE, Cell, Column, Row, Table, lay_out, percent_cell
from probeta.report.statistics import Mean, Report
from probeta.report.texts import all_texts, phrase, translated

_PUBLISHED: dict[str, Any] = load_yaml(Path(__file__).with_name("published_scores.yaml"))
# In the place of an encoder's name: the scores of people.
PEOPLE = "people"
# Numbers of rows agree if they differ by this share of the paper's, or less.
TOLERANCE = 0.1
Published = Mapping[str, float]
"""Group or dataset to what a paper states of an encoder, in per cent."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The scores of a paper on one construction of its data, see published_scores.yaml.

    ``scores`` is by encoder, or ``PEOPLE``.
    """

    paper: str
    benchmarks: Sequence[str]
    about: str
    rows: Mapping[str, int]
    scores: Mapping[str, Published]
    refused: Mapping[str, str] = field(default_factory=dict)

    def reason_not_shown(self, dataset: str, task: str, rows: int, *, sample: bool = False) -> str:
        """Return why scores on a dataset cannot stand beside those on ``rows`` rows, or ""."""
        if dataset not in self.rows:
            return phrase("not_in_paper")
        if sample:
            return phrase("a_sample")
        if task in self.refused:
            return translated(self.refused[task])
        if abs(rows - self.rows[dataset]) > TOLERANCE * self.rows[dataset]:
            return phrase("other_rows", here=rows, there=self.rows[dataset])
        return ""


PAPERS = tuple(Paper(**entry) for entry in _PUBLISHED["papers"])
PARALEX_SCORES: Mapping[str, Sequence[float | None]] = _PUBLISHED["paralex"]
"""Language to the scores of ``VECTORS`` in per cent, by Sumbler et al. (2018), Table 2."""
VECTORS = ("fastText", "Polyglot", "ConceptNet Numberbatch")
PARALEX_ENGLISH_SCORES: Published = _PUBLISHED["paralex_english"]
"""Word vectors to suggestion in English in per cent, Table 1."""

_VALUES = {"detectable": 100 * DETECTABLE_AT_MOST, "least_documents": MIN_DOCUMENTS}


def notes_of(tables: Iterable[Table]) -> dict[str, str]:
    """Return mark to explanation, for the marks that tables use."""
    rows = [cells for table in tables for cells in (table.header, *(r.cells for r in table.rows))]
    cells = list(chain.from_iterable(rows))
    used = {mark for cell in cells for mark in cell.marks}
    named = [p for p in PAPERS if any(cell.text.endswith(p.paper) for cell in cells)]
    papers = ". ".join(f"{paper.paper} {translated(paper.about)}" for paper in named)
    notes = ((mark, note) for mark, note in all_texts()["notes"].items() if mark in used)
    return {mark: note.format(papers=papers, **_VALUES) for mark, note in notes}


def dataset_cell(report: Report, name: str) -> Cell:
    """Return the cell that names a dataset."""
    return mark_samples(report, [name], Cell(name))


def scored_dataset_cell(report: Report, name: str) -> Cell:
    """Return ``dataset_cell``, with the marks for a small test, few documents, and leaks."""
    score, checks = report.inputs.any_score(name), report.inputs.audit[name]["checks"]
    leaks = {check["verdict"] for check in checks if check["gate"] == "leakage"}
    marks = applicable_marks(
        {
            layout.SMALL: report.detects_little(name),
            layout.FEW: score.test_documents < MIN_DOCUMENTS,
            layout.LEAKS: bool(leaks & {"inherited", "undeclared"}),
        }
    )
    cell = dataset_cell(report, name)
    return replace(cell, marks=marks + cell.marks)


def applicable_marks(marks: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the marks that apply."""
    return tuple(mark for mark, applies in marks.items() if applies)


def by_dataset(
    report: Report,
    key: str,
    columns: Sequence[Column],
    rows: Iterable[str | tuple[Any, ...]] | None = None,
    *,
    dataset: Callable[[Report, str], Cell] = dataset_cell,
    **options: Any,
) -> list[Table]:
    """Return a table whose rows are about datasets, named in a first column; none without rows.

    ``rows`` are datasets, or tuples that begin with one; by default all that were probed. Further
    options are those of ``lay_out``.
    """

    def name_of(row: str | tuple[Any, ...]) -> str:
        return row if isinstance(row, str) else row[0]

    subjects = list(report.inputs.datasets if rows is None else rows)
    columns = [Column("dataset", lambda row: dataset(report, name_of(row))), *columns]
    return [lay_out(key, subjects, columns, **options)] if subjects else []


def mean_cell(report: Report, mean: Mean | None, datasets: Sequence[str]) -> Cell:
    """Return the cell of a mean score, marked if it is not shown to beat the baselines."""
    if mean is None:
        return Cell(NONE)
    marks = applicable_marks({layout.NOT_SHOWN: report.beats_baseline(mean, *datasets) < 1})
    return percent_cell(mean.value, layout.bracketed(mean.interval), marks)


def baseline_row(report: Report, columns: Iterable[Sequence[str]]) -> Row:
    """Return the row of the trivial baselines' means over the datasets of each column."""
    means = (percent_cell(report.baseline_score(*datasets)) for datasets in columns)
    return Row((Cell(phrase("trivial_baselines")), *means))


def people_mean(report: Report, datasets: Sequence[str]) -> float | None:
    """Return the mean score of people; None if a dataset has no score of people."""
    people = report.inputs.people
    scores = [people[name].value for name in datasets if name in people]
    return fmean(scores) if len(scores) == len(datasets) else None


def mark_samples(report: Report, datasets: Iterable[str], cell: Cell) -> Cell:
    """Return a cell, with a mark if one of the datasets that it is about is a sample."""
    if cell.text == NONE or report.inputs.samples.isdisjoint(datasets):
        return cell
    return replace(cell, marks=(*cell.marks, layout.SAMPLE))


def mark_best(
    report: Report,
    datasets: Iterable[str],
    cells: Mapping[str, Cell],
    target: str,
    beating: Collection[str],
    among: Collection[str] | None = None,
) -> dict[str, Cell]:
    """Return the cells of encoders, the best one in bold, and those tied with it marked.

    With a single encoder, or if the best one does not beat chance, none is. Scores on samples are
    marked too. ``target`` is as in ``Difference``; ``beating`` are the encoders that are shown to
    beat chance, ``among`` those that may be best, by default all.
    """
    names = cells if among is None else among
    values = {name: value for name in names if (value := cells[name].value) is not None}
    best = max(values, key=lambda name: values[name], default="")
    marked = dict(cells)
    if len(values) > 1 and best in beating:
        marked[best] = replace(cells[best], strong=True)
        for name in tied_with(best, target, report.differences) & values.keys():
            marked[name] = replace(cells[name], marks=(*cells[name].marks, layout.TIED))
    return {name: mark_samples(report, datasets, cell) for name, cell in marked.items()}


def difference_cell(difference: Difference | None) -> Cell:
    """Return the cell of a difference of two encoders; None if there is no difference."""
    if difference is None:
        return Cell(NONE)
    value, tie = difference.value, difference.tie
    ends = layout.bracketed(difference.interval, layout.signed)
    detail = f"{ends} {phrase('tie')}" if tie else ends
    return Cell(layout.signed(value), detail, value=value, strong=not tie)


def tone(difference: Difference) -> Literal["better", "worse", "tie"]:
    """Return how the first of two encoders compares to the second."""
    if difference.tie:
        return "tie"
    return "better" if difference.value > 0 else "worse"
