"""The probe protocols, by the name that `probing` in params.yaml gives, and what a probe costs."""

from typing import TYPE_CHECKING

from evaluation.data.features import width
from evaluation.probing.protocols import senteval, standard
from evaluation.probing.protocols.problem import Protocol

if TYPE_CHECKING:
    from evaluation.probing.params import Probing

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (standard.PROTOCOL, senteval.PROTOCOL)
}


def effort(
    task: str, rows: int, classes: int, dimension: int, probing: "Probing", *, folds: bool
) -> int:
    """Return the nanoseconds of CPU that a probe takes, roughly, without transfer or ablations.

    ``rows`` are those of all splits; ``folds``: whether they are in folds instead.
    """
    protocol = PROTOCOLS[probing.protocol]
    times = protocol.in_folds if folds else 1
    features = width(task, dimension, probing.pair_features)
    return rows * times * features * protocol.effort(task, max(1, classes))
