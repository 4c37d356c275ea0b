"""Pairwise comparison of encoders, and of their scores on two editions of a dataset."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from builders.tasks.groups import Group
from evaluation.results.comparison import ALL_PAIRS_LIMIT, Difference
from probeta.report import layout
from probeta.report.editions import FLOOR
from probeta.report.inputs import Inputs
from probeta.report.layout import Cell, Column, Table, columns_of, lay_out, unused_name
from probeta.report.tables.marks import by_dataset, difference_cell, sampled, tone
from probeta.report.texts import phrase, translated

# As a share of the largest number of texts, or words, with vectors. An encoder with fewer has an
# easier task, so that its higher score is not better.
ENOUGH = 0.9
# With more encoders than this, a paper has only the pairs with the best one.
FEW_ENCODERS = 4

Pair = tuple[str, str]
Differences = Mapping[Pair, Mapping[str, Difference]]
"""Pair of encoders to dataset, average or measure to their difference."""


def pairs(inputs: Inputs, among: Iterable[Difference] | None = None) -> list[Table]:
    """Return the differences of every two encoders over groups of tasks, by benchmark."""
    differences = inputs.pairs if among is None else list(among)
    of_datasets, of_groups = (_by_pair(differences, level) for level in ("dataset", "group"))
    compared = {name for of_pair in of_groups.values() for name in of_pair}
    tables: list[Table] = []
    for benchmark, whole in inputs.wholes.items():
        groups = [each for each in inputs.averages if each.benchmark == benchmark and each.group]
        averages = [average for average in (whole, *groups) if average.name in compared]
        if not averages:
            continue
        counts = {
            pair: _counts([tone(of_pair[n]) for n in of_pair if inputs.benchmark(n) == benchmark])
            for pair, of_pair in of_datasets.items()
        }
        columns = [
            Column("encoders", " − ".join),
            Column("counts_of_tones", counts.get),
            *columns_of(
                averages,
                lambda average, pair: difference_cell(of_groups.get(pair, {}).get(average.name)),
                lambda average: sampled(
                    inputs, average.datasets, Cell(average.heading, title=average.title)
                ),
            ),
        ]
        about = f"{about_differences(phrase('test_document'))} {phrase('of_groups')}"
        words: dict[str, Any] = {"differences": "" if tables else about}
        words |= {"more": () if tables else _of_many(inputs), "benchmark": translated(benchmark)}
        name = f"pairs-{unused_name(benchmark)}"
        tables.append(lay_out("pairs", counts, columns, name=name, **words))
    return tables


def best_pairs(inputs: Inputs) -> list[Table]:
    """Return the same; of many encoders, only the pairs with the one that has the best rank."""
    few, best = len(inputs.names) <= FEW_ENCODERS, inputs.names[0]
    return pairs(
        inputs, (each for each in inputs.differences if few or best in (each.first, each.second))
    )


def _of_many(inputs: Inputs) -> tuple[str, ...]:
    """Return a sentence on pairs that are not shown, if there are any."""
    return (
        (phrase("first_pairs", many=ALL_PAIRS_LIMIT),)
        if len(inputs.names) > ALL_PAIRS_LIMIT
        else ()
    )


def _counts(tones: Sequence[str]) -> Cell:
    better, tied, worse = map(tones.count, ("better", "tie", "worse"))
    return Cell(f"{better} / {tied} / {worse}", value=better - worse)


def differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on every dataset."""
    of_datasets = _by_pair(inputs.pairs, "dataset")
    rows = inputs.datasets if of_datasets else ()
    return by_dataset(inputs, "differences", _columns(of_datasets), rows)


def measure_differences(
    inputs: Inputs,
    group: Group,
    texts: Sequence[str],
    rows: Mapping[str, Sequence[str]],
    about: str,
) -> list[Table]:
    """Return the differences of every two encoders by measures of ranks or clusters.

    ``rows``: key of a measure to what names its row, in columns with the headings ``texts``.
    """
    measured = [each for each in inputs.pairs if each.target in rows]
    names = {difference.target for difference in measured}
    if not names:
        return []
    table = lay_out(
        "measures",
        [name for name in rows if name in names],
        [
            *columns_of(range(len(texts)), lambda i, name: rows[name][i], texts.__getitem__),
            *_columns(_by_pair(measured, "measure")),
        ],
        name=f"differences-{group.abbreviation.lower()}",
        more=_of_many(inputs),
        texts=len(texts),
        abbreviation=group.abbreviation,
        differences=about,
    )
    return [table]


def about_differences(unit: str) -> str:
    """Return an explanation of the differences; ``unit``: what is left out, such as "cluster"."""
    return layout.paragraphs("difference", unit=unit)[0]


def alike(counts: Mapping[str, int]) -> list[str]:
    """Return the encoders with almost as many texts as any, by their counts."""
    return [name for name, count in counts.items() if count >= ENOUGH * max(counts.values())]


def _columns(differences: Differences) -> list[Column]:
    """Return a column for each pair of encoders."""
    return columns_of(
        differences, lambda pair, name: difference_cell(differences[pair].get(name)), " − ".join
    )


def _by_pair(differences: Iterable[Difference], level: str) -> Differences:
    """Return the differences of a level."""
    by_pair: dict[Pair, dict[str, Difference]] = {}
    for difference in differences:
        if difference.level == level:
            pair = (difference.first, difference.second)
            by_pair.setdefault(pair, {})[difference.target] = difference
    return by_pair


def editions(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset that is an edition of another one."""
    tables: list[Table] = []
    for (new, old), of_encoders in groupby(inputs.editions, lambda each: (each.new, each.old)):
        less = Cell(phrase("less_that_of", floor=FLOOR))
        columns = [
            Column("encoder", lambda edition: layout.named(edition.encoder)),
            Column(sampled(inputs, (old,), Cell(old)), lambda edition: edition.old_score),
            Column(sampled(inputs, (new,), Cell(new)), lambda edition: edition.new_score),
            Column("new_minus_old", lambda edition: difference_cell(edition.gap)),
            Column(less, lambda edition: difference_cell(edition.beyond_floor)),
        ]
        name = unused_name(f"editions-{new}", [table.name for table in tables])
        words = {"new": new, "old": old, "floor": FLOOR}
        tables.append(lay_out("editions", of_encoders, columns, name=name, kind="encoder", **words))
    return tables
