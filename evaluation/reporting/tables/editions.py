"""Older and newer editions of a dataset side by side."""

from evaluation.reporting.editions import FLOOR, Edition
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    COVERED,
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
    tables: list[Table] = []
    editions_of: dict[tuple[str, str], list[Edition]] = {}
    for edition in inputs.editions:
        editions_of.setdefault((edition.new, edition.old), []).append(edition)
    for (new, old), of_encoders in editions_of.items():
        about = (
            f"{new} has newer texts than {old}, and is made in the same way. The difference is "
            f"given with its {COVERED} interval (jackknife over the documents of each, which are "
            "taken as independent); a tie is a difference that may be 0. Newer texts may be harder "
            f"or easier: the last column is the difference less that of {FLOOR}, which is not "
            "trained on any text. Where it is negative and no tie, the encoder is better on the "
            "older texts than on new ones: it may have seen them."
        )
        tables.append(
            lay_out(
                unused_name(f"editions-{new}", [table.name for table in tables]),
                f"Editions: {new} and {old}",
                of_encoders,
                [
                    Column("Encoder", lambda edition: named(edition.encoder)),
                    Column(sampled(inputs, (old,), Cell(old)), lambda edition: edition.old_score),
                    Column(sampled(inputs, (new,), Cell(new)), lambda edition: edition.new_score),
                    Column("New − old", lambda edition: difference_cell(edition.gap)),
                    Column(
                        f"Less that of {FLOOR}",
                        lambda edition: difference_cell(edition.beyond_floor),
                    ),
                ],
                about,
                kind="encoder",
            )
        )
    return tables
