"""The report as Markdown, as GitHub reads it."""

from corpora_recipes.escaping import markdown
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import Cell, Table, titled
from evaluation.reporting.notes import notes_of
from evaluation.reporting.sections import sections_of
from evaluation.reporting.tables.averages import answers, warning
from evaluation.reporting.tables.scores import introduction


def write_markdown(inputs: Inputs) -> str:
    """Return the report.

    Args:
        inputs: the results.
    """
    lines = ["# Scores", ""]
    if warned := warning(inputs):
        lines += [f"> **{markdown(warned)}**", ""]
    lines += [f"- {markdown(' '.join(answer))}" for answer in answers(inputs)] + [""]
    for paragraph in introduction(inputs):
        lines += [markdown(paragraph), ""]
    for section, tables in sections_of(inputs, "markdown"):
        for table in tables:
            lines += table_lines(table)
        for mark, note in notes_of(tables).items():
            lines += [markdown(f"{mark} {note}"), ""]
        if section.figure:
            lines += [f"![{titled(section.figure)}](figures/{section.figure}.svg)", ""]
    return "\n".join(lines)


def table_lines(table: Table) -> list[str]:
    """Return a table with its heading, as lines."""
    lines = [f"## {markdown(table.title)}", ""]
    for paragraph in table.about:
        lines += [markdown(paragraph), ""]
    if not table.rows:
        return lines
    sides = ["---"] * table.texts + ["---:"] * (len(table.header) - table.texts)
    cells = (table.header, *(row.cells for row in table.rows))
    header, *rows = ([_cell(cell) for cell in row] for row in cells)
    lines += ["| " + " | ".join(row) + " |" for row in (header, sides, *rows)]
    return [*lines, ""]


def _cell(cell: Cell) -> str:
    text = markdown(cell.text)
    parts = [f"**{text}**" if cell.strong else text]
    parts += [markdown(part) for part in (cell.detail, *cell.marks) if part]
    return " ".join(parts)
