"""The sections `rankings` and `audit` of params.yaml, checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.params import known_keys
from corpora_recipes.running.errors import InputError


def rankings_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return `rankings`: name to entry.

    Args:
        params: the result of ``load_params``.
        path: of params.yaml, for messages.

    Raises:
        InputError: an entry is not a mapping.
    """
    rankings: dict[str, dict[str, Any]] = params["rankings"]
    for name, entry in rankings.items():
        where = f"{path}: rankings.{name}"
        if not isinstance(entry, dict):
            raise InputError(
                where,
                expected="an entry such as {task: sentence_ranking, language: es, pairs: [sts]}",
                found=repr(entry),
                todo="write an entry in this form",
            )
    return rankings


def inherited_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return `audit.inherited`: dataset to gate to ``at_most`` and ``because``.

    Args:
        params: the result of ``load_params``.
        path: of params.yaml, for messages.

    Raises:
        InputError: `audit` has an unknown key, or an entry is malformed.
    """
    where = f"{path}: audit"
    inherited = known_keys(params["audit"], where, ("inherited",)).get("inherited") or {}
    well_formed = isinstance(inherited, dict) and all(
        isinstance(gates, dict) and gates and all(map(_is_declared, gates.values()))
        for gates in inherited.values()
    )
    if not well_formed:
        raise InputError(
            f"{where}.inherited",
            expected="dataset names, each with gates, the highest share of rows that miss the "
            "gate, and the reason, as in {sick_es_e: {leakage: {at_most: 0.9, because: SICK makes "
            "many pairs of few sentences}}}",
            found=repr(inherited),
            todo="correct the entry",
        )
    return dict(inherited)


def _is_declared(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {"at_most", "because"}
        and isinstance(entry["at_most"], int | float)
        and 0 < entry["at_most"] <= 1
        and isinstance(entry["because"], str)
        and bool(entry["because"])
    )
