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
from evaluation.reporting.tables.marks import dataset_cell, sampled

# As a share of the largest number of texts, or words, with vectors. An encoder with fewer has an
# easier task, so that its higher score is not better.
ENOUGH = 0.9
# With more encoders than this, a paper has only the pairs with the best one.
FEW_ENCODERS = 4
ALIKE = "Only encoders with vectors of nine tenths of the {} or more are considered"

Pairs = Mapping[tuple[str, str], Mapping[str, Mapping[str, Difference]]]
"""Pair of encoders to level to dataset or average to their difference."""


def pairs(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders over groups of tasks."""
    return _pairs(inputs, _by_pair(inputs))


def best_pairs(inputs: Inputs) -> list[Table]:
    """Return the same; of many encoders, only the pairs with the one that has the best rank."""
    found = _by_pair(inputs)
    if len(inputs.names) > FEW_ENCODERS:
        found = {pair: own for pair, own in found.items() if inputs.names[0] in pair}
    return _pairs(inputs, found)


def _pairs(inputs: Inputs, found: Pairs) -> list[Table]:
    if not found:
        return []
    means = [
        average
        for average in inputs.averages
        if any(average.what in own["group"] for own in found.values())
    ]
    several = len({average.benchmark for average in means}) > 1
    rows = []
    for (one, other), own in found.items():
        over = [own["dataset"][name] for name in inputs.shipped(own["dataset"])]
        counts = [sum(tone(d) == which for d in over) for which in ("better", "tie", "worse")]
        cells = (
            Cell(f"{one} − {other}"),
            Cell(" / ".join(map(str, counts)), value=counts[0] - counts[2]),
            *(difference_cell(own["group"].get(average.what)) for average in means),
        )
        rows.append(Row(cells))
    about = about_differences("test document")
    about += " For a group, the differences are averaged over its datasets, taken as independent."
    header = (
        *headings("Encoders", "Better / tied / worse"),
        *(
            sampled(
                inputs,
                average.datasets,
                Cell(average.heading + f", {average.benchmark}" * several, title=average.title),
            )
            for average in means
        ),
    )
    about += " Better / tied / worse counts datasets, those of benchmarks if there are some."
    return [Table("pairs", "Encoders compared", header, tuple(rows), (about,))]


def differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on every dataset."""
    found = _by_pair(inputs)
    if not found:
        return []
    rows = [
        Row(
            (
                dataset_cell(inputs, dataset),
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
    pairs = list(dict.fromkeys(key[1:] for key in found))
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


def _by_pair(inputs: Inputs) -> Pairs:
    """Return the differences by probed scores."""
    found: dict[tuple[str, str], dict[str, dict[str, Difference]]] = {}
    for one in inputs.differences:
        own = found.setdefault((one.one, one.other), {"dataset": {}, "group": {}})
        own[one.level][one.what] = one
    return found
