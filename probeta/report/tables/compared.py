"""EvalRank's study: which scores that need no probe correlate, over encoders, with those of tasks.

As Wang, Kuo and Li (2022): correlations of all measures with all tasks (Tables 3, 6 and 11), of
similarity by level (Figure 2), ranks by the source of their pairs (Tables 4 and 7), alignment and
uniformity (section 4.4). Every score is that of the encoder's main layer.

Pairwise comparison of encoders, and of their scores on two editions of a dataset.

Across languages: the same task side by side.

Of probes, datasets of one task from the same recipes and collection stand side by side in several
languages. EvalRank and ParaLex have sources of their own in each language, and stand side by side
all the same. A dataset that is made in another way than the others of its row is named, and in no
average.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, product
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import pandas as pd

from builders.statistics import pearson
from builders.tasks import TASKS
from builders.tasks.benchmarks import Group
from corpora_recipes.languages import title_of
from evaluation.arrays import Doubles
from evaluation.measures import COVERAGE, average_ranks, spearman
from evaluation.ranking import measure_ranks
from evaluation.results.comparison import ALL_PAIRS_LIMIT, Difference
from evaluation.results.scores import PLAIN, PairRanks, Predictions, read_predictions, read_ranks
from probeta.report import layout
from probeta.report.inputs import Inputs, Pairs, probed_scores
from probeta.report.layout import Cell, Column, Table, columns_of, lay_out, unused_name
from probeta.report.statistics import FLOOR, Mean, group_sort_key, mean_score
from probeta.report.tables import (
    by_dataset,
    difference_cell,
    given,
    mean_cell,
    sampled,
    tone,
    trivial_row,
)
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


# Of paradigms, the first of these ways that there is in two languages: vocabulary and casing.
WAYS = ("shared lower", "shared as_is", "own lower", "own as_is")


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task in two languages or more.

    Attributes:
        name: task, recipes and collection, in words.
        datasets: language to dataset, in the order of the languages.
        different: the languages whose dataset is made in another way than the most.
        scores: encoder to language to its score.
    """

    name: str
    group: Group
    measure: str
    datasets: Mapping[str, str]
    different: frozenset[str] = frozenset()
    scores: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)


def shared_tasks(inputs: Inputs) -> list[SharedTask]:
    """Return all tasks that the report has in two languages or more, by group.

    An edition of another dataset stands in no row, and of several datasets in one language the one
    that is made as those in the other languages, or else the first.
    """
    scores = _chosen(inputs.scores)
    facts = [inputs.audit[dataset] for dataset in scores.dataset]
    # With `loc`, as an empty list would choose columns.
    scores = scores.loc[[bool(each.get("made")) and not each.get("edition_of") for each in facts]]
    made = [inputs.audit[dataset]["made"] for dataset in scores.dataset]
    probed = scores.dataset.isin([*inputs.datasets])
    sources = [tuple(how["from"]) if known else () for how, known in zip(made, probed, strict=True)]
    scores = scores.assign(
        sources=pd.Series(sources, scores.index, object),
        making=[repr((how["from"], sorted(how["options"].items()))) for how in made],
    )
    tasks = [
        _shared(inputs, rows)
        for _, rows in scores.groupby(["task", "measure", "sources"], sort=False)
        if rows.language.nunique() > 1
    ]
    return sorted(tasks, key=lambda task: (group_sort_key(task.group), task.name))


def _chosen(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a ``long_table`` that are shown, their measures in words."""
    ranks = scores[(scores.measure == "MRR") & (scores.way == "cosine")]
    chosen = [scores[scores.way == ""], ranks.assign(measure=phrase("by_cosine"))]
    for way in WAYS:
        clusters = scores[(scores.measure == "suggestion") & (scores.way == way)]
        if clusters.language.nunique() > 1:
            vocabulary, casing = map(layout.spaced, way.split())
            shown = phrase("suggestion_of", vocabulary=vocabulary, casing=casing)
            chosen.append(clusters.assign(measure=shown))
            break
    return pd.concat(chosen)


def _shared(inputs: Inputs, rows: pd.DataFrame) -> SharedTask:
    """Return a task from the scores on all its datasets."""
    first = rows.iloc[0]
    languages = rows.groupby("making", sort=False).language.nunique()
    usual = str(languages.idxmax())
    shown = rows.assign(unusual=rows.making != usual).sort_values("unusual", kind="stable")
    chosen = shown.drop_duplicates("language")
    unusual = chosen[chosen.unusual] if languages[usual] > 1 else chosen
    scores: dict[str, dict[str, Mean]] = {}
    for row in shown[shown.dataset.isin(chosen.dataset)].to_dict("records"):
        mean = Mean(row["value"], row["interval"])
        of_encoder = scores.setdefault(row["encoder"], {})
        of_encoder[row["language"]] = mean if row["way"] else mean_score([mean])
    sources = ", ".join(map(layout.spaced, first.sources))
    return SharedTask(
        name=": ".join(filter(None, (layout.spaced(first.task), sources))),
        group=TASKS[first.task].group,
        measure=first.measure,
        datasets=dict(sorted(zip(chosen.language, chosen.dataset, strict=True))),
        # If no two are made in the same way, neither is the usual one.
        different=frozenset(unusual.language),
        scores={name: scores[name] for name in inputs.in_order(scores)},
    )


def languages_of(tasks: list[SharedTask]) -> list[str]:
    """Return the languages of some tasks: those with the most tasks first."""
    counts = Counter(language for task in tasks for language in task.datasets)
    return sorted(counts, key=lambda language: (-counts[language], language))


def averaged(tasks: list[SharedTask], inputs: Inputs) -> list[SharedTask]:
    """Return the probed tasks, made in the same way, that all languages with such tasks have."""
    large = [task for task in tasks if inputs.too_small.isdisjoint(task.datasets.values())]
    same = [task for task in large if not task.different]
    probed = [task for task in same if inputs.datasets.keys() >= {*task.datasets.values()}]
    return [task for task in probed if len(task.datasets) == len(languages_of(probed))]


def languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's mean in each language, over the tasks that all languages have."""
    tasks = averaged(shared_tasks(inputs), inputs)
    if not tasks:
        return []
    datasets = {name: [task.datasets[name] for task in tasks] for name in languages_of(tasks)}

    def mean(language: str, encoder: str) -> Cell:
        names = datasets[language]
        cell = mean_cell(inputs.mean(names, encoder), inputs.trivial(*names))
        return sampled(inputs, names, cell)

    def heading(language: str) -> Cell:
        return Cell(language, title=", ".join(datasets[language]))

    table = lay_out(
        "languages",
        inputs.names,
        [Column("encoder", layout.named), *columns_of(datasets, mean, heading)],
        kind="encoder",
        last=[trivial_row(inputs, datasets.values())],
        tasks="; ".join(task.name for task in tasks),
    )
    return [table]


def tasks_in_languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's score on each task in each language, as a heat map.

    A colour is the share of the way from the best trivial baseline to a perfect score. Intervals
    would make columns too wide for a dozen languages: the page shows them where a score is pointed
    at.
    """
    tasks = shared_tasks(inputs)
    if not tasks:
        return []

    def score(language: str, row: tuple[SharedTask, str]) -> Cell | None:
        task, encoder = row
        score = task.scores[encoder].get(language)
        if score is None:
            return None
        dataset = task.datasets[language]
        trivial = inputs.trivial(dataset) if dataset in inputs.datasets else 0.0
        below = dataset in inputs.datasets and score.interval[0] <= trivial
        marks = given({layout.NOT_SHOWN: below, layout.DIFFERENT: language in task.different})
        cell = layout.percent_cell(score.value, "", marks)
        title = f"{dataset} {layout.bracketed(score.interval)}"
        shade = (score.value - trivial) / (1 - trivial) if trivial < 1 else 0.0
        return sampled(inputs, [dataset], replace(cell, title=title, shade=shade))

    columns = [
        Column("task", lambda row: Cell(row[0].name, title=", ".join(row[0].datasets.values()))),
        Column("measure", lambda row: translated(row[0].measure)),
        Column("encoder", lambda row: row[1]),
        *columns_of(languages_of(tasks), score, lambda code: Cell(code, title=title_of(code))),
    ]
    table = lay_out(
        "tasks-in-languages",
        [(task, encoder) for task in tasks for encoder in task.scores],
        columns,
        texts=3,
        group=lambda row: row[0].group.abbreviation,
        more=() if averaged(tasks, inputs) else layout.paragraphs("languages", tasks="")[:1],
    )
    return [table]


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
