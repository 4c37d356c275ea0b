"""The section `probing` of params.yaml, checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from corpora_recipes.params import known_keys
from corpora_recipes.running.errors import InputError
from evaluation.data.features import PairFeatures
from evaluation.probing.probing import Probing
from evaluation.probing.protocols import PROTOCOLS


def probing_params(params: Mapping[str, Any], path: Path) -> Probing:
    """Return `probing`, with the defaults filled in.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Raises:
        InputError: a key or value is unknown, or the protocol does not run on the engine.
    """
    where = f"{path}: probing"
    given = known_keys(
        params["probing"], where, ("protocol", "engine", "pair_features", "ablations")
    )

    def chosen(key: str, choices: Sequence[Any]) -> Any:
        value = given.get(key, choices[0])
        if value not in choices:
            raise InputError(
                f"{where}.{key}",
                expected=f"one of {', '.join(map(str, choices))}",
                found=repr(value),
                todo="correct it, or leave it out",
            )
        return value

    protocol = chosen("protocol", list(PROTOCOLS))
    return Probing(
        protocol=protocol,
        engine=chosen("engine", PROTOCOLS[protocol].engines),
        pair_features=chosen("pair_features", get_args(PairFeatures)),
        ablations=chosen("ablations", (False, True)),
    )
