"""The page in a browser: it renders, sorts, filters and browses, and asks for nothing."""

import csv
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from report_files import (
    CLUSTERED,
    DEEP,
    FIVE,
    HOSTILE,
    ONE,
    RANKED,
    TWO,
    of_encoder,
    report_of,
    whole_report,
)

from probeta.report.formats import write_html
from probeta.report.writing import write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium"
)
FOLDED = ["differences", "differences-evalrank", "differences-paralex", "clusters-paralex-es"]
FOLDED += ["baselines", "measurements", "postprocessing"]
TABLES = ["averages-own-datasets", "scores-own-datasets", "correlations", "layers-deep"]
TABLES += ["pairs-own-datasets", "evalrank-evalrank-es", "evalrank-evalrank-words-es", "paralex"]
TABLES += ["inherited", "verdicts", "encoders", *FOLDED]
SCORES = "scores-own-datasets"
# What is off the screen has no text for `inner_text` until the browser lays it out, when it likes.
LAID_OUT = """addEventListener("DOMContentLoaded", () => {
    const rule = ".frame { content-visibility: visible }";
    document.head.append(Object.assign(document.createElement("style"), { textContent: rule }));
})"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    write_report(**whole_report(folder), out=folder / "out")
    return (folder / "out" / "index.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        item = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield item
        item.close()


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    """Return one context: a process of Chromium for each page would take long to start."""
    item = browser.new_context(viewport={"width": 1280, "height": 900})
    item.add_init_script(LAID_OUT)
    yield item
    item.close()


@pytest.fixture
def page(context: Any, address: str) -> Iterator[Any]:
    """Open the page; at the end there may be no error, and no request but the one for it."""
    item = context.new_page()
    said: list[str] = []
    item.on("console", lambda message: said.append(message.text))
    item.on("pageerror", lambda error: said.append(str(error)))
    item.on("dialog", lambda dialog: said.append(dialog.message))
    asked: list[str] = []
    item.on("request", lambda request: asked.append(request.url))
    item.goto(address)
    yield item
    assert said == []
    assert asked == [address]
    item.close()


def column(page: Any, table: str, number: int) -> list[str]:
    cells = page.locator(f"#{table} tbody tr:visible > :nth-child({number})")
    return [text.split()[0] for text in cells.all_inner_texts()]


def test_it_renders(page: Any) -> None:
    assert page.title() == "Probeta: scores of sentence encoders"
    for table in TABLES:
        assert page.locator(f"#{table} tbody tr").count(), table
        assert page.locator(f"#{table}").is_visible() != (table in FOLDED)
    for table in page.locator("table").all():
        assert table.locator("caption").text_content().strip()
        assert table.locator("thead th[scope]").count()
        assert table.locator("tbody tr").count() == table.locator("tbody th[scope=row]").count()
    for control in page.locator("input, select").all():
        assert control.evaluate("field => field.labels.length") == 1
    assert "char_hash" in page.locator("svg.picture").text_content()
    assert page.locator("#layers-deep td.best").count() == 8
    links = page.locator("nav a").all_inner_texts()
    assert links == [
        *("Averages", "Scores", "Compared", "Layers", "Rankings", "Study", "Instances", "Items"),
        *("Audit", "Encoders", "Marks"),
    ]
    section = page.locator("section:has(#chapter-study)")
    assert "three probed encoders or more" in section.text_content()
    assert section.locator("summary").all_inner_texts() == [
        "Which scores correlate with downstream tasks",
        *("Scores that need no probe", "Similarity by level"),
    ]
    # Nothing is wider than the page but what scrolls by itself.
    for width in (1280, 380):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_long_table_shows_its_first_rows_until_all_are_asked_for(page: Any) -> None:
    page.locator("details:has(#measurements) summary").press("Enter")
    page.evaluate(
        """() => {
            const table = document.getElementById("measurements");
            const [first] = table.tBodies[0].rows;
            for (let count = table.tBodies[0].rows.length; count < 230; count += 1)
                table.tBodies[0].append(first.cloneNode(true));
            shorten(table);
        }"""
    )
    rows = page.locator("#measurements tbody tr:visible")
    assert rows.count() == 200
    more = page.locator(".frame + .pages")
    assert "200 of 230 rows" in more.inner_text()
    more.get_by_role("button").click()
    assert (rows.count(), more.count()) == (230, 0)


def test_the_names_of_columns_stay_above_a_long_table(page: Any) -> None:
    page.locator("details:has(#measurements) summary").press("Enter")
    for width, fits in ((1280, True), (380, False)):
        page.set_viewport_size({"width": width, "height": 400})
        for table in ("measurements", "scores-own-datasets"):
            # What is not on the screen is not measured; the observer answers after the next frame.
            page.locator(f"#{table}").scroll_into_view_if_needed()
            page.wait_for_timeout(200)
            fit, above, moved = page.evaluate(
                """(id) => {
                    const table = document.getElementById(id);
                    const box = table.parentElement;
                    const top = (node) => node.getBoundingClientRect().top;
                    const fits = box.parentElement.classList.contains("fits");
                    if (fits) scrollTo({ top: scrollY + top(table) + 150, behavior: "instant" });
                    else box.scrollTop = 150;
                    const edge = fits ? document.querySelector("nav").offsetHeight : top(box) + 1;
                    const header = [...table.tHead.rows[0].cells].map((cell) => top(cell) - edge);
                    const moved = top(table.tBodies[0].rows[0]) - edge;
                    return [fits, Math.max(...header.map(Math.abs)), moved];
                }""",
                table,
            )
            assert fit == fits, table
            assert (above <= 1, moved < 0) == (True, True), table


def test_a_table_shows_that_it_scrolls_sideways(page: Any) -> None:
    frame = page.locator(".frame:has(#scores-own-datasets)")

    def shows(*expected: bool) -> bool:
        opacity = "node => getComputedStyle(node, '::after').opacity"
        shadow = "node => getComputedStyle(node.querySelector('tbody th')).boxShadow"
        for _ in range(100):
            # The observer answers after the next frame, or later.
            page.wait_for_timeout(100)
            if (frame.evaluate(shadow) != "none", frame.evaluate(opacity) == "1") == expected:
                return True
        return False

    assert shows(False, False)
    page.set_viewport_size({"width": 380, "height": 800})
    assert shows(False, True)
    frame.evaluate("node => { node.firstElementChild.scrollLeft = 40; }")
    assert shows(True, True)
    frame.evaluate("node => { node.firstElementChild.scrollLeft = 9999; }")
    assert shows(True, False)


def test_the_first_screen_says_which_encoder_is_best(page: Any) -> None:
    answer = page.locator("#answers .answer").inner_text()
    assert answer.startswith("char_hash is best, with 49.6 on average. The next, deep, has 45.6")
    box = page.locator("svg.picture").bounding_box()
    assert (box["y"] < 450, box["height"] > 100) == (True, True)
    assert page.locator("#averages-own-datasets").bounding_box()["y"] < 800
    assert page.locator("#marks ~ dl dt").all_inner_texts().count("†") == 1
    assert column(page, "averages-own-datasets", 1) == ["char_hash", "deep", "trivial"]
    assert page.locator("#averages-own-datasets td strong").count() > 0
    assert page.locator(".warning").count() == 0


def test_sorting(page: Any) -> None:
    before = column(page, SCORES, 1)
    names = [name.rstrip("*‡¶") for name in before]
    assert names == ["mc_x", "nli_x", "sts_x", "sp_x", "bso_x", "dc_x", "ssp_x", "dr_x"]
    header = page.locator(f"#{SCORES} thead th").nth(2)
    assert header.get_attribute("aria-sort") is None
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    scores = [float(score) for score in column(page, SCORES, 3)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 80.0
    # By the keyboard too.
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert [float(score) for score in column(page, SCORES, 3)] == scores[::-1]
    # The third time, the first order is back.
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") is None
    assert column(page, SCORES, 1) == before
    header.get_by_role("button").click()
    page.locator(f"#{SCORES} thead th").first.get_by_role("button").click()
    assert header.get_attribute("aria-sort") is None
    assert column(page, SCORES, 1) == sorted(before)


def test_a_table_is_saved_with_its_numbers(page: Any) -> None:
    saved = page.locator(f".frame:has(#{SCORES}) + .downloads")
    texts = []
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            saved.get_by_role("button", name=kind).click()
        texts.append(Path(download.value.path()).read_text("utf-8"))
    rows, objects = list(csv.DictReader(texts[0].splitlines())), json.loads(texts[1])
    assert download.value.suggested_filename == f"{SCORES}.json"
    assert [{name: str(value) for name, value in row.items()} for row in objects] == rows
    (mc,) = (row for row in objects if row["Dataset"] == "mc_x")
    written = json.loads(Path(urlsplit(page.url).path).with_name("tables.json").read_text("utf-8"))
    ((_, _, cell, *_),) = (row for row in written[SCORES]["rows"] if "mc_x" in str(row[0]))
    name = written[SCORES]["columns"][2]
    assert mc[name] == cell["value"]
    ends = [f"{100 * mc[f'{name} {end}']:.1f}" for end in ("low", "high")]
    assert f"[{', '.join(ends)}]" == cell["detail"]
    assert mc.get(f"{name} mark", "") == " ".join(cell.get("marks", ()))


def test_the_state_is_in_the_address(page: Any, context: Any) -> None:
    page.locator(f"#{SCORES} thead th").nth(2).get_by_role("button").click()
    filters = page.locator(f".filters[data-table={SCORES}]")
    filters.get_by_label("Find").fill("x SP")
    page.locator("#dataset").select_option("sp_x")
    page.locator("#wrong").check()
    page.locator("nav a", has_text="Scores").click()
    shown = column(page, SCORES, 1)
    other = context.new_page()
    other.goto(page.url)
    assert column(other, SCORES, 1) == shown
    header = other.locator(f"#{SCORES} thead th").nth(2)
    assert header.get_attribute("aria-sort") == "descending"
    assert other.locator("#dataset").input_value() == "sp_x"
    assert other.locator("#wrong").is_checked()
    other.close()
    # What is as it was at first is not in it.
    filters.get_by_label("Find").fill("")
    for _ in range(2):
        page.locator(f"#{SCORES} thead th").nth(2).get_by_role("button").click()
    page.locator("#wrong").uncheck()
    assert page.url.endswith("#chapter-scores?dataset=sp_x")


def test_names_lead_to_instances_and_groups_to_their_scores(page: Any) -> None:
    link = page.locator(f"#{SCORES} tbody th a", has_text="ssp_x")
    assert link.get_attribute("title") == "Section prediction (own dataset)"
    link.click()
    assert page.locator("#dataset").input_value() == "ssp_x"
    about = page.locator("#about-dataset")
    assert about.inner_text() == "Section prediction (own dataset) · audit"
    about.get_by_role("link", name="audit").click()
    assert column(page, "verdicts", 1) == ["ssp_x"]
    page.locator("#averages-own-datasets thead a", has_text="SPC").click()
    assert [name.rstrip("*‡¶") for name in column(page, SCORES, 1)] == ["nli_x"]


def test_numbers_are_sorted_unit_by_unit(page: Any) -> None:
    page.locator("details:has(#measurements) summary").press("Enter")
    header = page.locator("#measurements thead th").nth(4)
    assert header.inner_text().strip() == "Value"
    cells = page.locator("#measurements tbody tr > :nth-child(5)")

    def found() -> list[str]:
        header.get_by_role("button").click()
        return [str(text) for text in cells.all_inner_texts()]

    descending, ascending = found(), found()
    shares = ["20.00 %"] * 7 + ["40.00 %"] * 8 + ["51.00 %"] * 8
    # The three datasets that nothing is probed on have a count of 0.
    assert ascending == [*shares, "0.300", "0", "0", "0", "1"]
    assert descending == ascending[::-1]


def test_what_has_no_value_is_sorted_to_the_end(page: Any) -> None:
    page.locator("details:has(#baselines) summary").press("Enter")
    header = page.locator("#baselines thead th").nth(1)
    assert column(page, "baselines", 2)[2] == "–"
    for _ in range(2):
        header.get_by_role("button").click()
        assert column(page, "baselines", 1)[-1] == "sts_x"


def test_filtering(page: Any) -> None:
    filters = page.locator(f".filters[data-table={SCORES}]")
    assert page.locator(".empty:visible").count() == 0
    filters.get_by_label("Find").fill("SP_X bag")
    assert column(page, SCORES, 1) == []
    assert page.locator(".empty:visible").inner_text() == "No row has all of this. Show all rows"
    page.get_by_role("button", name="Show all rows").click()
    assert page.locator(".empty:visible").count() == 0
    assert len(column(page, SCORES, 1)) == 8
    filters.get_by_label("Find").fill("SP_x")
    assert [name.rstrip("*‡¶") for name in column(page, SCORES, 1)] == ["sp_x", "ssp_x"]
    assert filters.locator("output").inner_text() == "2 of 8 rows"
    filters.get_by_label("Group").select_option("SP")
    assert filters.locator("output").inner_text() == "1 of 8 rows"
    filters.get_by_label("Find").fill("")
    filters.get_by_label("Group").select_option("")
    assert len(column(page, SCORES, 1)) == 8
    page.locator("details:has(#measurements) summary").press("Enter")
    filters = page.locator(".filters[data-table=measurements]")
    filters.get_by_label("Verdict").select_option("inherited")
    assert column(page, "measurements", 1) == ["mc_x"]


def test_clusters_unfold_and_are_found_by_the_terms_left_out(page: Any) -> None:
    page.locator("summary", has_text="Clusters of paralex_es").press("Enter")
    assert page.locator("#clusters-paralex-es").is_visible()
    assert column(page, "clusters-paralex-es", 1) == ["capitals", "weekdays"] * 2
    filters = page.locator(".filters[data-table=clusters-paralex-es]")
    filters.get_by_label("Find").fill("berlin lower")
    assert column(page, "clusters-paralex-es", 1) == ["capitals"]
    header = page.locator("#paralex thead th").nth(4)
    header.get_by_role("button").click()
    assert column(page, "paralex", 5) == ["37.5", "25.0"]


def test_the_pairs_with_an_encoder(browser: Any, tmp_path: Path) -> None:
    """What names a row stays, however many columns that is."""
    results = (DEEP, ONE, TWO)
    ranked, clustered = zip(*(of_encoder(item, RANKED, CLUSTERED) for item in results), strict=True)
    report = report_of(tmp_path, *results, rankings=ranked, paradigms=clustered)
    path = tmp_path / "index.html"
    path.write_text(write_html(report, []), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    for table, texts in zip(FOLDED[:3], (1, 3, 4), strict=True):
        folded = page.locator(f"details:has(#{table}) summary")
        if folded.count():
            folded.click()
        headers = page.locator(f"#{table} thead th:visible")
        assert headers.count() == texts + 3
        pairs = page.locator(f".filters[data-table={table}]").get_by_label("Pairs with")
        pairs.select_option("deep")
        shown = [text.strip() for text in headers.all_inner_texts()]
        assert shown[texts:] == ["deep − char_hash", "deep − use"]
    assert page.locator(".filters[data-table=clusters-paralex-es] .pair").count() == 0
    page.close()


def test_browsing_instances(page: Any) -> None:
    rows = page.locator(".instance")
    page.locator("#dataset").select_option("sp_x")
    moved = rows.first.locator("li.marked")
    assert moved.locator("[lang=es]").inner_text() == FIVE[0]
    assert moved.locator(".tag").inner_text() == "3"
    assert rows.first.locator(".gold").inner_text() == "gold: the first sentence was in position 3"
    answers = rows.first.locator(".answers li").all_inner_texts()[1:]
    answers = [" ".join(text.split()) for text in answers]
    assert answers == ["✗ char_hash: 4, wrong", "✓ deep: 3 2 of 3 starts"]
    counts = [rows.count()]
    for narrow in (
        page.locator("#wrong").check,
        lambda: page.locator("#encoder").select_option("deep"),
        page.locator("#wrong").uncheck,
        lambda: page.locator("#gold").select_option("1"),
    ):
        narrow()
        counts.append(rows.count())
    assert counts == [2, 1, 0, 2, 1]
    page.locator("#dataset").select_option("dc_x")
    assert rows.first.locator("li.marked .note").inner_text() == "put in from d9#1"
    # The encoder stays, the class does not.
    assert page.locator("#encoder").input_value() == "deep"
    assert rows.count() == 2
    page.locator("#dataset").select_option("sts_x")
    assert not page.locator("#gold-label").is_visible()
    assert "char_hash: 0, far off" in rows.first.inner_text()


def test_pages_and_hostile_texts(page: Any) -> None:
    page.locator("#dataset").select_option("mc_x")
    assert page.locator("#found").inner_text() == "50 of 50 rows on this page; 60 test rows in all"
    assert page.locator(".instance").count() == 10
    first = page.locator(".instance").first.inner_text()
    page.get_by_role("button", name="Next").click()
    assert page.locator("#page").inner_text() == "page 2 of 5"
    assert page.locator(".instance").first.inner_text() != first
    page.locator("#dataset").select_option("nli_x")
    page.locator("#find").fill("ALERT ¿que?")
    assert page.locator(".instance").count() == 1
    assert page.locator(".instance [lang=es]").first.inner_text() == HOSTILE


@pytest.mark.parametrize("tag", ["1", ""])
@pytest.mark.parametrize(
    ("text", "direction", "side"), [("שלום עולם.", "rtl", "right"), ("¿Qué?", "ltr", "left")]
)
def test_texts_run_in_their_own_direction(
    page: Any, text: str, direction: str, side: str, tag: str
) -> None:
    found = page.evaluate(
        """([text, tag]) => {
            const part = { units: [text, text], tag, note: "", marked: false };
            const item = partElement(part, "x");
            document.querySelector(".parts").append(item);
            const text_ = item.querySelector("[lang]");
            const range = document.createRange();
            range.selectNodeContents(text_);
            const [box, letters] = [text_.getBoundingClientRect(), range.getBoundingClientRect()];
            const side = letters.left - box.left < box.right - letters.right ? "left" : "right";
            return [text_.dir, getComputedStyle(text_).direction, side];
        }""",
        [text, tag],
    )
    assert found == ["auto", direction, side]


def test_the_tree(page: Any) -> None:
    page.locator("#dataset").select_option("dr_x")
    tree = page.locator(".instance").first.locator(".tree svg")
    assert tree.get_attribute("aria-label") == "Tree of the text, 2 relations over 3 units"
    assert tree.locator("rect.shown").count() == 2
    titles = tree.locator("title").all_text_contents()
    assert titles == ["NS-Causa, units 1 to 3", "NN-Lista, units 2 to 3"]
    # The satellite stands first in the text, the nucleus, of two units, after it.
    places = [
        [float(item.get_attribute(what)) for what in ("x", "y", "width")]
        for item in tree.locator("rect").all()
    ]
    unit = places[1][2]
    assert places[:2] == [[unit, 0.0, 2 * unit], [0.0, 0.0, unit]]
    assert places[2:] == [[unit, 26.0, unit], [2 * unit, 26.0, unit]]


def test_dark_and_light(page: Any) -> None:
    def luminance(what: str, of: str) -> float:
        colour = page.locator(of).first.evaluate(f"node => getComputedStyle(node).{what}")
        return sum(float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3]) / 3

    shown = [("backgroundColor", "body"), ("color", "body"), ("fill", ".figure svg text")]
    for scheme, dark in (("light", False), ("dark", True)):
        page.emulate_media(color_scheme=scheme)
        assert [luminance(*each) > 125 for each in shown] == [not dark, dark, dark]


def test_without_javascript(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    for table in TABLES:
        assert page.locator(f"#{table} tbody tr").count(), table
    assert page.locator(f"#{SCORES}").is_visible()
    assert page.locator(".figure svg").first.is_visible()
    assert page.locator(".filters:visible, #browser:visible, th button").count() == 0
    assert "need JavaScript" in page.locator("#instances-title ~ noscript").inner_text()
    context.close()
