"""The verdicts and measurements of the audit."""

from collections.abc import Mapping
from typing import Any

from builders.audit_report import GATES, SURFACE_FORM, inherited_of, verdict_of
from builders.tasks import TASKS
from probeta.report import layout
from probeta.report.inputs import Inputs
from probeta.report.layout import NONE, Cell, Column, Table, columns_of, lay_out
from probeta.report.tables.marks import by_dataset
from probeta.report.texts import translated

TONES: Mapping[str, layout.Tone] = {
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


def verdicts(inputs: Inputs) -> list[Table]:
    """Return the audit's verdict on every dataset and gate."""

    def worst(gate: str, dataset: str) -> Cell:
        checks = inputs.audit[dataset]["checks"]
        judged = any(check["gate"] == gate for check in checks)
        verdict: str = verdict_of(checks, gate) if judged else NONE
        if gate == "baselines" and _trivial_is_near(inputs, dataset):
            verdict = max(verdict, SURFACE_FORM, key=[*TONES].index)
        return _verdict(verdict)

    columns = columns_of(GATES, worst, lambda gate: translated(GATES[gate]))
    return by_dataset(inputs, "verdicts", columns, inputs.groups, texts=1 + len(GATES))


def _verdict(verdict: str) -> Cell:
    return Cell(translated(verdict), tone=TONES[verdict]) if verdict in TONES else Cell(NONE)


def _trivial_is_near(inputs: Inputs, dataset: str) -> bool:
    """Return whether a trivial baseline beats chance and hardly less than the best encoder."""
    scores = inputs.datasets.get(dataset, {}).values()
    if not scores or not TASKS[(first := next(iter(scores))).task].constructed:
        return False
    best = max(score.value for score in scores)
    trivial = inputs.best_trivial(dataset)[1]
    return first.chance is not None and trivial >= max(best - NEAR, first.chance + NEAR)


def inherited(inputs: Inputs) -> list[Table]:
    """Return the declared reasons for the gates that datasets miss because of their source."""
    rows = [
        (dataset, translated(GATES[gate]), Cell(why, english=True))
        for dataset, facts in inputs.audit.items()
        for gate, why in inherited_of(facts).items()
    ]
    columns = [Column("gate", lambda row: row[1]), Column("reason", lambda row: row[2])]
    return by_dataset(inputs, "inherited", columns, rows, texts=3)


def published(inputs: Inputs) -> list[Table]:
    """Return what is known of the rows that the sources publish: faults, differences from ours."""
    known = {dataset: facts.get("published") for dataset, facts in inputs.audit.items()}
    rows = filter(known.get, known)
    columns = [Column("published_rows", lambda name: Cell(str(known[name]), english=True))]
    return by_dataset(inputs, "published", columns, rows, texts=2)


def measurements(inputs: Inputs) -> list[Table]:
    """Return everything that the audit measured."""
    rows = [
        (dataset, check)
        for dataset, facts in inputs.audit.items()
        for check in facts["checks"]
        if check["verdict"] != "not applicable"
    ]
    columns = [
        Column("dataset", lambda row: row[0]),
        Column("gate", lambda row: translated(GATES[row[1]["gate"]])),
        Column("measured", lambda row: Cell(layout.spaced(row[1]["what"]), english=True)),
        Column("verdict", lambda row: _judged(row[1])),
        Column("value", lambda row: _measured(row[1], "value")),
        Column("limit", lambda row: _measured(row[1], "limit")),
    ]
    group = {dataset: group.abbreviation for dataset, group in inputs.groups.items()}
    return [lay_out("measurements", rows, columns, texts=4, group=lambda row: group[row[0]])]


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
