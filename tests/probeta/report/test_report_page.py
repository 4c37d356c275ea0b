"""The page: its data agree with the other files, its sentences with the rules, and a browser."""

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from report_files import (
    FIVE,
    HOSTILE,
    LABELS,
    ONE,
    ROWS,
    SP,
    TWO,
    kept,
    report_of,
    whole_report,
    write_instances,
)

from builders.tasks import TASKS, section_prediction
from builders.tasks.benchmarks import Group
from builders.tasks.task import Task, Text
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_datasets
from evaluation.results.comparison import Difference
from evaluation.results.scores import read_results
from probeta.report.inputs import read_inputs
from probeta.report.instances import (
    MAX_ROWS,
    MAX_TEXT_LENGTH,
    draw_rows,
    find_probed,
    list_rows,
    shown_texts,
)
from probeta.report.sentences import Standing, describe_all, describe_leads, describe_result
from probeta.report.statistics import Mean, Report, order_report
from probeta.report.writing import write_report

TABLES = read_tables(__file__)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
needs_browser = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium"
)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return whole_report(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def report(given: dict[str, Any]) -> Report:
    return order_report(read_inputs(given["results"], given["instances"] / "audit.json"))


@pytest.fixture(scope="module")
def written(given: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "out"
    write_report(**given, out=out)
    return out


def data_of(page: Path) -> Any:
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


# --- data ----------------------------------------------------------------------------------------


def test_the_page_says_what_the_other_files_say(written: Path) -> None:
    """Counts, names and scores of the page are those of report.md, tables.json and scores.json."""
    data, markdown = data_of(written / "index.html"), (written / "report.md").read_text("utf-8")
    keys = {each["key"] for each in data["datasets"].values()}
    counted = [{data["datasets"][d]["key"] for d in b["datasets"]} for b in data["benchmarks"]]
    encoders, datasets = map(int, re.findall(r"\d+", data["title"]))
    assert (encoders, datasets) == (len(data["encoders"]), len(keys))
    assert sum(map(len, counted)) == datasets
    assert markdown.startswith(f"# {data['title']}\n")
    assert f"of {datasets} datasets" in data["audited"]
    probed = [each for each in data["datasets"].values() if "rows_shown" in each]
    tested = sum(each["rows"] for each in probed)
    assert data["about"]["method"].startswith(f"{tested} rows")
    plain = re.sub(r"\\|\*\*", "", markdown)
    assert data["about"]["method"] in plain
    for benchmark in data["benchmarks"]:
        assert f"\n## {benchmark['name']}\n" in markdown
        assert re.sub("<[^>]*>", "", benchmark["result"]) in plain
    scores = {
        (each["dataset"], each["encoder"]): each["score"]
        for each in json.loads((written / "scores.json").read_bytes())
    }
    names = [name for name, _ in data["encoders"]]
    for dataset in probed:
        shown = [cell and cell[0] for cell in dataset["scores"]]
        assert shown == [round(1000 * scores[dataset["key"], name]) for name in names]
    tables = json.loads((written / "tables.json").read_bytes())["means"]
    rows = [dict(zip(tables["columns"], row, strict=True)) for row in tables["data"]]
    whole = {row["encoder"]: row["value"] for row in rows if not row["group"]}
    means, _, _, baseline, *_ = data["benchmarks"][0]["means"][0]
    assert [round(1000 * whole[name]) for name in names] == [cell[0] for cell in means]
    assert round(1000 * whole["trivial_baselines"]) == baseline
    told = [json.dumps(data["benchmarks"]), data["result"], data["audited"], markdown]
    assert not re.search(r"\b(0 of|on 0|1 of \d+ datasets are)\b|above 100\.0", " ".join(told))
    findings = [found for each in data["datasets"].values() for found in each["audit"]]
    assert all(re.search(r"\d", told) for _, told, kind in findings if kind == "surface")


def test_the_page_has_the_parts_of_the_lines_to_cite(report: Report, written: Path) -> None:
    """page.js puts them together."""
    data = data_of(written / "index.html")
    names = [name for name, _ in data["encoders"]]

    def put_together(cited: list[str], encoder: str) -> str:
        of, n, *protocol = cited
        version, usual, by = data["cited_by"][names.index(encoder)]
        (asked,) = protocol or [usual]
        return f"probeta:{version}|data:{of}|protocol:{asked}|encoder:{by}|n:{n}"

    listed = json.loads((written / "scores.json").read_bytes())
    lines = {(each["dataset"], each["encoder"]): each["citation"] for each in listed}
    for key, found in data["datasets"].items():
        score = {"evalrank": f"{key} mrr cosine", "suggestion": "", "coherence": ""}
        if name := score.get(found["group"], key):
            assert put_together(found["cited"], "deep") == lines[name, "deep"]
    averages = report.benchmark_averages.values()
    for benchmark, average in zip(data["benchmarks"], averages, strict=False):
        for encoder in report.means(average.datasets):
            line = put_together(benchmark["cited"][0], encoder)
            assert line == str(report.cite(encoder, average))


def test_best_is_said_of_whole_real_benchmarks_only() -> None:
    means = {
        name: Mean(value, (value - 0.1, value + 0.1))
        for name, value in (("a", 0.9), ("b", 0.7), ("c", 0.5))
    }
    lead = Difference("group", "x", "a", "b", 0.2, (0.1, 0.3))
    beats = {"a": 1, "b": 0, "c": -1}
    best = Standing(means, 0.7, beats, lead, (), whole=True, samples=False)
    assert best.best
    assert (best.beating, best.below) == (["a"], ["c"])
    two = {name: means[name] for name in ("a", "b")}
    for changes in (
        {"samples": True},
        {"whole": False},
        {"tied": ("b",)},
        {"beats": beats | {"a": 0}},
        {"means": two},
    ):
        assert not replace(best, **changes).best


def test_sentences(tmp_path: Path) -> None:
    """The paired test decides who is ahead, and the interval of the mean what is beaten."""
    one = replace(ONE, scores=(SP,))
    for right, lead in (
        ({"use": 20, "char_hash": 4}, "<b>use</b> is ahead of <b>char_hash</b> by "),
        ({"use": 11, "char_hash": 10}, "<b>use</b> and <b>char_hash</b> cannot be distinguished"),
    ):
        report = report_of(tmp_path / str(right["use"]), one, TWO, right=right)
        (average,) = report.benchmark_averages.values()
        told = describe_result(report, average, lambda name: f"<b>{name}</b>")
        assert told.startswith(lead)
        baseline = "<b>use</b> beats the trivial baseline (43.7); <b>char_hash</b>"
        missing = "Only 1 of its 11 datasets are counted: this is not a result of the benchmark."
        assert f"{baseline} is not shown to beat it. {missing}" in told, repr(told)
        assert describe_all(report) == describe_result(report, average)
    assert describe_leads(["a", "b"], ["Lb", "ll", "ww", "Ls"], "of_datasets") == (
        "Of 4 datasets, a leads on 2, the highest score cannot be distinguished from others on 1"
        " and none is shown to beat the trivial baseline on 1."
    )
    assert describe_leads(["a"], ["b", "w"], "of_datasets") == (
        "The trivial baseline is beaten on 1 of 2 datasets."
    )
    assert describe_leads(["a", "b"], ["ww", "s-"], "of_datasets") == (
        "On none of 2 datasets is an encoder shown to beat the trivial baseline."
    )


# --- instances -----------------------------------------------------------------------------------


def shown(report: Report, given: dict[str, Any], dataset: str) -> Any:
    found = find_probed(report, find_datasets(given["instances"]))
    return list_rows(report, found[dataset], report.names)


def test_rows_show_what_tasks_have_changed(report: Report, given: dict[str, Any]) -> None:
    first, second = shown(report, given, "sp_x")["rows_shown"]
    assert first[:3] == [
        [[FIVE[0], 1], *([text] for text in FIVE[1:])],
        "the first sentence was in position 3",
        "moved to the front",
    ]
    assert second[0][0] == [FIVE[0]]
    swapped, ordered, *_ = shown(report, given, "bso_x")["rows_shown"]
    assert swapped[0] == [["Tocó fondo.", 1], ["Llegó una draga.", 1]]
    assert ordered[0] == [["Tocó fondo."], ["Llegó una draga."]]
    changed, whole = shown(report, given, "dc_x")["rows_shown"]
    assert [len(text) for text in changed[0]] == [1, 1, 2, 1, 1, 1]
    assert (changed[2], whole[2]) == ("put in from d9#1", "")
    texts, _, remark, _ = shown(report, given, "dr_x")["rows_shown"][0]
    assert texts == [["la carretera se cerró."], ["Llovió y heló,"]]
    assert remark == "1: satellite; 2: nucleus"
    (dataset,) = (item for item in find_datasets(given["instances"]) if item.name == "ssp_x")
    (part,) = shown_texts(dataset, {"sentence": "ab " * MAX_TEXT_LENGTH})
    assert part.text == "ab " * (MAX_TEXT_LENGTH // 3 - 1) + "ab …"


def test_answers_and_what_is_wrong(report: Report, given: dict[str, Any]) -> None:
    """Classes are numbers of the labels, the gold one last; scores say whether they are far off."""
    item = shown(report, given, "nli_x")
    names = [[item["labels"][answer] for answer in row[3]] for row in item["rows_shown"]]
    assert names[0][0] != names[0][2] == names[0][1]
    item = shown(report, given, "sts_x")
    assert item["labels"] == []
    assert item["rows_shown"][0][1:3] == [
        "0",
        "of 0 to 2 in this test; higher than 0 % of its rows",
    ]
    assert item["rows_shown"][0][3] == [[0.0, 1, 100], [0.0, 0, 0]]


def test_rows_are_drawn_by_their_ids(report: Report, given: dict[str, Any]) -> None:
    ids = [f"mc_x-{i}" for i in range(60)]
    drawn = draw_rows(ids, 1111, "mc_x")
    assert len(shown(report, given, "mc_x")["rows_shown"]) == len(drawn) == MAX_ROWS
    assert drawn == sorted(drawn) != draw_rows(ids, 1112, "mc_x")
    # Which ones does not depend on where they stand.
    turned = draw_rows(ids[::-1], 1111, "mc_x")
    assert {ids[::-1][place] for place in turned} == {ids[place] for place in drawn}
    assert draw_rows(ids[:3], 1111, "mc_x") == [0, 1, 2]


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task.target != "neighbours"])
def test_all_texts_of_any_task_are_shown(task: Task) -> None:
    labels = task.labels or ("a", "b")
    dataset = Dataset("x", task.name, "x", "es", "1.0.0", labels, tuple(task.columns()), {})
    values: dict[str, Any] = {"integer": 1, "number": 1.0, "string": "x"}
    row = {name: values.get(column.kind) for name, column in task.columns().items()}
    for text in task.texts:
        many = [f"{text.natural} {number}" for number in range(text.count or 2)]
        row[text.natural] = many if text.kind == "strings" else many[0]
    given = [row[text.natural] for text in task.texts]
    expected = chain.from_iterable([one] if isinstance(one, str) else one for one in given)
    texts = sorted(" ".join(text.text for text in shown_texts(dataset, row)).split())
    assert texts == sorted(" ".join(expected).split())


@pytest.mark.parametrize(("task", "change", "note"), TABLES["changed"])
def test_changed_sentences_are_marked(task: str, change: dict[str, Any], note: str) -> None:
    dataset = Dataset("x", task, "x", "es", "1.0.0", TASKS[task].labels, (), {})
    (changed,) = shown_texts(dataset, {"sentence": "Frase.", **change})
    assert changed.marked
    assert changed.note.endswith(note)
    (original,) = shown_texts(dataset, {"sentence": "Frase.", **dict.fromkeys(change)})
    assert (original.text, original.marked, original.note) == ("Frase.", False, "")


@pytest.mark.parametrize(
    ("texts", "column"),
    [
        (
            (Text("sentences", "tokens", "strings", "natural text", 3),),
            {"sentences": ["Uno.", "Dos.", "Tres."]},
        ),
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
    data = data_of(tmp_path / "out" / "index.html")
    assert ["TOY", "Counting of toys", 0] in data["benchmarks"][0]["groups"]
    row = data["datasets"]["toy_x"]["rows_shown"][1]
    (values,) = column.values()
    assert [text[0] for text in row[0]] == ([values] if isinstance(values, str) else values)
    assert row[1] == "many toys"


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
        find_probed(report, find_datasets(other))
    assert ("no such dataset" in str(caught.value)) != is_there


def test_predictions_of_other_rows(given: dict[str, Any], tmp_path: Path) -> None:
    results = read_results(given["results"][0])
    scores = tuple(score for score in results.scores if score.dataset == "sp_x")
    item = kept(tmp_path, replace(results, scores=scores))
    report = order_report(read_inputs(item, given["instances"] / "audit.json"))
    with pytest.raises(InputError, match="predictions for the 2 rows of sp_x"):
        shown(report, given, "sp_x")


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        item = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield item
        item.close()


@pytest.fixture
def page(browser: Any, written: Path) -> Iterator[Any]:
    """Open the page; at the end there may be no error, and no request but the one for it."""
    item = browser.new_page(viewport={"width": 1280, "height": 900})
    said: list[str] = []
    item.on("console", lambda message: said.append(message.text))
    item.on("pageerror", lambda error: said.append(str(error)))
    item.on("dialog", lambda dialog: said.append(dialog.message))
    asked: list[str] = []
    item.on("request", lambda request: asked.append(request.url))
    item.goto((written / "index.html").as_uri())
    yield item
    assert said == []
    assert asked == [(written / "index.html").as_uri()]
    item.close()


def go(page: Any, place: str) -> None:
    page.evaluate("place => { location.hash = place; show(); }", place)


# Numbers of several columns whose heads are hidden, and that do not say what they are of.
NAMELESS = """[...document.querySelectorAll(".pairs td.n")].filter((td) =>
    getComputedStyle(td.closest("table").querySelector("thead th.n")).clipPath !== "none"
    && getComputedStyle(td, "::before").content === "none").length"""
VIEWS = """[null, ...D.benchmarks].flatMap((b) => [
    ...chapters(b).map((chapter) => `#${b?.id ?? "all"}/${chapter}`),
    ...(b?.datasets ?? []).map((d) => `#${b.id}/data/${d}?rows=1`)])"""


@needs_browser
def test_every_view_is_drawn_at_any_width(page: Any) -> None:
    for width in (1280, 380):
        page.set_viewport_size({"width": width, "height": 800})
        for view in page.evaluate(VIEWS):
            go(page, view)
            assert page.locator("h2").count() == 1, view
            assert "undefined" not in page.locator("main").inner_text(), view
            assert page.evaluate("document.documentElement.scrollWidth") == width, view
            assert not page.evaluate(NAMELESS), view
            for table in page.locator("table").all():
                rows = table.locator("tbody tr").count()
                assert rows == table.locator("tbody th[scope]").count() > 0, view
            for control in page.locator("input, select").all():
                assert control.evaluate("field => field.labels.length") == 1, view


@needs_browser
def test_a_question_is_asked_of_the_datasets_beside_it(page: Any) -> None:
    go(page, "#own_datasets")
    asked = page.evaluate(
        """[...document.querySelectorAll(".groups .links")].flatMap((links) =>
        [...links.querySelectorAll("a")].map((a) => [links.previousSibling?.textContent.trim(),
        D.datasets[a.hash.split("/")[2].split("?")[0]].question]))"""
    )
    assert len(asked) == len({*ROWS} & {*page.evaluate("Object.keys(D.datasets)")})
    assert all(whole.startswith(question) and question for question, whole in asked)


@needs_browser
def test_the_first_screen_answers(page: Any) -> None:
    assert page.title() == "All benchmarks · Probeta"
    assert "cannot be distinguished" in page.locator(".result").inner_text()
    assert page.evaluate("document.documentElement.scrollHeight") <= 1400
    assert page.locator("tbody tr").count() == 3
    signs = re.findall(r"\d[†‡¶§≈*]|\(s\)", page.content().split("<script", 1)[0])
    assert signs == []


@needs_browser
def test_the_state_is_in_the_address(page: Any, browser: Any) -> None:
    page.locator("#rail a", has_text="Own datasets").click()
    page.locator("#bar a", has_text="Scores").click()
    page.get_by_label("Order").select_option("score")
    page.get_by_label("intervals as numbers").check()
    page.get_by_label("intervals as numbers").is_checked()
    assert page.locator(".ends").first.is_visible()
    assert page.url.endswith("#own_datasets/scores?order=score&ends=1")
    rows = page.locator("tbody th").all_inner_texts()
    assert rows[0] == "sts_x"
    other = browser.new_page()
    other.goto(page.url)
    assert other.locator("tbody th").all_inner_texts() == rows
    other.close()
    page.locator("tbody a", has_text="ssp_x").click()
    assert page.locator("h2").inner_text() == "Section of a sentence: ssp_x"
    assert page.evaluate("document.activeElement.id") == "title"
    page.go_back()
    assert page.locator("h2").inner_text() == "Scores"


@needs_browser
def test_a_new_place_is_seen_from_its_heading(page: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto(f"{page.url}#own_datasets/data/mc_x?rows=1")
    page.evaluate("scrollTo(0, 1500)")
    page.locator(".steps a").first.click()
    page.wait_for_function("document.activeElement.id === 'title'")
    assert 0 < page.locator("h2").bounding_box()["y"] < 400


@needs_browser
def test_a_report_of_one_benchmark_opens_with_it(
    given: dict[str, Any], browser: Any, tmp_path: Path
) -> None:
    write_report(**{**given, "rankings": (), "paradigms": ()}, out=tmp_path / "out")
    item = browser.new_page()
    item.goto((tmp_path / "out" / "index.html").as_uri())
    assert item.locator("h2").inner_text() == "Own datasets"
    assert item.locator("#rail a").count() == 1
    item.close()


@needs_browser
def test_two_encoders_are_compared(page: Any) -> None:
    go(page, "#own_datasets/compare")
    result = page.locator(".result").inner_text()
    first, second = (page.locator(f"[data-option={name}]").input_value() for name in "ab")
    assert (first, second) == ("char_hash", "deep")
    differences = page.locator("main tbody td:nth-child(3)").all_inner_texts()
    go(page, "#own_datasets/compare?a=deep&b=char_hash")
    turned = page.locator("main tbody td:nth-child(3)").all_inner_texts()
    assert sorted(turned) == sorted(
        text.translate(str.maketrans("+−", "−+")) for text in differences
    )
    assert page.locator(".result").inner_text() != result or "none" in result


@needs_browser
def test_scores_are_saved_as_csv(page: Any) -> None:
    go(page, "#own_datasets/scores")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text("utf-8").splitlines()))
    assert len(rows) == 2 * 8
    (row,) = (row for row in rows if (row["dataset"], row["encoder"]) == ("sts_x", "char_hash"))
    assert (row["group"], row["score"], row["baseline"]) == ("Similarity", "80", "40")


@needs_browser
def test_hostile_texts_stay_texts(page: Any) -> None:
    page.evaluate("text => { D.benchmarks[0].name = NAMES[0] = D.encoders[0][0] = text; }", HOSTILE)
    for view in page.evaluate(VIEWS):
        go(page, view)
        assert page.locator("main script").count() == 0, view
    go(page, "#own_datasets/data/nli_x?rows=1")
    assert HOSTILE in page.locator(".card ol li").first.inner_text()
    go(page, "#own_datasets/data/sp_x?rows=1")
    moved = page.locator(".cards .marked")
    assert moved.inner_text() == FIVE[0]
    answers = page.locator(".cards .card").first.locator("ul li").all_inner_texts()
    assert [" ".join(text.split()) for text in answers] == [
        f"{HOSTILE}: 4 ✗ wrong",
        "deep: 3 ✓ right",
    ]


@needs_browser
def test_dark_and_without_javascript(browser: Any, page: Any, written: Path) -> None:
    def luminance(what: str) -> float:
        colour = page.evaluate(f"getComputedStyle(document.body).{what}")
        return sum(float(part) for part in re.findall(r"[\d.]+", colour)[:3]) / 3

    for scheme, dark in (("light", False), ("dark", True)):
        page.emulate_media(color_scheme=scheme)
        assert [luminance(each) > 125 for each in ("backgroundColor", "color")] == [not dark, dark]
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto((written / "index.html").as_uri())
    assert plain.locator("noscript tbody th").all_inner_texts() == [
        *("char_hash", "deep", "trivial baseline")
    ]
    context.close()
