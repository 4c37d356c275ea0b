"""The tables as LaTeX, to be read into a paper with `\\input`."""

from collections.abc import Sequence

from evaluation.report.inputs import Inputs
from evaluation.report.layers import Profile
from evaluation.report.layout import Cell, Row, Table
from evaluation.report.neighbours import neighbour_tables
from evaluation.report.tables import (
    averages,
    baselines,
    correlations,
    group_tables,
    introduction,
    layers,
    notes,
    pairs,
)

_HEAD = """\
% Tables of a report of Probeta; with \\usepackage{booktabs,graphicx} and, for pdflatex,
% \\usepackage[T1]{fontenc}.
"""
# What means something to LaTeX, and what text has that its fonts may lack.
_WRITTEN = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "–": "--",
        "…": r"\dots{}",
        "*": r"\textasteriskcentered{}",
        "†": r"\textdagger{}",
        "‡": r"\textdaggerdbl{}",
        "§": r"\S{}",
        "¶": r"\P{}",
    }
)
# A table that is wider than the text is made to fit.
_FIT = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"


def write_latex(inputs: Inputs, profiles: Sequence[Profile]) -> str:
    """Return one table after the other, each a float of its own with notes.

    Args:
        inputs: what they are made of.
        profiles: the encoders with several layers.
    """
    found = [
        averages(inputs),
        *group_tables(inputs),
        correlations(inputs),
        baselines(inputs),
        pairs(inputs),
        *map(layers, profiles),
        *neighbour_tables(inputs),
    ]
    about = "".join(f"% {paragraph}\n" for paragraph in introduction(inputs))
    return "\n".join([_HEAD + about, *(latex(table) for table in found if table and table.rows)])


def latex(table: Table) -> str:
    """Return a table as a float."""
    sides = "l" * table.texts + "r" * (len(table.header) - table.texts)
    body = [_line(table.header)]
    for before, row in zip((None, *table.rows), table.rows, strict=False):
        if before is None or (before.kind, row.kind) == ("fact", "encoder"):
            body.append(r"\midrule")
        body += _lines(row)
    caption = " ".join((f"{table.title}.", *table.caption, *table.about))
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering\small\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{written(caption)}}}",
            rf"\label{{tab:{table.name}}}",
            _FIT,
            rf"\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            *(
                rf"\par\smallskip\parbox{{\textwidth}}{{\footnotesize {written(mark)} "
                rf"{written(note)}}}"
                for mark, note in notes([table]).items()
            ),
            r"\end{table*}",
            "",
        ]
    )


def written(text: str) -> str:
    """Return text as LaTeX writes it."""
    return text.translate(_WRITTEN)


def _lines(row: Row) -> list[str]:
    """Return a row, and below it a smaller one of its details if it has some."""
    lines = [_line(row.cells)]
    if any(cell.detail for cell in row.cells):
        details = (written(cell.detail) for cell in row.cells)
        small = " & ".join(rf"{{\scriptsize {own}}}" if own else "" for own in details)
        lines.append(rf"{small} \\")
    return lines


def _line(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    text = written(cell.text)
    marks = " ".join(map(written, cell.marks))
    marks = rf"\textsuperscript{{{marks}}}" if marks else ""
    strong = rf"\textbf{{{text}}}" if cell.strong else text
    # A line that begins with a bracket would be taken for an option of the one before.
    return f"{strong}{marks}" if not strong.startswith("[") else f"{{}}{strong}{marks}"
