"""The section `probing` of params.yaml, checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.checking import checked, one_of
from evaluation.probing.probing import Probing
from evaluation.probing.protocols import PROTOCOLS


def probing_params(params: Mapping[str, Any], path: Path) -> Probing:
    """Return `probing` of what ``load_params`` returned for a path.

    Raises:
        InputError: a key or value is unknown, or the protocol does not run on the engine.
    """
    where = f"{path}: probing"
    given = {"protocol": Probing().protocol} | params["probing"]
    engines = PROTOCOLS[one_of(given["protocol"], PROTOCOLS, f"{where}.protocol")].engines
    one_of(given.setdefault("engine", engines[0]), engines, f"{where}.engine")
    return checked(Probing, given, where)
