"""The gates of the audit, in the order of its report."""

from collections.abc import Iterator
from dataclasses import replace

from builders.audit_report import GATES
from builders.auditing.gates.baselines import BASELINES
from builders.auditing.gates.documents import DOCUMENTS, SIDES, TREES
from builders.auditing.gates.donors import DONORS
from builders.auditing.gates.gate import Check, Gate
from builders.auditing.gates.labels import LABELS
from builders.auditing.gates.language import LANGUAGE
from builders.auditing.gates.leakage import LEAKAGE
from builders.auditing.gates.neighbours import (
    CLUSTER_SIZES,
    CLUSTERS,
    LINKED_DOCUMENTS,
    LINKS,
    RANKING_SIZES,
)
from builders.auditing.gates.row_order import ROW_ORDER
from builders.auditing.gates.size import DIFFERENT, SIZE
from builders.auditing.gates.text import BOILERPLATE_OF_OTHERS, SWALLOWED, TEXT
from builders.auditing.gates.words import WORDS
from builders.auditing.target import Target

ALL_GATES: tuple[Gate, ...] = (
    LEAKAGE,
    DONORS,
    ROW_ORDER,
    BASELINES,
    WORDS,
    TEXT,
    BOILERPLATE_OF_OTHERS,
    SWALLOWED,
    LANGUAGE,
    LABELS,
    LINKS,
    CLUSTERS,
    SIZE,
    DIFFERENT,
    RANKING_SIZES,
    CLUSTER_SIZES,
    DOCUMENTS,
    LINKED_DOCUMENTS,
    TREES,
    SIDES,
)


def audit_dataset(target: Target) -> list[Check]:
    """Measure every gate on a dataset; gates without a measurement are "not applicable"."""
    checks: list[Check] = []
    for name in GATES:
        gates = [gate for gate in ALL_GATES if gate.name == name and gate.applies(target)]
        measured = [check for gate in gates for check in _judged(gate, target)]
        checks += measured or [Check(name, "", 0, None, "not applicable")]
    return sorted(checks, key=lambda check: [*GATES].index(check.gate))


def _judged(gate: Gate, target: Target) -> Iterator[Check]:
    for check in gate.measure(target):
        if check.verdict == "miss" and not gate.fails(target):
            yield replace(check, verdict="undeclared")
        else:
            yield check
