"""Which dataset of a run belongs to a shipped benchmark."""

from collections.abc import Sequence
from typing import Any

from builders.plan.datasets import PAPER_ROWS, Dataset
from builders.tasks.benchmarks import BENCHMARKS
from corpora_recipes.recipe import Corpus

# What an entry need not state.
_DEFAULTS = {"language": "es", "collection": "", "rows": list(PAPER_ROWS)}


def benchmark_of(dataset: Dataset, corpora: Sequence[Corpus]) -> str:
    """Return the benchmark that a dataset belongs to; "" if it is another one of the same name.

    Args:
        dataset: to be built.
        corpora: those of its texts.
    """
    about = dataset.about()
    found = {key: about[key] for key in ("task", *_DEFAULTS)}
    usual = dataset.task.defaults(about["records"])
    found |= {k: value for k, value in about["options"].items() if value != usual[k]}
    found["corpora"] = [_settings(corpus) for corpus in corpora]
    if "parts" in about:
        found["parts"] = {key: names for key, names in about["parts"].items() if names}
    return next(
        (
            benchmark
            for benchmark, entries in BENCHMARKS.items()
            if dataset.name in entries and {**_DEFAULTS, **entries[dataset.name]} == found
        ),
        "",
    )


def _settings(corpus: Corpus) -> dict[str, Any]:
    """Return the recipe of a corpus, and those options that are not its defaults."""
    given = {"documents": corpus.documents, **corpus.options}
    usual = {"documents": None, **corpus.facts.options}
    return {"recipe": corpus.recipe} | {k: v for k, v in given.items() if v != usual.get(k)}
