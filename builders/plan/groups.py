"""Everything that is built by params.yaml: the datasets of each corpus, and the rankings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders.plan.datasets import Dataset, datasets_of
from builders.plan.editions import check_editions
from builders.plan.origins import Origin, origins_of
from builders.plan.rankings import rankings_of
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.commands import PARAMS
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.folders import INSTANCES
from corpora_recipes.running.left_out import LeftOut, read_left_out


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
    used = {corpus.name for ranking in composed for corpus in ranking.corpora}
    for corpus in corpora:
        if not corpus.datasets and corpus.name not in used:
            expected = "at least one dataset, or a ranking that uses the corpus"
            todo = "add one, such as sp_mine: {task: sentence_position}, or name it in a ranking"
            raise ParamsError(f"{corpus.where}.datasets", expected, "none", todo)
    built = [
        BuildGroup(corpus.name, datasets_of(corpus, sources), origins_of([corpus], sources))
        for corpus in corpora
    ]
    check_editions([(group.origins[0].corpus, group.datasets) for group in built])
    return built + [
        BuildGroup(ranking.name, [ranking], origins_of(ranking.corpora, sources), of_ranking=True)
        for ranking in composed
    ]


def left_out_datasets(groups: Iterable[BuildGroup], *stages: str) -> dict[str, LeftOut]:
    """Return the datasets that were not built, or that stages have left out, with the reason."""
    by_stage = {stage: read_left_out(stage) for stage in stages}
    left_out: dict[str, LeftOut] = {}
    for group in groups:
        stage = "compose" if group.of_ranking else "build"
        for dataset in group.datasets:
            entries = [
                *(("read", origin.corpus.name) for origin in group.origins),
                (stage, group.name),
                ("build", f"{group.name}: {dataset.name}"),
                ("audit", dataset.name),
            ]
            reasons = [by_stage.get(of, {}).get(name) for of, name in entries]
            if not (INSTANCES / group.folder / dataset.name).is_dir():
                reasons.append(LeftOut(f"it was not built: `probeta {stage}`"))
            if reason := next(filter(None, reasons), None):
                left_out[dataset.name] = reason
    return left_out


def without(groups: Iterable[BuildGroup], left_out: Collection[str]) -> list[BuildGroup]:
    """Return groups without some datasets, which are given by name."""
    return [
        group._replace(datasets=[d for d in group.datasets if d.name not in left_out])
        for group in groups
    ]
