r"""The formats of the report: tables.json, tables.tex and the page.

LaTeX is for ``\input`` into a paper; the page needs no network and no other file; report.md is in
``markdown.py``. A new table is a function that yields rows, and a line in ``TABLES``; one that
papers want has another in ``SECTIONS``.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from builders.audit_report import DETECTABLE_AT_MOST
from corpora_recipes.escaping import markdown, one_line, render_html
from evaluation.measures import MIN_DOCUMENTS
from probeta.report.layout import Cell, Layout, Number, Table, lay_out
from probeta.report.sentences import plain_text
from probeta.report.statistics import Report
from probeta.report.tables import (
    PAPERS,
    added,
    compared,
    encoders,
    neighbours,
    scores,
    study,
    words,
)
from probeta.report.texts import all_texts, phrase, translated

TABLES: Mapping[str, Callable[[Report], Iterable[Number]]] = {
    "encoders": encoders.encoders,
    "datasets": scores.datasets,
    "scores": scores.scores,
    "means": scores.means,
    "measures": scores.measures,
    "baselines": scores.baselines,
    "added": added.added,
    "above_random": added.above_random,
    "differences": compared.differences,
    "editions": compared.editions,
    "layers": encoders.layers,
    "best_layers": encoders.best_layers,
    "transfer": encoders.transfer,
    "languages": compared.languages,
    "tasks_in_languages": compared.tasks_in_languages,
    "evalrank": neighbours.ranks,
    "postprocessing": neighbours.postprocessing,
    "paralex": neighbours.words,
    "not_scored": neighbours.not_scored,
    "table_1": words.table_1,
    "table_1_correlations": words.correlations,
    "analogies": words.analogies,
    "study": study.study,
    "study_datasets": study.study_datasets,
    "intrinsic": study.measures,
    "sources": study.sources,
    "levels": study.levels,
    "vocabulary": encoders.vocabulary,
    "papers": scores.papers,
}
"""Name in tables.json to what yields its rows."""
CORRELATIONS = Layout("study", "score", "tasks", "statistic apart")
SECTIONS = (
    (scores.averages, Layout("averages", "encoder", "heading", "benchmark grouping")),
    (scores.citations, Layout("citations", "benchmark encoder", "heading")),
    (scores.groups, Layout("group", "encoder", "dataset", "benchmark group")),
    (scores.measures, Layout("measures", "dataset measure", "encoder")),
    (scores.baselines, Layout("baselines", "dataset", "baseline")),
    (added.applicable, Layout("added", "dataset encoder", "measure", "benchmark")),
    (added.above_random, Layout("above-random", "encoder layer", "heading")),
    (compared.pairs, Layout("pairs", "encoders", "heading", "benchmark")),
    (compared.editions, Layout("editions", "encoder", "heading", "new old")),
    (encoders.layers, Layout("layers", "layer", "dataset", "encoder benchmark")),
    (encoders.best_layers, Layout("best-layers", "encoder layers", "benchmark")),
    (compared.languages, Layout("languages", "encoder", "language")),
    (compared.tasks_in_languages, Layout("tasks-in-languages", "task measure encoder", "language")),
    (encoders.main_transfer, Layout("transfer", "trained_on", "dataset", "family task encoder")),
    (neighbours.ranks, Layout("evalrank", "encoder", "measure similarity", "dataset")),
    (neighbours.postprocessing, Layout("postprocessing", "encoder similarity vectors", "heading")),
    (neighbours.words, Layout("paralex", "dataset vocabulary casing encoder", "measure")),
    (words.table_1, Layout("table-1", "encoder", "test")),
    (words.correlations, Layout("table-1-correlations", "score", "tasks", "over")),
    (study.study, CORRELATIONS),
)
"""The tables of tables.tex: what yields their numbers, and how these stand."""
STATED = ("added", "above-random", "transfer", "postprocessing", "table-1-correlations", "study")
"""Those whose numbers, or some of them, do not follow from stored answers."""
STUDY = (
    (study.study, CORRELATIONS),
    (study.study_datasets, CORRELATIONS),
    (study.measures, Layout("intrinsic", "score", "encoder")),
    (study.sources, Layout("sources", "encoder", "source", "dataset")),
    (study.levels, Layout("levels", "dataset encoder", "level")),
)
"""The tables that ``probeta study`` prints."""


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
    }
)


def table_lines(table: Table) -> list[str]:
    """Return a table with its heading as Markdown, as lines."""
    lines = [f"## {markdown(table.title)}", ""]
    for paragraph in table.about:
        lines += [markdown(paragraph), ""]
    sides = ["---"] * table.texts + ["---:"] * (len(table.header) - table.texts)
    lines_of_cells = [table.header, *(cells for _, cells in table.rows)]
    header, *rows = (list(map(_markdown_cell, cells)) for cells in lines_of_cells)
    lines += ["| " + " | ".join(row) + " |" for row in (header, sides, *rows)]
    return [*lines, ""]


def _markdown_cell(cell: Cell) -> str:
    text = markdown(cell.text)
    parts = (markdown(part) for part in (cell.detail, cell.marks) if part)
    return " ".join([f"**{text}**" if cell.strong else text, *parts])


def notes_of(table: Table) -> dict[str, str]:
    """Return mark to explanation, for the marks that a table uses."""
    cells = [*table.header, *(cell for _, cells in table.rows for cell in cells)]
    used = {mark for cell in cells for mark in cell.marks.split()}
    named = [paper for paper in PAPERS if any(cell.text.endswith(paper.paper) for cell in cells)]
    papers = ". ".join(f"{paper.paper} {translated(paper.about)}" for paper in named)
    values = {"detectable": 100 * DETECTABLE_AT_MOST, "least_documents": MIN_DOCUMENTS}
    notes = all_texts()["notes"].items()
    return {mark: note.format(papers=papers, **values) for mark, note in notes if mark in used}


def write_latex(report: Report, data: Mapping[str, Any]) -> str:
    """Return the tables as LaTeX, one after the other, each a float with its notes.

    ``data``: that of the page, which says above them what was measured, and what is missing.
    """
    about = data["about"]
    results = (f"{each['name']}: {plain_text(each['result'])}" for each in data["benchmarks"])
    reasons = (f"{name}: {why}" for key in ("missing", "left_out") for name, why in about[key])
    head = (*phrase("latex").splitlines(), f"{data['title']}.", *results, about["method"], *reasons)
    marks = partial(scores.dataset_marks, report)
    parts = [lay_out(layout, numbers(report), marks) for numbers, layout in SECTIONS]
    for (_, layout), part in zip(SECTIONS, parts, strict=True):
        if part and layout.key in STATED and report.inputs.refused is not None:
            part[0] = replace(part[0], about=(*part[0].about, phrase("only_stated")))
    facts = {"head": map(one_line, head), "bands": data["bands"], "notes_of": notes_of}
    template = _LATEX_TEMPLATES.get_template("tables.tex.jinja")
    return template.render(facts, tables=chain.from_iterable(parts))


def latex(text: str) -> str:
    """Return text as LaTeX writes it, on one line: an empty line would end an argument."""
    return one_line(text).translate(_LATEX)


_LATEX_TEMPLATES = Environment(
    loader=FileSystemLoader(_FOLDER),
    undefined=StrictUndefined,
    finalize=lambda value: value if isinstance(value, Markup) else latex(str(value)),
    block_start_string="<%",
    block_end_string="%>",
    variable_start_string="<<",
    variable_end_string=">>",
    comment_start_string="<#",
    comment_end_string="#>",
    trim_blocks=True,
    lstrip_blocks=True,
)


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
    """Return all tables as JSON: name to columns and rows of values.

    ``pandas.DataFrame(**table)`` reads one; see ``probeta.report.tables`` for what the columns are.
    """
    tables = {}
    for name, make in TABLES.items():
        if rows := list(make(report)):
            columns = list(dict.fromkeys(chain.from_iterable(rows)))
            data = [[row.get(column) for column in columns] for row in rows]
            tables[name] = {"columns": columns, "data": data}
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":")) + "\n"


def _json(content: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
