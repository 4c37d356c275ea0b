"""Everything that is built by params.yaml: the datasets of each corpus, and the rankings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders.plan.datasets import Dataset, datasets_of
from builders.plan.editions import check_editions
from builders.plan.origins import Origin, origins_of
from builders.plan.params import rankings_params
from builders.plan.rankings import rankings_of
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.commands import PARAMS
from corpora_recipes.running.errors import InputError


class BuildGroup(NamedTuple):
    """Datasets that are built together, into one folder.

    Attributes:
        name: of the corpus or the ranking.
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
    return groups_of(load_corpora(path), rankings_params(params, path), params["sources"], path)


def groups_of(
    corpora: Sequence[Corpus],
    rankings: Mapping[str, Mapping[str, Any]],
    sources: str,
    path: Path = PARAMS,
) -> list[BuildGroup]:
    """Return everything that is built: the datasets of each corpus, then each ranking.

    Args:
        corpora: every entry of ``corpora`` in params.yaml.
        rankings: `rankings` of params.yaml.
        sources: `sources` of params.yaml.
        path: of params.yaml, for messages.

    Raises:
        InputError: a corpus has neither a dataset nor a ranking that uses it; and see
            ``datasets_of``, ``check_editions`` and ``rankings_of``.
    """
    composed = rankings_of(rankings, corpora, sources, path)
    used = {corpus.name for ranking in composed for corpus in ranking.corpora}
    for corpus in corpora:
        if not corpus.datasets and corpus.name not in used:
            raise InputError(
                f"{corpus.where}.datasets",
                expected="at least one dataset, or a ranking that uses the corpus",
                found="none",
                todo="add a dataset here, such as sp_mine: {task: sentence_position}, or name the "
                "corpus in an entry of `rankings`",
            )
    built = [
        BuildGroup(corpus.name, datasets_of(corpus, sources), origins_of([corpus], sources))
        for corpus in corpora
    ]
    check_editions([(own.origins[0].corpus, own.datasets) for own in built])
    return built + [
        BuildGroup(ranking.name, [ranking], origins_of(ranking.corpora, sources), of_ranking=True)
        for ranking in composed
    ]
