"""The marks of cells: names of datasets and groups, the best score, and scores of samples."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from builders.auditing.report import SMALL_TEST
from builders.tasks.groups import Group
from evaluation.measures.intervals import LEAST_DOCUMENTS
from evaluation.reporting.averages import OWN, Mean
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import NONE, Cell, Column, Table, bracketed, lay_out, percent_cell
from evaluation.reporting.notes import FEW, LEAKS, NOT_SHOWN, SAMPLE, SMALL, TIED
from evaluation.results.comparison import tied_with

BOLD = (
    f"In bold is the best {{}}, if it is shown to beat chance; {TIED} marks what the paired test "
    "cannot distinguish from it."
)


def dataset_cell(inputs: Inputs, name: str) -> Cell:
    """Return the cell that names a dataset: what it is, and a link to its instances."""
    title = ": ".join(filter(None, (inputs.group(name).title, inputs.audit[name].get("title"))))
    if inputs.benchmark(name) == OWN:
        title += " (own dataset)"
    link = f"#instances-title?dataset={name}" if name in inputs.datasets else ""
    return sampled(inputs, [name], Cell(name, title=title, link=link))


def scored_dataset_cell(inputs: Inputs, name: str) -> Cell:
    """Return the same, with the marks that tell how far scores on the dataset can be trusted."""
    score = inputs.any_score(name)
    cell = dataset_cell(inputs, name)
    marks = given(
        {
            SMALL: score.asked < SMALL_TEST,
            FEW: score.test_documents < LEAST_DOCUMENTS,
            LEAKS: inputs.leaks(name),
        }
    )
    return replace(cell, marks=marks + cell.marks)


def given(marks: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the marks that apply."""
    return tuple(mark for mark, applies in marks.items() if applies)


def group_cell(group: Group) -> Cell:
    """Return the cell that names a group of tasks."""
    return Cell(group.abbreviation, title=group.title)


def by_dataset(
    inputs: Inputs,
    key: str,
    columns: Sequence[Column],
    rows: Iterable[str | tuple[str, ...]] | None = None,
    *,
    dataset: Callable[[Inputs, str], Cell] = dataset_cell,
    **how: Any,
) -> list[Table]:
    """Return a table whose rows are about datasets, named in a first column; none without rows.

    Args:
        inputs: the results.
        key: of the table in tables.yaml.
        columns: those after the name of the dataset.
        rows: datasets, or tuples that begin with one; by default all that were probed.
        dataset: returns the cell that names one.
        how: as of ``lay_out``.
    """

    def of(row: str | tuple[str, ...]) -> str:
        return row if isinstance(row, str) else row[0]

    first = Column("Dataset", lambda row: dataset(inputs, of(row)))
    table = lay_out(
        key,
        inputs.datasets if rows is None else rows,
        [first, *columns],
        group=lambda row: inputs.group(of(row)).abbreviation,
        **how,
    )
    return [table] if table.rows else []


def mean_cell(mean: Mean | None, trivial: float) -> Cell:
    """Return the cell of a mean score, marked if it is not above that of trivial baselines."""
    if mean is None:
        return Cell(NONE)
    marks = () if mean.interval[0] > trivial else (NOT_SHOWN,)
    return percent_cell(mean.value, bracketed(mean.interval), marks)


def sampled(inputs: Inputs, datasets: Iterable[str], cell: Cell) -> Cell:
    """Return a cell, marked if one of the datasets that it is about is of a sample."""
    if (cell.value is None and not cell.title) or inputs.samples.isdisjoint(datasets):
        return cell
    return replace(cell, marks=(*cell.marks, SAMPLE))


def compared(
    inputs: Inputs,
    datasets: Iterable[str],
    cells: Mapping[str, Cell],
    what: str,
    beating: Collection[str],
    among: Collection[str] | None = None,
) -> dict[str, Cell]:
    """Return the cells of encoders, the best one in bold, and those tied with it marked.

    With a single encoder, or if the best one does not beat chance, none is. Scores on samples are
    marked too.

    Args:
        inputs: the results.
        datasets: those that the scores are of.
        cells: encoder to its cell, with the score as its value.
        what: the dataset, average or measure of the scores, as in ``Difference``.
        beating: the encoders that are shown to beat chance.
        among: the encoders that may be best; by default all.
    """
    names = cells if among is None else among
    values = {name: value for name in names if (value := cells[name].value) is not None}
    best = max(values, key=lambda name: values[name], default="")
    shown = dict(cells)
    if len(values) > 1 and best in beating:
        shown[best] = replace(cells[best], strong=True)
        for name in tied_with(best, what, inputs.differences) & values.keys():
            shown[name] = replace(cells[name], marks=(*cells[name].marks, TIED))
    return {name: sampled(inputs, datasets, cell) for name, cell in shown.items()}
