r"""The sections of the report, and its formats, which all follow that one list.

Markdown is as GitHub reads it, LaTeX for ``\input`` into a paper; the page needs no network and no
other file. A new section is a function from ``Report`` to tables, and a line in ``SECTIONS``.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from corpora_recipes.escaping import markdown, one_line, render_html
from evaluation.results.comparison import ALL_PAIRS_LIMIT
from probeta.report import instances
from probeta.report.figures import MAX_DEVIATION, draw_averages, draw_groups, inline, pictures
from probeta.report.layout import TIED, Cell, Row, Table, percent
from probeta.report.statistics import Report
from probeta.report.tables import compared, encoders, neighbours, notes_of, scores
from probeta.report.tables.compared import FEW_ENCODERS
from probeta.report.tables.encoders import TONES, about_layers, profiles
from probeta.report.tables.scores import best_encoders, facts, introduction, warnings
from probeta.report.texts import all_texts, language, phrase, translated

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Format = Literal["page", "markdown", "latex"]
# A long table with more numbers than this is in the page only; with still more, a note is.
MAX_NUMBERS_IN_TEXT, MAX_NUMBERS_IN_PAGE = 60, 10_000


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report.

    Attributes:
        chapter: the part of the page that it is in, of ``CHAPTERS``.
        tables: makes its tables; an empty list if the results have nothing to show.
        filters: how the page's tables can be filtered besides by text: "group" of tasks, "tone" of
            a verdict, "pair" of encoders; "text" by text only, "" without filters.
        long: whether the page folds its tables, and Markdown shows only short ones.
        folded: whether the page folds its tables, and the other formats show them all.
        figure: name of the figure that Markdown shows below its tables.
    """

    name: str
    chapter: str
    tables: Callable[[Report], list[Table]]
    formats: tuple[Format, ...] = ("page", "markdown", "latex")
    filters: str = ""
    long: bool = False
    folded: bool = False
    figure: str = ""


PAGE: tuple[Format, ...] = ("page",)
TEXTS: tuple[Format, ...] = ("markdown", "latex")
SCREEN: tuple[Format, ...] = ("page", "markdown")
CHAPTERS = {
    "averages": "scoring.md",
    "scores": "scoring.md",
    "compared": "scoring.md",
    "layers": "encoders.md",
    "languages": "languages.md",
    "rankings": "rankings.md",
    "study": "rankings.md",
    "instances": "datasets.md",
    "items": "validity.md",
    "audit": "audit.md",
    "encoders": "papers.md",
}
"""The parts of the page, in their order, with the page of the documentation that says more."""
SECTIONS = (
    Section("averages", "averages", scores.averages, figure="scores"),
    Section("scores", "scores", scores.scores, PAGE, filters="group"),
    Section("groups", "scores", scores.group_tables, TEXTS),
    Section("correlations", "scores", scores.correlations),
    Section("ablations", "scores", scores.ablations),
    Section("baselines", "scores", scores.baselines, filters="group", folded=True),
    Section("pairs", "compared", compared.pairs, PAGE, filters="pair"),
    Section("best_pairs", "compared", compared.best_pairs, TEXTS),
    Section("differences", "compared", compared.differences, SCREEN, "group pair", long=True),
    Section("editions", "compared", compared.editions),
    Section("heatmaps", "layers", encoders.heatmaps, PAGE),
    Section("layers", "layers", encoders.layers, TEXTS, figure="layers"),
    Section("best_layers", "layers", encoders.best_layers, figure="layers_by_group"),
    Section("languages", "languages", compared.languages),
    Section("tasks_in_languages", "languages", compared.tasks_in_languages, filters="group"),
    Section("transfer", "languages", scores.transfer),
    Section("transfer_layers", "languages", scores.transfer_layers),
    Section("evalrank", "rankings", neighbours.evalrank),
    Section("rank_differences", "rankings", neighbours.rank_differences, SCREEN, "pair", long=True),
    Section("postprocessing", "rankings", neighbours.postprocessing, filters="text", folded=True),
    Section("paralex", "rankings", neighbours.paralex, filters="text"),
    Section("word_differences", "rankings", neighbours.word_differences, SCREEN, "pair", long=True),
    Section("clusters", "rankings", neighbours.clusters, PAGE, "text", long=True),
    Section("study", "study", compared.study, filters="text", folded=True),
    Section("scatter", "study", compared.scatter, SCREEN, figure="ranks"),
    Section("study_datasets", "study", compared.study_datasets, PAGE, "text", long=True),
    Section("intrinsic", "study", compared.measures, PAGE, "text", long=True),
    Section("sources", "study", compared.sources, PAGE, "text", long=True),
    Section("levels", "study", compared.levels, PAGE, "text", long=True),
    Section("instances", "instances", instances.browser, PAGE),
    Section("items", "items", encoders.items, SCREEN, filters="group"),
    Section("examples", "items", encoders.examples, PAGE, filters="group", long=True),
    Section("verdicts", "audit", encoders.verdicts, PAGE, filters="group"),
    Section("inherited", "audit", encoders.inherited, PAGE),
    Section("published", "audit", encoders.published, PAGE),
    Section("measurements", "audit", encoders.measurements, PAGE, "group tone", long=True),
    Section("encoders", "encoders", encoders.encoders, SCREEN),
    Section("verified", "encoders", encoders.verified, SCREEN),
    Section("vocabulary", "encoders", encoders.vocabulary, SCREEN, filters="group"),
    Section("papers", "encoders", scores.papers, PAGE, filters="group", folded=True),
    Section("differs", "encoders", scores.differs, SCREEN, filters="text", folded=True),
)


def sections_of(report: Report, form: Format) -> Iterator[tuple[Section, list[Table]]]:
    """Yield the sections that a format shows, with their tables; a section has one or more."""
    for section in SECTIONS:
        tables = section.tables(report) if form in section.formats else []
        if form == "page" and (section.long or section.folded):
            tables = [_fit_page(table) for table in tables]
        elif section.long:
            tables = [table for table in tables if _count_numbers(table) <= MAX_NUMBERS_IN_TEXT]
        if tables:
            yield section, tables


def _fit_page(table: Table) -> Table:
    """Return a table; if it has too many numbers, a note in its place."""
    if (count := _count_numbers(table)) <= MAX_NUMBERS_IN_PAGE:
        return table
    return replace(
        table, rows=(), about=(phrase("too_long", count=count, most=MAX_NUMBERS_IN_PAGE),)
    )


def _count_numbers(table: Table) -> int:
    return len(table.rows) * (len(table.header) - table.texts)


_FOLDER = Path(__file__).parent
_STYLES = ("page.css", "picture.css")
# Colours of the heatmap on either side of the middle one.
_N_SHADES = 5
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


def write_markdown(report: Report) -> str:
    """Return the report as Markdown."""
    warned = (f"**{markdown(line)}** {markdown(more)}" for line, more in warnings(report).items())
    measured, *best = _summary(report)
    lines = [f"# {phrase('scores')}", "", markdown(measured), ""]
    lines += [f"> {text}\n" for text in warned] + [f"- {markdown(text)}" for text in best] + [""]
    for paragraph in introduction(report):
        lines += [markdown(paragraph), ""]
    for section, tables in sections_of(report, "markdown"):
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


def _summary(report: Report) -> list[str]:
    """Return a line of what was measured, and a line for each benchmark with an answer."""
    measured = "; ".join(f"{name}: {value}" for name, value in facts(report).items())
    best = (f"{translated(name)}: {text}" for name, text in best_encoders(report).items())
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


def write_html(
    report: Report,
    instances: Sequence[dict[str, Any]],
    ranks: "Figure | None" = None,
    docs: Mapping[str, str] | None = None,
) -> str:
    """Return the page, with the browser's instances and the figure of ranks.

    ``docs``: chapter to the address of a page of the documentation, where there is one.
    """
    script = (_FOLDER / "page.js").read_text("utf-8")
    shown = list(sections_of(report, "page"))
    by_chapter = groupby(shown, lambda item: item[0].chapter)
    chapters = {chapter: list(sections) for chapter, sections in by_chapter}
    first = (table for _, tables in chapters.pop("averages", []) for table in tables)
    drawn = {name: draw_averages([picture]) for name, picture in pictures(report).items()}
    groups, averages = report.inputs.groups, report.benchmark_averages
    by_layer = profiles(report)
    curves = inline(draw_groups(by_layer), phrase("curves")) if by_layer else ""
    return render_html(
        _FOLDER / "page.html",
        report=report,
        chapters=chapters,
        about_chapters=all_texts()["chapters"],
        docs=docs or {},
        titles={group.abbreviation: translated(group.title) for group in groups.values()},
        facts=facts(report),
        warnings=warnings(report),
        best_encoders=best_encoders(report),
        pictures=drawn,
        averages=dict(zip(drawn, first, strict=True)),
        best={name: next(iter(report.means(a.datasets)), "") for name, a in averages.items()},
        tied=TIED,
        few_encoders=FEW_ENCODERS,
        pairs_limit=ALL_PAIRS_LIMIT,
        tones={translated(verdict): tone for verdict, tone in TONES.items()},
        notes=notes_of(table for _, tables in shown for table in tables),
        profiles=by_layer,
        curves=Markup(curves),
        about_layers=about_layers,
        groupby=groupby,
        percent=percent,
        shade=_shade,
        max_deviation=MAX_DEVIATION,
        ranks=Markup(inline(ranks, phrase("ranks"))) if ranks else "",
        instances=Markup(_json(instances)),
        language=language(),
        phrase=_phrase,
        translated=translated,
        texts=Markup(_json(all_texts()["script"])),
        style=Markup("".join((_FOLDER / name).read_text("utf-8") for name in _STYLES)),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def write_json(report: Report) -> str:
    """Return the page's tables as JSON: name to title, columns and rows of cells.

    A cell is a text, or has besides it a value (of a score, as a fraction), a detail, such as an
    interval, or marks.
    """
    tables = {}
    for table in (table for _, tables in sections_of(report, "page") for table in tables):
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


def _phrase(key: str, /, **words: object) -> Markup:
    """Return a phrase as HTML: words are escaped, unless they are HTML."""
    return Markup.escape(all_texts()["phrases"][key]).format(**words)


def _json(content: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shade(place: float) -> str:
    """Return the class of a heatmap's colour, at a place on its scale of -1 … 1."""
    number = round(max(-1.0, min(1.0, place)) * _N_SHADES)
    return f"low-{-number}" if number < 0 else f"high-{number}"
