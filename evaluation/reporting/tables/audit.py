"""The verdicts and measurements of the audit."""

from collections.abc import Mapping, Sequence
from typing import Any

from builders.auditing.report import GATES, SURFACE_FORM, inherited_of, verdict_of
from builders.tasks import TASKS
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Row,
    Table,
    Tone,
    headings,
    spaced,
)
from evaluation.reporting.tables.marks import dataset_cell

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
_BASELINES = list(GATES).index("baselines")
_SEVERITY = list(TONES).index


def verdicts(inputs: Inputs) -> list[Table]:
    """Return the audit's verdict on every dataset and gate."""
    titles = list(GATES.values())
    rows = []
    for group, datasets in inputs.audited.items():
        for dataset in datasets:
            checks = inputs.audit[dataset]["checks"]
            found = [_verdict(checks, gate) for gate in GATES]
            if _trivial_is_near(inputs, dataset):
                found[_BASELINES] = max(found[_BASELINES], SURFACE_FORM, key=_SEVERITY)
            cells = (Cell(v if v in TONES else NONE, tone=TONES.get(v, "")) for v in found)
            rows.append(Row((dataset_cell(inputs, dataset), *cells), group=group.abbreviation))
    about = (
        "The worst verdict of each gate. Within chance: beyond the limit, but within chance for a "
        "test of this size. Solved by surface form: a trivial baseline is 30 points above chance, "
        "or 5 points above chance and at most 5 points below the best encoder of this report. "
        "Inherited: the source has the fault; params.yaml declares the reason and the largest "
        "value accepted. Undeclared: the source has the fault, but params.yaml "
        "does not declare it. – marks a gate that does not apply."
    )
    header = headings("Dataset", *titles)
    return [Table("verdicts", "Audit", header, tuple(rows), (about,), texts=len(header))]


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
    rows = []
    for group, datasets in inputs.audited.items():
        for dataset in datasets:
            rows += [
                Row(
                    (dataset_cell(inputs, dataset), Cell(GATES[gate]), Cell(why)),
                    group=group.abbreviation,
                )
                for gate, why in inherited_of(inputs.audit[dataset]).items()
            ]
    header = headings("Dataset", "Gate", "Reason")
    table = Table("inherited", "Inherited from the sources", header, tuple(rows), texts=3)
    return [table] if rows else []


def published(inputs: Inputs) -> list[Table]:
    """Return what is known of the rows that the sources publish: faults, differences from ours."""
    rows = [
        Row((dataset_cell(inputs, dataset), Cell(said)), group=group.abbreviation)
        for group, datasets in inputs.audited.items()
        for dataset in datasets
        if (said := inputs.audit[dataset].get("published"))
    ]
    about = (
        "What is known of the files that the sources publish, and how our rows differ. It is said "
        "of the whole datasets, not of samples."
    )
    header = headings("Dataset", "Published rows")
    table = Table("published", "Published rows", header, tuple(rows), (about,), texts=2)
    return [table] if rows else []


def measurements(inputs: Inputs) -> list[Table]:
    """Return everything that the audit measured."""
    rows = []
    for group, datasets in inputs.audited.items():
        for dataset in datasets:
            for check in inputs.audit[dataset]["checks"]:
                if check["verdict"] == "not applicable":
                    continue
                verdict, limit = Cell(NONE), Cell(NONE)
                if check["limit"] is not None:
                    verdict = Cell(check["verdict"], tone=TONES[check["verdict"]])
                    limit = _measured(check["limit"], check["correlation"])
                cells = (
                    Cell(dataset),
                    Cell(GATES[check["gate"]]),
                    Cell(spaced(check["what"])),
                    verdict,
                    _measured(check["value"], check["correlation"]),
                    limit,
                )
                rows.append(Row(cells, group=group.abbreviation))
    header = headings("Dataset", "Gate", "Measured", "Verdict", "Value", "Limit")
    return [Table("measurements", "All measurements", header, tuple(rows), texts=4)]


def _verdict(checks: Sequence[Mapping[str, Any]], gate: str) -> str:
    return verdict_of(checks, gate) if any(c["gate"] == gate for c in checks) else NONE


def _measured(value: float, correlation: bool) -> Cell:
    if correlation:
        return Cell(f"{value:z.3f}", value=value, unit="correlation")
    if isinstance(value, int):
        return Cell(f"{value:,}", value=value, unit="count")
    return Cell(f"{100 * value:z.2f} %", value=value, unit="%")
