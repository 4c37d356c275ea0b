"""The encoder and the versions that results depend on."""

import platform
from collections.abc import Mapping
from typing import Any

from corpora_recipes.running.environment import LIBRARIES, versions_of
from evaluation.encoders.encoder import Described, Description
from evaluation.results.typed import typed


def encoder_facts(encoder: Described, dimension: int) -> dict[str, Any]:
    """Return an encoder's description for results; ``dimension`` is that of the store."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "form": encoder.form,
        "dimension": dimension,
        "layers": list(encoder.layers),
        "layer": encoder.layer,
        "options": encoder.options | ({"prompts": encoder.prompts} if encoder.prompts else {}),
    }


def description_of(facts: Mapping[str, Any]) -> Description:
    """Return the description of an encoder from ``encoder_facts``; without packages.

    Raises:
        KeyError: a fact is missing.
        ValueError: one has another type, or the main layer is not among the layers.
    """
    own = {name: facts[name] for name in ("revision", "layers", "layer", "form", "options")}
    own |= {"name": facts["encoder"], "packages": []}
    own["prompts"] = typed(dict[str, Any], own["options"]).get("prompts", {})
    description: Description = typed(Description, own, "encoder")
    if description.layer not in description.layers:
        raise ValueError("encoder: a main layer that is not among the layers")
    return description


def library_versions(stage: str, made_by: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the versions of Python, the platform, Probeta and the libraries that decide scores.

    Args:
        stage: which scores.
        made_by: of the store of vectors, see ``evaluation.embedding.store``: what has encoded may
            be another environment.
    """
    ours = versions_of(["probeta", *LIBRARIES[stage]])
    encoding = {**(made_by or {}).get("versions", {})}
    return dict(sorted({"platform": platform.platform(), **encoding, **ours}.items()))
