"""The marks of cells: names of datasets and groups, the best score, and scores of samples."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from builders.auditing.report import SMALL_TEST
from builders.tasks.groups import Group
from evaluation.measures.intervals import LEAST_DOCUMENTS
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import Cell
from evaluation.reporting.notes import FEW, LEAKS, SAMPLE, SMALL, TIED
from evaluation.results.comparison import Difference, tied_with

BOLD = (
    f"In bold is the best {{}}, if it is shown to beat chance; {TIED} marks what the paired test "
    "cannot distinguish from it."
)


def dataset_cell(inputs: Inputs, name: str) -> Cell:
    """Return the cell that names a dataset: what it is, and a link to its instances."""
    group = next(group for group, names in inputs.audited.items() if name in names)
    title = ": ".join(filter(None, (group.title, inputs.audit[name].get("title"))))
    if inputs.benchmark(name) == OWN:
        title += " (own dataset)"
    link = f"#instances-title?dataset={name}" if name in inputs.datasets else ""
    return sampled(inputs, [name], Cell(name, title=title, link=link))


def scored_dataset_cell(inputs: Inputs, name: str) -> Cell:
    """Return the same, with the marks that tell how far scores on the dataset can be trusted."""
    score = inputs.any_score(name)
    marks = {
        SMALL: score.asked < SMALL_TEST,
        FEW: score.test_documents < LEAST_DOCUMENTS,
        LEAKS: inputs.leaks(name),
    }
    given = tuple(mark for mark, is_given in marks.items() if is_given)
    cell = dataset_cell(inputs, name)
    return replace(cell, marks=given + cell.marks)


def group_cell(group: Group) -> Cell:
    """Return the cell that names a group of tasks."""
    return Cell(group.abbreviation, title=group.title)


def sampled(inputs: Inputs, datasets: Iterable[str], cell: Cell) -> Cell:
    """Return a cell, marked if one of the datasets that it is about is of a sample."""
    if (cell.value is None and not cell.title) or inputs.samples.isdisjoint(datasets):
        return cell
    return replace(cell, marks=(*cell.marks, SAMPLE))


def best_marked(
    cells: Mapping[str, Cell],
    what: str,
    differences: Iterable[Difference],
    beating: Collection[str],
) -> dict[str, Cell]:
    """Return the cells of encoders with the best one in bold, and those tied with it marked.

    With a single encoder, or if the best one does not beat chance, none is marked.

    Args:
        cells: encoder to its cell, with the score as its value; the best one must be among these.
        what: the dataset, average or measure of the scores, as in ``Difference``.
        differences: those of the encoders.
        beating: the encoders that are shown to beat chance.
    """
    values = {name: cell.value for name, cell in cells.items() if cell.value is not None}
    if len(values) < 2:
        return dict(cells)
    best = max(values, key=lambda name: values[name])
    if best not in beating:
        return dict(cells)
    tied = tied_with(best, what, differences) & values.keys()
    return {
        name: replace(cell, strong=cell.strong or name == best)
        if name not in tied
        else replace(cell, marks=(*cell.marks, TIED))
        for name, cell in cells.items()
    }
