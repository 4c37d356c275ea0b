"""The study of EvalRank by Wang, Kuo and Li (2022), of main layers.

Correlations, over encoders, of scores without a probe with those of tasks (Tables 3, 6 and 11),
similarity by level (Figure 2), ranks by the source of their pairs (Tables 4 and 7), alignment and
uniformity (section 4.4).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from statistics import NormalDist, fmean
from typing import Literal, NamedTuple

import numpy as np

from builders.statistics import pearson
from builders.tasks import TASKS
from evaluation.arrays import Doubles
from evaluation.measures import COVERAGE, Metric, average_ranks, spearman
from evaluation.ranking import measure_ranks
from evaluation.results.scores import PLAIN, Score, read_predictions, read_ranks
from probeta.report import layout
from probeta.report.inputs import probed_scores
from probeta.report.layout import Number
from probeta.report.statistics import Report, once
from probeta.report.tables import number
from probeta.report.texts import phrase, translated

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


@once
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
        add(f"{score.dataset} {score.metric.capitalize()}", name, score.value)
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
    estimating Pearson, Kendall and Spearman correlations", Psychometrika 65). It is omitted below
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


def correlations(study: Study, targets: Mapping[str, Sequence[str]]) -> Iterator[Number]:
    """Yield how all measures correlate, over encoders, with the means over some datasets.

    If some encoders are post-processed, also without them.

    Args:
        study: the scores.
        targets: name to datasets.
    """
    plain = [name for name in study.encoders if name not in study.processed]
    parts = {"": study.encoders} | ({phrase("unprocessed"): plain} if study.processed else {})
    for (part, encoders), statistic in product(parts.items(), STATISTICS):
        if len(encoders) < MIN_POINTS:
            continue
        for measure, (target, datasets) in product(study.intrinsic, targets.items()):
            values = [values_of(study.trained[name], encoders) for name in datasets]
            scores = values_of(study.intrinsic[measure], encoders)
            if found := correlate(scores, np.mean(values, axis=0), statistic):
                low, high = found.interval or (0, 0)
                about = {"statistic": statistic, "apart": part, "score": measure, "tasks": target}
                facts = {"note": f"n = {found.encoders}", "strong": not low <= 0 <= high}
                yield number(about, found.value, found.interval, **facts)


def study(report: Report) -> Iterator[Number]:
    """Yield how scores without a probe correlate with those of groups of tasks."""
    scores = study_of(report)
    groups = _trained_groups(report, scores).items()
    return correlations(scores, {f"{name} ({len(members)})": members for name, members in groups})


def study_datasets(report: Report) -> Iterator[Number]:
    """Yield how scores without a probe correlate with those of datasets."""
    scores = study_of(report)
    return correlations(scores, {name: [name] for name in scores.trained})


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


def levels(report: Report) -> Iterator[Number]:
    """Yield how similarity agrees with people's scores at parts of their scale."""
    for dataset, encoder, score in iter_untrained(report, "pearson"):
        predictions = read_predictions(report.inputs.folders[encoder], dataset, score.layer)
        gold, predicted = predictions.gold, predictions.predicted[0]
        share = ((gold - gold.min()) / (np.ptp(gold) or 1)).round(DECIMALS)
        for low, high in LEVELS:
            inside = (share >= low) & (share <= high)
            if inside.sum() >= MIN_POINTS:
                mean, count = float(predicted[inside].mean()), int(inside.sum())
                note = phrase("mean_of", mean=layout.percent(mean), count=count)
                level = f"{100 * low:.0f}–{100 * high:.0f} %"
                about = {"dataset": dataset, "encoder": encoder, "level": level}
                correlation = spearman(gold[inside], predicted[inside])
                yield number(about, correlation, mean=mean, pairs=count, note=note)


def iter_untrained(report: Report, metric: Metric) -> Iterator[tuple[str, str, Score]]:
    """Yield dataset, encoder and score by a metric where no probe is trained."""
    for dataset, scores in report.inputs.datasets.items():
        for encoder, score in scores.items():
            if score.metric == metric and not TASKS[score.task].trained:
                yield dataset, encoder, score


def sources(report: Report) -> Iterator[Number]:
    """Yield the MRR of each ranking's pairs by the dataset of scored pairs that has them."""
    for dataset, ranked in product(report.inputs.sources, report.inputs.rankings):
        if not any((s.dataset, s.similarity) == (dataset, "cosine") for s in ranked.plain):
            continue
        pairs = read_ranks(report.inputs.ranks_folders[ranked.name], dataset, "cosine")
        keys = list(zip(pairs.queries.tolist(), pairs.positives.tolist(), strict=True))
        for source, shared in report.inputs.sources[dataset].items():
            inside = np.array([key in shared for key in keys], bool)
            if count := int(inside.sum()):
                found = measure_ranks(pairs.ranks[inside], pairs.documents[inside])
                about = {"dataset": dataset, "encoder": ranked.name}
                about |= {"source": source or phrase("no_dataset")}
                facts = {"pairs": count, "note": f"n = {count:,}"}
                yield number(about, found["mrr"], found["interval"], **facts)


def measures(report: Report) -> Iterator[Number]:
    """Yield the scores without a probe that are correlated."""
    for measure, scores in study_of(report).intrinsic.items():
        for encoder, value in scores.items():
            yield number({"score": measure, "encoder": encoder}, value, unit="fraction")
