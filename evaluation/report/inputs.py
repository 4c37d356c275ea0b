"""What a report is made of, checked: results, audit and invariance of the same rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.audit import baselines_of, read_audit
from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from evaluation.comparison import Difference, compare
from evaluation.invariance import read_invariance
from evaluation.results import Results, Score

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
        audit: dataset to what the audit says of it, for the datasets above.
        baselines: dataset to trivial baseline to its score on test.
        invariance: what gate 10 measured of them, or None.
    """

    encoders: tuple[Results, ...]
    folders: tuple[Path, ...]
    datasets: Datasets
    differences: tuple[Difference, ...]
    audit: Mapping[str, Mapping[str, Any]]
    baselines: Mapping[str, Mapping[str, float]]
    invariance: Mapping[str, Any] | None

    @property
    def groups(self) -> dict[str, list[str]]:
        """Group to the names of its datasets, in the order of ``GROUPS``."""
        groups: dict[str, list[str]] = {}
        for name in self.datasets:
            groups.setdefault(group_of(self.any_score(name)), []).append(name)
        return groups

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
    results: Sequence[tuple[Results, Path]], audit: Path, invariance: Path | None
) -> Inputs:
    """Check that results may stand in one table, and compare them.

    Args:
        results: one an encoder, with the folder that it was read from.
        audit: the audit.json of the package that was probed. Whether it is of the same contents is
            for ``python -m builders package`` to check; here only the numbers of rows are compared.
        invariance: what ``python -m evaluation invariance`` wrote, if it is to be shown.

    Raises:
        InputError: there are no results; two are of one encoder, or of different rows, seeds or
            protocols; or the audit or the invariance is not of the same rows.
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
    _check_comparable(encoders)
    datasets = _by_dataset(encoders)
    audited = _read_audited(audit, datasets)
    measured = _read_measured(invariance, datasets) if invariance else None
    return Inputs(
        encoders=tuple(encoders),
        folders=tuple(folder for _, folder in ordered),
        datasets=datasets,
        differences=tuple(compare(ordered)),
        audit={name: audited["datasets"][name] for name in datasets},
        baselines={name: baselines_of(audited, name) for name in datasets},
        invariance=measured,
    )


def _by_dataset(encoders: Sequence[Results]) -> Datasets:
    groups = list(GROUPS)
    scores = [(own.name, score) for own in encoders for score in own.main]
    order = sorted({(groups.index(group_of(score)), score.dataset) for _, score in scores})
    return {
        dataset: {name: score for name, score in scores if score.dataset == dataset}
        for _, dataset in order
    }


_SHARED: dict[str, Callable[[Results], Any]] = {
    "seed": lambda results: results.seed,
    "protocol": lambda results: results.protocol,
    "bootstrap": lambda results: results.bootstrap,
}
"""What all results must have in common."""


def _check_comparable(encoders: Sequence[Results]) -> None:
    first = encoders[0]
    digests: dict[str, tuple[str, str]] = {}
    names: set[str] = set()
    for results in encoders:
        if results.name in names:
            raise _not_comparable(results.name, "one folder of results an encoder", "two")
        names.add(results.name)
        for what, of in _SHARED.items():
            if of(results) != of(first):
                raise _not_comparable(
                    results.name, f"the {what} of {first.name}, {of(first)}", str(of(results))
                )
        for score in results.scores:
            digest, other = digests.setdefault(score.dataset, (score.digest, results.name))
            if digest != score.digest:
                raise _not_comparable(
                    f"{results.name}, dataset {score.dataset}",
                    f"the rows that {other} was probed on, SHA-256 {digest}",
                    score.digest,
                )


def _not_comparable(where: str, expected: str, found: str) -> InputError:
    return InputError(
        f"results of {where}",
        expected=expected,
        found=found,
        todo="probe all encoders on the same instances by the same protocol: `dvc repro`",
    )


def _read_audited(path: Path, datasets: Datasets) -> dict[str, Any]:
    report = read_audit(path)
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
