"""Comparisons: of encoders in pairs, of two editions of a dataset, of languages, of measures.

The last ones are the study of EvalRank by Wang, Kuo and Li (2022), of main layers: correlations,
over encoders, of scores without a probe with those of tasks (Tables 3, 6 and 11), similarity by
level (Figure 2), ranks by the source of their pairs (Tables 4 and 7), alignment and uniformity
(section 4.4).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, product
from statistics import NormalDist, fmean
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from builders.statistics import pearson
from builders.tasks import TASKS
from builders.tasks.benchmarks import Group
from evaluation.arrays import Doubles
from evaluation.measures import COVERAGE, average_ranks, spearman
from evaluation.ranking import measure_ranks
from evaluation.results.comparison import ALL_PAIRS_LIMIT, Difference
from evaluation.results.scores import PLAIN, PairRanks, Predictions, read_predictions, read_ranks
from probeta.report import layout
from probeta.report.inputs import Pairs, group_sort_key, probed_scores
from probeta.report.layout import Cell, Column, Table, columns_of, lay_out, unused_name
from probeta.report.statistics import BASELINE_ENCODER, Average, Mean, Report
from probeta.report.tables import (
    applicable_marks,
    baseline_row,
    by_dataset,
    difference_cell,
    mark_samples,
    mean_cell,
    tone,
)
from probeta.report.texts import phrase, translated

# As a share of the largest number of texts, or words, with vectors. An encoder with fewer has an
# easier task, so that its higher score is not better.
MIN_SHARE = 0.9
# With more encoders than this, a paper has only the pairs with the best one.
FEW_ENCODERS = 4

Pair = tuple[str, str]
Differences = Mapping[Pair, Mapping[str, Difference]]
"""Pair of encoders to dataset, average or measure to their difference."""


def pairs(report: Report, among: Iterable[Difference] | None = None) -> list[Table]:
    """Return the differences of every two encoders over groups of tasks, by benchmark.

    ``among``: the differences to show, by default those of the page.
    """
    differences = report.shown_differences if among is None else list(among)
    dataset_differences = _by_pair(differences, "dataset")
    group_differences = _by_pair(differences, "group")
    compared = set(chain.from_iterable(group_differences.values()))
    tables: list[Table] = []
    for benchmark, whole in report.benchmark_averages.items():
        groups = [a for a in report.averages if a.benchmark == benchmark and a.group]
        averages = [average for average in (whole, *groups) if average.name in compared]
        if not averages:
            continue
        counts = {
            pair: _count_tones(
                tone(difference)
                for name, difference in pair_differences.items()
                if report.inputs.benchmark(name) == benchmark
            )
            for pair, pair_differences in dataset_differences.items()
        }

        def difference_of(average: Average, pair: Pair) -> Cell:
            return difference_cell(group_differences.get(pair, {}).get(average.name))

        def heading(average: Average) -> Cell:
            return mark_samples(report, average.datasets, Cell(average.heading))

        columns = [
            Column("encoders", " − ".join),
            Column("counts_of_tones", counts.get),
            *columns_of(averages, difference_of, heading),
        ]
        about = f"{about_differences(phrase('test_document'))} {phrase('of_groups')}"
        table = lay_out(
            "pairs",
            counts,
            columns,
            name=f"pairs-{unused_name(benchmark)}",
            more=() if tables else _about_hidden_pairs(report),
            differences="" if tables else about,
            benchmark=translated(benchmark),
        )
        tables.append(table)
    return tables


def best_pairs(report: Report) -> list[Table]:
    """Return ``pairs``; of many encoders, only those with the best one."""
    few, best = len(report.names) <= FEW_ENCODERS, report.names[0]
    return pairs(report, (d for d in report.differences if few or best in (d.first, d.second)))


def _about_hidden_pairs(report: Report) -> tuple[str, ...]:
    """Return a sentence on pairs that are not shown, if there are any."""
    hidden = len(report.names) > ALL_PAIRS_LIMIT
    return (phrase("first_pairs", many=ALL_PAIRS_LIMIT),) if hidden else ()


def _count_tones(tones: Iterable[str]) -> Cell:
    counts = Counter(tones)
    better, tied, worse = (counts[tone] for tone in ("better", "tie", "worse"))
    return Cell(f"{better} / {tied} / {worse}", value=better - worse)


def differences(report: Report) -> list[Table]:
    """Return the differences of every two encoders on every dataset."""
    by_pair = _by_pair(report.shown_differences, "dataset")
    rows = report.inputs.datasets if by_pair else ()
    return by_dataset(report, "differences", _pair_columns(by_pair), rows)


def measure_differences(
    report: Report,
    group: Group,
    texts: Sequence[str],
    rows: Mapping[str, Sequence[str]],
    about: str,
) -> list[Table]:
    """Return the differences of every two encoders by measures of ranks or clusters.

    ``rows``: key of a measure to what names its row, in columns with the headings ``texts``.
    """
    measured = [d for d in report.shown_differences if d.target in rows]
    names = {difference.target for difference in measured}
    if not names:
        return []
    table = lay_out(
        "measures",
        [name for name in rows if name in names],
        [
            *columns_of(range(len(texts)), lambda i, name: rows[name][i], texts.__getitem__),
            *_pair_columns(_by_pair(measured, "measure")),
        ],
        name=f"differences-{group.abbreviation.lower()}",
        more=_about_hidden_pairs(report),
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
    return [name for name, count in counts.items() if count >= MIN_SHARE * max(counts.values())]


def _pair_columns(differences: Differences) -> list[Column]:
    """Return a column for each pair of encoders."""
    return columns_of(
        differences, lambda pair, name: difference_cell(differences[pair].get(name)), " − ".join
    )


def _by_pair(differences: Iterable[Difference], level: str) -> Differences:
    """Return the differences of a level, such as "dataset"."""
    by_pair: dict[Pair, dict[str, Difference]] = {}
    for difference in differences:
        if difference.level == level:
            pair = (difference.first, difference.second)
            by_pair.setdefault(pair, {})[difference.target] = difference
    return by_pair


def editions(report: Report) -> list[Table]:
    """Return a table for each dataset that is an edition of another one."""
    tables: list[Table] = []
    for (new, old), rows in groupby(report.editions, lambda edition: (edition.new, edition.old)):
        to_baseline = Cell(phrase("less_that_of", floor=BASELINE_ENCODER))
        columns = [
            Column("encoder", lambda edition: layout.name_cell(edition.encoder)),
            Column(mark_samples(report, (old,), Cell(old)), lambda edition: edition.old_score),
            Column(mark_samples(report, (new,), Cell(new)), lambda edition: edition.new_score),
            Column("new_minus_old", lambda edition: difference_cell(edition.difference)),
            Column(to_baseline, lambda edition: difference_cell(edition.difference_to_baseline)),
        ]
        name = unused_name(f"editions-{new}", [table.name for table in tables])
        words = {"new": new, "old": old, "floor": BASELINE_ENCODER}
        tables.append(lay_out("editions", rows, columns, name=name, kind="encoder", **words))
    return tables


# Of paradigms, the first of these settings that two languages have: vocabulary and casing.
SETTINGS = ("shared lower", "shared as_is", "own lower", "own as_is")


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task in two languages or more.

    Attributes:
        name: task, recipes and collection, in words.
        datasets: language to dataset, in the order of the languages.
        different: the languages whose dataset is made in another way than most others; such a task
            is in no average.
        scores: encoder to language to its score.
    """

    name: str
    group: Group
    measure: str
    datasets: Mapping[str, str]
    different: frozenset[str] = frozenset()
    scores: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)


def shared_tasks(report: Report) -> list[SharedTask]:
    """Return all tasks that the report has in two languages or more, by group.

    Probed datasets of one task are compared if they are from the same recipes and collection;
    EvalRank and ParaLex, whose sources differ in each language, are compared all the same. Editions
    of other datasets are excluded, and of several datasets in one language all except the one that
    is made as those in the other languages, or else the first.
    """
    scores = _select_scores(report.inputs.score_table)
    audited = [report.inputs.audit[dataset] for dataset in scores.dataset]
    # With `loc`, as an empty list would choose columns.
    scores = scores.loc[[bool(a.get("made")) and not a.get("edition_of") for a in audited]]
    made = [report.inputs.audit[dataset]["made"] for dataset in scores.dataset]
    probed = scores.dataset.isin([*report.inputs.datasets])
    sources = [tuple(m["from"]) if probe else () for m, probe in zip(made, probed, strict=True)]
    scores = scores.assign(
        sources=pd.Series(sources, scores.index, object),
        making=[repr((m["from"], sorted(m["options"].items()))) for m in made],
    )
    groups = [rows for _, rows in scores.groupby(["task", "measure", "sources"], sort=False)]
    tasks = [_shared_task(report, rows) for rows in groups if rows.language.nunique() > 1]
    return sorted(tasks, key=lambda task: (group_sort_key(task.group), task.name))


def _select_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of ``Inputs.score_table`` that are compared, their measures in words."""
    ranks = scores[(scores.measure == "MRR") & (scores.setting == "cosine")]
    selected = [scores[scores.setting == ""], ranks.assign(measure=phrase("by_cosine"))]
    for setting in SETTINGS:
        clusters = scores[(scores.measure == "suggestion") & (scores.setting == setting)]
        if clusters.language.nunique() > 1:
            vocabulary, casing = map(layout.spaced, setting.split())
            measure = phrase("suggestion_of", vocabulary=vocabulary, casing=casing)
            selected.append(clusters.assign(measure=measure))
            break
    return pd.concat(selected)


def _shared_task(report: Report, rows: pd.DataFrame) -> SharedTask:
    """Return a task from the scores on all its datasets, a row each."""
    first = rows.iloc[0]
    languages = rows.groupby("making", sort=False).language.nunique()
    usual = str(languages.idxmax())
    rows = rows.assign(unusual=rows.making != usual).sort_values("unusual", kind="stable")
    datasets = rows.drop_duplicates("language")
    unusual = datasets[datasets.unusual] if languages[usual] > 1 else datasets
    scores: dict[str, dict[str, Mean]] = {}
    for row in rows[rows.dataset.isin(datasets.dataset)].to_dict("records"):
        mean = Mean(row["value"], row["interval"])
        scores.setdefault(row["encoder"], {})[row["language"]] = mean
    sources = ", ".join(map(layout.spaced, first.sources))
    return SharedTask(
        name=": ".join(filter(None, (layout.spaced(first.task), sources))),
        group=TASKS[first.task].group,
        measure=first.measure,
        datasets=dict(sorted(zip(datasets.language, datasets.dataset, strict=True))),
        # If no two are made in the same way, neither is the usual one.
        different=frozenset(unusual.language),
        scores={name: scores[name] for name in report.sort_names(scores)},
    )


def languages_of(tasks: list[SharedTask]) -> list[str]:
    """Return the languages of some tasks: those with the most tasks first."""
    counts = Counter(language for task in tasks for language in task.datasets)
    return sorted(counts, key=lambda language: (-counts[language], language))


def averaged_tasks(tasks: list[SharedTask], report: Report) -> list[SharedTask]:
    """Return the probed tasks, made in the same way, that all languages with such tasks have."""
    probed = report.inputs.datasets.keys() - report.too_small
    comparable = [t for t in tasks if not t.different and probed >= {*t.datasets.values()}]
    n_languages = len(languages_of(comparable))
    return [task for task in comparable if len(task.datasets) == n_languages]


def languages(report: Report) -> list[Table]:
    """Return each encoder's mean in each language, over the tasks that all languages have."""
    tasks = averaged_tasks(shared_tasks(report), report)
    if not tasks:
        return []
    datasets = {name: [task.datasets[name] for task in tasks] for name in languages_of(tasks)}

    def mean(language: str, encoder: str) -> Cell:
        names = datasets[language]
        cell = mean_cell(report, report.mean(names, encoder), names)
        return mark_samples(report, names, cell)

    table = lay_out(
        "languages",
        report.names,
        [Column("encoder", layout.name_cell), *columns_of(datasets, mean)],
        kind="encoder",
        last=[baseline_row(report, datasets.values())],
        tasks="; ".join(task.name for task in tasks),
    )
    return [table]


def tasks_in_languages(report: Report) -> list[Table]:
    """Return each encoder's score on each task in each language."""
    tasks = shared_tasks(report)
    if not tasks:
        return []

    def score(language: str, row: tuple[SharedTask, str]) -> Cell | None:
        task, encoder = row
        score = task.scores[encoder].get(language)
        if score is None:
            return None
        dataset = task.datasets[language]
        probed = dataset in report.inputs.datasets
        below = probed and report.beats_baseline(score, dataset) < 1
        different = language in task.different
        marks = applicable_marks({layout.NOT_SHOWN: below, layout.DIFFERENT: different})
        return mark_samples(report, [dataset], layout.percent_cell(score.value, "", marks))

    columns = [
        Column("task", lambda row: row[0].name),
        Column("measure", lambda row: translated(row[0].measure)),
        Column("encoder", lambda row: row[1]),
        *columns_of(languages_of(tasks), score),
    ]
    table = lay_out(
        "tasks-in-languages",
        [(task, encoder) for task in tasks for encoder in task.scores],
        columns,
        texts=3,
        more=() if averaged_tasks(tasks, report) else layout.paragraphs("languages", tasks="")[:1],
    )
    return [table]


Statistic = Literal["Spearman", "Pearson"]
STATISTICS: tuple[Statistic, ...] = ("Spearman", "Pearson")
# Of a correlation. The order of two points agrees or disagrees as a coin would. The interval of
# four is almost all of -1 … 1, and that of five covers too much.
MIN_POINTS, MIN_POINTS_OF_INTERVAL = 3, 6
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
        kinds = (self.intrinsic, self.trained)
        return sorted(set.intersection(*(set(chain.from_iterable(k.values())) for k in kinds)))


def values_of(scores: Mapping[str, float], encoders: Sequence[str]) -> Doubles:
    """Return the scores of encoders, float64 [encoders]; NaN for none."""
    return np.array([scores.get(name, math.nan) for name in encoders])


def study_of(report: Report) -> Study:
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

    for name, score in probed_scores(report.inputs.encoders):
        if TASKS[score.task].trained:
            trained.setdefault(score.dataset, {})[name] = score.value
            continue
        add(f"{score.dataset} Pearson", name, score.value)
        add(f"{score.dataset} Spearman", name, score.measures.get("spearman"))
    rated = [name for name in report.inputs.datasets if f"{name} Pearson" in intrinsic]
    averaged = report.benchmark_datasets(rated)
    for name in report.names if len(averaged) > 1 else ():
        values = [intrinsic[f"{dataset} Pearson"].get(name, math.nan) for dataset in averaged]
        add(phrase("mean_similarity"), name, float(np.mean(values)))
    for ranked in report.inputs.rankings:
        for similar in ranked.similarities:
            if (similar.postprocessing, similar.similarity) == (PLAIN, "l2"):
                add(f"{similar.dataset} Pearson, l2", ranked.name, similar.pearson)
                add(f"{similar.dataset} Spearman, l2", ranked.name, similar.spearman)
        for rank in ranked.plain:
            for measure, value in (*rank.measures.items(), (phrase("mean_rank"), rank.mean_rank)):
                add(f"{rank.dataset} {measure}, {translated(rank.similarity)}", ranked.name, value)
            add(f"{rank.dataset} {phrase('alignment')}", ranked.name, rank.alignment)
            add(f"{rank.dataset} {phrase('uniformity')}", ranked.name, rank.uniformity)
    scores = report.inputs.score_table
    casing = "lower" if scores.setting.str.endswith(" lower").any() else "as_is"
    for row in scores[scores.setting == f"shared {casing}"].to_dict("records"):
        add(f"{row['dataset']} {translated(row['measure'])}", row["encoder"], row["value"])
    processed = {e.name for e in report.inputs.encoders if "postprocessing" in e.encoder["options"]}
    return Study(intrinsic, trained, frozenset(processed))


class Correlation(NamedTuple):
    """A correlation over encoders; without an interval if there are too few, or at 1 and -1."""

    value: float
    interval: tuple[float, float] | None
    encoders: int


def correlate(
    first: Doubles, second: Doubles, statistic: Statistic = "Spearman"
) -> Correlation | None:
    """Return the correlation of two scores over the encoders that have both, [encoders].

    The interval is by Fisher's z, whose variance is 1 / (n - 3) for Pearson's correlation, and for
    Spearman's (1 + r² / 2) / (n - 3) (Bonett and Wright 2000, "Sample size requirements for
    estimating Pearson, Kendall and Spearman correlations", Psychometrika 65). It is left out below
    six encoders, and at 1 and -1, for which the formula has no value. Below three encoders, or if
    one score is equal for all of them, there is no correlation.
    """
    pairs = np.stack([first, second]).round(DECIMALS)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    count = pairs.shape[1]
    if count < MIN_POINTS or (np.ptp(pairs, axis=1) == 0).any():
        return None
    measure = spearman if statistic == "Spearman" else pearson
    # Ranks are exact; their correlation has rounding errors.
    correlation = round(measure(*pairs), DECIMALS)
    if count < MIN_POINTS_OF_INTERVAL or abs(correlation) == 1:
        return Correlation(correlation, None, count)
    more = correlation**2 / 2 if statistic == "Spearman" else 0.0
    half_width = _NORMAL * math.sqrt((1 + more) / (count - 3))
    z = math.atanh(correlation)
    return Correlation(correlation, (math.tanh(z - half_width), math.tanh(z + half_width)), count)


def related(first: Doubles, second: Doubles, statistic: Statistic = "Spearman") -> Cell | None:
    """Return the cell of ``correlate``."""
    if (found := correlate(first, second, statistic)) is None:
        return None
    number = f"n = {found.encoders}"
    if found.interval is None:
        return layout.percent_cell(found.value, number)
    low, high = found.interval
    detail = f"{layout.bracketed(found.interval)} {number}"
    return layout.percent_cell(found.value, detail, strong=not low <= 0 <= high)


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
        if len(encoders) < MIN_POINTS:
            continue
        means = [
            np.mean([values_of(study.trained[name], encoders) for name in datasets], axis=0)
            for _, datasets in columns
        ]
        correlations = {
            measure: [related(values_of(scores, encoders), mean, statistic) for mean in means]
            for measure, scores in study.intrinsic.items()
        }
        half_width = math.tanh(_NORMAL / math.sqrt(max(1, len(encoders) - 3)))
        mean_columns = columns_of(
            range(len(columns)), lambda i, row: row[1][i], lambda i: columns[i][0]
        )
        table = lay_out(
            "more-relations" if tables or group else "relations",
            [row for row in correlations.items() if any(row[1])],
            [Column("score", lambda row: Cell(row[0])), *mean_columns],
            name=layout.unused_name(f"study {group} {statistic.lower()} {part}"),
            statistic=statistic,
            tasks=group or phrase("tasks"),
            apart=phrase("unprocessed") if part else "",
            count=len(encoders),
            surely=layout.percent(half_width),
        )
        tables += [table] if table.rows else []
    return tables


def study(report: Report) -> list[Table]:
    """Return how scores without a probe correlate with those of groups of tasks."""
    scores = study_of(report)
    if not (scores.intrinsic and scores.trained):
        return []
    if (count := len(report.inputs.encoders)) < MIN_POINTS:
        few = phrase("few", count=phrase("one" if count == 1 else "two"))
        return [lay_out("study", few=few)]
    groups = _trained_groups(report, scores).items()
    columns = [(Cell(f"{name} ({len(members)})"), members) for name, members in groups]
    return relations(scores, columns)


def study_datasets(report: Report) -> list[Table]:
    """Return how scores without a probe correlate with those of the datasets of each group."""
    scores = study_of(report)
    tables: list[Table] = []
    for group, members in _trained_groups(report, scores).items():
        columns = [(Cell(name), [name]) for name in members]
        tables += relations(scores, columns, group)
    return tables


def _trained_groups(report: Report, scores: Study) -> dict[str, list[str]]:
    """Return benchmark and group to those of its datasets that a probe is trained for."""
    groups = {
        f"{translated(average.benchmark)} {average.group.abbreviation}": [
            name for name in average.datasets if name in scores.trained
        ]
        for average in report.averages
        if average.group
    }
    return {group: members for group, members in groups.items() if members}


def trained_means(report: Report, study: Study) -> dict[str, dict[str, float]]:
    """Return "all" and each benchmark to encoder to the mean of its trained tasks.

    Of the encoders that also have scores without a probe; of all tasks those that all of them have.
    """
    shared = [name for name, scores in study.trained.items() if {*study.encoders} <= {*scores}]
    members = {"all": shared} | {
        benchmark: [name for name in average.datasets if name in study.trained]
        for benchmark, average in report.benchmark_averages.items()
    }
    means = {}
    for benchmark, datasets in members.items():
        tables = [study.trained[name] for name in datasets]
        having = [e for e in study.encoders if all(e in table for table in tables)]
        if tables and len(having) >= MIN_POINTS:
            means[benchmark] = {e: fmean(table[e] for table in tables) for e in having}
    return means


def scattered(study: Study) -> dict[str, tuple[Doubles, Doubles]]:
    """Return MRR by cosine and mean similarity to each encoder's rank by it, and by all tasks.

    Ranks are float64 [encoders], 1 for the best; empty below three encoders, or if they share no
    task.
    """
    tasks = [values_of(scores, study.encoders) for scores in study.trained.values()]
    shared = [values for values in tasks if not np.isnan(values).any()]
    if len(study.encoders) < MIN_POINTS or not shared:
        return {}
    task_ranks = average_ranks(-np.mean(shared, axis=0))
    return {
        name: (average_ranks(-values_of(scores, study.encoders)), task_ranks)
        for name, scores in study.intrinsic.items()
        if name == phrase("mean_similarity") or name.endswith(f" {phrase('by_cosine')}")
        if scores.keys() >= {*study.encoders}
    }


def levels(report: Report) -> list[Table]:
    """Return how similarity agrees with people's scores at parts of their scale."""
    inputs = report.inputs
    rows = [
        (name, encoder, read_predictions(inputs.folders[encoder], name, score.layer))
        for name, scores in inputs.datasets.items()
        if not TASKS[inputs.any_score(name).task].trained
        for encoder, score in scores.items()
    ]

    def cell(level: tuple[float, float], row: tuple[str, str, Predictions]) -> Cell | None:
        gold, predicted = row[2].gold, row[2].predicted[0]
        share = ((gold - gold.min()) / (np.ptp(gold) or 1)).round(DECIMALS)
        inside = (share >= level[0]) & (share <= level[1])
        if inside.sum() < MIN_POINTS:
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


def sources(report: Report) -> list[Table]:
    """Return the MRR of each ranking's pairs by the dataset of scored pairs that has them."""

    def cell(shared: Pairs, row: tuple[str, PairRanks]) -> Cell | None:
        pairs = row[1]
        keys = zip(pairs.queries.tolist(), pairs.positives.tolist(), strict=True)
        inside = np.array([key in shared for key in keys], bool)
        if not inside.any():
            return None
        measured = measure_ranks(pairs.ranks[inside], pairs.documents[inside])
        detail = f"{layout.bracketed(measured['interval'])} n = {inside.sum():,}"
        return layout.percent_cell(measured["mrr"], detail)

    tables: list[Table] = []
    for dataset, pairs in report.inputs.sources.items():
        folders = report.inputs.ranks_folders
        ranked = [
            (results.name, read_ranks(folders[results.name], dataset, "cosine"))
            for results in report.inputs.rankings
            if any((s.dataset, s.similarity) == (dataset, "cosine") for s in results.plain)
        ]
        columns = [Column("encoder", lambda row: layout.name_cell(row[0]))]
        for source, shared in pairs.items():
            columns.append(Column(Cell(source or phrase("no_dataset")), partial(cell, shared)))
        name = layout.unused_name(f"sources {dataset}", [table.name for table in tables])
        tables += [lay_out("sources", ranked, columns, name=name, dataset=dataset)]
    return tables


def measures(report: Report) -> list[Table]:
    """Return the measures that are correlated."""
    scores = study_of(report).intrinsic

    def cell(encoder: str, measure: str) -> Cell | None:
        value = scores[measure].get(encoder)
        return None if value is None else layout.count_cell(value, "{:,.3f}")

    encoders = report.sort_names(set(chain.from_iterable(scores.values())))
    columns = [Column("score", Cell), *columns_of(encoders, cell)]
    return [lay_out("intrinsic", scores, columns)] if scores else []
