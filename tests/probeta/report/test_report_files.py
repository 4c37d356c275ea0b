"""The files of a report, its sections and figures, and its texts in all languages."""

import ast
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from string import Formatter
from typing import Any

import pandas as pd
import pytest
from report_files import (
    CLUSTERED,
    DEEP,
    DR,
    HOSTILE,
    ONE,
    RANKED,
    ROWS,
    SP,
    STS,
    TWO,
    of_encoder,
    report_of,
    whole_report,
)

from builders.audit_report import GATES
from builders.plan.groups import inherited_of, load_groups
from builders.tasks import TASKS
from builders.tasks.benchmarks import GROUPS, OF_BENCHMARKS
from corpora_recipes.escaping import markdown
from corpora_recipes.params import shipped_params
from corpora_recipes.running.errors import InputError
from corpora_recipes.yaml_files import load_yaml
from evaluation.results.scores import read_results
from evaluation.results.stored import SCORES, write_stored
from probeta.annotation import AnnotatorScores
from probeta.report import formats, texts
from probeta.report.figures import MAX_PIXELS, draw_groups, draw_scores, image
from probeta.report.formats import SECTIONS, STUDY, TABLES, latex, write_json, write_latex
from probeta.report.layout import Layout
from probeta.report.names import class_names
from probeta.report.statistics import Report
from probeta.report.tables import PAPERS, number
from probeta.report.tables.encoders import JUDGED, profiles
from probeta.report.texts import FILES, all_texts, in_language, phrase, translated
from probeta.report.writing import benchmark_means, list_scores, write_report

# --- report files --------------------------------------------------------------------------------

# --- report files --------------------------------------------------------------------------------

FIGURES = ["layers_by_group.png", "layers_by_group.svg", "scores.svg"]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return whole_report(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def written_report(given: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "out"
    write_report(**given, out=out)
    return out


def test_what_dvc_shows_and_plots(
    given: dict[str, Any], written_report: Path, tmp_path: Path
) -> None:
    """Every score, by its name; and the averages of whole benchmarks, if nothing is lacking."""
    listed = json.loads((written_report / "scores.json").read_bytes())
    scores = {(item["dataset"], item["encoder"]): item["score"] for item in listed}
    assert len(scores) == len(listed) == 2 * (8 + 3 * 3 + 2 * 2)
    expected = {
        **{("sp_x", "char_hash"): 0.4521, ("sts_x", "char_hash"): 0.8},
        **{("evalrank_es mrr l2", "deep"): 0.35, ("evalrank_es mrr cosine", "char_hash"): 0.4},
        ("evalrank_words_es hits@3 cosine", "char_hash"): 0.45,
        ("paralex_es suggestion shared lower", "char_hash"): 0.375,
    }
    assert {name: scores[name] for name in expected} == expected
    assert scores["sp_x", "deep"] == pytest.approx(0.4121)
    names = ("char_hash", "deep")
    means = {name: fmean(scores[dataset, name] for dataset in ROWS) for name in names}
    (averages,) = (written_report / "metrics").iterdir()
    assert averages.name == "own_datasets.json"
    assert json.loads(averages.read_bytes()) == pytest.approx(means)
    report = report_of(tmp_path, ONE, TWO)
    (means,) = benchmark_means(report).values()
    assert means == {"char_hash": pytest.approx((0.4521 + 0.3) / 2)}
    scored = {"encoder": "use", "dataset": "sp_wiki", "score": 0.6}
    assert scored | {"citation": str(report.cite("use", "sp_wiki"))} in list_scores(report)


def test_what_was_left_out_for_a_fault_stands_first(given: dict[str, Any], tmp_path: Path) -> None:
    fault = InputError("mine.jsonl", expected="texts", found="<b>none", todo="write some")
    write_report(**given, out=tmp_path, skipped={"read mine": str(fault), "embed all": "lost"})
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "read mine, embed all; averages may be incomplete" in page.split("<nav")[0]
    assert r'["read mine","\u003cb\u003enone"]' in page
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "**Left out for a fault.** read mine, embed all; averages may be" in text.split("##")[0]
    assert markdown("read mine: <b>none") in text


def test_the_same_results_give_the_same_bytes(
    given: dict[str, Any], written_report: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    (again / "figures").mkdir(parents=True)
    (again / "figures" / "old.svg").touch()
    turned = {name: given[name][::-1] for name in ("results", "rankings", "paradigms")}
    write_report(**{**given, **turned}, out=again)
    names = sorted(str(path.relative_to(again)) for path in again.rglob("*") if path.is_file())
    assert names == [
        *(f"figures/{name}" for name in FIGURES),
        *("index.html", "metrics/own_datasets.json", "report.md", "scores.json"),
        *("summary.txt", "tables.json", "tables.tex"),
    ]
    for name in names:
        assert (again / name).read_bytes() == (written_report / name).read_bytes(), name
    assert b"<dc:date>" not in (again / "figures" / "scores.svg").read_bytes()


def test_the_page_asks_for_nothing_and_hostile_texts_stay_texts(written_report: Path) -> None:
    page = (written_report / "index.html").read_text("utf-8")
    assert re.findall(r"""(?:src|href)=["'](?!#|data:|\$)([^"']*)""", page) == []
    assert not re.findall(r"url\((?!#)", page)
    assert "@import" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert HOSTILE.split("(")[0] not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert re.sub(r"sha256-[\w+/=]+", "…", policy[1]) == (
        "default-src 'none'; script-src '…'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_names_are_escaped_and_there_is_no_figure_of_layers_without_layers(
    given: dict[str, Any], tmp_path: Path
) -> None:
    folder = shutil.copytree(given["results"][0], tmp_path / "results")
    results = read_results(folder)
    facts = results.encoder | {"encoder": "<b>&amp;</b>"}
    write_stored(replace(results, encoder=facts), folder / SCORES)
    write_report([folder], given["instances"], tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert r"\u003cb\u003e\u0026amp;\u003c/b\u003e" in page
    assert "<b>&amp;</b>" not in page
    assert sorted(path.name for path in (tmp_path / "out" / "figures").iterdir()) == FIGURES[2:]
    assert "layers_by_group.svg" not in (tmp_path / "out" / "report.md").read_text("utf-8")


def latex_of(report: Report) -> str:
    data = {"title": "T", "benchmarks": [], "bands": [], "about": {"method": "", "missing": []}}
    data["about"]["left_out"] = [["x", "<y>\n%"]]
    return write_latex(report, data | {"bands": [["A_b", "c & d"]]})


def test_latex(tmp_path: Path) -> None:
    report = report_of(tmp_path, replace(ONE, scores=(STS, SP)), TWO, DEEP)
    text = latex_of(report)
    assert "\n% x: <y> %\n" in text
    assert r"\textbf{A\_b} c \& d" in text
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 11
    table = (
        text[text.index(r"\caption{Sentence position (SP), ") :].split("\n\\par")[0].splitlines()
    )
    assert table[3:18] == [
        r"\begin{tabular}{@{}lr@{}}",
        r"\toprule",
        r"Encoder & sp\_wiki \\",
        r"\midrule",
        r"Train / validation / test & 10,000 / 4,000 / 4,000 \\",
        r"Chance & 20.0 \\",
        r"Majority & 20.5 \\",
        r"Best trivial & 43.7 \\",
        r" & {\scriptsize (character ngrams)} \\",
        r"\midrule",
        r"char\_hash & 45.2\textsuperscript{\textdagger{}} \\",
        r" & {\scriptsize [43.7, 46.8]} \\",
        r"deep & 45.0 $\pm$ 1.2\textsuperscript{\textdagger{}} \\",
        r" & {\scriptsize [43.7, 46.8]} \\",
        r"use & \textbf{60.0} \\",
    ]
    assert table[-3] == r"mBERT, Araujo et al. (2022)\textsuperscript{\S{}} & 52.0 \\"


def test_what_means_something_to_latex() -> None:
    assert latex(r"50 % of a_b & {c} #1 $ ~ ^ \x − 1 … ‡") == (
        r"50 \% of a\_b \& \{c\} \#1 \$ \textasciitilde{} \textasciicircum{} "
        r"\textbackslash{}x $-$ 1 \dots{} \textdaggerdbl{}"
    )


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no pdflatex")
@pytest.mark.parametrize("name", ["deep", r"100%_#{}$\bad~^&"])
def test_latex_compiles(tmp_path: Path, name: str) -> None:
    several = [DEEP, *[replace(ONE, scores=(DR, SP, STS))] * 3]
    results = [replace(item, name=f"{name}{place}") for place, item in enumerate(several)]
    ranked, clustered = of_encoder(results[0], RANKED, CLUSTERED)
    report = report_of(tmp_path, *results, rankings=[ranked], paradigms=[clustered])
    (tmp_path / "tables.tex").write_text(latex_of(report), "utf-8")
    document = (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs,graphicx}\n"
        "\\begin{document}\\extrafloats{60}\n\\input{tables.tex}\n\\end{document}\n"
    )
    (tmp_path / "document.tex").write_text(document, "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode"]
    done = subprocess.run(
        [*command, "document.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_figures(written_report: Path) -> None:
    for name in FIGURES:
        content = (written_report / "figures" / name).read_bytes()
        if name.endswith("png"):
            assert content.startswith(b"\x89PNG")
            continue
        ElementTree.fromstring(content)
        comments = [line for line in content.decode().splitlines() if re.search("<!--|<text", line)]
        words = {
            "scores.svg": ["char_hash", "own datasets", "Sentence position"],
            "layers_by_group.svg": ["deep", "SP, own datasets", "layer"],
        }
        for word in words[name]:
            assert any(word in line for line in comments), word


@pytest.mark.parametrize("name", ["_mine", "majority"])
def test_any_name_stands_in_the_figures_as_it_is(tmp_path: Path, name: str) -> None:
    report = report_of(tmp_path, ONE, replace(DEEP, name=name))
    figure = draw_groups(profiles(report))
    texts = ElementTree.fromstring(draw_scores(report)).iter("{http://www.w3.org/2000/svg}text")
    assert any(text.text == name for text in texts)
    figure.set_size_inches(4, 500)
    assert int.from_bytes(image(figure, "png")[20:24]) == MAX_PIXELS


def test_groups_by_layer_have_the_means_of_the_datasets_that_all_encoders_have(
    tmp_path: Path,
) -> None:
    other = replace(DEEP, name="other", scores=tuple(s for s in DEEP.scores if s.task == SP.task))
    report = report_of(tmp_path, DEEP, other)
    panels: list[Any] = draw_groups(profiles(report)).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["SP, spanish_discoeval"]
    lines = [line.get_xydata().tolist() for line in panels[0].lines]
    assert lines == [[[0, 30], [1, 40], [2, 50]]] * 2
    panels = draw_groups(profiles(report_of(tmp_path, DEEP))).axes
    assert [len(axes.lines) for axes in panels] == [1, 1]


def test_means_baselines_and_people_stand_where_they_are(tmp_path: Path) -> None:
    third = replace(ONE, name="third", scores=(replace(SP, value=0.9, interval=(0.8, 1.0)), DR))
    report = report_of(tmp_path, ONE, TWO, third)
    asked = AnnotatorScores(1, "sp_wiki", SP.digest, 10, (0.7,), 0.7, (0.6, 0.8), None)
    with_people = replace(report.inputs, people={"sp_wiki": asked})
    root = ElementTree.fromstring(draw_scores(replace(report, inputs=with_people)))
    svg = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{svg}text")]
    assert texts[:3] == ["third", "char_hash", "use"]
    # Of a single benchmark, its groups, and all of them.
    assert texts[9:] == ["Sentence position", "Discourse relations", "Spanish DiscoEval"]
    places = [float(line.attrib["x1"]) for line in root.iter(f"{svg}line")]
    zero, one = places[1], places[5]
    dots = [dot.attrib for dot in root.iter(f"{svg}circle")][3:]
    drawn = [
        ((float(dot["cx"]) - zero) / (one - zero), "hollow" not in dot["class"]) for dot in dots
    ]
    expected = [
        *((0.9, True), (0.4521, False), (0.6, True)),
        *((0.3, False), (0.3, False)),
        *((0.6, True), (0.376, False)),
    ]
    assert [full for _, full in drawn] == [full for _, full in expected]
    assert [place for place, _ in drawn] == pytest.approx([p for p, _ in expected], abs=1e-3)
    kinds = [line.get("class") for line in root.iter(f"{svg}line")]
    assert (kinds.count("baseline"), kinds.count("people")) == (3 + 1, 1)


# --- texts ---------------------------------------------------------------------------------------

# --- texts ---------------------------------------------------------------------------------------

FOLDER = Path(texts.__file__).parents[1]
ENGLISH, SPANISH = (load_yaml(Path(texts.__file__).with_name(name)) for name in FILES.values())
MODULES = [path for path in FOLDER.rglob("*.py") if "command" not in path.stem]
# Looks like a text: two words, or one with a capital letter.
PROSE = re.compile(r"[A-Za-z]{2,}[,:;.]? [a-z]{2,}|^[A-Z][a-z]{2,}$")
# What looks like one: names in code and data, arguments of other libraries.
NO_TEXTS = {
    *("Figure", ", Sumbler et al. (2018)", "Date", "Software", "Polyglot"),
    *("Spearman", "Pearson", "offset points"),
    *("outside upper center", "shared lower", "shared as_is"),
    *("own lower", "own as_is", "all others"),
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
    found = [dict(flat({**table, "names": {}, "classes": {}})) for table in (ENGLISH, SPANISH)]
    english, spanish = ({place: braces(text) for place, text in of.items()} for of in found)
    assert spanish == english


def test_every_name_of_the_code_is_translated() -> None:
    names = {group.title for group in (*GROUPS, *OF_BENCHMARKS)} | {*GATES.values(), *JUDGED}
    names |= {text for task in TASKS.values() for text in (task.question, task.gold)} - {"{}"}
    names |= {task.replace("_", " ") for task in TASKS}
    names |= {why for paper in PAPERS for why in (paper.about, *paper.refused.values())}
    groups = load_groups(shipped_params())
    declared = inherited_of({"audit": {}}, shipped_params(), groups).values()
    names |= {miss["because"] for gates in declared for miss in gates.values()}
    assert names - SPANISH["names"].keys() == set()
    classes = {label for task in TASKS.values() for label in task.labels if label.isalpha()}
    classes -= {label for label in classes if label.isupper()}
    assert classes - SPANISH["classes"].keys() == set()
    assert [*ENGLISH["faults"]] == [*GATES]


def test_classes_that_are_words_of_the_texts_are_not_translated() -> None:
    with in_language("es"):
        assert class_names(("not_paraphrase", "paraphrase")) == ["no es paráfrasis", "paráfrasis"]
        assert class_names(("number", "river")) == ["number", "river"]
    assert class_names(("very_negative", "neutral")) == ["very negative", "neutral"]


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
    # These write errors only.
    of_errors = ("citing.py", "inputs.py", "submissions.py")
    modules = [module for module in MODULES if module.name not in of_errors]
    found = {text for module in modules for text in literals(module) if PROSE.search(text)}
    layouts = [layout for _, layout in (*SECTIONS, *STUDY)]
    columns = {" ".join(each) for of in layouts for each in (of.rows, of.columns, of.tables)}
    assert found - columns == NO_TEXTS
    written = (FOLDER / name for name in ("page.html", "picture.svg", "report.md.jinja"))
    page = "".join(path.read_text("utf-8") for path in written)
    page = re.sub(r"\{[%#].*?[%#]\}|\{\{.*?\}\}|<style>.*?</style>", "", page, flags=re.S)
    labels = re.findall(r'(?:aria-label|placeholder|title)="([^"]+)"', page)
    shown = re.sub(r'<[^>]*>|[\w-]+=("[^"]*")?|\(figures/\.svg\)', "", page)
    assert re.findall(r"[A-Za-z]{2,}", shown) + labels == ["Probeta"] * 2
    script = (FOLDER / "page.js").read_text("utf-8")
    between_tags = re.findall(r"<\w+(?: [^<>]*)?>([^<>${}]*)<", script)
    assert between_tags
    assert [text for text in between_tags if PROSE.search(text)] == []


def test_every_phrase_is_used_and_there() -> None:
    """``phrase("key")`` names what is there; nothing else is there, but headings of columns."""
    sources = "".join(path.read_text("utf-8") for path in MODULES)
    sources += "".join(
        (FOLDER / name).read_text("utf-8")
        for name in ("page.html", "picture.svg", "report.md.jinja")
    )
    headings = {key for _, layout in (*SECTIONS, *STUDY) for key in layout.rows}
    keys = ENGLISH["phrases"].keys()
    assert headings <= keys
    assert {key for key in keys - headings if not re.search(f"""["']{key}["']""", sources)} == set()
    assert {*re.findall(r"""phrase\(["'](\w+)["']""", sources)} <= keys
    script = (FOLDER / "page.js").read_text("utf-8")
    assert {*re.findall(r'(?:phrase|cap)\("(\w+)"', script)} <= ENGLISH["script"].keys()
    script += (FOLDER / "page.html").read_text("utf-8").replace(".texts.", '"').replace(" }}", '"')
    assert {key for key in ENGLISH["script"] if f'"{key}"' not in script} == set()


def test_the_language_lasts_as_long_as_the_call() -> None:
    with in_language("es"):
        assert (phrase("encoder"), translated("tense")) == ("Codificador", "tiempo verbal")
        assert translated("mine") == "mine"
    with pytest.raises(KeyError), in_language("es"):
        phrase("no such phrase")
    assert phrase("encoder") == "Encoder"


# --- tables --------------------------------------------------------------------------------------


def test_a_table_of_the_json_is_a_data_frame(written_report: Path) -> None:
    tables = json.loads((written_report / "tables.json").read_bytes())
    frame = pd.DataFrame(**tables["scores"]).query("dataset == 'sp_x' and kind == 'encoder'")
    assert list(frame.encoder) == ["char_hash", "deep"]
    assert frame.value.tolist() == pytest.approx([0.4521, 0.4121])
    assert frame.low.tolist() == [0.4366] * 2
    assert tables.keys() <= TABLES.keys()
    # These have nothing to show here.
    assert TABLES.keys() - tables.keys() == {
        *("languages", "tasks_in_languages", "transfer", "vocabulary"),
        *("levels", "papers", "added", "above_random", "sources", "study", "study_datasets"),
        *("analogies", "table_1", "table_1_correlations"),
    }


def test_in_spanish_nothing_that_the_project_writes_is_english(
    given: dict[str, Any], tmp_path: Path
) -> None:
    english = all_texts()["phrases"].values()
    with in_language("es"):
        write_report(**given, out=tmp_path)
        spanish = all_texts()["phrases"].values()
    shown = (tmp_path / "tables.tex").read_text("utf-8")
    assert "Líneas base triviales" in shown
    written_out = {text for text in english if " " in text.strip() and "{" not in text}
    assert {text for text in written_out - {*spanish} if text in shown} == set()


def test_a_new_table_is_a_function_and_a_line(
    written_report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def toys(report: Report) -> Iterator[dict[str, Any]]:
        yield from (number({"encoder": name, "toy": "kite"}, 0.125) for name in report.names)

    texts = {"title": "Toys counted", "about": ["About toys."]}
    monkeypatch.setitem(all_texts(), "toys", texts)
    monkeypatch.setattr(formats, "TABLES", {**TABLES, "toys": toys})
    section = (toys, Layout("toys", "encoder", "toy"))
    monkeypatch.setattr(formats, "SECTIONS", (*SECTIONS[:3], section, *SECTIONS[3:]))
    report = report_of(tmp_path, ONE)
    toys_of = json.loads(write_json(report))["toys"]
    assert toys_of == {
        "columns": ["encoder", "toy", "value"],
        "data": [["char_hash", "kite", 0.125]],
    }
    text = latex_of(report)
    assert r"\caption{Toys counted. About toys.}" in text
    assert "char\\_hash & 12.5 " in text
