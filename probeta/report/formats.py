r"""The formats of the report: JSON, Markdown, LaTeX, which follow one list of sections; the page.

LaTeX is for ``\input`` into a paper; the page needs no network and no other file; report.md is in
``markdown.py``. A new section is a function from ``Report`` to tables, and a line in ``SECTIONS``.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from corpora_recipes.escaping import markdown, one_line, render_html
from probeta.report.layout import Cell, Row, Table
from probeta.report.names import benchmark_name
from probeta.report.sentences import describe_result
from probeta.report.statistics import Report
from probeta.report.tables import compared, encoders, neighbours, notes_of, scores
from probeta.report.tables.scores import facts, introduction, warnings
from probeta.report.texts import phrase

Format = Literal["json", "latex"]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report; ``tables`` returns none if the results have nothing to show."""

    name: str
    tables: Callable[[Report], list[Table]]
    formats: tuple[Format, ...] = ("json", "latex")


JSON: tuple[Format, ...] = ("json",)
LATEX: tuple[Format, ...] = ("latex",)
SECTIONS = (
    Section("averages", scores.averages),
    Section("scores", scores.scores, JSON),
    Section("groups", scores.group_tables, LATEX),
    Section("correlations", scores.correlations),
    Section("ablations", scores.ablations),
    Section("baselines", scores.baselines),
    Section("pairs", compared.pairs, JSON),
    Section("best_pairs", compared.best_pairs, LATEX),
    Section("differences", compared.differences, JSON),
    Section("editions", compared.editions),
    Section("layers", encoders.layers),
    Section("best_layers", encoders.best_layers),
    Section("languages", compared.languages),
    Section("tasks_in_languages", compared.tasks_in_languages),
    Section("transfer", scores.transfer),
    Section("transfer_layers", scores.transfer_layers),
    Section("evalrank", neighbours.evalrank),
    Section("rank_differences", neighbours.rank_differences, JSON),
    Section("postprocessing", neighbours.postprocessing),
    Section("paralex", neighbours.paralex),
    Section("word_differences", neighbours.word_differences, JSON),
    Section("clusters", neighbours.clusters, JSON),
    Section("study", compared.study),
    Section("study_datasets", compared.study_datasets, JSON),
    Section("intrinsic", compared.measures, JSON),
    Section("sources", compared.sources, JSON),
    Section("levels", compared.levels, JSON),
    Section("items", encoders.items, JSON),
    Section("examples", encoders.examples, JSON),
    Section("verdicts", encoders.verdicts, JSON),
    Section("inherited", encoders.inherited, JSON),
    Section("published", encoders.published, JSON),
    Section("measurements", encoders.measurements, JSON),
    Section("encoders", encoders.encoders, JSON),
    Section("verified", encoders.verified, JSON),
    Section("vocabulary", encoders.vocabulary, JSON),
    Section("papers", scores.papers, JSON),
    Section("differs", scores.differs, JSON),
)


def sections_of(report: Report, form: Format) -> Iterator[tuple[Section, list[Table]]]:
    """Yield the sections that a format shows, with their tables; a section has one or more."""
    for section in SECTIONS:
        tables = section.tables(report) if form in section.formats else []
        if tables:
            yield section, tables


_FOLDER = Path(__file__).parent
# Characters that are markup in LaTeX, and those that its fonts may lack.
_LATEX = str.maketrans(
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


def _summary(report: Report) -> list[str]:
    """Return a line of what was measured, and a line for each benchmark with an answer."""
    measured = "; ".join(f"{name}: {value}" for name, value in facts(report).items())
    best = (
        f"{benchmark_name(name, report.inputs)}: {describe_result(report, average)}"
        for name, average in report.benchmark_averages.items()
    )
    return [f"{measured}.", *best]


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


def write_latex(report: Report) -> str:
    """Return the tables as LaTeX, one after the other, each a float with its notes."""
    about = (*phrase("latex").splitlines(), *_summary(report), *introduction(report))
    parts = ["".join(f"% {one_line(text)}\n" for text in about)]
    if lines := warnings(report):
        bold = " ".join(rf"\textbf{{{latex(line)}}} {latex(more)}" for line, more in lines.items())
        parts.append(rf"\par\noindent\fbox{{\parbox{{0.95\linewidth}}{{{bold}}}}}\par")
    tables = (table for _, tables in sections_of(report, "latex") for table in tables)
    return "\n".join([*parts, *(latex_table(table) for table in tables if table.rows)])


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
    return one_line(text).translate(_LATEX)


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


def write_html(data: Mapping[str, Any]) -> str:
    """Return the page, which draws its data by itself; see ``page.page_data``."""
    script = (_FOLDER / "page.js").read_text("utf-8")
    return render_html(
        _FOLDER / "page.html",
        data=data,
        json=Markup(_json(data)),
        style=Markup((_FOLDER / "page.css").read_text("utf-8")),
        script=Markup(script),
        # A browser reads line ends as one character, and the script from its tag on.
        script_hash=b64encode(sha256(f"\n{script}\n".encode()).digest()).decode(),
    )


def write_json(report: Report) -> str:
    """Return all tables as JSON: name to title, columns and rows of cells.

    A cell is a text, or has besides it a value (of a score, as a fraction), a detail, such as an
    interval, or marks.
    """
    tables = {}
    for table in (table for _, tables in sections_of(report, "json") for table in tables):
        columns = [cell.text for cell in table.header]
        rows = [list(map(_cell_json, row.cells)) for row in table.rows]
        tables[table.name] = {"title": table.title, "columns": columns, "rows": rows}
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":")) + "\n"


def _cell_json(cell: Cell) -> str | dict[str, Any]:
    # Some are of numpy, which JSON does not know.
    value = None if cell.value is None else float(cell.value)
    facts = {"value": value, "detail": cell.detail or None, "marks": cell.marks or None}
    facts = {key: fact for key, fact in facts.items() if fact is not None}
    return {"text": cell.text, **facts} if facts else cell.text


def _json(content: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
