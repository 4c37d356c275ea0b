"""The results of a report: checks that all results and the audit are of the same rows.

Where the pairs of a ranking come from: the datasets of scored pairs that have them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from builders.audit_report import (
    DETECTABLE_AT_MOST,
    baselines_of,
    best_baseline,
    detectable_of,
    read_audit,
)
from builders.tasks import TASKS
from builders.tasks.benchmarks import EVALRANK, PARALEX, Group, group_of
from builders.tasks.examples import RANKING_TASKS
from corpora_recipes.running.console import announce
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import sentence_hash
from evaluation.datasets import Dataset
from evaluation.features import text_columns, texts_of
from evaluation.results.comparison import (
    ALL_PAIRS_LIMIT,
    Difference,
    JackknifeScore,
    compare,
    compare_paradigms,
    compare_ranks,
    measure_all,
)
from evaluation.results.scores import (
    PARADIGM_MEASURES,
    ParadigmResults,
    RankingResults,
    Results,
    Score,
    read_paradigms,
    read_predictions,
    read_rankings,
    read_ranks,
    read_results,
)
from probeta.annotation import AnnotatorScores, read_annotator_scores
from probeta.report.statistics import (
    FLOOR,
    LEAST,
    OWN,
    Average,
    Edition,
    Mean,
    compare_editions,
    group_sort_key,
    items_of,
    list_averages,
    mean_score,
)

Pairs = frozenset[tuple[str, str]]
"""Query and positive, by id."""
Sources = Mapping[str, Mapping[str, Pairs]]
"""Ranking to dataset of scored pairs to those pairs that it has; "": those that none has."""


def sources_of(datasets: Sequence[Dataset]) -> Sources:
    """Return the sources of the rankings among some datasets, if there are any.

    A dataset of pairs with scores has a pair of a ranking in its language, if the texts are the
    same except for case, punctuation and symbols, in either order, whatever the score.
    """
    rankings = [d for d in datasets if d.task in {task.name for task in RANKING_TASKS}]
    scored = [(d, _pairs(d)) for d in datasets if rankings and d.target == "score"]
    found = {}
    for ranking in rankings:
        columns = ["id", *text_columns(ranking.task, "natural"), "positives"]
        rows = [[*row.values()] for row in ranking.read("test", columns).to_pylist()]
        marks = {row: sentence_hash(text) for row, text, _ in rows}
        rest = {(query, positive) for query, _, others in rows for positive in others}
        linked = {pair: frozenset(marks[n] for n in pair) for pair in rest}
        sets = {}
        for dataset, pairs in scored:
            inside = frozenset(pair for pair, texts in linked.items() if texts in pairs)
            if dataset.language == ranking.language and inside:
                sets[dataset.name] = inside
                rest -= inside
        if sets:
            found[ranking.name] = sets | ({"": frozenset(rest)} if rest else {})
    return found


def _pairs(dataset: Dataset) -> set[frozenset[int]]:
    columns = text_columns(dataset.task, "natural")
    pairs: set[frozenset[int]] = set()
    for split in dataset.files:
        table = dataset.read(split, columns)
        texts = (texts_of(table, column)[0].to_pylist() for column in columns)
        pairs |= {frozenset(map(sentence_hash, pair)) for pair in zip(*texts, strict=True)}
    return pairs


AnyResults = Results | RankingResults | ParadigmResults
Facts = dict[str, tuple[Any, str]]
Datasets = Mapping[str, Mapping[str, Score]]
"""Dataset to encoder to the score of its main layer, ordered by group, then by name."""
# Rows of a dataset that the page shows as likely label errors.
EXAMPLES = 3
COLUMNS = ("encoder", "dataset", "task", "language", "measure", "way", "key", "value", "interval")


@dataclass(frozen=True)
class Inputs:
    """The results of a report, of the same rows and seed, and of one protocol of probes.

    Attributes:
        encoders: those with the best mean over all datasets of benchmarks first; ``rankings`` (of
            EvalRank) and ``paradigms`` (of ParaLex) have the same order.
        folders: encoder to the folder that its results were read from; ``ranks_folders``: ranks.
        measured: encoder to dataset to its score, without each document in turn too.
        report: the audit, see ``builders.audit_report``.
        samples: the datasets whose texts are those of the small samples in the project.
        left_out: what stages have left out for a fault, such as "build mine", and the fault.
        people: dataset to how well people answer its rows, as they were probed.
        sources: of the rankings' pairs, see ``sources_of``.
        refused: results of others that are not shown, and why; None if none was verified.
    """

    encoders: tuple[Results, ...]
    rankings: tuple[RankingResults, ...]
    paradigms: tuple[ParadigmResults, ...]
    folders: Mapping[str, Path]
    ranks_folders: Mapping[str, Path]
    measured: Mapping[str, Mapping[str, JackknifeScore]]
    report: Mapping[str, Any]
    samples: frozenset[str]
    left_out: Mapping[str, str]
    people: Mapping[str, AnnotatorScores]
    sources: Sources
    refused: Mapping[str, str] | None = None

    @cached_property
    def datasets(self) -> Datasets:
        """The scores of the main layers."""
        datasets: dict[str, dict[str, Score]] = {}
        for name, score in probed_scores(self.encoders):
            datasets.setdefault(score.dataset, {})[name] = score
        of_one = {name: next(iter(scores.values())) for name, scores in datasets.items()}
        names = sorted(datasets, key=lambda name: group_sort_key(self._group(of_one[name])))
        return {name: datasets[name] for name in names}

    @cached_property
    def groups(self) -> dict[str, Group]:
        """Dataset to its group: all datasets, by group; those without a probe come last."""
        return {
            **{name: self._group(self.any_score(name)) for name in self.datasets},
            **dict.fromkeys(_scored(self.rankings), EVALRANK),
            **dict.fromkeys(_scored(self.paradigms), PARALEX),
        }

    @cached_property
    def audit(self) -> dict[str, Mapping[str, Any]]:
        """Dataset to its entry in the audit."""
        return {name: self.report["datasets"][name] for name in self.groups}

    @cached_property
    def baselines(self) -> dict[str, dict[str, float]]:
        """Probed dataset to trivial baseline to its score on test."""
        return {name: baselines_of(self.report, name) for name in self.datasets}

    @cached_property
    def scores(self) -> pd.DataFrame:
        """All scores of main layers, see ``long_table``."""
        return long_table(self.encoders, self.rankings, self.paradigms)

    @cached_property
    def averages(self) -> list[Average]:
        """The datasets that scores are averaged over."""
        tasks = {name: self.any_score(name).task for name in self.datasets}
        return list_averages(tasks, {name: self.benchmark(name) for name in tasks}, self.too_small)

    @cached_property
    def too_small(self) -> frozenset[str]:
        """The datasets in no average: their tests do not detect ``DETECTABLE_AT_MOST``.

        Samples are averaged all the same: they show what a report looks like.
        """
        return frozenset(filter(self.detects_little, {*self.datasets} - self.samples))

    @cached_property
    def wholes(self) -> dict[str, Average]:
        """Benchmark, ``OWN`` last, to its average over all groups."""
        return {average.benchmark: average for average in self.averages if not average.group}

    @cached_property
    def differences(self) -> list[Difference]:
        """Every two encoders compared, by all results."""
        folders = self.ranks_folders
        ranked = [(each, partial(read_ranks, folders[each.name])) for each in self.rankings]
        averages = [average for average in self.averages if average.datasets]
        return [
            *compare(self.measured, {each.name: each.datasets for each in averages}),
            *compare_ranks(ranked),
            *compare_paradigms(self.paradigms),
        ]

    @cached_property
    def pairs(self) -> list[Difference]:
        """The differences to show: of many encoders, those of the first one."""
        every, first = len(self.names) <= ALL_PAIRS_LIMIT, self.names[0]
        return [each for each in self.differences if every or first in (each.first, each.second)]

    @cached_property
    def editions(self) -> list[Edition]:
        """Every encoder's scores on a dataset and on the one that it is an edition of."""
        older = {name: str(self.audit[name].get("edition_of", "")) for name in self.datasets}
        known = {new: old for new, old in older.items() if old in self.datasets}
        floors = [found.name for found in self.encoders if found.encoder["encoder"] == FLOOR]
        return compare_editions(self.measured, known, min(floors, default=None))

    @cached_property
    def items(self) -> pd.DataFrame:
        """The rows of classes that three encoders or more were asked, see ``items_of``."""
        return items_of(
            {
                name: [
                    read_predictions(self.folders[encoder], name, score.layer)
                    for encoder, score in scores.items()
                ]
                for name, scores in self.datasets.items()
                if len(scores) >= LEAST and self.any_score(name).metric == "accuracy"
            }
        )

    @cached_property
    def examples(self) -> pd.DataFrame:
        """The first ``EXAMPLES`` of ``items`` of each dataset with negative discrimination."""
        return self.items[self.items.discrimination < 0].groupby("dataset").head(EXAMPLES)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The protocol of the probes; without probes, how language models were asked."""
        probed = (results for results in self.encoders if results.probed)
        return next(probed, self.encoders[0]).protocol

    @property
    def names(self) -> list[str]:
        """The names of the encoders."""
        return [results.name for results in self.encoders]

    def benchmark(self, dataset: str) -> str:
        """Return the benchmark that a dataset belongs to, or ``OWN``."""
        return self.report["datasets"].get(dataset, {}).get("benchmark") or OWN

    def _group(self, score: Score) -> Group:
        """Return the group that a score's dataset is averaged in."""
        of_task = TASKS[score.task].group
        return group_of(self.benchmark(score.dataset), score.dataset, of_task)

    def detects_little(self, dataset: str) -> bool:
        """Return whether the test of a dataset detects large differences only."""
        return (detectable_of(self.audit[dataset]) or 0.0) > DETECTABLE_AT_MOST

    def shipped(self, names: Iterable[str]) -> list[str]:
        """Return those of some datasets to average that belong to a benchmark, or all if none does.

        Those that are too small are left out.
        """
        datasets = [name for name in names if name not in self.too_small]
        return [name for name in datasets if self.benchmark(name) != OWN] or datasets

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return names of encoders in the order of the report; those not probed come last."""
        return sorted(names, key=partial(_place, self.names))

    def mean(self, datasets: Sequence[str], encoder: str) -> Mean | None:
        """Return the mean score of an encoder; None if it lacks a dataset, or without any."""
        known = [scores[encoder] for n in datasets if encoder in (scores := self.datasets[n])]
        return mean_score(known) if known and len(known) == len(datasets) else None

    def means(self, datasets: Sequence[str]) -> dict[str, Mean]:
        """Return the mean scores of the encoders that have all datasets, the best one first."""
        means = {name: mean for name in self.names if (mean := self.mean(datasets, name))}
        return dict(sorted(means.items(), key=lambda item: (-item[1].value, item[0])))

    def trivial(self, *datasets: str) -> float:
        """Return the mean score without an encoder: majority (or 0), or the baseline if better."""
        # Correlations have no majority.
        return fmean(
            max(self.any_score(name).majority or 0.0, self.best_trivial(name)[1])
            for name in datasets
        )

    def blind(self, *datasets: str) -> float:
        """Return the mean score without looking at a text: majority, chance; 0 for correlations."""
        scores = map(self.any_score, datasets)
        return fmean(max(score.majority or 0.0, score.chance or 0.0) for score in scores)

    def any_score(self, dataset: str) -> Score:
        """Return a score on a dataset, for facts that are the same for all encoders."""
        return next(iter(self.datasets[dataset].values()))

    def best_trivial(self, dataset: str) -> tuple[str, float]:
        """Return name and score on test of the best trivial baseline other than majority."""
        found = best_baseline(self.report, dataset)
        assert found, "checked by ``read_inputs``"
        return found


def read_inputs(
    results: Sequence[Path],
    audit: Path,
    rankings: Sequence[Path] = (),
    paradigms: Sequence[Path] = (),
    samples: Collection[str] = (),
    left_out: Mapping[str, str] | None = None,
    people: Sequence[Path] = (),
    sources: Sources | None = None,
    refused: Mapping[str, str] | None = None,
) -> Inputs:
    """Read results, and check that they are comparable; see ``write_report``.

    Of the audit of the package, whose content ``probeta package`` checks, only the numbers of rows
    are compared here; the datasets of EvalRank and ParaLex must be listed. Scores of people on
    other rows than those that were probed are left out, and said to be.
    """
    if not results:
        todo = "probe an encoder of params.yaml: `probeta repro`"
        raise InputError("results", "the results of one encoder or more", "no results", todo)
    by_name = attrgetter("name")
    probed, ranked = map(read_results, results), map(read_rankings, rankings)
    folders = sorted(zip(probed, results, strict=True), key=lambda pair: pair[0].name)
    ranks = sorted(zip(ranked, rankings, strict=True), key=lambda pair: pair[0].name)
    inputs = Inputs(
        encoders=tuple(found for found, _ in folders),
        rankings=tuple(found for found, _ in ranks),
        paradigms=tuple(sorted(map(read_paradigms, paradigms), key=by_name)),
        folders={found.name: folder for found, folder in folders},
        ranks_folders={found.name: folder for found, folder in ranks},
        measured={},
        report=read_audit(audit),
        samples=frozenset(samples),
        left_out=left_out or {},
        people={},
        sources=sources or {},
        refused=refused,
    )
    facts: Facts = {}
    given: list[AnyResults] = [*inputs.encoders, *inputs.rankings, *inputs.paradigms]
    for each in given:
        facts = agreeing(facts, each)
    _check_audited(inputs, audit)
    measured = measure_all([(found, partial(read_predictions, path)) for found, path in folders])
    best_first = list(inputs.means(inputs.shipped(inputs.datasets)))

    def by_mean(results: AnyResults) -> tuple[int, str]:
        return _place(best_first, results.name)

    encoders = tuple(sorted(inputs.encoders, key=by_mean))
    return replace(
        inputs,
        encoders=encoders,
        rankings=tuple(sorted(inputs.rankings, key=by_mean)),
        paradigms=tuple(sorted(inputs.paradigms, key=by_mean)),
        measured={found.name: measured[found.name] for found in encoders},
        samples=inputs.samples & inputs.audit.keys(),
        people={found.dataset: found for found in _of_probed_rows(inputs, people)},
    )


def _of_probed_rows(inputs: Inputs, people: Sequence[Path]) -> Iterator[AnnotatorScores]:
    for path in people:
        found = read_annotator_scores(path)
        if found.dataset not in inputs.datasets:
            continue
        if found.digest == inputs.any_score(found.dataset).digest:
            yield found
        else:
            announce(f"{path}: not shown, as its rows are not those that were probed")


def long_table(
    encoders: Sequence[Results],
    rankings: Sequence[RankingResults],
    paradigms: Sequence[ParadigmResults],
) -> pd.DataFrame:
    """Return the scores of the main layers, of vectors as they are: a row each with ``COLUMNS``.

    "way" is a similarity, or vocabulary and casing, "" of a probe; "key" is unique for an encoder:
    the dataset, or such as "evalrank_es mrr cosine". Probes come first, then EvalRank, ParaLex.
    """
    rows: list[tuple[object, ...]] = [
        (name, s.dataset, s.task, s.language, s.metric, "", s.dataset, s.value, s.interval)
        for name, s in probed_scores(encoders)
    ]
    for ranked in rankings:
        for rank in ranked.plain:
            about = (ranked.name, rank.dataset, rank.task, rank.language)
            for what, value in rank.measures.items():
                interval = rank.interval if what == "MRR" else None
                rows.append((*about, what, rank.similarity, rank.key(what), value, interval))
    for clustered in paradigms:
        for score in clustered.main:
            about = (clustered.name, score.dataset, "paradigms", score.language)
            way = f"{score.vocabulary} {score.casing}"
            for what in PARADIGM_MEASURES:
                value, interval = getattr(score, what), getattr(score, f"{what}_interval")
                rows.append((*about, what, way, score.key(what), value, interval))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def probed_scores(encoders: Sequence[Results]) -> list[tuple[str, Score]]:
    """Return the scores of main layers with their encoders: by group, dataset, then as given."""
    return sorted(
        ((results.name, score) for results in encoders for score in results.main),
        key=lambda row: (*group_sort_key(TASKS[row[1].task].group), row[1].dataset),
    )


def _place(names: Sequence[str], name: str) -> tuple[int, str]:
    """Return the sort key of a name: those of a list in its order, then all others by name."""
    return names.index(name) if name in names else len(names), name


def _scored(kind: Sequence[RankingResults] | Sequence[ParadigmResults]) -> list[str]:
    return sorted({score.dataset for results in kind for score in results.scores})


def agreeing(first: Facts, results: AnyResults) -> Facts:
    """Return the facts that results share, with those of one more; ``InputError`` if one differs.

    Fact to its value, and to the encoder whose results have it first.
    """
    where, once = f"results of {results.name}", f"{type(results).__name__} of {results.name}"
    todo = "score all encoders on the same instances in the same way: `probeta repro`"
    if once in first:
        raise InputError(where, "the results of one run per encoder", "several runs", todo)
    new: Facts = {once: (True, results.name)}
    for what, value in _facts(results):
        expected, other = first.get(what) or new.setdefault(what, (value, results.name))
        if value != expected:
            raise InputError(where, f"the {what} of {other}, {expected}", str(value), todo)
    return {**first, **new}


def _facts(results: AnyResults) -> Iterator[tuple[str, Any]]:
    """Yield what must be the same in all results that have it, by its name."""
    yield "seed", results.seed
    yield f"encoder named {results.name}", results.encoder
    yield from ((f"rows of {row.dataset}, SHA-256,", row.digest) for row in results.scores)
    if isinstance(results, RankingResults):
        for similarity in results.similarities:
            yield f"rows of {similarity.dataset}, SHA-256,", similarity.digest
    elif isinstance(results, ParadigmResults):
        yield "coherence threshold", results.coherence_threshold
        for score in results.scores:
            if score.vocabulary_digest:
                yield f"vocabulary of {score.dataset}, SHA-256,", score.vocabulary_digest
    else:
        yield "intervals", results.intervals
        if results.probed:
            yield "protocol", results.protocol


def _check_audited(inputs: Inputs, path: Path) -> None:
    """Check that the audit is of the rows that were probed, and has all other datasets."""
    todo = "audit the same instances again: `probeta repro`"
    audited = inputs.report["datasets"]
    for name in inputs.groups:
        where = f"{path}: {name}"
        if name not in audited:
            raise InputError(where, "its audit", "no such dataset", todo)
        if name not in inputs.datasets:
            continue
        rows = inputs.any_score(name).rows
        if audited[name]["rows"] != rows:
            expected = f"the numbers of rows that were probed, {rows}"
            raise InputError(where, expected, str(audited[name]["rows"]), todo)
        if not best_baseline(inputs.report, name):
            raise InputError(where, "trivial baselines besides majority", "no other", todo)
