"""The formats: Markdown as GitHub reads it, LaTeX for ``\\input`` into a paper, and the page.

All three follow the one list of sections. The page needs no network and no other file.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from corpora_recipes.escaping import markdown, one_line, render_html
from evaluation.reporting.figures import FARTHEST, draw_groups, inline
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import TIED, Cell, Row, Table, percent
from evaluation.reporting.sections import sections_of
from evaluation.reporting.tables.audit import TONES
from evaluation.reporting.tables.averages import answers, warning
from evaluation.reporting.tables.compared import FEW_ENCODERS
from evaluation.reporting.tables.encoders import about_layers, profiles
from evaluation.reporting.tables.marks import notes_of
from evaluation.reporting.tables.scores import introduction
from evaluation.reporting.texts import all_texts, language, phrase, translated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOLDER = Path(__file__).parent
# Colours of the heatmap on either side of the middle one.
_SHADES = 5
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


def write_markdown(inputs: Inputs) -> str:
    """Return the report as Markdown."""
    lines = [f"# {phrase('scores')}", ""]
    if text := warning(inputs):
        lines += [f"> **{markdown(text)}**", ""]
    lines += [f"- {markdown(' '.join(answer))}" for answer in answers(inputs)] + [""]
    for paragraph in introduction(inputs):
        lines += [markdown(paragraph), ""]
    for section, tables in sections_of(inputs, "markdown"):
        for table in tables:
            lines += table_lines(table)
        for mark, note in notes_of(tables).items():
            lines += [markdown(f"{mark} {note}"), ""]
        if section.figure:
            lines += [
                f"![{all_texts()['figures'][section.figure]}](figures/{section.figure}.svg)",
                "",
            ]
    return "\n".join(lines)


def table_lines(table: Table) -> list[str]:
    """Return a table with its heading as Markdown, as lines."""
    lines = [f"## {markdown(table.title)}", ""]
    for paragraph in table.about:
        lines += [markdown(paragraph), ""]
    if not table.rows:
        return lines
    sides = ["---"] * table.texts + ["---:"] * (len(table.header) - table.texts)
    cells = (table.header, *(row.cells for row in table.rows))
    header, *rows = ([_markdown_cell(cell) for cell in row] for row in cells)
    lines += ["| " + " | ".join(row) + " |" for row in (header, sides, *rows)]
    return [*lines, ""]


def _markdown_cell(cell: Cell) -> str:
    text = markdown(cell.text)
    parts = (markdown(part) for part in (cell.detail, *cell.marks) if part)
    return " ".join([f"**{text}**" if cell.strong else text, *parts])


def write_latex(inputs: Inputs) -> str:
    """Return the tables as LaTeX, one after the other, each a float with its notes."""
    about = [*map(" ".join, answers(inputs)), *introduction(inputs)]
    parts = ["".join(f"% {one_line(text)}\n" for text in (*phrase("latex").splitlines(), *about))]
    if text := warning(inputs):
        bold = rf"\textbf{{{latex(text)}}}"
        parts.append(rf"\par\noindent\fbox{{\parbox{{0.95\linewidth}}{{{bold}}}}}\par")
    shown = (table for _, tables in sections_of(inputs, "latex") for table in tables)
    return "\n".join([*parts, *(latex_table(table) for table in shown if table.rows)])


def latex_table(table: Table) -> str:
    """Return a table as a float."""
    sides = "l" * table.texts + "r" * (len(table.header) - table.texts)
    body = [_latex_line(table.header), r"\midrule"]
    for kind, rows in groupby(table.rows, lambda row: row.kind):
        # Encoders below other facts stand apart.
        if kind == "encoder" and body[-1] != r"\midrule":
            body.append(r"\midrule")
        for row in rows:
            body += _latex_lines(row)
    caption = " ".join((f"{table.title}.", *table.caption, *table.about))
    notes = (f"{latex(mark)} {latex(note)}" for mark, note in notes_of([table]).items())
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering\small\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{latex(caption)}}}",
            rf"\label{{tab:{table.name}}}",
            _FIT,
            rf"\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            *(rf"\par\smallskip\parbox{{\textwidth}}{{\footnotesize {note}}}" for note in notes),
            r"\end{table*}",
            "",
        ]
    )


def latex(text: str) -> str:
    """Return text as LaTeX writes it, on one line: an empty line would end an argument."""
    return one_line(text).translate(_WRITTEN)


def _latex_lines(row: Row) -> list[str]:
    """Return a row, and below it a smaller one of its details if it has some."""
    lines = [_latex_line(row.cells)]
    if any(cell.detail for cell in row.cells):
        details = (latex(cell.detail) for cell in row.cells)
        small = " & ".join(rf"{{\scriptsize {detail}}}" if detail else "" for detail in details)
        lines.append(rf"{small} \\")
    return lines


def _latex_line(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text, marks = latex(cell.text), " ".join(map(latex, cell.marks))
    text = rf"\textbf{{{text}}}" if cell.strong else text
    # LaTeX reads a bracket at the beginning of a line as an option of the line before.
    text = f"{{}}{text}" if text.startswith("[") else text
    return rf"{text}\textsuperscript{{{marks}}}" if marks else text


def write_html(
    inputs: Inputs,
    instances: Sequence[dict[str, Any]],
    figure: "Figure",
    ranks: "Figure | None" = None,
) -> str:
    """Return the page, with the browser's instances and the figures of scores and of ranks."""
    script = (_FOLDER / "page.js").read_text("utf-8")
    sections = groupby(sections_of(inputs, "page"), lambda shown: shown[0].chapter)
    described = phrase("page", names=", ".join(inputs.names), datasets=len(inputs.datasets))
    by_layer = profiles(inputs)
    curves = inline(draw_groups(by_layer), phrase("curves")) if by_layer else ""
    return render_html(
        _FOLDER / "page.html",
        inputs=inputs,
        chapters=[(all_texts()["chapters"][key], list(shown)) for key, shown in sections],
        groups={inputs.groups[dataset] for dataset in inputs.datasets},
        titles={group.abbreviation: translated(group.title) for group in inputs.groups.values()},
        warning=warning(inputs),
        answers=answers(inputs),
        tied=TIED,
        many=FEW_ENCODERS,
        tones={translated(verdict): tone for verdict, tone in TONES.items()},
        notes_of=notes_of,
        profiles=by_layer,
        curves=Markup(curves),
        about_layers=about_layers,
        groupby=groupby,
        percent=percent,
        shade=_shade,
        farthest=FARTHEST,
        figure=Markup(inline(figure, described)),
        ranks=Markup(inline(ranks, phrase("ranks"))) if ranks else "",
        instances=Markup(_json(instances)),
        language=language(),
        phrase=_phrase,
        translated=translated,
        texts=Markup(_json(all_texts()["script"])),
        style=Markup((_FOLDER / "page.css").read_text("utf-8")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def write_json(inputs: Inputs) -> str:
    """Return the page's tables as JSON: name to title, columns and rows of cells.

    A cell is a text, or has besides it a value (of a score, as a fraction), a detail, such as an
    interval, or marks.
    """
    tables = {}
    for table in (table for _, tables in sections_of(inputs, "page") for table in tables):
        columns = [cell.text for cell in table.header]
        rows = [list(map(_facts, row.cells)) for row in table.rows]
        tables[table.name] = {"title": table.title, "columns": columns, "rows": rows}
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":")) + "\n"


def _facts(cell: Cell) -> str | dict[str, Any]:
    # Counts of pandas are no numbers of JSON.
    value = None if cell.value is None else np.asarray(cell.value).item()
    facts = {"value": value, "detail": cell.detail or None, "marks": cell.marks or None}
    known = {key: fact for key, fact in facts.items() if fact is not None}
    return {"text": cell.text, **known} if known else cell.text


def _phrase(key: str, /, **words: object) -> Markup:
    """Return a phrase as HTML: words are escaped, unless they are HTML."""
    return Markup.escape(all_texts()["phrases"][key]).format(**words)


def _json(content: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shade(place: float) -> str:
    """Return the class of a heatmap's colour, at a place on its scale of -1 … 1."""
    number = round(max(-1.0, min(1.0, place)) * _SHADES)
    return f"low-{-number}" if number < 0 else f"high-{number}"
