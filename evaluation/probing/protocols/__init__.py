"""The probe protocols, by the name that `probing` in params.yaml gives."""

from evaluation.probes import senteval, standard
from evaluation.probes.problem import Protocol

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (standard.PROTOCOL, senteval.PROTOCOL)
}
