"""The marks in the report's tables, and their explanations."""

from collections.abc import Iterable

from builders.auditing.report import SMALL_TEST
from evaluation.measures.intervals import LEAST_DOCUMENTS
from evaluation.reporting.layout import TABLES, Table
from evaluation.reporting.published import PAPERS

SMALL, NOT_SHOWN, FEW, OTHERS, LEAKS = "*", "†", "‡", "§", "¶"
TIED, SAMPLE, DIFFERENT = "≈", "(s)", "(d)"
_VALUES = {
    "small_test": SMALL_TEST,
    "least_documents": LEAST_DOCUMENTS,
    "papers": ". ".join(f"{paper.paper} {paper.about}" for paper in PAPERS),
}
NOTES = {mark: text.format(**_VALUES) for mark, text in TABLES["notes"].items()}
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
