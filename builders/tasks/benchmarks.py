"""The shipped benchmarks: which datasets belong to them, and what these are built from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml

BENCHMARKS: Mapping[str, Mapping[str, Mapping[str, Any]]] = load_yaml(
    Path(__file__).with_name("benchmarks.yaml")
)
"""Benchmark to dataset to what it is built from: the content of benchmarks.yaml."""
