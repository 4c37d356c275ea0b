"""The results of a report: checks that all results and the audit are of the same rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from builders.auditing.report import baselines_of, read_audit
from builders.tasks import TASKS
from builders.tasks.groups import EVALRANK, PARALEX, Group
from corpora_recipes.running.errors import InputError
from evaluation.reporting.averages import OWN, Average, Mean, averages_of, mean_ranks, mean_score
from evaluation.reporting.long import long_table, probed_scores
from evaluation.results.comparison import (
    Difference,
    compare,
    compare_paradigms,
    compare_ranks,
    measure_all,
)
from evaluation.results.editions import FLOOR, Edition, compare_editions
from evaluation.results.paradigms import ParadigmResults, ParadigmScore
from evaluation.results.probes import Results, Score, read_predictions
from evaluation.results.rankings import RankingResults, RankScore, SimilarityScore, read_ranks

AnyResults = Results | RankingResults | ParadigmResults

Datasets = Mapping[str, Mapping[str, Score]]
"""Dataset to encoder to the score of its main layer, ordered by group, then by name."""

# The name of a baseline that the tables have a row for.
MAJORITY = "majority"


@dataclass(frozen=True, slots=True)
class Inputs:
    """The results of a report.

    Attributes:
        encoders: the results, of the same rows and seed, and of one protocol of probes; those with
            the best mean rank over all datasets of benchmarks first.
        folders: encoder to the folder that its results were read from.
        rankings: EvalRank's results, in the order of the encoders, of the same texts.
        paradigms: ParaLex's results, likewise.
        datasets: the scores of the main layers.
        differences: every two encoders compared, by all results.
        editions: every encoder's scores on a dataset and on the one that it is an edition of.
        averages: the datasets that scores are averaged over.
        ranks: benchmark to encoder to its mean rank, the best encoder first.
        audit: dataset to its entry in the audit, for all datasets of the results.
        baselines: dataset to trivial baseline to its score on test.
        samples: the datasets whose texts are those of the small samples in the project.
        missing: the datasets of params.yaml whose corpora must be asked for and are not there, with
            how to get them.
        left_out: what stages have left out for a fault, such as "build mine", and the fault.
    """

    encoders: tuple[Results, ...]
    folders: Mapping[str, Path]
    rankings: tuple[RankingResults, ...]
    paradigms: tuple[ParadigmResults, ...]
    datasets: Datasets
    differences: tuple[Difference, ...]
    editions: tuple[Edition, ...]
    averages: tuple[Average, ...]
    ranks: Mapping[str, Mapping[str, Mean]]
    audit: Mapping[str, Mapping[str, Any]]
    baselines: Mapping[str, Mapping[str, float]]
    samples: frozenset[str]
    missing: Mapping[str, str]
    left_out: Mapping[str, str]

    @property
    def scores(self) -> pd.DataFrame:
        """All scores of main layers, see ``long_table``."""
        return long_table(self.encoders, self.rankings, self.paradigms)

    @property
    def groups(self) -> dict[Group, list[str]]:
        """Group of tasks to the names of its datasets, in the order of ``GROUPS``."""
        groups: dict[Group, list[str]] = {}
        for name in self.datasets:
            groups.setdefault(self.group(name), []).append(name)
        return groups

    @property
    def audited(self) -> dict[Group, list[str]]:
        """``groups``, with the datasets of EvalRank and ParaLex."""
        return self.groups | _without_probe(self.rankings, self.paradigms)

    def group(self, dataset: str) -> Group:
        """Return the group of a dataset's task."""
        if dataset in self.datasets:
            return TASKS[self.any_score(dataset).task].group
        others = _without_probe(self.rankings, self.paradigms)
        return next(group for group, names in others.items() if dataset in names)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The protocol of the probes; without probes, how language models were asked."""
        probed = [results for results in self.encoders if results.probed]
        return (probed or self.encoders)[0].protocol

    @property
    def asked(self) -> list[str]:
        """The names of the language models."""
        return [results.name for results in self.encoders if not results.probed]

    @property
    def names(self) -> list[str]:
        """The names of the encoders."""
        return [results.name for results in self.encoders]

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks that datasets belong to, ``OWN`` last."""
        return list(dict.fromkeys(average.benchmark for average in self.averages))

    def benchmark(self, dataset: str) -> str:
        """Return the benchmark that a dataset belongs to, or ``OWN``."""
        return str(self.audit.get(dataset, {}).get("benchmark") or OWN)

    def shipped(self, names: Iterable[str]) -> list[str]:
        """Return those of some datasets that belong to a benchmark; all, if none does."""
        datasets = list(names)
        return [name for name in datasets if self.benchmark(name) != OWN] or datasets

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return names of encoders in the order of the report; those not probed come last."""
        return sorted(names, key=_order(self.names))

    def mean(self, datasets: Sequence[str], encoder: str) -> Mean | None:
        """Return the mean score of an encoder; None if it lacks one of the datasets."""
        scores = [self.datasets[name].get(encoder) for name in datasets]
        known = [score for score in scores if score is not None]
        return mean_score(known) if len(known) == len(scores) else None

    def trivial(self, dataset: str) -> float:
        """Return the highest score without an encoder: 0, majority, or the best baseline."""
        # Correlations have no majority.
        majority = self.any_score(dataset).majority or 0.0
        return max(majority, *self.baselines[dataset].values())

    def mean_trivial(self, datasets: Iterable[str]) -> float:
        """Return the mean over datasets of the highest score without an encoder."""
        return fmean(map(self.trivial, datasets))

    def blind(self, dataset: str) -> float:
        """Return the score without looking at a text: chance or majority, 0 for correlations."""
        score = self.any_score(dataset)
        return max(score.majority or 0.0, score.chance or 0.0)

    def any_score(self, dataset: str) -> Score:
        """Return a score on a dataset, for facts that are the same for all encoders."""
        return next(iter(self.datasets[dataset].values()))

    def best_trivial(self, dataset: str) -> tuple[str, float]:
        """Return name and score of the best trivial baseline other than majority."""
        scores = self.baselines[dataset]
        name = max((what for what in scores if what != MAJORITY), key=lambda what: scores[what])
        return name, scores[name]

    def leaks(self, dataset: str) -> bool:
        """Return whether the source of the dataset has the same texts in two splits."""
        checks = self.audit[dataset]["checks"]
        verdicts = {check["verdict"] for check in checks if check["gate"] == "leakage"}
        return not verdicts.isdisjoint(("inherited", "undeclared"))


def read_inputs(
    results: Sequence[tuple[Results, Path]],
    audit: Path,
    rankings: Sequence[tuple[RankingResults, Path]] = (),
    paradigms: Sequence[ParadigmResults] = (),
    samples: Collection[str] = (),
    left_out: Mapping[str, str] | None = None,
) -> Inputs:
    """Check that results are comparable, and compare them.

    Args:
        results: one per encoder, with the folder that it was read from.
        audit: the audit.json of the package that was probed. ``probeta package`` checks that it
            is of the same content; here only the numbers of rows are compared, and the datasets of
            EvalRank and ParaLex must be listed.
        rankings: one per encoder, with the folder, if EvalRank is to be shown.
        paradigms: one per encoder, if ParaLex is to be shown.
        samples: names of datasets that were built from samples.
        left_out: see ``Inputs``.

    Raises:
        InputError: there are no results; two are of the same encoder, or of different rows, seeds
            or protocols; two encoders have the same name; or the audit is of other rows.
    """
    if not results:
        raise InputError(
            "results",
            expected="the results of one encoder or more",
            found="no results",
            todo="probe an encoder of params.yaml: `probeta repro`",
        )
    probed = sorted((given for given, _ in results), key=attrgetter("name"))
    ranked = sorted((given for given, _ in rankings), key=attrgetter("name"))
    clustered = sorted(paradigms, key=attrgetter("name"))
    _check_comparable(probed, ranked, clustered)
    datasets, others = _by_dataset(probed), _without_probe(ranked, clustered)
    report = _read_audited(audit, datasets, list(chain.from_iterable(others.values())))
    audited = {name: report["datasets"][name] for name in chain(datasets, *others.values())}

    folders = {given.name: folder for given, folder in results}
    measured = measure_all(
        [(given, partial(read_predictions, folders[given.name])) for given in probed]
    )
    tasks = {name: next(iter(scores.values())).task for name, scores in datasets.items()}
    averages = averages_of(tasks, {name: audited[name].get("benchmark", "") for name in tasks})
    seed = probed[0].seed
    shipped = [name for name in tasks if audited[name].get("benchmark")]
    order = _order(list(mean_ranks(measured, shipped or list(tasks), seed)))
    by_rank = sorted(probed, key=lambda given: order(given.name))
    ranked_pairs = sorted(rankings, key=lambda pair: order(pair[0].name))
    clustered.sort(key=lambda given: order(given.name))

    measured = {given.name: measured[given.name] for given in by_rank}
    floor = next((given.name for given in probed if given.encoder["encoder"] == FLOOR), None)
    return Inputs(
        encoders=tuple(by_rank),
        folders=folders,
        rankings=tuple(given for given, _ in ranked_pairs),
        paradigms=tuple(clustered),
        datasets=_by_dataset(by_rank),
        differences=(
            *compare(measured, {average.what: average.datasets for average in averages}),
            *compare_ranks(
                [(given, partial(read_ranks, folder)) for given, folder in ranked_pairs]
            ),
            *compare_paradigms(clustered),
        ),
        editions=tuple(compare_editions(measured, _editions(audited, datasets), floor)),
        averages=tuple(averages),
        ranks={
            average.benchmark: mean_ranks(measured, average.datasets, seed)
            for average in averages
            if average.group is None
        },
        audit=audited,
        baselines={name: baselines_of(report, name) for name in datasets},
        samples=frozenset(samples) & audited.keys(),
        # An audit of instances, which is not that of a package, has none.
        missing=report.get("missing", {}),
        left_out=dict(left_out or {}),
    )


def _order(names: Sequence[str]) -> Callable[[str], tuple[int, str]]:
    """Return a sort key: the names in their order, then all others by name."""
    places = {name: number for number, name in enumerate(names)}
    return lambda name: (places.get(name, len(places)), name)


def _editions(audit: Mapping[str, Mapping[str, Any]], datasets: Datasets) -> dict[str, str]:
    """Return each probed dataset that is an edition of another probed one, and that other one."""
    named = {name: str(audit[name].get("edition_of", "")) for name in datasets}
    return {new: old for new, old in named.items() if old in datasets}


def _by_dataset(encoders: Sequence[Results]) -> Datasets:
    datasets: dict[str, dict[str, Score]] = {}
    for name, score in probed_scores(encoders):
        datasets.setdefault(score.dataset, {})[name] = score
    return datasets


def _without_probe(
    rankings: Sequence[RankingResults], paradigms: Sequence[ParadigmResults]
) -> dict[Group, list[str]]:
    """Return group to the names of its datasets, for the groups without a probe."""
    names = {
        EVALRANK: {score.dataset for results in rankings for score in results.scores},
        PARALEX: {score.dataset for results in paradigms for score in results.scores},
    }
    return {group: sorted(datasets) for group, datasets in names.items() if datasets}


def _check_comparable(*kinds: Sequence[AnyResults]) -> None:
    """Check that results have the facts in common that they share by name.

    Args:
        kinds: of probes, of EvalRank, of ParaLex; each of different encoders.
    """
    first: dict[str, tuple[Any, str]] = {}
    for kind in kinds:
        names = [results.name for results in kind]
        for results in kind:
            if names.count(results.name) > 1:
                raise _not_comparable(
                    results.name, "the results of one run per encoder", "several runs"
                )
            for what, value in _facts(results):
                expected, other = first.setdefault(what, (value, results.name))
                if value != expected:
                    raise _not_comparable(
                        results.name, f"the {what} of {other}, {expected}", str(value)
                    )


def _facts(results: AnyResults) -> Iterator[tuple[str, Any]]:
    """Yield what must be the same in all results that have it, by its name."""
    yield "seed", results.seed
    yield f"encoder named {results.name}", results.encoder
    scores: tuple[Score | RankScore | SimilarityScore | ParadigmScore, ...] = results.scores
    if isinstance(results, RankingResults):
        scores += results.similarities
    elif isinstance(results, ParadigmResults):
        yield "coherence threshold", results.coherence_threshold
        for score in results.scores:
            if score.vocabulary_digest:
                yield f"vocabulary of {score.dataset}, SHA-256,", score.vocabulary_digest
    else:
        yield "intervals", results.intervals
        if results.probed:
            yield "protocol", results.protocol
    for row in scores:
        yield f"rows of {row.dataset}, SHA-256,", row.digest


def _not_comparable(where: str, expected: str, found: str) -> InputError:
    return InputError(
        f"results of {where}",
        expected=expected,
        found=found,
        todo="score all encoders on the same instances in the same way: `probeta repro`",
    )


def _read_audited(path: Path, datasets: Datasets, others: Sequence[str]) -> dict[str, Any]:
    """Read the audit of the probed datasets, and of the other ones."""
    report = read_audit(path)
    for dataset in others:
        if dataset not in report["datasets"]:
            raise _not_audited(path, dataset, "its audit", "no such dataset")
    for dataset, scores in datasets.items():
        rows = next(iter(scores.values())).rows
        audited = report["datasets"].get(dataset, {"rows": "no such dataset"})["rows"]
        if audited != rows:
            raise _not_audited(
                path, dataset, f"the numbers of rows that were probed, {rows}", str(audited)
            )
        if not baselines_of(report, dataset).keys() - {MAJORITY}:
            raise _not_audited(path, dataset, "trivial baselines besides majority", "no other")
    return report


def _not_audited(path: Path, dataset: str, expected: str, found: str) -> InputError:
    return InputError(
        f"{path}: {dataset}",
        expected=expected,
        found=found,
        todo="audit the same instances again: `probeta repro`",
    )
