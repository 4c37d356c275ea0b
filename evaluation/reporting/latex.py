"""The tables as LaTeX, to be read into a paper with `\\input`."""

from collections.abc import Sequence

from corpora_recipes.escaping import one_line
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import Cell, Row, Table
from evaluation.reporting.notes import notes_of
from evaluation.reporting.sections import sections_of
from evaluation.reporting.tables.averages import answers, warning
from evaluation.reporting.tables.scores import introduction

_HEAD = """\
% Tables of a report of Probeta; with \\usepackage{booktabs,graphicx} and, for pdflatex,
% \\usepackage[T1]{fontenc}.
"""
# Characters that are markup in LaTeX, and those that its fonts may lack.
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
        "≈": r"$\approx$",
    }
)
# A table that is wider than the text is scaled to fit.
_FIT = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"


def write_latex(inputs: Inputs) -> str:
    """Return one table after the other, each a float with its notes.

    Args:
        inputs: the results.
    """
    about = "".join(
        f"% {one_line(text)}\n" for text in (*map(" ".join, answers(inputs)), *introduction(inputs))
    )
    shown = [table for _, tables in sections_of(inputs, "latex") for table in tables]
    warned = warning(inputs)
    banner = [
        rf"\par\noindent\fbox{{\parbox{{0.95\linewidth}}{{\textbf{{{written(warned)}}}}}}}\par"
    ]
    tables = (latex(table) for table in shown if table.rows)
    return "\n".join([_HEAD + about, *(banner if warned else []), *tables])


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
                for mark, note in notes_of([table]).items()
            ),
            r"\end{table*}",
            "",
        ]
    )


def written(text: str) -> str:
    """Return text as LaTeX writes it, on one line: an empty line would end an argument."""
    return one_line(text).translate(_WRITTEN)


def _lines(row: Row) -> list[str]:
    """Return a row, and below it a smaller one of its details if it has some."""
    lines = [_line(row.cells)]
    if any(cell.detail for cell in row.cells):
        details = (written(cell.detail) for cell in row.cells)
        small = " & ".join(rf"{{\scriptsize {detail}}}" if detail else "" for detail in details)
        lines.append(rf"{small} \\")
    return lines


def _line(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    text = written(cell.text)
    marks = " ".join(map(written, cell.marks))
    marks = rf"\textsuperscript{{{marks}}}" if marks else ""
    strong = rf"\textbf{{{text}}}" if cell.strong else text
    # LaTeX reads a bracket at the beginning of a line as an option of the line before.
    return f"{strong}{marks}" if not strong.startswith("[") else f"{{}}{strong}{marks}"
