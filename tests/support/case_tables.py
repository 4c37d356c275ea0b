"""Tables of cases and texts in YAML, which lie beside the tests that use them."""

from pathlib import Path
from typing import Any

import yaml


def read_tables(test: str) -> dict[str, Any]:
    """Return what the file test_x.yaml beside a test_x.py has, by name."""
    found: dict[str, Any] = yaml.safe_load(Path(test).with_suffix(".yaml").read_text("utf-8"))
    return found
