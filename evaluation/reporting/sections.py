"""The sections of the report, in their order: the one list that all formats follow.

A new section is a function from the results to tables, and a line in ``SECTIONS``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.instances import browser
from evaluation.reporting.layout import Table, lay_out
from evaluation.reporting.tables.across import (
    downstream,
    downstream_datasets,
    languages,
    tasks_in_languages,
)
from evaluation.reporting.tables.audit import inherited, measurements, published, verdicts
from evaluation.reporting.tables.averages import averages
from evaluation.reporting.tables.compared import best_pairs, differences, editions, pairs
from evaluation.reporting.tables.encoders import encoders, heatmaps, layers, vocabulary
from evaluation.reporting.tables.neighbours import (
    clusters,
    evalrank,
    paradigm_differences,
    paralex,
    postprocessing,
    rank_differences,
)
from evaluation.reporting.tables.scores import (
    ablations,
    baselines,
    correlations,
    group_tables,
    scores,
)

Format = Literal["page", "markdown", "latex"]
# A long table with more numbers than this is in the page only.
SHORT = 60


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report.

    Attributes:
        name: unique.
        chapter: the part of the page that it is in, which the page links to.
        tables: makes its tables; an empty list if the results have nothing to show.
        formats: the formats that show it.
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
SECTIONS = (
    Section("averages", "Averages", averages),
    Section("scores", "Scores", scores, PAGE, filters="group"),
    Section("groups", "Scores", group_tables, TEXTS, figure="scores"),
    Section("correlations", "Scores", correlations),
    Section("ablations", "Scores", ablations),
    Section("figure", "Figure", lambda inputs: [lay_out("figure")], PAGE),
    Section("heatmaps", "Layers", heatmaps, PAGE),
    Section("layers", "Layers", layers, TEXTS, figure="layers"),
    Section("pairs", "Compared", pairs, PAGE, filters="pair"),
    Section("best_pairs", "Compared", best_pairs, TEXTS),
    Section("differences", "Compared", differences, SCREEN, filters="group pair", long=True),
    Section("editions", "Editions", editions),
    Section("languages", "Languages", languages),
    Section("tasks_in_languages", "Languages", tasks_in_languages, filters="group"),
    Section("baselines", "Baselines", baselines, filters="group", folded=True),
    Section("evalrank", "EvalRank", evalrank),
    Section("rank_differences", "EvalRank", rank_differences, SCREEN, "pair", long=True),
    Section("postprocessing", "EvalRank", postprocessing, filters="text", folded=True),
    Section("paralex", "ParaLex", paralex, filters="text"),
    Section("paradigm_differences", "ParaLex", paradigm_differences, SCREEN, "pair", long=True),
    Section("clusters", "ParaLex", clusters, PAGE, "text", long=True),
    Section("downstream", "Downstream", downstream),
    Section("downstream_datasets", "Downstream", downstream_datasets, PAGE, filters="group"),
    Section("instances", "Instances", browser, PAGE),
    Section("verdicts", "Audit", verdicts, PAGE, filters="group"),
    Section("inherited", "Audit", inherited, PAGE),
    Section("published", "Audit", published, PAGE),
    Section("measurements", "Audit", measurements, PAGE, "group tone", long=True),
    Section("encoders", "Encoders", encoders, SCREEN),
    Section("vocabulary", "Encoders", vocabulary, SCREEN, filters="group"),
)


def sections_of(inputs: Inputs, form: Format) -> Iterator[tuple[Section, list[Table]]]:
    """Yield the sections that a format shows, with their tables; a section has one or more."""
    for section in SECTIONS:
        tables = section.tables(inputs) if form in section.formats else []
        if section.long and form != "page":
            tables = [t for t in tables if len(t.rows) * (len(t.header) - t.texts) <= SHORT]
        if tables:
            yield section, tables
