"""Older and newer editions of a dataset side by side."""

from evaluation.reporting.editions import FLOOR
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    COVERED,
    Cell,
    Row,
    Table,
    difference_cell,
    headings,
    named,
    percent_cell,
    unused_name,
)
from evaluation.reporting.tables.marks import sampled


def editions(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset that is an edition of another one."""
    tables: list[Table] = []
    for new, old in dict.fromkeys((own.new, own.old) for own in inputs.editions):
        rows = [
            Row(
                (
                    named(own.encoder),
                    percent_cell(own.old_score),
                    percent_cell(own.new_score),
                    difference_cell(own.gap),
                    difference_cell(own.beyond_floor),
                ),
                "encoder",
            )
            for own in inputs.editions
            if (own.new, own.old) == (new, old)
        ]
        header = (
            *headings("Encoder"),
            sampled(inputs, (old,), Cell(old)),
            sampled(inputs, (new,), Cell(new)),
            *headings("New − old", f"Less that of {FLOOR}"),
        )
        about = (
            f"{new} has newer texts than {old}, and is made in the same way. The difference is "
            f"given with its {COVERED} interval (jackknife over the documents of each, which are "
            "taken as independent); a tie is a difference that may be 0. Newer texts may be harder "
            f"or easier: the last column is the difference less that of {FLOOR}, which is not "
            "trained on any text. Where it is negative and no tie, the encoder is better on the "
            "older texts than on new ones: it may have seen them."
        )
        name = unused_name(f"editions-{new}", [table.name for table in tables])
        tables.append(Table(name, f"Editions: {new} and {old}", header, tuple(rows), (about,)))
    return tables
