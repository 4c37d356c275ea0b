"""The report as Markdown, as GitHub reads it."""

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import Cell, Table, titled
from evaluation.reporting.notes import notes_of
from evaluation.reporting.sections import sections_of
from evaluation.reporting.tables.averages import answers, warning
from evaluation.reporting.tables.scores import introduction

# Characters in names or notes that Markdown would read as markup.
_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\*|<`"})


def write_markdown(inputs: Inputs) -> str:
    """Return the report.

    Args:
        inputs: the results.
    """
    lines = ["# Scores", ""]
    if warned := warning(inputs):
        lines += [f"> **{_escaped(warned)}**", ""]
    lines += [f"- {_escaped(' '.join(answer))}" for answer in answers(inputs)] + [""]
    for paragraph in introduction(inputs):
        lines += [_escaped(paragraph), ""]
    for section, tables in sections_of(inputs, "markdown"):
        for table in tables:
            lines += markdown(table)
        for mark, note in notes_of(tables).items():
            lines += [_escaped(f"{mark} {note}"), ""]
        if section.figure:
            lines += [f"![{titled(section.figure)}](figures/{section.figure}.svg)", ""]
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
