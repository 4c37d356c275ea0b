"""The shipped benchmarks: which datasets belong to them, and what these are built from."""

from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml

Entries = dict[str, dict[str, dict[str, Any]]]
"""Benchmark to dataset to what it is built from."""
_ALL: Entries = load_yaml(Path(__file__).with_name("benchmarks.yaml"))


def _entries(*, withdrawn: bool) -> Entries:
    return {
        benchmark: {name: e for name, e in entries.items() if ("withdrawn" in e) is withdrawn}
        for benchmark, entries in _ALL.items()
    }


BENCHMARKS, WITHDRAWN = _entries(withdrawn=False), _entries(withdrawn=True)
"""benchmarks.yaml, without what is withdrawn, and only that, with the reason in ``withdrawn``."""
