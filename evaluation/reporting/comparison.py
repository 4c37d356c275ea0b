"""Encoders compared two by two: which differences the test sets can tell from chance.

The difference of two encoders on a dataset is measured in every bootstrap draw of its documents, on
the same draws (the paired bootstrap; Efron and Tibshirani 1993, chapter 16; Koehn 2004,
"Statistical significance tests for machine translation evaluation"). For a group of tasks it is the
mean over the group's datasets, which are drawn each for itself. Ranks (EvalRank) and clusters
(ParaLex) are compared in the same way: of those that both encoders have, what is drawn are the
groups of texts that positives link, and the clusters. Where the interval holds 0 the two are tied.
The intervals are of single differences: of twenty ties, one is expected to look like a
difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from evaluation.bootstrap import bootstrap_key, interval, resample, resample_means
from evaluation.metrics import Values, measure
from evaluation.paradigms.results import MEASURES as PARADIGM_MEASURES
from evaluation.paradigms.results import ParadigmResults, ParadigmScore
from evaluation.ranking.results import MEASURES as RANK_MEASURES
from evaluation.ranking.results import RankingResults, RankScore, measure_pairs, read_ranks
from evaluation.results import Results, Score, read_predictions
from evaluation.threads import one_thread

Doubles = np.ndarray[Any, np.dtype[np.float64]]

# Scores that are the same may differ by rounding.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Difference:
    """How two encoders differ, each by its main layer.

    Attributes:
        level: what ``what`` is: a dataset, a group of tasks, or a measure of ranks or clusters.
        what: name of the dataset; abbreviation of the group, such as "SP"; or key of the measure,
            such as "evalrank_es mrr cosine".
        one: name of an encoder.
        other: name of another one.
        rows: number of the rows of test, pairs of texts or clusters that both are compared on.
        value: score of the one less score of the other, -1 … 1 (correlations -2 … 2).
        interval: its 95 % bootstrap interval.
    """

    level: Literal["dataset", "group", "measure"]
    what: str
    one: str
    other: str
    rows: int
    value: float
    interval: tuple[float, float]

    @property
    def tie(self) -> bool:
        """Whether the interval holds 0."""
        low, high = self.interval
        return low <= 0 <= high


@dataclass(frozen=True, slots=True)
class _Sampled:
    """What one encoder reaches on a dataset: in all rows, and in each draw, float64 [2, draws]."""

    rows: int
    value: float
    draws: Doubles


def compare(results: Sequence[tuple[Results, Path]]) -> list[Difference]:
    """Compare every two encoders on every dataset and group that both were probed on.

    Args:
        results: of different encoders that were probed on the same rows, by one protocol and with
            one seed, with the folders they are in.

    Returns:
        The differences: pair by pair in the order of ``results``, datasets by name, then groups.

    Raises:
        InputError: predictions are missing, or two encoders' are of different rows.
    """
    sampled = _sample(results)
    groups: dict[str, set[str]] = {}
    for own, _ in results:
        for score in own.main:
            groups.setdefault(TASKS[score.task].abbreviation, set()).add(score.dataset)
    found = []
    for one, other in combinations((own.name for own, _ in results), 2):
        shared = sorted(sampled[one].keys() & sampled[other].keys())
        names: list[tuple[Literal["dataset", "group"], str, list[str]]] = [
            *(("dataset", dataset, [dataset]) for dataset in shared),
            *(
                ("group", group, sorted(datasets))
                for group, datasets in sorted(groups.items())
                if datasets <= set(shared)
            ),
        ]
        for level, what, datasets in names:
            values = [sampled[one][d].value - sampled[other][d].value for d in datasets]
            draws = [sampled[one][d].draws - sampled[other][d].draws for d in datasets]
            found.append(
                Difference(
                    level,
                    what,
                    one,
                    other,
                    sum(sampled[one][d].rows for d in datasets),
                    float(np.mean(values)),
                    interval(np.mean(draws, axis=0)),
                )
            )
    return found


def compare_ranks(results: Sequence[tuple[RankingResults, Path]]) -> list[Difference]:
    """Compare every two encoders by the ranks of the same pairs.

    Args:
        results: of different encoders, of the same texts and with one seed, with the folders they
            are in.

    Returns:
        The differences of all measures of the vectors as they are: by dataset and similarity, then
        pair by pair in the order of ``results``.

    Raises:
        InputError: ranks are missing, or two encoders' are of different pairs.
    """
    ranked: dict[tuple[str, str], dict[str, tuple[RankScore, Path]]] = {}
    for own, folder in results:
        for score in own.plain:
            way = (score.dataset, score.similarity)
            ranked.setdefault(way, {})[own.name] = (score, folder)
    found = []
    for (dataset, similarity), encoders in sorted(ranked.items()):
        if len(encoders) > 1:
            (score, _), *_ = encoders.values()
            documents, values = _read_pairs(dataset, similarity, encoders)
            keys = [score.key(what) for what in RANK_MEASURES]
            key = bootstrap_key(results[0][0].seed, dataset)
            found += _compare_means(keys, values, documents, key)
    return found


def compare_paradigms(results: Sequence[ParadigmResults]) -> list[Difference]:
    """Compare every two encoders by their scores of the same clusters.

    Args:
        results: of different encoders, of the same clusters and with one seed.

    Returns:
        The differences of all measures: by dataset, vocabulary and casing, then pair by pair in the
        order of ``results``.

    Raises:
        InputError: two encoders' scores are of different clusters.
    """
    clustered: dict[tuple[str, str, str], dict[str, ParadigmScore]] = {}
    for own in results:
        for score in own.main:
            way = (score.dataset, score.vocabulary, score.casing)
            clustered.setdefault(way, {})[own.name] = score
    found = []
    for (dataset, *_), scores in sorted(clustered.items()):
        (first_name, first), *_ = scores.items()
        names = [cluster.cluster for cluster in first.clusters]
        for name, score in scores.items():
            if [cluster.cluster for cluster in score.clusters] != names:
                raise InputError(
                    f"results of {name}, dataset {dataset}",
                    expected=f"the clusters that {first_name} has, {len(names)} in number",
                    found=f"{len(score.clusters)} clusters, not the same",
                    todo="score all encoders on the same instances: `dvc repro`",
                )
        values = {
            name: np.array(
                [[getattr(own, what) for own in score.clusters] for what in PARADIGM_MEASURES]
            )
            for name, score in scores.items()
        }
        keys = [first.key(what) for what in PARADIGM_MEASURES]
        key = bootstrap_key(results[0].seed, dataset)
        found += _compare_means(keys, values, np.array(names), key)
    return found


def best_of(scores: Mapping[str, float], what: str, differences: Iterable[Difference]) -> set[str]:
    """Return the encoder with the highest score and those tied with it; none of one alone.

    Args:
        scores: encoder to score.
        what: that they are of, as in ``Difference``.
        differences: of the encoders, among others.
    """
    if len(scores) < 2:
        return set()
    best = max(scores, key=lambda name: scores[name])
    tied = {frozenset((own.one, own.other)) for own in differences if own.what == what and own.tie}
    return {name for name in scores if name == best or frozenset((name, best)) in tied}


def _read_pairs(
    dataset: str, similarity: str, encoders: Mapping[str, tuple[RankScore, Path]]
) -> tuple[Values, dict[str, Doubles]]:
    """Return the pairs' groups, [pairs], and encoder to what pairs reach, [measures, pairs]."""
    read = {name: read_ranks(folder, dataset, similarity) for name, (_, folder) in encoders.items()}
    (first_name, first), *_ = read.items()
    for name, own in read.items():
        if not (
            np.array_equal(own.queries, first.queries)
            and np.array_equal(own.positives, first.positives)
        ):
            raise InputError(
                encoders[name][1],
                expected=f"ranks of the pairs of {dataset} that {first_name} has, "
                f"{len(first.ranks)} in number",
                found=f"{len(own.ranks)} pairs, not the same",
                todo="rank with all encoders on the same instances: `dvc repro`",
            )
    return first.documents, {name: measure_pairs(own.ranks) for name, own in read.items()}


def _compare_means(
    whats: Sequence[str], values: Mapping[str, Doubles], documents: Values, key: int
) -> list[Difference]:
    """Compare every two encoders by the means of what they reach.

    Args:
        whats: what is measured, [measures].
        values: encoder to what it reaches, float64 [measures, rows].
        documents: ids of what is drawn, [rows].
        key: seed of the draws.
    """
    pairs = list(combinations(values, 2))
    if not pairs:
        return []
    apart = [(values[one] - values[other]).round(_DECIMALS) for one, other in pairs]
    with one_thread():
        draws = resample_means(np.concatenate(apart), documents, key)
    of_pairs = np.split(draws, len(pairs), axis=1)
    return [
        Difference(
            "measure",
            what,
            one,
            other,
            len(documents),
            float(own.mean()),
            interval(drawn[:, place]),
        )
        for (one, other), owns, drawn in zip(pairs, apart, of_pairs, strict=True)
        for place, (what, own) in enumerate(zip(whats, owns, strict=True))
    ]


def _sample(results: Sequence[tuple[Results, Path]]) -> dict[str, dict[str, _Sampled]]:
    """Return encoder to dataset to what it reaches."""
    probed: dict[str, list[tuple[Results, Path, Score]]] = {}
    for own, folder in results:
        for score in own.main:
            probed.setdefault(score.dataset, []).append((own, folder, score))
    sampled: dict[str, dict[str, _Sampled]] = {own.name: {} for own, _ in results}
    for dataset, encoders in sorted(probed.items()):
        if len(encoders) > 1:
            for name, reached in _sample_dataset(dataset, encoders).items():
                sampled[name][dataset] = reached
    return sampled


def _sample_dataset(
    dataset: str, encoders: Sequence[tuple[Results, Path, Score]]
) -> dict[str, _Sampled]:
    """Return encoder to what it reaches on a dataset, all in the same draws."""
    read = [read_predictions(folder, dataset, score.layer) for _, folder, score in encoders]
    first = read[0]
    for own, (_, folder, _) in zip(read, encoders, strict=True):
        if not (np.array_equal(own.ids, first.ids) and np.array_equal(own.gold, first.gold)):
            raise InputError(
                folder,
                expected=f"predictions for the rows of {dataset} that {encoders[0][0].name} "
                f"has, {len(first.ids)} in number",
                found=f"{len(own.ids)} rows, not the same",
                todo="probe all encoders on the same instances: `dvc repro`",
            )
    metric, seed = encoders[0][2].metric, encoders[0][0].seed
    stacked = np.concatenate([own.predicted for own in read])
    with one_thread():
        draws = resample(metric, first.gold, stacked, first.documents, bootstrap_key(seed, dataset))
    found, start = {}, 0
    for (results, _, _), own in zip(encoders, read, strict=True):
        starts = len(own.predicted)
        found[results.name] = _Sampled(
            len(own.ids),
            float(np.mean([measure(metric, first.gold, one) for one in own.predicted])),
            draws[:, start : start + starts].mean(axis=1),
        )
        start += starts
    return found
