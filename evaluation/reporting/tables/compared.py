"""Pairwise comparison of encoders, and the encoders that can be marked as the best."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from builders.tasks.groups import Group
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    about_differences,
    columns_of,
    difference_cell,
    lay_out,
    named,
    tone,
    unused_name,
)
from evaluation.reporting.tables.marks import by_dataset, sampled
from evaluation.results.comparison import Difference
from evaluation.results.editions import FLOOR, Edition

# As a share of the largest number of texts, or words, with vectors. An encoder with fewer has an
# easier task, so that its higher score is not better.
ENOUGH = 0.9
# With more encoders than this, a paper has only the pairs with the best one.
FEW_ENCODERS = 4
ALIKE = "Only encoders with vectors of nine tenths of the {} or more are considered"

Pair = tuple[str, str]
Differences = Mapping[tuple[Pair, str], Difference]
"""Pair of encoders, and dataset, average or measure, to their difference."""


def pairs(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders over groups of tasks, by benchmark."""
    of_datasets, of_groups = _by_pair(inputs, "dataset"), _by_pair(inputs, "group")
    compared = {what for _, what in of_groups}
    about = (
        f"{about_differences('test document')} For a group, the differences are averaged over its "
        "datasets, taken as independent. Better / tied / worse counts datasets."
    )
    tables: list[Table] = []
    for benchmark in inputs.benchmarks:
        # All groups together first.
        averages = sorted(
            (
                average
                for average in inputs.averages
                if average.benchmark == benchmark and average.what in compared
            ),
            key=lambda average: average.group is not None,
        )
        if not averages:
            continue
        tones: dict[Pair, list[str]] = {pair: [] for pair in _pairs_of(of_datasets)}
        for (pair, dataset), difference in of_datasets.items():
            if inputs.benchmark(dataset) == benchmark:
                tones[pair].append(tone(difference))
        columns = [
            Column("Encoders", _minus),
            Column("Better / tied / worse", {pair: _counts(tones[pair]) for pair in tones}.get),
            *columns_of(
                averages,
                lambda average, pair: difference_cell(of_groups.get((pair, average.what))),
                lambda average: sampled(
                    inputs, average.datasets, Cell(average.heading, title=average.title)
                ),
            ),
        ]
        name = f"pairs-{unused_name(benchmark, ())}"
        words = {"benchmark": benchmark, "differences": "" if tables else about}
        tables.append(lay_out("pairs", tones, columns, name=name, words=words))
    return tables


def best_pairs(inputs: Inputs) -> list[Table]:
    """Return the same; of many encoders, only the pairs with the one that has the best rank."""
    few = len(inputs.names) <= FEW_ENCODERS
    best = tuple(
        pair for pair in inputs.differences if few or inputs.names[0] in (pair.one, pair.other)
    )
    return pairs(replace(inputs, differences=best))


def _counts(tones: Sequence[str]) -> Cell:
    better, tied, worse = map(tones.count, ("better", "tie", "worse"))
    return Cell(f"{better} / {tied} / {worse}", value=better - worse)


def differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on every dataset."""
    of_datasets = _by_pair(inputs, "dataset")
    columns = columns_of(
        _pairs_of(of_datasets),
        lambda pair, dataset: difference_cell(of_datasets.get((pair, dataset))),
        _minus,
    )
    return by_dataset(inputs, "differences", columns, inputs.datasets if of_datasets else ())


def measure_differences(
    inputs: Inputs,
    group: Group,
    texts: Sequence[str],
    rows: Mapping[str, Sequence[str]],
    about: str,
) -> list[Table]:
    """Return the differences of every two encoders by measures of ranks or clusters.

    Args:
        inputs: the results.
        group: EvalRank or ParaLex.
        texts: headings of the columns that name a row.
        rows: key of a measure to what names its row.
        about: an explanation of them.
    """
    of_rows = {
        key: difference for key, difference in _by_pair(inputs, "measure").items() if key[1] in rows
    }
    measured = {what for _, what in of_rows}
    columns = [
        *columns_of(range(len(texts)), lambda place, what: rows[what][place], texts.__getitem__),
        *columns_of(
            _pairs_of(of_rows),
            lambda pair, what: difference_cell(of_rows.get((pair, what))),
            _minus,
        ),
    ]
    table = lay_out(
        "measures",
        [what for what in rows if what in measured],
        columns,
        name=f"differences-{group.abbreviation.lower()}",
        texts=len(texts),
        words={"abbreviation": group.abbreviation, "differences": about},
    )
    return [table] if table.rows else []


def alike(counts: Mapping[str, int]) -> list[str]:
    """Return the encoders with almost as many texts as any, by their counts."""
    return [name for name, count in counts.items() if count >= ENOUGH * max(counts.values())]


def _by_pair(inputs: Inputs, level: str) -> Differences:
    """Return the differences of a level."""
    return {
        ((difference.one, difference.other), difference.what): difference
        for difference in inputs.differences
        if difference.level == level
    }


def _pairs_of(differences: Differences) -> list[Pair]:
    return list(dict.fromkeys(pair for pair, _ in differences))


def _minus(pair: Pair) -> str:
    return " − ".join(pair)


def editions(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset that is an edition of another one."""
    editions_of: dict[tuple[str, str], list[Edition]] = {}
    for edition in inputs.editions:
        editions_of.setdefault((edition.new, edition.old), []).append(edition)
    tables: list[Table] = []
    for (new, old), of_encoders in editions_of.items():
        columns = [
            Column("Encoder", lambda edition: named(edition.encoder)),
            Column(sampled(inputs, (old,), Cell(old)), lambda edition: edition.old_score),
            Column(sampled(inputs, (new,), Cell(new)), lambda edition: edition.new_score),
            Column("New − old", lambda edition: difference_cell(edition.gap)),
            Column(f"Less that of {FLOOR}", lambda edition: difference_cell(edition.beyond_floor)),
        ]
        name = unused_name(f"editions-{new}", [table.name for table in tables])
        words = {"new": new, "old": old, "floor": FLOOR}
        tables.append(
            lay_out("editions", of_encoders, columns, name=name, kind="encoder", words=words)
        )
    return tables
