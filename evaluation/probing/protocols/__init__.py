"""The probe protocols, by the name that `probing` in params.yaml gives."""

from evaluation.probing.protocols import senteval, standard
from evaluation.probing.protocols.problem import Protocol

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (standard.PROTOCOL, senteval.PROTOCOL)
}
