"""The sections of the report, in their order: the one list that all formats follow.

A new section is a function from the results to tables, and a line in ``SECTIONS``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from probeta.report import instances
from probeta.report.inputs import Inputs
from probeta.report.layout import Table
from probeta.report.tables import (
    across,
    audit,
    averages,
    compared,
    encoders,
    items,
    neighbours,
    papers,
    scores,
    study,
    transfer,
)
from probeta.report.texts import phrase

Format = Literal["page", "markdown", "latex"]
# A long table with more numbers than this is in the page only; with still more, a note is.
SHORT, LONG = 60, 10_000


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
    tables: Callable[[Inputs], list[Table]]
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
    Section("averages", "averages", averages.averages, figure="scores"),
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
    Section("languages", "languages", across.languages),
    Section("tasks_in_languages", "languages", across.tasks_in_languages, filters="group"),
    Section("transfer", "languages", transfer.transfer),
    Section("transfer_layers", "languages", transfer.transfer_layers),
    Section("evalrank", "rankings", neighbours.evalrank),
    Section("rank_differences", "rankings", neighbours.rank_differences, SCREEN, "pair", long=True),
    Section("postprocessing", "rankings", neighbours.postprocessing, filters="text", folded=True),
    Section("paralex", "rankings", neighbours.paralex, filters="text"),
    Section("word_differences", "rankings", neighbours.word_differences, SCREEN, "pair", long=True),
    Section("clusters", "rankings", neighbours.clusters, PAGE, "text", long=True),
    Section("study", "study", study.study, filters="text", folded=True),
    Section("scatter", "study", study.scatter, SCREEN, figure="ranks"),
    Section("study_datasets", "study", study.study_datasets, PAGE, "text", long=True),
    Section("intrinsic", "study", study.measures, PAGE, "text", long=True),
    Section("sources", "study", study.sources, PAGE, "text", long=True),
    Section("levels", "study", study.levels, PAGE, "text", long=True),
    Section("instances", "instances", instances.browser, PAGE),
    Section("items", "items", items.items, SCREEN, filters="group"),
    Section("examples", "items", items.examples, PAGE, filters="group", long=True),
    Section("verdicts", "audit", audit.verdicts, PAGE, filters="group"),
    Section("inherited", "audit", audit.inherited, PAGE),
    Section("published", "audit", audit.published, PAGE),
    Section("measurements", "audit", audit.measurements, PAGE, "group tone", long=True),
    Section("encoders", "encoders", encoders.encoders, SCREEN),
    Section("verified", "encoders", encoders.verified, SCREEN),
    Section("vocabulary", "encoders", encoders.vocabulary, SCREEN, filters="group"),
    Section("papers", "encoders", papers.papers, PAGE, filters="group", folded=True),
    Section("differs", "encoders", papers.differs, SCREEN, filters="text", folded=True),
)


def sections_of(inputs: Inputs, form: Format) -> Iterator[tuple[Section, list[Table]]]:
    """Yield the sections that a format shows, with their tables; a section has one or more."""
    for section in SECTIONS:
        tables = section.tables(inputs) if form in section.formats else []
        if form == "page" and (section.long or section.folded):
            tables = [_shown(table) for table in tables]
        elif section.long:
            tables = [table for table in tables if _numbers(table) <= SHORT]
        if tables:
            yield section, tables


def _shown(table: Table) -> Table:
    """Return a table; if it has too many numbers, a note in its place."""
    if (count := _numbers(table)) <= LONG:
        return table
    return replace(table, rows=(), about=(phrase("too_long", count=count, most=LONG),))


def _numbers(table: Table) -> int:
    return len(table.rows) * (len(table.header) - table.texts)
