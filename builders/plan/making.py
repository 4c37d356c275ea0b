"""How a dataset is made, apart from its language: what the same one in another language shares."""

from collections.abc import Sequence
from typing import Any

from builders.plan.datasets import Dataset
from corpora_recipes.recipe import Corpus


def making_of(dataset: Dataset, corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Return what a dataset is made from, and with which options of its task.

    Args:
        dataset: to be built.
        corpora: those of its texts.

    Returns:
        ``from``, the recipes of the corpora, then the collection, if it is not named after the
        language; ``options``, those that are not the defaults.
    """
    about = dataset.about()
    collection = about["collection"]
    sources = list(dict.fromkeys(corpus.recipe for corpus in corpora))
    if collection and collection != dataset.language:
        sources.append(collection)
    usual = dataset.task.defaults(about["records"])
    options = {key: value for key, value in about["options"].items() if value != usual[key]}
    return {"from": sources, "options": options}
