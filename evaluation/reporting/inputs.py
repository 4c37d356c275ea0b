"""The results of a report: checks that all results and the audit are of the same rows."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from builders.auditing.report import baselines_of, read_audit
from builders.tasks import TASKS
from builders.tasks.groups import EVALRANK, PARALEX, Group
from corpora_recipes.running.errors import InputError
from evaluation.reporting.averages import (
    OWN,
    Average,
    Mean,
    averages_of,
    mean_ranks,
    mean_score,
    place,
)
from evaluation.reporting.editions import FLOOR, Edition, compare_editions
from evaluation.reporting.layout import spaced
from evaluation.results.comparison import (
    Difference,
    compare,
    compare_paradigms,
    compare_ranks,
    measure_all,
)
from evaluation.results.paradigms import ParadigmResults
from evaluation.results.probes import Results, Score, read_predictions
from evaluation.results.rankings import RankingResults, read_ranks

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
        folders: those that the results were read from.
        datasets: the scores of the main layers.
        differences: every two encoders compared.
        audit: dataset to its entry in the audit, for all datasets of the results.
        baselines: dataset to trivial baseline to its score on test.
        averages: the datasets that scores are averaged over.
        ranks: benchmark to encoder to its mean rank, the best encoder first.
        samples: the datasets whose texts are those of the small samples in the project.
        rankings: EvalRank's results, in the order of the encoders, of the same texts.
        paradigms: ParaLex's results, likewise.
        neighbour_differences: every two encoders compared by them.
        missing: the datasets of params.yaml whose corpora must be asked for and are not there, with
            how to get them.
        left_out: what stages have left out for a fault, such as "build mine", and the fault.
        editions: every encoder's scores on a dataset and on the one that it is an edition of.
    """

    encoders: tuple[Results, ...]
    folders: tuple[Path, ...]
    datasets: Datasets
    differences: tuple[Difference, ...]
    audit: Mapping[str, Mapping[str, Any]]
    baselines: Mapping[str, Mapping[str, float]]
    averages: tuple[Average, ...]
    ranks: Mapping[str, Mapping[str, Mean]]
    samples: frozenset[str]
    rankings: tuple[RankingResults, ...] = ()
    paradigms: tuple[ParadigmResults, ...] = ()
    neighbour_differences: tuple[Difference, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    editions: tuple[Edition, ...] = ()

    @property
    def groups(self) -> dict[Group, list[str]]:
        """Group of tasks to the names of its datasets, in the order of ``GROUPS``."""
        groups: dict[Group, list[str]] = {}
        for name in self.datasets:
            groups.setdefault(TASKS[self.any_score(name).task].group, []).append(name)
        return groups

    @property
    def audited(self) -> dict[Group, list[str]]:
        """``groups``, with the datasets of EvalRank and ParaLex."""
        return self.groups | _neighbour_datasets(self.rankings, self.paradigms)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The protocol of the probes; without probes, how language models were asked."""
        probed = [own for own in self.encoders if own.probed]
        return (probed or self.encoders)[0].protocol

    @property
    def asked(self) -> list[str]:
        """The names of the language models."""
        return [own.name for own in self.encoders if not own.probed]

    @property
    def names(self) -> list[str]:
        """The names of the encoders."""
        return [results.name for results in self.encoders]

    def benchmark(self, dataset: str) -> str:
        """Return the benchmark that a dataset belongs to, or ``OWN``."""
        return _benchmark(self.audit, dataset)

    def shipped(self, names: Iterable[str]) -> list[str]:
        """Return those of some datasets that belong to a benchmark; all, if none does."""
        found = list(names)
        return [name for name in found if self.benchmark(name) != OWN] or found

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return names of encoders in the order of the report; those not probed come last."""
        return sorted(names, key=_order(self.names))

    def mean(self, average: Average, encoder: str) -> Mean | None:
        """Return the mean score of an encoder; None if it lacks one of the datasets."""
        scores = [self.datasets[name].get(encoder) for name in average.datasets]
        there = [score for score in scores if score is not None]
        return mean_score(there) if len(there) == len(scores) else None

    def trivial(self, dataset: str) -> float:
        """Return the highest score without an encoder: 0, majority, or the best baseline."""
        # Correlations have no majority.
        majority = self.any_score(dataset).majority or 0.0
        return max(majority, *self.baselines[dataset].values())

    def blind(self, dataset: str) -> float:
        """Return the score without looking at a text: chance or majority, 0 for correlations."""
        score = self.any_score(dataset)
        return max(score.majority or 0.0, score.chance or 0.0)

    def any_score(self, dataset: str) -> Score:
        """Return a score on a dataset, for facts that are the same for all encoders."""
        return next(iter(self.datasets[dataset].values()))

    def best_trivial(self, dataset: str) -> tuple[str, float]:
        """Return name and score of the best trivial baseline other than majority."""
        own = {what: value for what, value in self.baselines[dataset].items() if what != MAJORITY}
        name = max(own, key=lambda what: own[what])
        return name, own[name]

    def leaks(self, dataset: str) -> bool:
        """Return whether the source of the dataset has the same texts in two splits."""
        checks = self.audit[dataset]["checks"]
        found = {c["verdict"] for c in checks if c["gate"] == "leakage"}
        return not found.isdisjoint(("inherited", "undeclared"))


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
    ordered = sorted(results, key=lambda own: own[0].name)
    encoders = [own for own, _ in ordered]
    ordered_ranks = sorted(rankings, key=lambda own: own[0].name)
    ranked = [own for own, _ in ordered_ranks]
    clustered = sorted(paradigms, key=lambda own: own.name)
    _check_comparable(encoders, "seed", "intervals")
    _check_comparable([own for own in encoders if own.probed], "protocol")
    _check_comparable(ranked, "seed")
    _check_comparable(clustered, "seed", "coherence_threshold")
    _check_same_encoders([*encoders, *ranked, *clustered])
    _check_same_rows([*encoders, *ranked, *clustered])
    datasets = _by_dataset(encoders)
    others = list(chain.from_iterable(_neighbour_datasets(ranked, clustered).values()))
    audited = _read_audited(audit, datasets, others)
    facts = {name: audited["datasets"][name] for name in (*datasets, *others)}
    tasks = {name: next(iter(own.values())).task for name, own in datasets.items()}
    benchmarks = {name: _benchmark(facts, name) for name in datasets}
    averages = averages_of(tasks, benchmarks)
    measured = measure_all([(own, partial(read_predictions, folder)) for own, folder in ordered])
    whole = [average for average in averages if average.group is None]
    shipped = tuple(name for name in datasets if benchmarks[name] != OWN)
    seed = encoders[0].seed
    order = _order(list(mean_ranks(measured, shipped or tuple(datasets), seed)))
    by_rank = sorted(ordered, key=lambda own: order(own[0].name))
    in_order = {own.name: measured[own.name] for own, _ in by_rank}
    floor = next((own.name for own in encoders if own.encoder["encoder"] == FLOOR), None)
    ranked_first = sorted(ordered_ranks, key=lambda own: order(own[0].name))
    clustered.sort(key=lambda own: order(own.name))
    return Inputs(
        encoders=tuple(own for own, _ in by_rank),
        folders=tuple(folder for _, folder in by_rank),
        datasets={
            name: {own.name: scores[own.name] for own, _ in by_rank if own.name in scores}
            for name, scores in datasets.items()
        },
        differences=tuple(
            compare(in_order, {average.what: average.datasets for average in averages})
        ),
        audit=facts,
        baselines={name: baselines_of(audited, name) for name in datasets},
        averages=tuple(averages),
        ranks={own.benchmark: mean_ranks(measured, own.datasets, seed) for own in whole},
        samples=frozenset(samples) & facts.keys(),
        rankings=tuple(own for own, _ in ranked_first),
        paradigms=tuple(clustered),
        neighbour_differences=(
            *compare_ranks([(own, partial(read_ranks, folder)) for own, folder in ranked_first]),
            *compare_paradigms(clustered),
        ),
        # An audit of instances, which is not that of a package, has none.
        missing=audited.get("missing", {}),
        left_out=dict(left_out or {}),
        editions=tuple(compare_editions(in_order, _editions(facts, datasets), floor)),
    )


def _order(names: Sequence[str]) -> Callable[[str], tuple[int, str]]:
    """Return a sort key: the names in their order, then all others by name."""
    places = {name: number for number, name in enumerate(names)}
    return lambda name: (places.get(name, len(places)), name)


def _benchmark(audit: Mapping[str, Mapping[str, Any]], dataset: str) -> str:
    """Return the benchmark of a dataset; ``OWN`` where the package names none."""
    return str(audit.get(dataset, {}).get("benchmark") or OWN)


def _editions(audit: Mapping[str, Mapping[str, Any]], datasets: Datasets) -> dict[str, str]:
    """Return each probed dataset that is an edition of another probed one, and that other one."""
    named = {name: str(audit[name].get("edition_of", "")) for name in datasets}
    return {new: old for new, old in named.items() if old in datasets}


def _by_dataset(encoders: Sequence[Results]) -> Datasets:
    scores = [(own.name, score) for own in encoders for score in own.main]
    order = sorted({(*place(TASKS[score.task].group), score.dataset) for _, score in scores})
    return {
        dataset: {name: score for name, score in scores if score.dataset == dataset}
        for *_, dataset in order
    }


def _neighbour_datasets(
    rankings: Sequence[RankingResults], paradigms: Sequence[ParadigmResults]
) -> dict[Group, list[str]]:
    """Return group to the names of its datasets, for the groups without a probe."""
    kinds: dict[Group, Sequence[RankingResults | ParadigmResults]] = {
        EVALRANK: rankings,
        PARALEX: paradigms,
    }
    found = {
        group: sorted({score.dataset for own in results for score in own.scores})
        for group, results in kinds.items()
    }
    return {group: names for group, names in found.items() if names}


def _check_comparable(encoders: Sequence[AnyResults], *shared: str) -> None:
    """Check that results of one kind are of different encoders, and made in the same way.

    Args:
        encoders: the results.
        shared: names of the attributes that must be equal.
    """
    names: set[str] = set()
    for results in encoders:
        if results.name in names:
            raise _not_comparable(results.name, "the results of one run per encoder", "two runs")
        names.add(results.name)
        for what in shared:
            own, first = (getattr(one, what) for one in (results, encoders[0]))
            if own != first:
                raise _not_comparable(
                    results.name,
                    f"the {spaced(what)} of {encoders[0].name}, {first}",
                    str(own),
                )


def _check_same_encoders(results: Sequence[AnyResults]) -> None:
    """Check that results of several kinds have the same seed, and one encoder per name."""
    first: dict[str, AnyResults] = {}
    for own in results:
        same = first.setdefault(own.name, own)
        for what, expected, found in (
            ("encoder", same.encoder, own.encoder),
            ("seed", results[0].seed, own.seed),
        ):
            if expected != found:
                raise _not_comparable(
                    own.name, f"the same {what} in all its results, {expected}", str(found)
                )


def _check_same_rows(results: Sequence[AnyResults]) -> None:
    """Check that results of several kinds were made from the same files of each dataset."""
    digests: dict[str, tuple[str, str]] = {}
    for own in results:
        similarities = own.similarities if isinstance(own, RankingResults) else ()
        of_rows = [(score.dataset, score.digest) for score in (*own.scores, *similarities)]
        if isinstance(own, ParadigmResults):
            of_rows += [
                (f"{score.dataset} (vocabulary)", score.vocabulary_digest)
                for score in own.scores
                if score.vocabulary_digest
            ]
        for rows, found in of_rows:
            digest, other = digests.setdefault(rows, (found, own.name))
            if digest != found:
                raise _not_comparable(
                    f"{own.name}, dataset {rows}",
                    f"the rows that {other} was scored on, SHA-256 {digest}",
                    found,
                )


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
