"""How datasets and probes depart from those of the papers, and why: differences.yaml."""

from collections.abc import Mapping
from pathlib import Path

from corpora_recipes.running.yaml_text import load_yaml

DIFFERENCES: Mapping[str, Mapping[str, str]] = load_yaml(
    Path(__file__).with_name("differences.yaml")
)
"""Kind (benchmarks, tasks, datasets or protocols) to name to what differs."""


def differences_of(dataset: str, task: str, benchmark: str) -> list[str]:
    """Return what differs of a dataset, the most special last; ``benchmark``: "" if it has none."""
    keys = {"benchmarks": benchmark, "tasks": task, "datasets": dataset if benchmark else ""}
    return [DIFFERENCES[kind][key] for kind, key in keys.items() if key in DIFFERENCES[kind]]
