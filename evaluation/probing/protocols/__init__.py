"""The probe protocols, by the name that `probing` in params.yaml gives, and what a probe costs."""

from evaluation.data.features import PairFeatures, width
from evaluation.probing.protocols import senteval, standard
from evaluation.probing.protocols.problem import Protocol

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (standard.PROTOCOL, senteval.PROTOCOL)
}


def effort(
    task: str, rows: int, classes: int, dimension: int, name: str, pairs: PairFeatures, folds: bool
) -> int:
    """Return the nanoseconds of CPU that a probe takes, roughly, without transfer or ablations.

    ``rows`` are those of all splits; ``folds``: whether they are in folds instead; ``name``: of the
    protocol.
    """
    protocol = PROTOCOLS[name]
    features = width(task, dimension, pairs) * (protocol.in_folds if folds else 1)
    return rows * features * protocol.effort(task, max(1, classes))
