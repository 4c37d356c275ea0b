"""The probe protocols, the section `probing` of params.yaml, and what a probe costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import StrictBool

from builders.tasks import TASKS
from corpora_recipes.validation import Checked, check_choice, described, validate
from evaluation.features import PairFeatures, feature_width
from evaluation.probing.protocols import senteval, standard
from evaluation.probing.protocols.problem import Protocol

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (standard.PROTOCOL, senteval.PROTOCOL)
}


@dataclass(frozen=True, slots=True)
class Probing(Checked):
    """How datasets are probed: `probing` in params.yaml.

    The protocol is a key of ``PROTOCOLS``, the engine one of its. With ``ablations``, tasks that
    have one are also probed with it. With ``controls``, scores have what
    ``evaluation.probing.controls`` measures; "full" adds the code length of control labels.
    ``transfer`` has tasks with classes, see
    ``evaluation.probing.transfer``; only the protocol ``standard`` transfers.
    """

    protocol: str = "standard"
    engine: str = "numpy"
    pair_features: PairFeatures = "difference_product"
    ablations: StrictBool = False
    controls: StrictBool | Literal["full"] = False
    transfer: Annotated[list[str], described("names of tasks with classes")] = field(
        default_factory=list
    )

    def as_protocol(self) -> dict[str, Any]:
        """Return the protocol for results."""
        return {
            "name": self.protocol,
            "version": PROTOCOLS[self.protocol].version,
            "engine": self.engine,
            "pair_features": self.pair_features,
        } | ({"ablations": True} if self.ablations else {})


# How many times as long a probe takes with controls, roughly.
_TIMES: Mapping[bool | str, int] = {False: 1, True: 3, "full": 4}


def effort(
    task: str, rows: int, classes: int, dimension: int, probing: Probing, folds: bool
) -> int:
    """Return the nanoseconds of CPU that a probe takes, roughly, without transfer or ablations.

    ``rows`` are those of all splits; ``folds``: whether they are in folds instead.
    """
    protocol = PROTOCOLS[probing.protocol]
    features = feature_width(task, dimension, probing.pair_features)
    fits = (protocol.in_folds if folds else 1) * _TIMES[probing.controls]
    return rows * features * fits * protocol.effort(task, max(1, classes))


def probing_params(params: Mapping[str, Any], path: Path) -> Probing:
    """Return `probing` of what ``load_params`` returned for a path."""
    where = f"{path}: probing"
    section = {"protocol": Probing().protocol} | params["probing"]
    engines = PROTOCOLS[check_choice(section["protocol"], PROTOCOLS, f"{where}.protocol")].engines
    check_choice(section.setdefault("engine", engines[0]), engines, f"{where}.engine")
    probing = validate(Probing, section, where)
    tasks = [name for name, task in TASKS.items() if task.trained and task.target == "label"]
    for name in probing.transfer:
        check_choice(name, tasks, f"{where}.transfer")
    return probing
