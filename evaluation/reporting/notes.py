"""The marks in the report's tables, and their explanations."""

from collections.abc import Iterable

from builders.auditing.report import SMALL_TEST
from evaluation.measures.intervals import LEAST_DOCUMENTS
from evaluation.reporting.layout import Table
from evaluation.reporting.published import PAPERS

SMALL, NOT_SHOWN, FEW, OTHERS, LEAKS = "*", "†", "‡", "§", "¶"
TIED, SAMPLE, DIFFERENT = "≈", "(s)", "(d)"
NOTES = {
    SMALL: f"The test has fewer than {SMALL_TEST:,} rows: differences of a few points may be "
    "chance.",
    TIED: "Not the best, but the paired test cannot distinguish it from the best one, in bold.",
    NOT_SHOWN: "Not shown to beat a trivial baseline: the interval is not above both "
    "Majority (for a correlation, 0) and Best trivial; of an average, not above their mean.",
    FEW: f"The test has fewer than {LEAST_DOCUMENTS} documents: the interval is one over rows, and "
    "says nothing about other documents.",
    OTHERS: "As reported, on other rows and with another probe: "
    + ". ".join(f"{paper.paper} {paper.about}" for paper in PAPERS)
    + ".",
    LEAKS: "In the source, some test texts also occur in train or validation; the audit says how "
    "many.",
    SAMPLE: "Do not report: measured on the small sample that is part of Probeta to try it out, "
    "not on the corpus.",
    DIFFERENT: "Made from other sources or with other options than in the other languages, so that "
    "scores cannot be compared: in no mean over languages.",
}
"""Mark to its explanation."""


def notes_of(tables: Iterable[Table]) -> dict[str, str]:
    """Return mark to explanation, for the marks that tables use."""
    used = {
        mark
        for table in tables
        for cells in (table.header, *(row.cells for row in table.rows))
        for cell in cells
        for mark in cell.marks
    }
    return {mark: note for mark, note in NOTES.items() if mark in used}
