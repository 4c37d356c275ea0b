"""Scores that papers report, for comparison."""

from pathlib import Path
from typing import Any

import yaml

PUBLISHED: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("published_scores.yaml").read_text("utf-8")
)
"""The content of published_scores.yaml, which says what it holds."""
