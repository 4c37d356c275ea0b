"""The files of a report, its sections and figures, and its texts in all languages."""

import ast
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from itertools import chain
from pathlib import Path
from statistics import fmean
from string import Formatter
from typing import Any, get_args

import pytest
from report_files import (
    CLUSTERED,
    DEEP,
    DR,
    FIVE,
    HOSTILE,
    LABELS,
    MC,
    ONE,
    RANKED,
    ROWS,
    SP,
    STS,
    TWO,
    kept,
    of_encoder,
    report_of,
    whole_report,
    write_instances,
)

from builders.audit_report import GATES
from builders.tasks import TASKS, section_prediction
from builders.tasks.benchmarks import GROUPS, OF_BENCHMARKS, Group
from builders.tasks.task import Task, Text, sentences
from corpora_recipes.escaping import markdown
from corpora_recipes.running.errors import InputError
from corpora_recipes.yaml_files import load_yaml
from evaluation.datasets import Dataset, find_datasets
from evaluation.results.scores import read_results
from evaluation.results.stored import SCORES, write_stored
from probeta.annotation import AnnotatorScores
from probeta.report import formats, texts
from probeta.report.figures import (
    MAX_DRAWN,
    MAX_NAME_LENGTH,
    MAX_PIXELS,
    Picture,
    draw_averages,
    draw_groups,
    draw_layers,
    image,
    inline,
    pictures,
)
from probeta.report.formats import (
    CHAPTERS,
    SECTIONS,
    Format,
    Section,
    latex,
    sections_of,
    write_html,
    write_latex,
    write_markdown,
)
from probeta.report.inputs import read_inputs
from probeta.report.instances import (
    MAX_ROWS,
    MAX_TEXT_LENGTH,
    browser_contents,
    draw_rows,
    shown_texts,
)
from probeta.report.layout import Cell, Column, Table, rows_of
from probeta.report.statistics import Report, order_report
from probeta.report.tables import PAPERS
from probeta.report.tables.encoders import TONES, profiles
from probeta.report.texts import FILES, all_texts, in_language, phrase, translated
from probeta.report.writing import benchmark_means, list_scores, write_report

# --- report files --------------------------------------------------------------------------------

# --- report files --------------------------------------------------------------------------------

NAMES = ("layers", "layers_by_group")
FIGURES = [*(f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")), "scores.svg"]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return whole_report(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def written_report(given: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "out"
    (out.parent / "docs").mkdir()
    (out.parent / "docs" / "audit.md").touch()
    write_report(**given, out=out)
    return out


@pytest.fixture(scope="module")
def report(given: dict[str, Any]) -> Report:
    return order_report(read_inputs(given["results"], given["instances"] / "audit.json"))


@pytest.fixture(scope="module")
def browser(given: dict[str, Any], report: Report) -> dict[str, dict[str, Any]]:
    return {
        item["name"]: item for item in browser_contents(report, find_datasets(given["instances"]))
    }


def parts(browser: dict[str, dict[str, Any]], dataset: str, row: int) -> list[tuple[Any, ...]]:
    item = browser[dataset]["rows"][row]["parts"]
    return [
        (part.get("tag", ""), *part["units"], part.get("note", ""), part.get("marked", False))
        for part in item
    ]


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
    assert {"encoder": "use", "dataset": "sp_wiki", "score": 0.6} in list_scores(report)


def test_what_was_left_out_for_a_fault_stands_first(given: dict[str, Any], tmp_path: Path) -> None:
    fault = InputError("mine.jsonl", expected="texts", found="<b>none", todo="write some")
    write_report(**given, out=tmp_path, skipped={"read mine": str(fault), "embed all": "lost"})
    warned = "found: read mine (<b>none), embed all (lost). The whole messages are in data/"
    assert escape(warned) in (tmp_path / "index.html").read_text("utf-8")
    first, _, _ = (tmp_path / "report.md").read_text("utf-8").partition("\n- ")
    assert markdown(warned) in first


def test_the_same_results_give_the_same_bytes(
    given: dict[str, Any], written_report: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    shutil.copytree(written_report.parent / "docs", tmp_path / "docs")
    (again / "figures").mkdir(parents=True)
    (again / "figures" / "old.svg").touch()
    turned = {name: given[name][::-1] for name in ("results", "rankings", "paradigms")}
    write_report(**{**given, **turned}, out=again)
    names = sorted(str(path.relative_to(again)) for path in again.rglob("*") if path.is_file())
    assert names == [
        *(f"figures/{name}" for name in FIGURES),
        *("index.html", "items.csv", "metrics/own_datasets.json", "report.md", "scores.json"),
        *("summary.txt", "tables.json", "tables.tex"),
    ]
    for name in names:
        assert (again / name).read_bytes() == (written_report / name).read_bytes(), name
    assert b"<dc:date>" not in (again / "figures" / "scores.svg").read_bytes()


def test_what_tasks_have_changed_is_marked(
    browser: dict[str, dict[str, Any]], given: dict[str, Any]
) -> None:
    assert parts(browser, "sp_x", 0) == [
        ("3", FIVE[0], "moved to the front", True),
        *((tag, text, "", False) for tag, text in zip("1245", FIVE[1:], strict=True)),
    ]
    assert browser["sp_x"]["rows"][0]["told"] == ["the first sentence was in position 3"]
    assert parts(browser, "sp_x", 1)[0] == ("1", FIVE[0], "at the front from the beginning", True)
    assert [tag for tag, *_ in parts(browser, "sp_x", 1)] == ["1", "2", "3", "4", "5"]
    texts = ("Tocó fondo.", "Llegó una draga.")
    assert parts(browser, "bso_x", 0) == [("2", texts[0], "", True), ("1", texts[1], "", True)]
    assert parts(browser, "bso_x", 1) == [("1", texts[0], "", False), ("2", texts[1], "", False)]
    incoherent, coherent = (parts(browser, "dc_x", row) for row in (0, 1))
    assert incoherent[2] == ("3", "Frase 2.", "put in from d9#1", True)
    assert [marked for *_, marked in incoherent] == [False, False, True, False, False, False]
    assert not any(marked for *_, marked in coherent)
    item = browser["dc_x"]
    assert item["columns"] == ["document_id", "replaced_position", "donor_id", "licence"]
    assert [row["values"][1:3] for row in item["rows"]] == [["3", "d9#1"], ["–", "–"]]
    assert parts(browser, "ssp_x", 1) == [("", "Noticia 1.", "", False)]
    assert browser["ssp_x"]["rows"][1]["told"] == ["from the summary"]
    pair = [("1", "Llueve 2.", "", False), ("2", "El suelo está mojado.", "", False)]
    assert parts(browser, "nli_x", 2) == pair
    (dataset,) = (item for item in find_datasets(given["instances"]) if item.name == "ssp_x")
    (part,) = shown_texts(dataset, {"sentence": "a" * (MAX_TEXT_LENGTH + 1200)})
    assert part.units == ("a" * MAX_TEXT_LENGTH + " … (1,200 characters more)",)


def test_spans_stand_in_the_order_of_the_text(browser: dict[str, dict[str, Any]]) -> None:
    item = browser["dr_x"]
    assert parts(browser, "dr_x", 0) == [
        ("satellite", "la carretera se cerró.", "unit 1", False),
        ("nucleus", "Llovió", "y heló,", "units 2 to 3", False),
    ]
    assert [tag for tag, *_ in parts(browser, "dr_x", 1)] == ["nucleus", "nucleus"]
    assert item["trees"] == {"t1": [[1, 2, 0, 0, 1], [1, 1, 2, 2, 0]]}
    nodes = [(row["tree"], row["node"]) for row in item["rows"]]
    assert nodes == [("t1", [1, 2, 0, 0]), ("t1", [1, 1, 2, 2])]


def test_answers(browser: dict[str, dict[str, Any]]) -> None:
    item = browser["nli_x"]
    assert item["encoders"] == ["char_hash", "deep"]
    assert item["rows"][0]["answers"] == [[1, True], [0, False, "2 of 3 starts"]]
    assert item["rows"][1]["answers"] == [[1], [1, False, "3 of 3 starts"]]
    # Scores.
    item = browser["sts_x"]
    assert item["labels"] == []
    first, _, last = item["rows"][::2]
    assert (first["told"], last["told"]) == (["0", "above 0 %"], ["2", "above 100 %"])
    assert first["answers"][0] == [0.0, True, "above 100 %"]
    assert item["rows"][2]["answers"][0] == [-1.0, False, "above 50 %"]
    assert not any(row["answers"][1][1] for row in item["rows"])


def test_where_the_card_and_the_facts_of_a_dataset_are(
    given: dict[str, Any], report: Report
) -> None:
    for card, link in (("../hub/docs", "../hub/docs/mc_x.md"), ("", "")):
        (first, *_) = browser_contents(report, find_datasets(given["instances"]), card)
        assert (first["title"], first["card"]) == ("Sentence classification (own dataset)", link)


def test_some_instances_are_drawn_by_their_ids(browser: dict[str, dict[str, Any]]) -> None:
    item = browser["mc_x"]
    assert (item["count"], len(item["rows"])) == (60, MAX_ROWS)
    ids = [f"mc_x-{i}" for i in range(60)]
    drawn = draw_rows(ids, 1111, "mc_x")
    assert [row["id"] for row in item["rows"]] == [ids[place] for place in drawn]
    assert drawn == sorted(drawn)
    assert drawn != draw_rows(ids, 1112, "mc_x")
    # Which ones does not depend on where they stand.
    turned = draw_rows(ids[::-1], 1111, "mc_x")
    assert {ids[::-1][place] for place in turned} == {ids[place] for place in drawn}
    assert draw_rows(ids[:3], 1111, "mc_x") == [0, 1, 2]


def an_instance(task: Task) -> dict[str, Any]:
    """Return an instance of any task: texts of their column's kind, and a value in the others."""
    values: dict[str, Any] = {"integer": 1, "number": 1.0, "string": "x"}
    row = {name: values.get(column.kind) for name, column in task.columns().items()}
    for text in task.texts:
        many = [f"{text.natural} {number}" for number in range(text.count or 2)]
        row[text.natural] = many if text.kind == "strings" else many[0]
    return row


def sentences_of(task: Task, row: Mapping[str, Any]) -> list[str]:
    """Return all texts of an instance."""
    values = [row[text.natural] for text in task.texts]
    return sorted(chain.from_iterable([one] if isinstance(one, str) else one for one in values))


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task.target != "neighbours"])
def test_the_page_shows_all_texts_of_any_task(task: Task) -> None:
    labels = task.labels or ("a", "b")
    dataset = Dataset("x", task.name, "x", "es", "1.0.0", labels, tuple(task.columns()), {})
    row = an_instance(task)
    shown = shown_texts(dataset, row)
    assert sorted(chain.from_iterable(text.units for text in shown)) == sentences_of(task, row)


@pytest.mark.parametrize(
    ("task", "change", "note"),
    [
        ("bigram_shift", {"position": 3, "swapped": "bajo dejó"}, "from token 3 on: bajo dejó"),
        ("odd_word", {"position": 4, "original": "fondo"}, "token 4 was fondo"),
        ("coordination_inversion", {"first_tokens": 5}, "the last 5 words came first"),
    ],
)
def test_the_page_marks_changed_sentences(task: str, change: dict[str, Any], note: str) -> None:
    dataset = Dataset("x", task, "x", "es", "1.0.0", TASKS[task].labels, (), {})
    (changed,) = shown_texts(dataset, {"sentence": "Frase.", **change})
    assert changed.marked
    assert changed.note.endswith(note)
    (original,) = shown_texts(dataset, {"sentence": "Frase.", **dict.fromkeys(change)})
    assert (original.units, original.marked, original.note) == (("Frase.",), False, "")


@pytest.mark.parametrize(
    ("texts", "column"),
    [
        (sentences(3), {"sentences": ["Uno.", "Dos.", "Tres."]}),
        ((Text("sentence", "tokens", "string", "natural text"),), {"sentence": "Solo uno."}),
    ],
)
def test_a_new_task_is_in_the_report_without_a_line_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[Text, ...], column: dict[str, Any]
) -> None:
    group = Group("TOY", "Counting of toys")
    toy = replace(section_prediction.TASK, name="toy", group=group, texts=texts, gold="{} toys")
    monkeypatch.setitem(TASKS, "toy", toy)
    monkeypatch.setitem(LABELS, "toy", ["no", "many"])
    monkeypatch.setitem(ROWS, "toy_x", ("toy", [{**column, "label": i % 2} for i in range(4)]))
    given = whole_report(tmp_path)
    write_report(**given, out=tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "## Counting of toys (TOY), own datasets\n" in text
    report = order_report(read_inputs(given["results"], given["instances"] / "audit.json"))
    assert list(report.inputs.groups.items())[-1] == ("toy_x", group)
    shown = browser_contents(report, find_datasets(given["instances"]))[-1]
    facts = (shown["name"], shown["group"], shown["rows"][1]["told"][0])
    assert facts == ("toy_x", "TOY", "many toys")
    (values,) = column.values()
    units = [part["units"][0] for part in shown["rows"][1]["parts"]]
    assert units == ([values] if isinstance(values, str) else values)


@pytest.mark.parametrize("is_there", [True, False])
def test_instances_that_were_not_probed(report: Report, tmp_path: Path, is_there: bool) -> None:
    other = write_instances(tmp_path / "instances")
    if is_there:
        for split in ("train", "validation"):
            name = f"{split}-00000-of-00001.parquet"
            shutil.copy(other / "bso_x" / "test-00000-of-00001.parquet", other / "bso_x" / name)
    else:
        shutil.rmtree(other / "bso_x")
    with pytest.raises(InputError, match="bso_x") as caught:
        browser_contents(report, find_datasets(other))
    assert ("no such dataset" in str(caught.value)) != is_there


def test_predictions_of_other_rows(given: dict[str, Any], tmp_path: Path) -> None:
    results = read_results(given["results"][0])
    scores = tuple(score for score in results.scores if score.dataset == "sp_x")
    item = kept(tmp_path, replace(results, scores=scores))
    report = order_report(read_inputs(item, given["instances"] / "audit.json"))
    with pytest.raises(InputError, match="predictions for the 2 rows of sp_x"):
        browser_contents(report, find_datasets(given["instances"]))


def test_the_page_asks_for_nothing_and_hostile_texts_stay_texts(written_report: Path) -> None:
    page = (written_report / "index.html").read_text("utf-8")
    links = re.findall(r"""(?:src|href)=["'](?!#|data:)([^"']*)""", page)
    assert links == ["../docs/audit.md"], "the one page of the documentation that is there"
    assert not re.findall(r"url\((?!#)", page)
    assert "@import" not in page
    assert page.count("<script") == page.count("</script>") == 3
    assert HOSTILE.split("(")[0] not in page
    data = re.search(r'id="instances-data">(.*?)</script>', page, re.DOTALL)
    assert data
    (item,) = (one for one in json.loads(data[1]) if one["name"] == "nli_x")
    texts = [part["units"][0] for row in item["rows"] for part in row["parts"]]
    assert HOSTILE in texts
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
    write_stored(replace(read_results(folder), name="<b>&amp;</b>"), folder / SCORES)
    write_report([folder], given["instances"], tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "&lt;b&gt;&amp;amp;&lt;/b&gt;" in page
    assert "<b>&amp;</b>" not in page
    assert sorted(path.name for path in (tmp_path / "out" / "figures").iterdir()) == FIGURES[4:]
    assert "layers.svg" not in (tmp_path / "out" / "report.md").read_text("utf-8")


def test_the_page_is_well_formed(written_report: Path) -> None:
    from html.parser import HTMLParser

    open_tags: list[str] = []
    ids: list[str] = []
    links: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            ids.extend(value for name, value in attrs if name == "id" and value)
            links.extend(v[1:].split("?")[0] for n, v in attrs if n == "href" and v and v[0] == "#")
            if tag == "th":
                assert given["scope"] in ("col", "row", "colgroup")
            if tag not in ("meta", "link", "input"):
                open_tags.append(tag)

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            pass

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    page = (written_report / "index.html").read_text("utf-8")
    # What is in the figure has names of its own.
    without = re.sub(r'<svg role="img".*?</svg>', "", page, flags=re.DOTALL)
    Checker().feed(without)
    assert open_tags == []
    assert len(ids) == len(set(ids))
    assert set(links) <= set(ids)


def test_latex(tmp_path: Path) -> None:
    report = report_of(tmp_path, replace(ONE, scores=(STS, SP)), TWO, DEEP)
    text = write_latex(report)
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 10
    table = (
        text[text.index(r"\caption{Sentence position (SP), ") :].split("\n\\par")[0].splitlines()
    )
    assert table[0].endswith(r"best; \textdagger{} not shown to beat a trivial baseline.}")
    assert table[3:18] == [
        r"\begin{tabular}{@{}lr@{}}",
        r"\toprule",
        r" & sp\_wiki \\",
        r"\midrule",
        r"Train / validation / test & 10,000 / 4,000 / 4,000 \\",
        r"Chance & 20.0 \\",
        r"Majority & 20.5 \\",
        r"Best trivial & 43.7 \\",
        r" & {\scriptsize (character ngrams)} \\",
        r"\midrule",
        r"\textbf{char\_hash} & 45.2\textsuperscript{\textdagger{} $\approx$} \\",
        r" & {\scriptsize [43.7, 46.8]} \\",
        r"\textbf{deep} & 45.0 $\pm$ 1.2\textsuperscript{\textdagger{} $\approx$} \\",
        r" & {\scriptsize [43.7, 46.8]} \\",
        r"\textbf{use} & \textbf{60.0} \\",
    ]
    assert table[-3] == r"mBERT, Araujo et al. (2022)\textsuperscript{\S{}} & 52.0 \\"
    averages, discoeval, similarity, *_ = re.findall(r"\\caption\{(.*)\}\n", text)
    assert averages.startswith(
        r"Averages: spanish\_senteval. Pearson's correlation $\times$ 100 on"
    )
    assert discoeval.startswith(r"Averages: spanish\_discoeval. Accuracy in per cent on test;")
    assert similarity.startswith(r"Semantic similarity (SS), spanish\_senteval. ")


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
    (tmp_path / "tables.tex").write_text(write_latex(report), "utf-8")
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
            "scores.svg": ["char_hash", "own datasets", "All (8)", "SP (1)", "Sentence position"],
            "layers.svg": ["deep, own datasets", "avg", "sp_x", "layer"],
            "layers_by_group.svg": ["deep", "SP, own datasets", "layer"],
        }
        for word in words[name]:
            assert any(word in line for line in comments), word


@pytest.mark.parametrize("name", ["_mine", r"x$\bad$", r"x\$", "majority", "a & <b>"])
def test_any_name_stands_in_the_figures_as_it_is(tmp_path: Path, name: str) -> None:
    report = report_of(tmp_path, ONE, replace(DEEP, name=name))
    figure = draw_layers(profiles(report))
    for drawn in (inline(figure, "layers"), draw_averages([*pictures(report).values()])):
        texts = ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
        assert any((text.text or "").startswith(name) for text in texts)
    figure.set_size_inches(4, 500)
    assert int.from_bytes(image(figure, "png")[20:24]) == MAX_PIXELS


def test_the_heatmap_has_the_standardised_scores_and_marks_the_best(tmp_path: Path) -> None:
    (profile,) = profiles(report_of(tmp_path, DEEP, replace(ONE, scores=(MC, SP))))
    for best, places in (
        (((2,), (0,)), [[0.5, 2.5], [1.5, 0.5]]),
        (((0, 2), (1,)), [[0.5, 0.5], [0.5, 2.5], [1.5, 1.5]]),
    ):
        axes: Any = draw_layers([replace(profile, best=best)]).axes[0]
        meshes = [mesh.get_array().ravel().tolist() for mesh in axes.collections]
        assert meshes == [
            pytest.approx(profile.standard[:3].ravel().tolist()),
            pytest.approx(profile.standard[3].tolist()),
        ]
        (dots,) = (line for line in axes.lines if line.get_label() == "best layer")
        assert dots.get_xydata().tolist() == places
        assert [text.get_text() for text in axes.get_yticklabels()] == ["0", "1", "2", "avg"]
        title = axes.get_title(loc="left")
        assert title.startswith("deep, spanish_discoeval\nAverage best layer, of 0 to 2: ")


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


# --- picture -------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def only(report: Report) -> Picture:
    (picture,) = pictures(report).values()
    return picture


def test_means_baselines_and_people_stand_where_they_are(tmp_path: Path) -> None:
    third = replace(ONE, name="third", scores=(replace(SP, value=0.9, interval=(0.8, 1.0)), DR))
    report = report_of(tmp_path, ONE, TWO, third)
    asked = AnnotatorScores(1, "sp_wiki", SP.digest, 10, (0.7,), 0.7, (0.6, 0.8), None)
    with_people = replace(report.inputs, people={"sp_wiki": asked})
    picture = only(replace(report, inputs=with_people))
    assert [*picture.names] == ["third", "char_hash", "use"]
    whole, position, relations = picture.panels
    assert whole.heading == ("All (2 of 11)", "All groups")
    assert position.heading == ("SP (1 of 3)", "Sentence position")
    assert (whole.people, position.people, relations.people) == (None, 0.7, None)
    assert (position.ends, relations.ends) == ((0.4, 1.0), (0.2, 0.4))
    assert float(position.x(0.7)) == position.left + position.width / 2
    root = ElementTree.fromstring(draw_averages([picture]))
    # Of the legend, one is full and the other hollow.
    dots = [dot.attrib for dot in root.iter(f"{SVG}circle")][:-2]
    drawn = [(dot["cx"], dot["class"] == "dot") for dot in dots]
    assert drawn == [
        *((whole.x(value), full) for value, full in ((0.6, True), (0.37605, False))),
        *((position.x(value), value > 0.5) for value in (0.9, 0.4521, 0.6)),
        *[(relations.x(0.3), False)] * 2,
    ]
    kinds = [path.get("class") for path in root.iter(f"{SVG}path")]
    assert (kinds.count("trivial"), kinds.count("people")) == (3 + 1, 1 + 1)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[-1] == "reached by people"
    assert "–" in texts, "an encoder without all datasets"


@pytest.mark.parametrize("count", [1, MAX_DRAWN, 200])
def test_the_best_of_many_encoders_are_drawn_and_the_others_counted(
    tmp_path: Path, count: int
) -> None:
    names = [f"{'x' * MAX_NAME_LENGTH}_{number}" for number in range(count)]
    report = report_of(tmp_path, replace(ONE, scores=(SP,)))
    encoders = tuple(replace(report.inputs.encoders[0], name=name) for name in names)
    measured = dict.fromkeys(names, report.jackknife_scores["char_hash"])
    picture = only(Report(replace(report.inputs, encoders=encoders), measured))
    assert len(picture.names) == min(count, MAX_DRAWN)
    # A single group is all of them.
    assert [panel.heading[0] for panel in picture.panels] == ["SP (1 of 3)"]
    assert {*picture.names.values()} == {"x" * (MAX_NAME_LENGTH - 1) + "…"}
    text = draw_averages([picture], alone=True, sample=True)
    assert (f"has {count - MAX_DRAWN} other encoders" in text) == (count > MAX_DRAWN)
    assert "Sample data" in text
    assert f'height="{picture.height + 30 + 44 + 4 + 17 * (5 + (count > MAX_DRAWN))}"' in text


# --- texts ---------------------------------------------------------------------------------------

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
def report_texts(tmp_path_factory: pytest.TempPathFactory) -> Report:
    given = whole_report(tmp_path_factory.mktemp("sections"))
    audit, refused = given["instances"] / "audit.json", {"x": "forged"}
    return order_report(
        read_inputs(given["results"], audit, given["rankings"], given["paradigms"], refused=refused)
    )


def written(report_texts: Report) -> dict[Format, str]:
    return {
        "page": write_html(report_texts, []).split("</style>", 1)[1],
        "markdown": write_markdown(report_texts),
        "latex": write_latex(report_texts),
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


def test_every_section_is_in_the_formats_that_it_names(report_texts: Report) -> None:
    texts = written(report_texts)
    shown: dict[str, set[Format]] = {}
    for form in FORMATS:
        names = [table.name for _, tables in sections_of(report_texts, form) for table in tables]
        assert len(names) == len(set(names))
        for section, tables in sections_of(report_texts, form):
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


def test_in_spanish_nothing_that_the_project_writes_is_english(report_texts: Report) -> None:
    english = all_texts()["phrases"].values()
    with in_language("es"):
        shown = "".join(written(report_texts).values())
        spanish = all_texts()["phrases"].values()
    assert "Líneas base triviales" in shown
    written_out = {text for text in english if " " in text.strip() and "{" not in text}
    assert {text for text in written_out - {*spanish} if text in shown} == set()


@pytest.mark.parametrize("shown_in", [FORMATS, ("page",), ("markdown", "latex")])
def test_a_new_section_is_a_function_and_a_line(
    report_texts: Report, monkeypatch: pytest.MonkeyPatch, shown_in: tuple[Format, ...]
) -> None:
    def toys(report_texts: Report) -> list[Table]:
        encoder = Column("Encoder", lambda name: Cell(name, marks=("mine",)))
        rows = rows_of(report_texts.names, [encoder, Column("Toys", lambda name: "a kite")])
        return [Table("toys", "Toys counted", (Cell("Encoder"), Cell("Toys")), rows)]

    monkeypatch.setitem(all_texts()["notes"], "mine", "what it means")
    monkeypatch.setitem(all_texts()["chapters"], "toys", {"name": "Toy", "title": "Toys?"})
    section = Section("toys", "toys", toys, shown_in)
    monkeypatch.setattr(formats, "SECTIONS", (*SECTIONS[:3], section, *SECTIONS[3:]))
    texts = written(report_texts)
    for form, text in texts.items():
        for part in ("Toys counted", "a kite", "what it means"):
            assert (part in text) == (form in shown_in)
    for shown in (
        '<a href="#chapter-toys">Toy</a>',
        '<h2 id="chapter-toys">Toys?</h2>',
        '<h3 id="toys-title">Toys counted</h3>',
    ):
        assert (shown in texts["page"]) == ("page" in shown_in)
