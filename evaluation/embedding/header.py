"""The file ``encoder.json`` of a store: whose vectors it holds, and what has made them."""

import json
from pathlib import Path
from typing import Any

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.environment import versions_of
from evaluation.encoders.encoder import Described, Encoder

HEADER = "encoder.json"


def fingerprint(encoder: Described) -> dict[str, Any]:
    """Return what names an encoder, and everything in params.yaml that its vectors depend on."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "options": encoder.options,
    }


def made_by(encoder: Encoder) -> dict[str, Any]:
    """Return the code and the versions of libraries that an encoder's vectors depend on."""
    return {
        "code": code_digest(type(encoder).__module__, "evaluation.embedding.checked"),
        "versions": versions_of(encoder.packages),
    }


def read_header(folder: Path) -> dict[str, Any]:
    """Return fingerprint, ``made_by`` and ``dimension`` of a store; empty without a store."""
    try:
        found = json.loads((folder / HEADER).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
