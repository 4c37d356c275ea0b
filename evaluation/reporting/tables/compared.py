"""Pairwise comparison of encoders, and the encoders that can be marked as the best."""

from collections.abc import Mapping, Sequence

from builders.tasks.groups import Group
from evaluation.reporting.comparison import Difference
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Row,
    Table,
    about_differences,
    difference_cell,
    headings,
    tone,
)

# As a share of the largest number of texts, or words, with vectors. An encoder with fewer has an
# easier task, so that its higher score is not better.
ENOUGH = 0.9
ALIKE = "only encoders with vectors of nine tenths of the {} or more are considered"


def pairs(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders over groups of tasks."""
    found = _by_pair(inputs)
    if not found:
        return []
    names = [group.abbreviation for group in inputs.groups]
    groups = [name for name in names if any(name in own["group"] for own in found.values())]
    rows = []
    for (one, other), own in found.items():
        over = own["dataset"].values()
        counts = [sum(tone(d) == which for d in over) for which in ("better", "tie", "worse")]
        cells = (
            Cell(f"{one} − {other}"),
            Cell(" / ".join(map(str, counts)), value=counts[0] - counts[2]),
            *(difference_cell(own["group"].get(group)) for group in groups),
        )
        rows.append(Row(cells))
    about = about_differences("test document")
    about += " For a group, the differences are averaged over its datasets, taken as independent."
    header = headings("Encoders", "Better / tied / worse", *groups)
    about += " Better / tied / worse counts datasets."
    return [Table("pairs", "Encoders compared", header, tuple(rows), (about,))]


def differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on every dataset."""
    found = _by_pair(inputs)
    if not found:
        return []
    rows = [
        Row(
            (
                Cell(dataset),
                *(difference_cell(own["dataset"].get(dataset)) for own in found.values()),
            ),
            group=group.abbreviation,
        )
        for group, datasets in inputs.groups.items()
        for dataset in datasets
    ]
    header = ("Dataset", *(f"{one} − {other}" for one, other in found))
    return [Table("differences", "Encoders compared by dataset", headings(*header), tuple(rows))]


def measure_differences(
    differences: Sequence[Difference],
    group: Group,
    texts: Sequence[str],
    rows: Mapping[str, tuple[str, ...]],
    about: str,
) -> list[Table]:
    """Return the differences of every two encoders by measures of ranks or clusters.

    Args:
        differences: of every two encoders, these among others.
        group: EvalRank or ParaLex.
        texts: headings of the columns that name a row.
        rows: key of a measure to the cells that name its row.
        about: an explanation of them.
    """
    found = {(own.what, own.one, own.other): own for own in differences if own.what in rows}
    pairs = sorted({key[1:] for key in found})
    if not pairs:
        return []
    table = []
    for what, naming in rows.items():
        if not any((what, *pair) in found for pair in pairs):
            continue
        cells = [*map(Cell, naming), *(difference_cell(found.get((what, *pair))) for pair in pairs)]
        table.append(Row(tuple(cells)))
    name = f"differences-{group.abbreviation.lower()}"
    title = f"{group.abbreviation}: encoders compared"
    header = headings(*texts, *(f"{one} − {other}" for one, other in pairs))
    return [Table(name, title, header, tuple(table), (about,), texts=len(texts))]


def alike(counts: Mapping[str, int]) -> list[str]:
    """Return the encoders with almost as many texts as any, by their counts."""
    return [name for name, count in counts.items() if count >= ENOUGH * max(counts.values())]


def _by_pair(inputs: Inputs) -> dict[tuple[str, str], dict[str, dict[str, Difference]]]:
    """Return pair of encoders to level to dataset or group to their difference."""
    found: dict[tuple[str, str], dict[str, dict[str, Difference]]] = {}
    for one in inputs.differences:
        own = found.setdefault((one.one, one.other), {"dataset": {}, "group": {}})
        own[one.level][one.what] = one
    return found
