"""The misses of the audit's gates that are declared, as the sources are known to have them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from builders.plan.groups import BuildGroup
from corpora_recipes.checking import NOTHING, Checked, checked, described, one_of
from corpora_recipes.facts import Gates


@dataclass(frozen=True, slots=True)
class Audit(Checked):
    """The section `audit` of params.yaml."""

    inherited: Annotated[dict[str, Gates] | None, described("datasets with gates"), NOTHING] = None


def inherited_of(
    params: Mapping[str, Any], path: Path, groups: Sequence[BuildGroup]
) -> dict[str, dict[str, Any]]:
    """Return the declared misses: dataset to gate to ``at_most`` and ``because``.

    An entry of `audit.inherited` of params.yaml, the file ``path``, replaces that of the same
    dataset in a corpus.yaml.
    """
    declared = {
        name: gates
        for group in groups
        for origin in group.origins
        for name, gates in origin.corpus.facts.inherited.items()
        if name in {dataset.name for dataset in group.datasets}
    }
    declared |= checked(Audit, params["audit"], f"{path}: audit").inherited or {}
    return {
        name: {gate: asdict(miss) for gate, miss in gates.items()}
        for name, gates in declared.items()
    }


def check_inherited(inherited: Iterable[str], datasets: Iterable[str], path: Path) -> None:
    """Raise an InputError if a name in `audit.inherited`, of the file ``path``, is no dataset."""
    todo = "correct the name, or remove it, if the dataset was removed"
    for name in inherited:
        one_of(name, sorted(datasets), f"{path}: audit.inherited.{name}", " (the datasets)", todo)
