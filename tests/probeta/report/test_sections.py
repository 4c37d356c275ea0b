"""The one list of sections: what it names is shown in the formats that it names."""

from pathlib import Path
from typing import get_args

import pytest
from report_files import whole_report

from probeta.report import formats
from probeta.report.formats import (
    CHAPTERS,
    SECTIONS,
    Format,
    Section,
    sections_of,
    write_html,
    write_latex,
    write_markdown,
)
from probeta.report.inputs import read_inputs
from probeta.report.layout import Cell, Column, Table, rows_of
from probeta.report.statistics import Report, order_report
from probeta.report.texts import all_texts, in_language

FORMATS: tuple[Format, ...] = get_args(Format)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    given = whole_report(tmp_path_factory.mktemp("sections"))
    audit, refused = given["instances"] / "audit.json", {"x": "forged"}
    return order_report(
        read_inputs(given["results"], audit, given["rankings"], given["paradigms"], refused=refused)
    )


def written(report: Report) -> dict[Format, str]:
    return {
        "page": write_html(report, []).split("</style>", 1)[1],
        "markdown": write_markdown(report),
        "latex": write_latex(report),
    }


def test_sections_have_names_and_chapters_of_their_own() -> None:
    names = [section.name for section in SECTIONS]
    assert len(names) == len(set(names))
    chapters = [section.chapter for section in SECTIONS]
    assert list(dict.fromkeys(chapters)) == list(CHAPTERS)
    # A chapter's sections follow each other.
    assert chapters == sorted(chapters, key=chapters.index)
    assert all(Path("docs", page).is_file() for page in CHAPTERS.values())
    assert all(set(section.formats) <= set(FORMATS) and section.formats for section in SECTIONS)


def test_every_section_is_in_the_formats_that_it_names(report: Report) -> None:
    texts = written(report)
    shown: dict[str, set[Format]] = {}
    for form in FORMATS:
        names = [table.name for _, tables in sections_of(report, form) for table in tables]
        assert len(names) == len(set(names))
        for section, tables in sections_of(report, form):
            shown.setdefault(section.name, set()).add(form)
            for table in tables:
                heading = {
                    "page": f'id="{table.name}-title"',
                    "markdown": f"## {table.title}\n\n",
                    "latex": rf"\label{{tab:{table.name}}}" if table.rows else "",
                }[form]
                assert heading in texts[form], (section.name, form)
    # These have nothing to show here.
    missing = {"ablations", "vocabulary", "study_datasets", "languages", "tasks_in_languages"}
    missing |= {"examples", "papers", "scatter", "sources", "transfer", "transfer_layers"}
    expected = {section.name: set(section.formats) for section in SECTIONS}
    assert shown == {name: formats for name, formats in expected.items() if name not in missing}


def test_in_spanish_nothing_that_the_project_writes_is_english(report: Report) -> None:
    english = all_texts()["phrases"].values()
    with in_language("es"):
        shown = "".join(written(report).values())
        spanish = all_texts()["phrases"].values()
    assert "Líneas base triviales" in shown
    written_out = {text for text in english if " " in text.strip() and "{" not in text}
    assert {text for text in written_out - {*spanish} if text in shown} == set()


@pytest.mark.parametrize("shown_in", [FORMATS, ("page",), ("markdown", "latex")])
def test_a_new_section_is_a_function_and_a_line(
    report: Report, monkeypatch: pytest.MonkeyPatch, shown_in: tuple[Format, ...]
) -> None:
    def toys(report: Report) -> list[Table]:
        encoder = Column("Encoder", lambda name: Cell(name, marks=("mine",)))
        rows = rows_of(report.names, [encoder, Column("Toys", lambda name: "a kite")])
        return [Table("toys", "Toys counted", (Cell("Encoder"), Cell("Toys")), rows)]

    monkeypatch.setitem(all_texts()["notes"], "mine", "what it means")
    monkeypatch.setitem(all_texts()["chapters"], "toys", {"name": "Toy", "title": "Toys?"})
    section = Section("toys", "toys", toys, shown_in)
    monkeypatch.setattr(formats, "SECTIONS", (*SECTIONS[:3], section, *SECTIONS[3:]))
    texts = written(report)
    for form, text in texts.items():
        for part in ("Toys counted", "a kite", "what it means"):
            assert (part in text) == (form in shown_in)
    for shown in (
        '<a href="#chapter-toys">Toy</a>',
        '<h2 id="chapter-toys">Toys?</h2>',
        '<h3 id="toys-title">Toys counted</h3>',
    ):
        assert (shown in texts["page"]) == ("page" in shown_in)
