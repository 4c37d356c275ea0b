"""What a report is made of, checked: results of the same rows, and their audit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from builders.audit import baselines_of, read_audit
from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from evaluation.comparison import Difference, compare, compare_paradigms, compare_ranks
from evaluation.invariance import read_invariance
from evaluation.paradigms.results import ParadigmResults
from evaluation.ranking.results import RankingResults
from evaluation.results import Results, Score

AnyResults = Results | RankingResults | ParadigmResults

Datasets = Mapping[str, Mapping[str, Score]]
"""Dataset to encoder to the score of its main layer, ordered by group, then by name."""

# The papers' abbreviations of the groups of tasks, in the order of the tables.
GROUPS = {
    "SC": "Sentence classification",
    "SPC": "Sentence pair classification",
    "SS": "Semantic similarity",
    "LPT": "Linguistic probing",
    "SP": "Sentence position",
    "BSO": "Binary sentence ordering",
    "DC": "Discourse coherence",
    "SSP": "Section prediction",
    "DR": "Discourse relations",
}
# Of datasets that nothing is probed on.
RANKING, PARADIGMS = "EvalRank", "ParaLex"
NEIGHBOURS = {RANKING: "Ranks of what means the same", PARADIGMS: "Paradigms of words"}
# The two suites: Araujo et al. 2022, after Conneau and Kiela 2018 and Chen et al. 2019.
SUITES = {"SentEval": ("SC", "SPC", "SS", "LPT"), "DiscoEval": ("SP", "BSO", "DC", "SSP", "DR")}
# The name of a baseline that the tables have a row for.
MAJORITY = "majority"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a report is made of.

    Attributes:
        encoders: the results, sorted by name, of the same rows, seed and protocol.
        folders: those that the results were read from.
        datasets: the scores of the main layers.
        differences: every two encoders compared.
        audit: dataset to what the audit says of it, for all datasets of the results.
        baselines: dataset to trivial baseline to its score on test.
        invariance: what gate 10 measured of them, or None.
        rankings: EvalRank's results, sorted by the encoders' names, of the same texts.
        paradigms: ParaLex's results, likewise.
        neighbour_differences: every two encoders compared by them.
    """

    encoders: tuple[Results, ...]
    folders: tuple[Path, ...]
    datasets: Datasets
    differences: tuple[Difference, ...]
    audit: Mapping[str, Mapping[str, Any]]
    baselines: Mapping[str, Mapping[str, float]]
    invariance: Mapping[str, Any] | None
    rankings: tuple[RankingResults, ...] = ()
    paradigms: tuple[ParadigmResults, ...] = ()
    neighbour_differences: tuple[Difference, ...] = ()

    @property
    def groups(self) -> dict[str, list[str]]:
        """Group to the names of its datasets, in the order of ``GROUPS``."""
        groups: dict[str, list[str]] = {}
        for name in self.datasets:
            groups.setdefault(group_of(self.any_score(name)), []).append(name)
        return groups

    @property
    def audited(self) -> dict[str, list[str]]:
        """The same with the datasets of EvalRank and ParaLex."""
        return self.groups | _neighbour_datasets(self.rankings, self.paradigms)

    @property
    def names(self) -> list[str]:
        """The names of the encoders."""
        return [results.name for results in self.encoders]

    def any_score(self, dataset: str) -> Score:
        """Return a score on a dataset, for what is the same for all encoders."""
        return next(iter(self.datasets[dataset].values()))

    def best_trivial(self, dataset: str) -> tuple[str, float]:
        """Return name and score of the best trivial baseline other than majority."""
        own = {what: value for what, value in self.baselines[dataset].items() if what != MAJORITY}
        name = max(own, key=lambda what: own[what])
        return name, own[name]

    def leaks(self, dataset: str) -> bool:
        """Tell whether the dataset's source has texts in two of its parts."""
        checks = self.audit[dataset]["checks"]
        return any(c["gate"] == "leakage" and c["verdict"] == "inherited" for c in checks)


def group_of(score: Score) -> str:
    """Return the abbreviation of a score's group of tasks."""
    return TASKS[score.task].abbreviation


def read_inputs(
    results: Sequence[tuple[Results, Path]],
    audit: Path,
    invariance: Path | None,
    rankings: Sequence[tuple[RankingResults, Path]] = (),
    paradigms: Sequence[ParadigmResults] = (),
) -> Inputs:
    """Check that results may stand in one table, and compare them.

    Args:
        results: one an encoder, with the folder that it was read from.
        audit: the audit.json of the package that was probed. Whether it is of the same contents is
            for ``python -m builders package`` to check; here only the numbers of rows are compared,
            and of EvalRank's and ParaLex's datasets whether they are there.
        invariance: what ``python -m evaluation invariance`` wrote, if it is to be shown.
        rankings: one an encoder, with the folder, if EvalRank is to be shown.
        paradigms: one an encoder, if ParaLex is to be shown.

    Raises:
        InputError: there are no results; two are of one encoder, or of different rows, seeds or
            protocols; one name stands for two encoders; or the audit or the invariance is not of
            the same rows.
    """
    if not results:
        raise InputError(
            "results",
            expected="those of one encoder or more",
            found="none",
            todo="probe an encoder of params.yaml: `dvc repro`",
        )
    ordered = sorted(results, key=lambda own: own[0].name)
    encoders = [own for own, _ in ordered]
    ordered_ranks = sorted(rankings, key=lambda own: own[0].name)
    ranked = [own for own, _ in ordered_ranks]
    clustered = sorted(paradigms, key=lambda own: own.name)
    _check_comparable(encoders, "seed", "protocol", "bootstrap")
    _check_comparable(ranked, "seed")
    _check_comparable(clustered, "seed", "coherence_threshold")
    _check_same_encoders([*encoders, *ranked, *clustered])
    _check_same_rows([*encoders, *ranked, *clustered])
    datasets = _by_dataset(encoders)
    others = list(chain.from_iterable(_neighbour_datasets(ranked, clustered).values()))
    audited = _read_audited(audit, datasets, others)
    measured = _read_measured(invariance, datasets) if invariance else None
    return Inputs(
        encoders=tuple(encoders),
        folders=tuple(folder for _, folder in ordered),
        datasets=datasets,
        differences=tuple(compare(ordered)),
        audit={name: audited["datasets"][name] for name in (*datasets, *others)},
        baselines={name: baselines_of(audited, name) for name in datasets},
        invariance=measured,
        rankings=tuple(ranked),
        paradigms=tuple(clustered),
        neighbour_differences=(*compare_ranks(ordered_ranks), *compare_paradigms(clustered)),
    )


def _by_dataset(encoders: Sequence[Results]) -> Datasets:
    groups = list(GROUPS)
    scores = [(own.name, score) for own in encoders for score in own.main]
    order = sorted({(groups.index(group_of(score)), score.dataset) for _, score in scores})
    return {
        dataset: {name: score for name, score in scores if score.dataset == dataset}
        for _, dataset in order
    }


def _neighbour_datasets(
    rankings: Sequence[RankingResults], paradigms: Sequence[ParadigmResults]
) -> dict[str, list[str]]:
    """Return group to the names of its datasets, of those that nothing is probed on."""
    kinds: dict[str, Sequence[RankingResults | ParadigmResults]] = {
        RANKING: rankings,
        PARADIGMS: paradigms,
    }
    found = {
        group: sorted({score.dataset for own in results for score in own.scores})
        for group, results in kinds.items()
    }
    return {group: names for group, names in found.items() if names}


def _check_comparable(encoders: Sequence[AnyResults], *shared: str) -> None:
    """Check results of one kind: of different encoders, made in the same way.

    Args:
        encoders: the results.
        shared: names of the attributes that all must have in common.
    """
    names: set[str] = set()
    for results in encoders:
        if results.name in names:
            raise _not_comparable(results.name, "those of one run for each encoder", "two")
        names.add(results.name)
        for what in shared:
            own, first = (getattr(one, what) for one in (results, encoders[0]))
            if own != first:
                raise _not_comparable(
                    results.name,
                    f"the {what.replace('_', ' ')} of {encoders[0].name}, {first}",
                    str(own),
                )


def _check_same_encoders(results: Sequence[AnyResults]) -> None:
    """Check that results of several kinds have one seed, and that a name means one encoder."""
    first: dict[str, AnyResults] = {}
    for own in results:
        same = first.setdefault(own.name, own)
        for what, expected, found in (
            ("encoder", same.encoder, own.encoder),
            ("seed", results[0].seed, own.seed),
        ):
            if expected != found:
                raise _not_comparable(
                    own.name, f"the {what} of all its results, {expected}", str(found)
                )


def _check_same_rows(results: Sequence[AnyResults]) -> None:
    """Check that results of several kinds are of the same files of each dataset."""
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
        todo="score all encoders on the same instances in the same way: `dvc repro`",
    )


def _read_audited(path: Path, datasets: Datasets, others: Sequence[str]) -> dict[str, Any]:
    """Read an audit of the datasets that were probed, and of others."""
    report = read_audit(path)
    for dataset in others:
        if dataset not in report["datasets"]:
            raise _not_audited(path, dataset, "what was audited of it", "no such dataset")
    for dataset, scores in datasets.items():
        rows = next(iter(scores.values())).rows
        audited = report["datasets"].get(dataset, {"rows": "no such dataset"})["rows"]
        if audited != rows:
            raise _not_audited(path, dataset, f"the rows that were probed, {rows}", str(audited))
        if not baselines_of(report, dataset).keys() - {MAJORITY}:
            raise _not_audited(path, dataset, "trivial baselines besides majority", "none")
    return report


def _not_audited(path: Path, dataset: str, expected: str, found: str) -> InputError:
    return InputError(
        f"{path}: {dataset}",
        expected=expected,
        found=found,
        todo="audit the same instances again: `dvc repro`",
    )


def _read_measured(path: Path, datasets: Datasets) -> dict[str, Any]:
    report = read_invariance(path)
    for dataset, scores in datasets.items():
        digest = next(iter(scores.values())).digest
        found = report["datasets"].get(dataset, {"digest": "no such dataset"})["digest"]
        if found != digest:
            raise InputError(
                f"{path}: {dataset}",
                expected=f"the rows that were probed, SHA-256 {digest}",
                found=found,
                todo="measure the invariance again: `dvc repro`",
            )
    return report
