"""The report as Markdown, as GitHub reads it."""

from collections.abc import Sequence

from evaluation.report.inputs import Inputs
from evaluation.report.layers import Profile
from evaluation.report.layout import Cell, Table
from evaluation.report.tables import (
    group_tables,
    introduction,
    layers,
    notes,
    report_tables,
)

# What Markdown would take for markup, where it can stand in a name or a note.
_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\*|<`"})


def write_markdown(inputs: Inputs, profiles: Sequence[Profile]) -> str:
    """Return the report.

    Args:
        inputs: what it is made of.
        profiles: the encoders with several layers.
    """
    tables = report_tables(inputs, profiles)
    last_scores = group_tables(inputs)[-1].name
    last_layers = layers(profiles[-1]).name if profiles else None
    lines = ["# Scores", ""]
    for paragraph in introduction(inputs):
        lines += [_escaped(paragraph), ""]
    for table in tables:
        lines += markdown(table)
        if table.name == last_scores:
            for mark, note in notes(tables).items():
                lines += [_escaped(f"{mark} {note}"), ""]
            lines += ["![Scores](figures/scores.svg)", ""]
        if table.name == last_layers:
            lines += ["![Scores of layers](figures/layers.svg)", ""]
    return "\n".join(lines)


def markdown(table: Table) -> list[str]:
    """Return a table with its heading, as lines."""
    lines = [f"## {_escaped(table.title)}", ""]
    for paragraph in table.about:
        lines += [_escaped(paragraph), ""]
    if not table.rows:
        return lines
    sides = ["---"] * table.texts + ["---:"] * (len(table.header) - table.texts)
    cells = (table.header, *(row.cells for row in table.rows))
    header, *rows = ([_cell(cell) for cell in row] for row in cells)
    lines += ["| " + " | ".join(row) + " |" for row in (header, sides, *rows)]
    return [*lines, ""]


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    parts = [f"**{text}**" if cell.strong else text]
    parts += [_escaped(part) for part in (cell.detail, *cell.marks) if part]
    return " ".join(parts)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)
