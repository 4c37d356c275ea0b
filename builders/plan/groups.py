"""Datasets by the folder that they are built into; their editions, declared misses, benchmarks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from builders.plan.datasets import (
    PAPER_ROWS,
    Dataset,
    ExampleDataset,
    Origin,
    PassageDataset,
    datasets_of,
    origins_of,
    rankings_of,
)
from builders.tasks.benchmarks import BENCHMARKS
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus, Gates
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.outputs import INSTANCES
from corpora_recipes.running.stage import Skipped, read_skipped
from corpora_recipes.validation import EMPTY_AS_NONE, Checked, check_choice, described, validate


class _Side(NamedTuple):
    """A dataset and its corpus."""

    dataset: Dataset
    corpus: Corpus

    def made(self) -> dict[str, object]:
        """Return what two editions must have in common, with its name."""
        return {
            "recipe": self.corpus.recipe,
            "language": self.dataset.language,
            "task": self.dataset.task.name,
            "options of the task": dict(self.dataset.options),
            "collection": self.dataset.collection,
        }


def validate_editions(built: Sequence[tuple[Corpus, Sequence[Dataset]]]) -> None:
    """Check every dataset with ``edition_of``, given each corpus with its datasets."""
    sides = {
        dataset.name: _Side(dataset, corpus) for corpus, datasets in built for dataset in datasets
    }
    for edition in sides.values():
        name = edition.dataset.edition_of
        if not name:
            continue
        where = f"{edition.corpus.where}.datasets.{edition.dataset.name}.edition_of"
        others = [side for side in sides.values() if side.corpus.name != edition.corpus.name]
        older = next((side for side in others if side.dataset.name == name), None)
        if older is None:
            candidates = sorted(
                side.dataset.name for side in others if side.made() == edition.made()
            )
            expected = "a dataset of another corpus"
            expected += f": one of {', '.join(candidates)}" if candidates else ""
            what = "which is of the same corpus" if name in sides else "which is not a dataset"
            todo = "name the older dataset, which has another entry under `corpora`"
            raise ParamsError(where, expected, f"{name!r}, {what}", todo)
        for what, value in older.made().items():
            if edition.made()[what] != value:
                expected = f"a dataset made in the same way as {name}: {what} {value}"
                raise ParamsError(where, expected, f"{what} {edition.made()[what]}")


class BuildGroup(NamedTuple):
    """Datasets that are built together, into one folder.

    Attributes:
        datasets: those built; empty if only rankings use the corpus.
        origins: the corpora whose texts they hold.
        of_ranking: whether its dataset is a ranking, composed from several corpora.
    """

    name: str
    datasets: Sequence[Dataset]
    origins: Sequence[Origin]
    of_ranking: bool = False

    @property
    def folder(self) -> Path:
        """Where its instances are in the folder of all instances."""
        return Path("rankings" if self.of_ranking else "corpora", self.name)

    @property
    def redistributable(self) -> bool:
        """Whether the texts of every corpus may be redistributed."""
        return all(origin.corpus.facts.redistributable for origin in self.origins)


def load_groups(path: Path) -> list[BuildGroup]:
    """Return everything that is built by the params file ``path``; see ``groups_of``."""
    params = load_params(path)
    return groups_of(load_corpora(path), params["rankings"], params["sources"], path)


def groups_of(
    corpora: Sequence[Corpus], rankings: Mapping[str, Any], sources: str, path: Path = PARAMS
) -> list[BuildGroup]:
    """Return everything that is built: the datasets of each corpus, then each ranking.

    Of params.yaml it needs `corpora`, `rankings`, `sources`, and the path, for messages.
    """
    composed = rankings_of(rankings, corpora, sources, path)
    used_names = {corpus.name for ranking in composed for corpus in ranking.corpora}
    for corpus in corpora:
        if not corpus.datasets and corpus.name not in used_names:
            expected = "at least one dataset, or a ranking that uses the corpus"
            todo = "add one, such as sp_mine: {task: sentence_position}, or name it in a ranking"
            raise ParamsError(f"{corpus.where}.datasets", expected, "none", todo)
    built = [
        BuildGroup(corpus.name, datasets_of(corpus, sources), origins_of([corpus], sources))
        for corpus in corpora
    ]
    validate_editions([(group.origins[0].corpus, group.datasets) for group in built])
    return built + [
        BuildGroup(ranking.name, [ranking], origins_of(ranking.corpora, sources), of_ranking=True)
        for ranking in composed
    ]


def skipped_datasets(groups: Iterable[BuildGroup], *stages: str) -> dict[str, Skipped]:
    """Return the datasets that were not built, or that stages have left out, with the reason."""
    by_stage = {stage: read_skipped(stage) for stage in stages}
    skipped: dict[str, Skipped] = {}
    for group in groups:
        stage = "compose" if group.of_ranking else "build"
        for dataset in group.datasets:
            entries = [
                *(("read", origin.corpus.name) for origin in group.origins),
                (stage, group.name),
                ("build", f"{group.name}: {dataset.name}"),
                ("audit", dataset.name),
            ]
            reasons = [by_stage.get(stage_, {}).get(name) for stage_, name in entries]
            if not (INSTANCES / group.folder / dataset.name).is_dir():
                reasons.append(Skipped(f"it was not built: `probeta {stage}`"))
            if reason := next(filter(None, reasons), None):
                skipped[dataset.name] = reason
    return skipped


def without_datasets(groups: Iterable[BuildGroup], left_out: Collection[str]) -> list[BuildGroup]:
    """Return groups without some datasets, which are given by name."""
    return [
        group._replace(datasets=[d for d in group.datasets if d.name not in left_out])
        for group in groups
    ]


@dataclass(frozen=True, slots=True)
class Audit(Checked):
    """The section `audit` of params.yaml."""

    inherited: Annotated[
        dict[str, Gates] | None, described("datasets with gates"), EMPTY_AS_NONE
    ] = None


def inherited_of(
    params: Mapping[str, Any], path: Path, groups: Sequence[BuildGroup]
) -> dict[str, dict[str, Any]]:
    """Return the declared misses: dataset to gate to ``at_most`` and ``because``.

    An entry of `audit.inherited` of params.yaml, the file ``path``, replaces that of the same
    dataset in a corpus.yaml.
    """
    declared = {
        name: gates
        for group in groups
        for origin in group.origins
        for name, gates in origin.corpus.facts.inherited.items()
        if name in {dataset.name for dataset in group.datasets}
    }
    declared |= validate(Audit, params["audit"], f"{path}: audit").inherited or {}
    return {
        name: {gate: asdict(miss) for gate, miss in gates.items()}
        for name, gates in declared.items()
    }


def validate_inherited(inherited: Iterable[str], datasets: Iterable[str], path: Path) -> None:
    """Raise an InputError if a name in `audit.inherited`, of the file ``path``, is no dataset."""
    todo = "correct the name, or remove it, if the dataset was removed"
    for name in inherited:
        check_choice(
            name, sorted(datasets), f"{path}: audit.inherited.{name}", " (the datasets)", todo
        )


def datasets_listing(path: Path, notes: Mapping[str, str] | None = None) -> str:
    """Return one line per dataset of params.yaml, the file ``path``: its task and its corpora.

    ``notes``: dataset to what stands after these, if there is anything.
    """
    groups = load_groups(path)
    names = [dataset.name for group in groups for dataset in group.datasets]
    validate_inherited(inherited_of(load_params(path), path, groups), names, path)
    lines = []
    for group in groups:
        sources = ", ".join(origin.corpus.name for origin in group.origins)
        for dataset in group.datasets:
            collection = f" ({dataset.collection})" if dataset.collection else ""
            task = dataset.task.name.replace("_", " ")
            note = (notes or {}).get(dataset.name, "")
            lines.append(f"  {dataset.name}: {task}, from {sources}{collection}{note}")
    return "\n".join(lines)


def label_of(dataset: Dataset, origins: Sequence[Origin]) -> str:
    """Return what a dataset is called, in English, where its group of tasks is known: "Wikipedia".

    It is the label of its task, of its collection, or of its corpora.
    """
    collection = dataset.facts.label if isinstance(dataset, ExampleDataset) else ""
    return dataset.task.label or collection or " + ".join(origin.label for origin in origins)


# What an entry of a benchmark need not state.
_DEFAULTS = {"language": "es", "collection": "", "rows": list(PAPER_ROWS)}


def making_of(dataset: Dataset, corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Return what a dataset shares with the same one in another language.

    It has ``from``, the recipes of the corpora, then the collection, if it is not named after the
    language; and ``options``, those of its task that are not the defaults.
    """
    sources = list(dict.fromkeys(corpus.recipe for corpus in corpora))
    if dataset.collection not in ("", dataset.language):
        sources.append(dataset.collection)
    return {"from": sources, "options": _chosen(dataset)}


def benchmark_of(dataset: Dataset, corpora: Sequence[Corpus]) -> str:
    """Return the benchmark that a dataset belongs to; "" if it is another one of the same name."""
    about = dataset.about()
    making = {key: about[key] for key in ("task", *_DEFAULTS)} | _chosen(dataset)
    making["corpora"] = [_settings(corpus) for corpus in corpora]
    if "parts" in about:
        making["parts"] = {key: names for key, names in about["parts"].items() if names}
    return next(
        (
            benchmark
            for benchmark, entries in BENCHMARKS.items()
            if dataset.name in entries and {**_DEFAULTS, **entries[dataset.name]} == making
        ),
        "",
    )


def _chosen(dataset: Dataset) -> dict[str, Any]:
    """Return the options of a dataset's task that are not the defaults, and whether of folds."""
    defaults = dataset.task.defaults(dataset.records)
    folds = {"folds": True} if isinstance(dataset, PassageDataset) and dataset.folds else {}
    return {key: v for key, v in dataset.options.items() if v != defaults[key]} | folds


def _settings(corpus: Corpus) -> dict[str, Any]:
    """Return the recipe of a corpus, and those options that are not its defaults."""
    settings = {"documents": corpus.documents, **corpus.options}
    defaults = {"documents": None, **corpus.facts.options}
    return {"recipe": corpus.recipe} | {
        key: value for key, value in settings.items() if value != defaults.get(key)
    }
