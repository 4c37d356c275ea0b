"""How a dataset is made, which shared names are held to: of benchmarks, and of other languages."""

from collections.abc import Sequence
from typing import Any

from builders.plan.datasets import PAPER_ROWS, Dataset, PassageDataset
from builders.tasks.benchmarks import BENCHMARKS
from corpora_recipes.recipe import Corpus

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
