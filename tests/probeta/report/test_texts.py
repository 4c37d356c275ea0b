"""The texts of the report in its languages, and the one list of sections."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest
from report_files import whole_report

from builders.audit_report import GATES
from builders.tasks import TASKS
from builders.tasks.benchmarks import GROUPS, OF_BENCHMARKS
from corpora_recipes.yaml_files import load_yaml
from probeta.report import formats, texts
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
from probeta.report.tables import PAPERS
from probeta.report.tables.encoders import TONES
from probeta.report.texts import FILES, all_texts, in_language, phrase, translated

# --- texts ---------------------------------------------------------------------------------------

FOLDER = Path(texts.__file__).parents[1]
ENGLISH, SPANISH = (load_yaml(Path(texts.__file__).with_name(name)) for name in FILES.values())
MODULES = [path for path in FOLDER.rglob("*.py") if "command" not in path.stem]
# Looks like a text: two words, or one with a capital letter.
PROSE = re.compile(r"[A-Za-z]{2,}[,:;.]? [a-z]{2,}|^[A-Z][a-z]{2,}$")
# What looks like one: names in code and data, arguments of other libraries.
NO_TEXTS = {
    *("Figure", "Axes", "Item", "Date", "Software", "Polyglot"),
    *("Spearman", "Pearson", "best layer", "offset points"),
    *("outside upper center", "group pair", "group tone", "shared lower", "shared as_is"),
    *("own lower", "own as_is", "all others", "within chance", "not applicable"),
}


def flat(value: Any, *place: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield place, value
        return
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
        yield from flat(inside, *place, key)


def braces(text: str) -> list[tuple[str | None, str | None]]:
    return sorted((name, form) for _, name, form, _ in Formatter().parse(text) if name is not None)


def test_spanish_has_every_key_with_the_same_braces() -> None:
    found = [dict(flat({**table, "names": {}})) for table in (ENGLISH, SPANISH)]
    english, spanish = ({place: braces(text) for place, text in of.items()} for of in found)
    assert spanish == english


def test_every_name_of_the_code_is_translated() -> None:
    names = {group.title for group in (*GROUPS, *OF_BENCHMARKS)} | {*GATES.values(), *TONES}
    names |= {text for task in TASKS.values() for text in (task.question, task.gold)} - {"{}"}
    names |= {task.replace("_", " ") for task in TASKS}
    names |= {why for paper in PAPERS for why in (paper.about, *paper.refused.values())}
    assert names - SPANISH["names"].keys() == set()


def literals(module: Path) -> set[str]:
    """Return the strings of a module, without docstrings and those of functions that raise."""
    tree = ast.parse(module.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    raising = [f for f in functions if any(isinstance(node, ast.Raise) for node in ast.walk(f))]
    skipped = {node for function in raising for node in ast.walk(function)}
    skipped |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    rest = {node for node in ast.walk(tree) if isinstance(node, ast.Constant)} - skipped
    return {node.value for node in rest if isinstance(node.value, str)}


def test_no_text_is_outside_the_table_of_texts() -> None:
    # inputs.py writes errors only.
    modules = [module for module in MODULES if module.name != "inputs.py"]
    found = {text for module in modules for text in literals(module) if PROSE.search(text)}
    assert found == NO_TEXTS
    written = (FOLDER / name for name in ("page.html", "picture.svg"))
    page = "".join(path.read_text("utf-8") for path in written)
    page = re.sub(r"\{[%#].*?[%#]\}|\{\{.*?\}\}|<style>.*?</style>", "", page, flags=re.S)
    labels = re.findall(r'(?:aria-label|placeholder|title)="([^"]+)"', page)
    shown = re.sub(r'<[^>]*>|[\w-]+=("[^"]*")?', "", page)
    assert re.findall(r"[A-Za-z]{2,}", shown) + labels == ["Probeta"]
    script = re.sub(
        r"^\s*//.*|/\*.*?\*/", "", (FOLDER / "page.js").read_text("utf-8"), flags=re.M | re.S
    )
    assert [text for text in re.findall(r'["`]([^"`\n]*)["`]', script) if PROSE.search(text)] == []


def test_every_phrase_is_used_and_there() -> None:
    """``phrase("key")`` and ``Column("key", …)`` name what is there; nothing else is there."""
    sources = "".join(path.read_text("utf-8") for path in MODULES)
    sources += "".join((FOLDER / name).read_text("utf-8") for name in ("page.html", "picture.svg"))
    keys = ENGLISH["phrases"].keys()
    assert {key for key in keys if not re.search(f"""["']{key}["']""", sources)} == set()
    assert {*re.findall(r"""(?:phrase|Column)\(["'](\w+)["']""", sources)} <= keys
    script = (FOLDER / "page.js").read_text("utf-8")
    assert {*re.findall(r'phrase\("(\w+)"', script)} <= ENGLISH["script"].keys()
    assert {key for key in ENGLISH["script"] if f'"{key}"' not in script} == set()


def test_the_language_lasts_as_long_as_the_call() -> None:
    with in_language("es"):
        assert (phrase("encoder"), translated("tense")) == ("Codificador", "tiempo verbal")
        assert translated("mine") == "mine"
    with pytest.raises(KeyError), in_language("es"):
        phrase("no such phrase")
    assert phrase("encoder") == "Encoder"


# --- sections ------------------------------------------------------------------------------------

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
