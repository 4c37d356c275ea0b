"""The file ``encoder.json`` of a store: whose vectors it holds."""

import json
from pathlib import Path
from typing import Any

from evaluation.encoders.encoder import Described

HEADER = "encoder.json"


def fingerprint(encoder: Described) -> dict[str, Any]:
    """Return everything except the text that a vector depends on."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "options": encoder.options,
    }


def read_header(folder: Path) -> dict[str, Any]:
    """Return the fingerprint of a store's encoder, and ``dimension``; empty without a store."""
    try:
        found = json.loads((folder / HEADER).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
