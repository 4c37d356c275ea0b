"""The section `paralex` of params.yaml, checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from corpora_recipes.params import known_keys, some_of
from corpora_recipes.running.errors import InputError
from evaluation.paradigms.vocabulary import Casing

COHERENCE_THRESHOLD = 2
"""As Sumbler et al. (2018) take it."""


def paralex_params(params: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return `paralex`: the list ``casings``, and ``coherence_threshold``, an int.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Raises:
        InputError: a key or value is unknown, a list is empty or has a value twice, or the
            threshold is no integer from 1.
    """
    where = f"{path}: paralex"
    given = known_keys(params["paralex"], where, ("casings", "coherence_threshold"))
    threshold = given.get("coherence_threshold", COHERENCE_THRESHOLD)
    if type(threshold) is not int or threshold < 1:
        raise InputError(
            f"{where}.coherence_threshold",
            expected="how many seeds must suggest a term, an integer from 1",
            found=repr(threshold),
            todo=f"correct it; Sumbler et al. (2018) take {COHERENCE_THRESHOLD}",
        )
    casings = get_args(Casing)
    return {
        "casings": some_of(given, "casings", casings, casings, where),
        "coherence_threshold": threshold,
    }
