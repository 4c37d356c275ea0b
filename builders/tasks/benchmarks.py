"""The shipped benchmarks: which datasets belong to them, and what these are built from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml

_FILE: Mapping[str, Mapping[str, Mapping[str, Any]]] = load_yaml(
    Path(__file__).with_name("benchmarks.yaml")
)
BENCHMARKS = {
    benchmark: {name: entry for name, entry in datasets.items() if "withdrawn" not in entry}
    for benchmark, datasets in _FILE.items()
}
"""Benchmark to dataset to what it is built from: benchmarks.yaml without what is withdrawn."""
WITHDRAWN = {
    benchmark: {name: entry for name, entry in datasets.items() if "withdrawn" in entry}
    for benchmark, datasets in _FILE.items()
}
"""The same for what is withdrawn; the reason is in ``withdrawn``."""
