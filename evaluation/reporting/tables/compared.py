"""Pairwise comparison of encoders, and the encoders that can be marked as the best."""

from collections.abc import Mapping, Sequence

from builders.tasks.groups import Group
from evaluation.reporting.averages import Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Row,
    Table,
    about_differences,
    difference_cell,
    headings,
    tone,
    unused_name,
)
from evaluation.reporting.tables.marks import dataset_cell, sampled
from evaluation.results.comparison import Difference

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
    """Return a table for each benchmark, and one for the user's own datasets."""
    averages = [
        own for own in inputs.averages if any(own.what in pair["group"] for pair in found.values())
    ]
    benchmarks = dict.fromkeys(average.benchmark for average in averages)
    tables: list[Table] = []
    for benchmark in benchmarks:
        # All groups together first.
        means = sorted(
            (own for own in averages if own.benchmark == benchmark),
            key=lambda own: own.group is not None,
        )
        rows = [
            Row((Cell(f"{one} − {other}"), *_compared(inputs, own, benchmark, means)))
            for (one, other), own in found.items()
        ]
        header = (
            *headings("Encoders", "Better / tied / worse"),
            *(sampled(inputs, own.datasets, Cell(own.heading, title=own.title)) for own in means),
        )
        about = about_differences("test document")
        about += (
            " For a group, the differences are averaged over its datasets, taken as independent."
            " Better / tied / worse counts datasets."
        )
        name = f"pairs-{unused_name(benchmark, ())}"
        title = f"Encoders compared: {benchmark}"
        tables.append(Table(name, title, header, tuple(rows), () if tables else (about,)))
    return tables


def _compared(
    inputs: Inputs,
    own: Mapping[str, Mapping[str, Difference]],
    benchmark: str,
    means: Sequence[Average],
) -> list[Cell]:
    """Return the cells of a pair: its numbers of datasets, and its mean differences."""
    over = [d for name, d in own["dataset"].items() if inputs.benchmark(name) == benchmark]
    counts = [sum(tone(d) == which for d in over) for which in ("better", "tie", "worse")]
    return [
        Cell(" / ".join(map(str, counts)), value=counts[0] - counts[2]),
        *(difference_cell(own["group"].get(average.what)) for average in means),
    ]


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
