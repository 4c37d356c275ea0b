"""The versions of the datasets that the project publishes: dataset_changes.yaml."""

from collections.abc import Mapping
from pathlib import Path

from corpora_recipes.running.yaml_text import load_yaml

FILE = Path(__file__).with_name("dataset_changes.yaml")


def dataset_changes() -> Mapping[str, Mapping[str, str]]:
    """Return dataset to version to its date and changes, the latest version first."""
    changes: Mapping[str, Mapping[str, str]] = load_yaml(FILE)
    return changes


def latest_date() -> str:
    """Return the date of the latest version of any dataset, as in 2026-01-31."""
    return max(text[:10] for of_one in dataset_changes().values() for text in of_one.values())
