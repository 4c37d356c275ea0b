"""EvalRank's study: which scores that need no probe correlate, over encoders, with those of tasks.

As Wang, Kuo and Li (2022): correlations of all measures with all tasks (Tables 3, 6 and 11), of
similarity by level (Figure 2), ranks by the source of their pairs (Tables 4 and 7), alignment and
uniformity (section 4.4). Every score is that of the encoder's main layer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import NormalDist
from typing import Literal

import numpy as np

from builders.statistics import pearson
from builders.tasks import TASKS
from evaluation.arrays import Doubles
from evaluation.measures.intervals import COVERAGE
from evaluation.measures.metrics import average_ranks, spearman
from evaluation.ranking.evaluating import measure_ranks
from evaluation.results.probes import Predictions, read_predictions
from evaluation.results.rankings import PLAIN, PairRanks, read_ranks
from probeta.report import layout
from probeta.report.inputs import Inputs, probed_scores
from probeta.report.layout import Cell, Column, Table, columns_of, lay_out
from probeta.report.sources import Pairs
from probeta.report.texts import phrase, translated

Statistic = Literal["Spearman", "Pearson"]
STATISTICS: tuple[Statistic, ...] = ("Spearman", "Pearson")
# The order of two encoders agrees or disagrees as a coin would. The interval of four encoders is
# almost all of -1 … 1, and that of five covers too much.
LEAST, LEAST_OF_INTERVAL = 3, 6
# Rounding, since the mean of the same numbers in another order may differ in the last digits.
DECIMALS = 12
# Parts of the scale of people's scores: of 0 to 5 they are [5, 3], [4, 2], [3, 1], [2, 0].
LEVELS = ((0.6, 1.0), (0.4, 0.8), (0.2, 0.6), (0.0, 0.4))
_NORMAL = NormalDist().inv_cdf((1 + COVERAGE) / 2)


@dataclass(frozen=True)
class Study:
    """Scores over encoders.

    Attributes:
        intrinsic: those that need no probe: measure to encoder to value.
        trained: those of tasks: dataset to encoder to value.
        processed: the encoders whose vectors are post-processed.
    """

    intrinsic: Mapping[str, Mapping[str, float]]
    trained: Mapping[str, Mapping[str, float]]
    processed: frozenset[str] = frozenset()

    @property
    def encoders(self) -> list[str]:
        """The encoders with scores of both kinds."""
        both = ({n for of in kind.values() for n in of} for kind in (self.intrinsic, self.trained))
        return sorted(set.intersection(*both))


def _values(scores: Mapping[str, float], encoders: Sequence[str]) -> Doubles:
    """Return the scores of encoders, float64 [encoders]; NaN for none."""
    return np.array([scores.get(name, math.nan) for name in encoders])


def study_of(inputs: Inputs) -> Study:
    """Return the study of a report.

    Similarity by l2 is as the rankings have it, its mean that of Pearson's correlation by cosine
    over the datasets of benchmarks; ParaLex is with the shared vocabulary, in lower case if that
    was measured.
    """
    intrinsic: dict[str, dict[str, float]] = {}
    trained: dict[str, dict[str, float]] = {}

    def add(measure: str, encoder: str, value: float | None) -> None:
        if value is not None:
            intrinsic.setdefault(measure, {})[encoder] = value

    for name, score in probed_scores(inputs.encoders):
        if TASKS[score.task].trained:
            trained.setdefault(score.dataset, {})[name] = score.value
            continue
        add(f"{score.dataset} Pearson", name, score.value)
        add(f"{score.dataset} Spearman", name, score.measures.get("spearman"))
    alike = inputs.shipped(n for n in inputs.datasets if f"{n} Pearson" in intrinsic)
    for name in inputs.names if len(alike) > 1 else ():
        values = [intrinsic[f"{dataset} Pearson"].get(name, math.nan) for dataset in alike]
        add(phrase("mean_similarity"), name, float(np.mean(values)))
    for ranked in inputs.rankings:
        for similar in ranked.similarities:
            if (similar.postprocessing, similar.similarity) == (PLAIN, "l2"):
                add(f"{similar.dataset} Pearson, l2", ranked.name, similar.pearson)
                add(f"{similar.dataset} Spearman, l2", ranked.name, similar.spearman)
        for rank in ranked.plain:
            for what, value in (*rank.measures.items(), (phrase("mean_rank"), rank.mean_rank)):
                add(f"{rank.dataset} {what}, {translated(rank.similarity)}", ranked.name, value)
            add(f"{rank.dataset} {phrase('alignment')}", ranked.name, rank.alignment)
            add(f"{rank.dataset} {phrase('uniformity')}", ranked.name, rank.uniformity)
    scores = inputs.scores
    casing = "lower" if scores.way.str.endswith(" lower").any() else "as_is"
    for row in scores[scores.way == f"shared {casing}"].to_dict("records"):
        add(f"{row['dataset']} {translated(row['measure'])}", row["encoder"], row["value"])
    processed = {e.name for e in inputs.encoders if "postprocessing" in e.encoder["options"]}
    return Study(intrinsic, trained, frozenset(processed))


def related(one: Doubles, other: Doubles, statistic: Statistic = "Spearman") -> Cell | None:
    """Return the correlation of two scores over the encoders that have both, [encoders].

    The interval is by Fisher's z, whose variance is 1 / (n - 3) for Pearson's correlation, and for
    Spearman's (1 + r² / 2) / (n - 3) (Bonett and Wright 2000, "Sample size requirements for
    estimating Pearson, Kendall and Spearman correlations", Psychometrika 65). It is left out below
    six encoders, and at 1 and -1, for which the formula has no value. Below three encoders, or if
    one score is equal for all of them, there is no correlation.
    """
    both = np.stack([one, other]).round(DECIMALS)
    both = both[:, ~np.isnan(both).any(axis=0)]
    count = both.shape[1]
    if count < LEAST or (np.ptp(both, axis=1) == 0).any():
        return None
    measure = spearman if statistic == "Spearman" else pearson
    # Ranks are exact; their correlation has rounding errors.
    correlation = round(measure(*both), DECIMALS)
    number = f"n = {count}"
    if count < LEAST_OF_INTERVAL or abs(correlation) == 1:
        return layout.percent_cell(correlation, number)
    more = correlation**2 / 2 if statistic == "Spearman" else 0.0
    reach = _NORMAL * math.sqrt((1 + more) / (count - 3))
    z = math.atanh(correlation)
    low, high = math.tanh(z - reach), math.tanh(z + reach)
    beside = f"{layout.bracketed((low, high))} {number}"
    return layout.percent_cell(correlation, beside, strong=not low <= 0 <= high)


def relations(
    study: Study, columns: Sequence[tuple[Cell, Sequence[str]]], group: str = ""
) -> list[Table]:
    """Return how all measures correlate with means over datasets, by their heading.

    If some encoders are post-processed, also without them. Tables of a ``group`` of tasks have its
    name, and are not explained again.
    """
    tables: list[Table] = []
    parts = {"": study.encoders}
    if study.processed:
        parts["plain"] = [name for name in study.encoders if name not in study.processed]
    for (part, encoders), statistic in product(parts.items(), STATISTICS):
        if len(encoders) < LEAST:
            continue
        means = [
            np.mean([_values(study.trained[name], encoders) for name in datasets], axis=0)
            for _, datasets in columns
        ]
        found = {
            measure: [related(_values(scores, encoders), mean, statistic) for mean in means]
            for measure, scores in study.intrinsic.items()
        }
        surely = math.tanh(_NORMAL / math.sqrt(max(1, len(encoders) - 3)))
        shown = columns_of(
            range(len(columns)), lambda place, row: row[1][place], lambda place: columns[place][0]
        )
        table = lay_out(
            "more-relations" if tables or group else "relations",
            [row for row in found.items() if any(row[1])],
            [Column("score", lambda row: Cell(row[0])), *shown],
            name=layout.unused_name(f"study {group} {statistic.lower()} {part}"),
            statistic=statistic,
            tasks=group or phrase("tasks"),
            apart=phrase("unprocessed") if part else "",
            count=len(encoders),
            surely=layout.percent(surely),
        )
        tables += [table] if table.rows else []
    return tables


def study(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of groups of tasks."""
    found = study_of(inputs)
    if not (found.intrinsic and found.trained):
        return []
    if (count := len(inputs.encoders)) < LEAST:
        few = phrase("few", count=phrase("one" if count == 1 else "two"))
        return [lay_out("study", few=few)]
    groups = _groups(inputs, found).items()
    columns = [(Cell(f"{name} ({len(members)})"), members) for name, members in groups]
    return relations(found, columns)


def study_datasets(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of the datasets of each group."""
    found = study_of(inputs)
    tables: list[Table] = []
    for group, members in _groups(inputs, found).items():
        columns = [(Cell(name), [name]) for name in members]
        tables += relations(found, columns, group)
    return tables


def _groups(inputs: Inputs, found: Study) -> dict[str, list[str]]:
    """Return benchmark and group to those of its datasets that a probe is trained for."""
    groups = {
        f"{translated(average.benchmark)} {average.group.abbreviation}": [
            name for name in average.datasets if name in found.trained
        ]
        for average in inputs.averages
        if average.group
    }
    return {group: members for group, members in groups.items() if members}


def scattered(found: Study) -> dict[str, tuple[Doubles, Doubles]]:
    """Return MRR by cosine and mean similarity to each encoder's rank by it, and by all tasks."""
    tasks = [_values(scores, found.encoders) for scores in found.trained.values()]
    shared = [values for values in tasks if not np.isnan(values).any()]
    if len(found.encoders) < LEAST or not shared:
        return {}
    places = average_ranks(-np.mean(shared, axis=0))
    return {
        name: (average_ranks(-_values(scores, found.encoders)), places)
        for name, scores in found.intrinsic.items()
        if name == phrase("mean_similarity") or name.endswith(f" {phrase('by_cosine')}")
        if scores.keys() >= {*found.encoders}
    }


def scatter(inputs: Inputs) -> list[Table]:
    """Return what stands above the figure of ranks."""
    return [lay_out("scatter")] if scattered(study_of(inputs)) else []


def levels(inputs: Inputs) -> list[Table]:
    """Return how similarity agrees with people's scores at parts of their scale."""
    names = [n for n in inputs.datasets if not TASKS[inputs.any_score(n).task].trained]
    rows = [
        (name, encoder, read_predictions(inputs.folders[encoder], name, score.layer))
        for name in names
        for encoder, score in inputs.datasets[name].items()
    ]

    def cell(level: tuple[float, float], row: tuple[str, str, Predictions]) -> Cell | None:
        gold, predicted = row[2].gold, row[2].predicted[0]
        share = ((gold - gold.min()) / (np.ptp(gold) or 1)).round(DECIMALS)
        inside = (share >= level[0]) & (share <= level[1])
        if inside.sum() < LEAST:
            return None
        mean = layout.percent(float(predicted[inside].mean()))
        detail = phrase("mean_of", mean=mean, count=inside.sum())
        return layout.percent_cell(spearman(gold[inside], predicted[inside]), detail)

    columns = [
        Column("dataset", lambda row: row[0]),
        Column("encoder", lambda row: row[1]),
        *columns_of(LEVELS, cell, lambda level: f"{100 * level[0]:.0f}–{100 * level[1]:.0f} %"),
    ]
    return [lay_out("levels", rows, columns, texts=2)] if rows else []


def sources(inputs: Inputs) -> list[Table]:
    """Return the MRR of each ranking's pairs by the dataset of scored pairs that has them."""

    def cell(linked: Pairs, row: tuple[str, PairRanks]) -> Cell | None:
        pairs = row[1]
        keys = zip(pairs.queries.tolist(), pairs.positives.tolist(), strict=True)
        inside = np.array([key in linked for key in keys], bool)
        if not inside.any():
            return None
        facts = measure_ranks(pairs.ranks[inside], pairs.documents[inside])
        beside = f"{layout.bracketed(facts['interval'])} n = {inside.sum():,}"
        return layout.percent_cell(facts["mrr"], beside)

    tables: list[Table] = []
    for dataset, sets in inputs.sources.items():
        ranked = [
            (each.name, read_ranks(inputs.ranks_folders[each.name], dataset, "cosine"))
            for each in inputs.rankings
            if any((s.dataset, s.similarity) == (dataset, "cosine") for s in each.plain)
        ]
        columns = [
            Column("encoder", lambda row: layout.named(row[0])),
            *(
                Column(Cell(name or phrase("no_dataset")), partial(cell, linked))
                for name, linked in sets.items()
            ),
        ]
        name = layout.unused_name(f"sources {dataset}", [table.name for table in tables])
        tables += [lay_out("sources", ranked, columns, name=name, dataset=dataset)]
    return tables


def measures(inputs: Inputs) -> list[Table]:
    """Return the measures that are correlated."""
    found = study_of(inputs).intrinsic

    def cell(encoder: str, measure: str) -> Cell | None:
        value = found[measure].get(encoder)
        return None if value is None else layout.counted(value, "{:,.3f}")

    encoders = inputs.in_order({name for scores in found.values() for name in scores})
    columns = [Column("score", Cell), *columns_of(encoders, cell)]
    return [lay_out("intrinsic", found, columns)] if found else []
