"""Older and newer editions of a dataset side by side."""

from evaluation.reporting.editions import FLOOR, Edition
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    difference_cell,
    lay_out,
    named,
    unused_name,
)
from evaluation.reporting.tables.marks import sampled


def editions(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset that is an edition of another one."""
    editions_of: dict[tuple[str, str], list[Edition]] = {}
    for edition in inputs.editions:
        editions_of.setdefault((edition.new, edition.old), []).append(edition)
    tables: list[Table] = []
    for (new, old), of_encoders in editions_of.items():
        columns = [
            Column("Encoder", lambda edition: named(edition.encoder)),
            Column(sampled(inputs, (old,), Cell(old)), lambda edition: edition.old_score),
            Column(sampled(inputs, (new,), Cell(new)), lambda edition: edition.new_score),
            Column("New − old", lambda edition: difference_cell(edition.gap)),
            Column(f"Less that of {FLOOR}", lambda edition: difference_cell(edition.beyond_floor)),
        ]
        name = unused_name(f"editions-{new}", [table.name for table in tables])
        words = {"new": new, "old": old, "floor": FLOOR}
        tables.append(
            lay_out("editions", of_encoders, columns, name=name, kind="encoder", words=words)
        )
    return tables
