"""The section `evalrank` of params.yaml, checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from corpora_recipes.params import known_keys, some_of
from evaluation.ranking.postprocessing import Name
from evaluation.ranking.ranks import Similarity

DEFAULTS = ("none", "centre", "abtt", "whitening")
"""The post-processings by default."""


def evalrank_params(params: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return `evalrank`: the lists ``similarities`` and ``postprocessings``.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Raises:
        InputError: a key or value is unknown, or a list is empty or has a value twice.
    """
    where = f"{path}: evalrank"
    given = known_keys(params["evalrank"], where, ("similarities", "postprocessings"))
    similarities = get_args(Similarity)
    return {
        "similarities": some_of(given, "similarities", similarities, similarities, where),
        "postprocessings": some_of(given, "postprocessings", get_args(Name), DEFAULTS, where),
    }
