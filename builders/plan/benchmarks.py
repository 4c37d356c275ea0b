"""The shipped benchmarks: which datasets belong to them, and which dataset of a run is one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.plan.datasets import PAPER_ROWS, Dataset
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.yaml_text import load_yaml

BENCHMARKS: Mapping[str, Mapping[str, Mapping[str, Any]]] = load_yaml(
    Path(__file__).with_name("benchmarks.yaml").read_text("utf-8")
)
"""Benchmark to dataset to what it is built from: the content of benchmarks.yaml."""
# What an entry need not state.
_DEFAULTS = {"language": "es", "collection": "", "rows": list(PAPER_ROWS), "donors": "random"}


def benchmark_of(dataset: Dataset, corpora: Sequence[Corpus]) -> str:
    """Return the benchmark that a dataset belongs to; "" if it is another one of the same name.

    Args:
        dataset: to be built.
        corpora: those of its texts.
    """
    about = dataset.about()
    found = {key: about[key] for key in ("task", *_DEFAULTS)}
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
