"""Scores that papers report, for comparison."""

from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml

PUBLISHED: dict[str, Any] = load_yaml(Path(__file__).with_name("published_scores.yaml"))
"""The content of published_scores.yaml, which says what it holds."""
