"""The sections `rankings` and `audit` of params.yaml, checked."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Strict

from corpora_recipes.checking import AS_WRITTEN, NOTHING, Checked, checked, described
from corpora_recipes.params import Section

_SHARE = described("a share of rows, above 0 and at most 1", gt=0, le=1)


@dataclass(frozen=True, slots=True)
class Declared(Checked):
    """A gate that a dataset is known to miss: in which share of its rows at most, and why."""

    at_most: Annotated[float, Strict(), _SHARE, AS_WRITTEN]
    because: Annotated[str, described("the reason", min_length=1)]


Gates = Annotated[
    dict[str, Declared],
    described(
        "gates",
        "write it as in {leakage: {at_most: 0.9, because: SICK makes many pairs of few sentences}}",
        min_length=1,
    ),
]


@dataclass(frozen=True, slots=True)
class Audit(Checked):
    """The section `audit`."""

    inherited: Annotated[dict[str, Gates] | None, described("datasets with gates"), NOTHING] = None


def rankings_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return `rankings` of what ``load_params`` returned for a path: name to entry.

    Raises:
        InputError: an entry is not a mapping.
    """
    return checked(dict[str, Section], params["rankings"], f"{path}: rankings")


def inherited_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return `audit.inherited` of what ``load_params`` returned for a path.

    Returns:
        Dataset to gate to ``at_most`` and ``because``.

    Raises:
        InputError: `audit` has an unknown key, or an entry is malformed.
    """
    inherited = checked(Audit, params["audit"], f"{path}: audit").inherited or {}
    return {
        name: {gate: asdict(declared) for gate, declared in gates.items()}
        for name, gates in inherited.items()
    }
