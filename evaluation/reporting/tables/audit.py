"""The verdicts and measurements of the audit."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from builders.auditing.report import GATES, SURFACE_FORM, inherited_of, verdict_of
from builders.tasks import TASKS
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Column,
    Table,
    Tone,
    columns_of,
    lay_out,
    spaced,
)
from evaluation.reporting.tables.marks import by_dataset

TONES: Mapping[str, Tone] = {
    "pass": "pass",
    "within chance": "chance",
    SURFACE_FORM: "chance",
    "inherited": "inherited",
    "undeclared": "undeclared",
    "miss": "miss",
}
"""Verdict of the audit to its cell's tone."""
# A trivial baseline is near an encoder, or above chance, by this difference of accuracies.
NEAR = 0.05
_SEVERITY = list(TONES).index


def verdicts(inputs: Inputs) -> list[Table]:
    """Return the audit's verdict on every dataset and gate."""

    def worst(gate: str, dataset: str) -> Cell:
        checks = inputs.audit[dataset]["checks"]
        verdict = NONE
        if any(check["gate"] == gate for check in checks):
            verdict = verdict_of(checks, gate)
        if gate == "baselines" and _trivial_is_near(inputs, dataset):
            verdict = max(verdict, SURFACE_FORM, key=_SEVERITY)
        return _verdict(verdict)

    columns = columns_of(GATES, worst, lambda gate: GATES[gate])
    return by_dataset(inputs, "verdicts", columns, _audited(inputs), texts=1 + len(GATES))


def _audited(inputs: Inputs) -> list[str]:
    return list(chain.from_iterable(inputs.audited.values()))


def _verdict(verdict: str) -> Cell:
    return Cell(verdict if verdict in TONES else NONE, tone=TONES.get(verdict, ""))


def _trivial_is_near(inputs: Inputs, dataset: str) -> bool:
    """Return whether a trivial baseline beats chance and hardly less than the best encoder."""
    if dataset not in inputs.datasets:
        return False
    scores = list(inputs.datasets[dataset].values())
    if not TASKS[scores[0].task].constructed or scores[0].chance is None:
        return False
    best = max(score.value for score in scores)
    return inputs.best_trivial(dataset)[1] >= max(best - NEAR, scores[0].chance + NEAR)


def inherited(inputs: Inputs) -> list[Table]:
    """Return the declared reasons for the gates that datasets miss because of their source."""
    rows = [
        (dataset, GATES[gate], why)
        for dataset in _audited(inputs)
        for gate, why in inherited_of(inputs.audit[dataset]).items()
    ]
    columns = [Column("Gate", lambda row: row[1]), Column("Reason", lambda row: row[2])]
    return by_dataset(inputs, "inherited", columns, rows)


def published(inputs: Inputs) -> list[Table]:
    """Return what is known of the rows that the sources publish: faults, differences from ours."""
    known = {dataset: inputs.audit[dataset].get("published") for dataset in _audited(inputs)}
    rows = [dataset for dataset in known if known[dataset]]
    return by_dataset(inputs, "published", [Column("Published rows", known.get)], rows)


def measurements(inputs: Inputs) -> list[Table]:
    """Return everything that the audit measured."""
    rows = [
        (dataset, check)
        for dataset in _audited(inputs)
        for check in inputs.audit[dataset]["checks"]
        if check["verdict"] != "not applicable"
    ]
    columns = [
        Column("Dataset", lambda row: row[0]),
        Column("Gate", lambda row: GATES[row[1]["gate"]]),
        Column("Measured", lambda row: spaced(row[1]["what"])),
        Column("Verdict", lambda row: _judged(row[1])),
        Column("Value", lambda row: _measured(row[1], "value")),
        Column("Limit", lambda row: _measured(row[1], "limit")),
    ]
    table = lay_out(
        "measurements", rows, columns, group=lambda row: inputs.group(row[0]).abbreviation
    )
    return [table]


def _judged(check: Mapping[str, Any]) -> Cell | None:
    """Return the cell of a measurement's verdict; None if it has no limit."""
    return None if check["limit"] is None else _verdict(check["verdict"])


def _measured(check: Mapping[str, Any], what: str) -> Cell | None:
    """Return the cell of a measurement's "value" or "limit"."""
    value = check[what]
    if value is None:
        return None
    if check["correlation"]:
        return Cell(f"{value:z.3f}", value=value, unit="correlation")
    if isinstance(value, int):
        return Cell(f"{value:,}", value=value, unit="count")
    return Cell(f"{100 * value:z.2f} %", value=value, unit="%")
