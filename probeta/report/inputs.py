"""The results of a report: reads them, and checks that all and the audit are of the same rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

from builders.audit_report import baseline_half_width, baselines_of, best_baseline, read_audit
from builders.tasks import TASKS
from builders.tasks.benchmarks import EVALRANK, GROUPS, OF_BENCHMARKS, PARALEX, Group, group_of
from builders.tasks.examples import RANKING_TASKS
from corpora_recipes.running.console import announce
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import sentence_hash
from evaluation.datasets import Dataset
from evaluation.features import text_columns, texts_of
from evaluation.results.citation import cite
from evaluation.results.scores import (
    PARADIGM_MEASURES,
    ParadigmResults,
    RankingResults,
    Results,
    Score,
    read_paradigms,
    read_rankings,
    read_results,
)
from probeta.annotation import AnnotatorScores, read_annotator_scores
from probeta.scores import OWN

AnyResults = Results | RankingResults | ParadigmResults
Facts = dict[str, tuple[Any, str]]
"""Fact that results share to its value, and to the encoder whose results have it first."""
Datasets = Mapping[str, Mapping[str, Score]]
"""Dataset to encoder to the score of its main layer, ordered by group, then by name."""
Pairs = frozenset[tuple[str, str]]
"""Query and positive, by id."""
Sources = Mapping[str, Mapping[str, Pairs]]
"""Ranking to dataset of scored pairs to those pairs that it has; "": those that none has."""
COLUMNS = (
    *("encoder", "dataset", "task", "language", "measure", "setting"),
    *("key", "value", "interval", "citation"),
)


@dataclass(frozen=True)
class Inputs:
    """The results of a report, of the same rows and seed, and of one protocol of probes.

    Attributes:
        encoders, rankings, paradigms: the results of probes, of EvalRank and of ParaLex, by name
            as ``read_inputs`` returns them, the best encoder first in a ``Report``.
        folders: encoder to the folder that its results were read from; ``ranks_folders``: ranks.
        audit_report: see ``builders.audit_report``.
        samples: the datasets whose texts are those of the small samples in the project.
        skipped: what stages have skipped because it failed, such as "build mine", and the error.
        people: dataset to how well people answer its rows, as they were probed.
        sources: of the rankings' pairs, see ``find_sources``.
        refused: third-party results that are not shown, and why; None if none was verified.
    """

    encoders: tuple[Results, ...]
    rankings: tuple[RankingResults, ...]
    paradigms: tuple[ParadigmResults, ...]
    folders: Mapping[str, Path]
    ranks_folders: Mapping[str, Path]
    audit_report: Mapping[str, Any]
    samples: frozenset[str]
    skipped: Mapping[str, str]
    people: Mapping[str, AnnotatorScores]
    sources: Sources
    refused: Mapping[str, str] | None = None

    @cached_property
    def datasets(self) -> Datasets:
        """The scores of the main layers."""
        datasets: dict[str, dict[str, Score]] = {}
        for name, score in probed_scores(self.encoders):
            datasets.setdefault(score.dataset, {})[name] = score
        groups = {
            name: self._group(next(iter(scores.values()))) for name, scores in datasets.items()
        }
        names = sorted(datasets, key=lambda name: group_sort_key(groups[name]))
        return {name: datasets[name] for name in names}

    @cached_property
    def groups(self) -> dict[str, Group]:
        """Dataset to its group: all datasets, by group; those without a probe come last."""
        return {
            **{name: self._group(self.any_score(name)) for name in self.datasets},
            **dict.fromkeys(_dataset_names(self.rankings), EVALRANK),
            **dict.fromkeys(_dataset_names(self.paradigms), PARALEX),
        }

    @cached_property
    def audit(self) -> dict[str, Mapping[str, Any]]:
        """Dataset to its entry in the audit."""
        return {name: self.audit_report["datasets"][name] for name in self.groups}

    @cached_property
    def baselines(self) -> dict[str, dict[str, float]]:
        """Probed dataset to trivial baseline to its score on test."""
        return {name: baselines_of(self.audit_report["datasets"][name]) for name in self.datasets}

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """All scores of main layers, see ``make_score_table``."""
        return make_score_table(self.encoders, self.rankings, self.paradigms)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The protocol of the probes; without probes, how language models were asked."""
        probed = (results for results in self.encoders if results.probed)
        return next(probed, self.encoders[0]).protocol

    def any_score(self, dataset: str) -> Score:
        """Return a score on a dataset, for facts that are the same for all encoders."""
        return next(iter(self.datasets[dataset].values()))

    def benchmark(self, dataset: str) -> str:
        """Return the benchmark that a dataset belongs to, or ``OWN``."""
        return self.audit_report["datasets"].get(dataset, {}).get("benchmark") or OWN

    def best_baseline(self, dataset: str) -> tuple[str, float]:
        """Return name and score of the baseline to beat, see ``audit_report.best_baseline``."""
        baseline = best_baseline(self.audit_report["datasets"][dataset])
        assert baseline, "checked by ``read_inputs``"
        return baseline

    def baseline_half_width(self, dataset: str) -> float:
        """Return half the width of the interval of ``best_baseline``."""
        return baseline_half_width(self.audit_report["datasets"][dataset])

    def _group(self, score: Score) -> Group:
        """Return the group that a score's dataset is averaged in."""
        task_group = TASKS[score.task].group
        return group_of(self.benchmark(score.dataset), score.dataset, task_group)


def read_inputs(
    results: Sequence[Path],
    audit: Path,
    rankings: Sequence[Path] = (),
    paradigms: Sequence[Path] = (),
    samples: Collection[str] = (),
    skipped: Mapping[str, str] | None = None,
    people: Sequence[Path] = (),
    sources: Sources | None = None,
    refused: Mapping[str, str] | None = None,
) -> Inputs:
    """Read results, and check that they are comparable; see ``write_report``.

    Of the audit of the package, whose content ``probeta package`` checks, only the numbers of rows
    are compared here; the datasets of EvalRank and ParaLex must be listed. Scores of people on
    other rows than those that were probed are skipped, with a message.
    """
    if not results:
        todo = "probe an encoder of params.yaml: `probeta repro`"
        raise InputError("results", "the results of one encoder or more", "no results", todo)
    by_name = attrgetter("name")
    encoders = [(read_results(folder), folder) for folder in results]
    ranked = [(read_rankings(folder), folder) for folder in rankings]
    inputs = Inputs(
        encoders=tuple(sorted((results for results, _ in encoders), key=by_name)),
        rankings=tuple(sorted((results for results, _ in ranked), key=by_name)),
        paradigms=tuple(sorted(map(read_paradigms, paradigms), key=by_name)),
        folders={results.name: folder for results, folder in encoders},
        ranks_folders={results.name: folder for results, folder in ranked},
        audit_report=read_audit(audit),
        samples=frozenset(samples),
        skipped=skipped or {},
        people={},
        sources=sources or {},
        refused=refused,
    )
    facts: Facts = {}
    all_results: list[AnyResults] = [*inputs.encoders, *inputs.rankings, *inputs.paradigms]
    for checked in all_results:
        facts = merge_facts(facts, checked)
    _check_audited(inputs, audit)
    return replace(
        inputs,
        samples=inputs.samples & inputs.audit.keys(),
        people={scores.dataset: scores for scores in _read_people(inputs, people)},
    )


def _read_people(inputs: Inputs, paths: Sequence[Path]) -> Iterator[AnnotatorScores]:
    """Yield the scores of people on the rows that were probed."""
    for path in paths:
        people = read_annotator_scores(path)
        if people.dataset not in inputs.datasets:
            continue
        if people.digest == inputs.any_score(people.dataset).digest:
            yield people
        else:
            announce(f"{path}: not shown, as its rows are not those that were probed")


def merge_facts(facts: Facts, results: AnyResults) -> Facts:
    """Return the facts that results share, with those of further results.

    Raises:
        InputError: these results are a second run of an encoder, or one of their facts differs.
    """
    where, run = f"results of {results.name}", f"{type(results).__name__} of {results.name}"
    todo = "score all encoders on the same instances in the same way: `probeta repro`"
    if run in facts:
        raise InputError(where, "the results of one run per encoder", "several runs", todo)
    added: Facts = {run: (True, results.name)}
    for fact, value in _shared_facts(results):
        expected, first = facts.get(fact) or added.setdefault(fact, (value, results.name))
        if value != expected:
            raise InputError(where, f"the {fact} of {first}, {expected}", str(value), todo)
    return {**facts, **added}


def _shared_facts(results: AnyResults) -> Iterator[tuple[str, Any]]:
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
    audited = inputs.audit_report["datasets"]
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
        if not best_baseline(audited[name]):
            raise InputError(where, "trivial baselines besides majority", "no other", todo)


def make_score_table(
    encoders: Sequence[Results],
    rankings: Sequence[RankingResults],
    paradigms: Sequence[ParadigmResults],
) -> pd.DataFrame:
    """Return the scores of the main layers, of vectors as they are: a row each with ``COLUMNS``.

    "setting" is a similarity, or vocabulary and casing, "" of a probe; "key" is unique for an
    encoder: the dataset, or such as "evalrank_es mrr cosine". Probes come first, then EvalRank,
    ParaLex.
    """
    by_name = {results.name: results for results in encoders}
    rows: list[tuple[object, ...]] = []
    for name, s in probed_scores(encoders):
        about = (name, s.dataset, s.task, s.language, s.metric, "", s.dataset)
        rows.append((*about, s.value, s.interval, str(cite(by_name[name], [s]))))
    for ranked in rankings:
        for rank in ranked.plain:
            about_rank = (ranked.name, rank.dataset, rank.task, rank.language)
            line = str(cite(ranked, [rank]))
            for measure, value in rank.measures.items():
                interval = rank.interval if measure == "MRR" else None
                key = rank.key(measure)
                rows.append((*about_rank, measure, rank.similarity, key, value, interval, line))
    for clustered in paradigms:
        for score in clustered.main:
            about_words = (clustered.name, score.dataset, "paradigms", score.language)
            setting, line = f"{score.vocabulary} {score.casing}", str(cite(clustered, [score]))
            for measure in PARADIGM_MEASURES:
                value, interval = getattr(score, measure), getattr(score, f"{measure}_interval")
                key = score.key(measure)
                rows.append((*about_words, measure, setting, key, value, interval, line))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def probed_scores(encoders: Sequence[Results]) -> list[tuple[str, Score]]:
    """Return the scores of main layers with their encoders: by group, dataset, then as given."""
    return sorted(
        ((results.name, score) for results in encoders for score in results.main),
        key=lambda row: (*group_sort_key(TASKS[row[1].task].group), row[1].dataset),
    )


def _dataset_names(kind: Sequence[RankingResults] | Sequence[ParadigmResults]) -> list[str]:
    return sorted({score.dataset for results in kind for score in results.scores})


def group_sort_key(group: Group) -> tuple[int, str]:
    """Return the sort key of a group: listed groups first, others by abbreviation."""
    listed = (*GROUPS, *OF_BENCHMARKS)
    return listed.index(group) if group in listed else len(listed), group.abbreviation


def find_sources(datasets: Sequence[Dataset]) -> Sources:
    """Return where the pairs of rankings come from: the datasets of scored pairs that have them.

    A dataset of pairs with scores has a pair of a ranking in its language, if the texts are the
    same except for case, punctuation and symbols, in either order, whatever the score. Rankings
    with no such dataset are not returned.
    """
    rankings = [d for d in datasets if d.task in {task.name for task in RANKING_TASKS}]
    scored = [(d, _scored_pairs(d)) for d in datasets if rankings and d.target == "score"]
    sources = {}
    for ranking in rankings:
        columns = ["id", *text_columns(ranking.task, "natural"), "positives"]
        rows = [[*row.values()] for row in ranking.read("test", columns).to_pylist()]
        marks = {row: sentence_hash(text) for row, text, _ in rows}
        unmatched = {(query, positive) for query, _, positives in rows for positive in positives}
        marked_pairs = {pair: frozenset(marks[row] for row in pair) for pair in unmatched}
        matched = {}
        for dataset, pairs in scored:
            shared = frozenset(pair for pair, texts in marked_pairs.items() if texts in pairs)
            if dataset.language == ranking.language and shared:
                matched[dataset.name] = shared
                unmatched -= shared
        if matched:
            sources[ranking.name] = matched | ({"": frozenset(unmatched)} if unmatched else {})
    return sources


def _scored_pairs(dataset: Dataset) -> set[frozenset[int]]:
    """Return the pairs of texts of all splits, each text as its mark."""
    columns = text_columns(dataset.task, "natural")
    pairs: set[frozenset[int]] = set()
    for split in dataset.files:
        table = dataset.read(split, columns)
        texts = (texts_of(table, column)[0].to_pylist() for column in columns)
        pairs |= {frozenset(map(sentence_hash, pair)) for pair in zip(*texts, strict=True)}
    return pairs
