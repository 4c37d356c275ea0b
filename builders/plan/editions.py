"""Checks which datasets are editions of others: made in the same way, of other documents."""

from collections.abc import Sequence
from typing import NamedTuple

from builders.plan.datasets import Dataset
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import ParamsError


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


def check_editions(built: Sequence[tuple[Corpus, Sequence[Dataset]]]) -> None:
    """Check every dataset with ``edition_of``, given each corpus with its datasets."""
    sides = {
        dataset.name: _Side(dataset, corpus) for corpus, datasets in built for dataset in datasets
    }
    for new in sides.values():
        name = new.dataset.edition_of
        if not name:
            continue
        where = f"{new.corpus.where}.datasets.{new.dataset.name}.edition_of"
        others = [side for side in sides.values() if side.corpus.name != new.corpus.name]
        old = next((side for side in others if side.dataset.name == name), None)
        if old is None:
            alike = sorted(side.dataset.name for side in others if side.made() == new.made())
            expected = "a dataset of another corpus"
            expected += f": one of {', '.join(alike)}" if alike else ""
            what = "which is of the same corpus" if name in sides else "which is not a dataset"
            todo = "name the older dataset, which has another entry under `corpora`"
            raise ParamsError(where, expected, f"{name!r}, {what}", todo)
        for what, value in old.made().items():
            if new.made()[what] != value:
                expected = f"a dataset made in the same way as {name}: {what} {value}"
                raise ParamsError(where, expected, f"{what} {new.made()[what]}")
