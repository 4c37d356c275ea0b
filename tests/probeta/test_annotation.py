"""Sheets that people fill in: their rows, the page, what is refused, accuracy and agreement."""

import csv
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from case_tables import read_tables
from instance_files import row, write_dataset
from report_files import SP, TWO, cells, report_of, tables_of

from evaluation.datasets import find_datasets
from evaluation.results.stored import write_stored
from probeta.annotation import AnnotatorScores, cohen_kappa, read_annotator_scores
from probeta.cli import main

TABLES = read_tables(__file__)

Capsys = pytest.CaptureFixture[str]
HOSTILE = '</p><script>alert(1)</script> "&amp;"\u202e\n=1+1'
# Three of four rows are swapped.
ROWS = [row(i, int(i % 4 == 0), sentences=[f"=uno {i};", HOSTILE]) for i in range(24)]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@pytest.fixture
def here(empty_folder: Path) -> Path:
    """A folder with a sheet of eight rows."""
    splits = {"train": ROWS[:4], "validation": ROWS[:4], "test": ROWS}
    write_dataset(Path("dist/hub/bso_own"), "sentence_ordering", splits)
    assert main(["sheet", "bso_own", "--rows", "8"]) == 0
    return empty_folder / "data" / "people"


def lines_of(sheet: Path) -> list[list[str]]:
    return list(csv.reader(sheet.read_text("utf-8-sig").splitlines(keepends=True)))


def filled(sheet: Path, out: str, wrong: int, separator: str = ",") -> list[str]:
    """Fill in a sheet with a number of wrong answers, and return the keys of its rows."""
    rows = lines_of(sheet)
    for at, line in enumerate(rows[1:]):
        right = int(line[0].rsplit(":")[-1]) % 4 == 0
        line[2] = "original" if right != (at < wrong) else "swapped"
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return [line[0] for line in rows[1:]]


def test_a_sheet_is_balanced_and_has_no_labels(here: Path, capsys: Capsys) -> None:
    keys = filled(here / "bso_own.csv", "a.csv", 0)
    (dataset,) = find_datasets(Path("dist/hub"))
    assert keys[0] == f"bso_own:{dataset.digest()[:16]}:4"
    # Four of them, the multiples of four, are "original".
    assert [int(key.rsplit(":")[-1]) for key in keys] == [4, 11, 12, 0, 17, 19, 23, 20]
    text = (here / "bso_own.csv").read_text("utf-8")
    shown = '</p><script>alert(1)</script> ""&amp;"" =1+1'
    first = f'{keys[0]},"sentence 1: =uno 4;\nsentence 2: {shown}",\n'
    assert text.startswith(f"\ufeffrow,texts,answer\n{first}bso_own:")
    page = (here / "bso_own.html").read_text("utf-8")
    assert "Are the two sentences in their original order, or swapped?" in page
    assert (page.count("<script>"), page.count("&lt;script&gt;")) == (1, 8)
    assert re.findall(r'data-row="(.*)"', page) == keys
    # It may be filled in.
    assert main(["sheet", "bso_own", "--rows", "8"]) == 1
    assert "move it away" in capsys.readouterr().err


def test_people_are_scored(here: Path, capsys: Capsys) -> None:
    filled(here / "bso_own.csv", "a.csv", 1)
    filled(here / "bso_own.csv", "b.csv", 3, ";")
    assert main(["sheet", "--score", "a.csv", "b.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "bso_own: 75.0 [36.2, 94.1] on 8 rows",
        "  a.csv: 87.5",
        "  b.csv: 62.5",
        "  Cohen's kappa: 0.47",
        "data/people/bso_own.json: `probeta report` shows it",
    ]
    assert read_annotator_scores(here / "bso_own.json").accuracies == (0.875, 0.625)


def test_kappa() -> None:
    """Of ten rows, seven are agreed on; .5 × .7 + .3 × .3 are by chance."""
    one, other = np.array([0] * 5 + [1] * 3 + [2] * 2), np.array([0] * 5 + [0, 1, 1] + [0, 1])
    assert cohen_kappa(one, other) == pytest.approx((0.7 - 0.44) / (1 - 0.44))
    assert cohen_kappa(one * 0, one * 0) is None


@pytest.mark.parametrize(("old", "new", "where", "words"), TABLES["bad_sheets"])
def test_a_bad_sheet_is_refused(
    here: Path, capsys: Capsys, old: str, new: str, where: str, words: str
) -> None:
    filled(here / "bso_own.csv", "a.csv", 0)
    text = Path("a.csv").read_text("utf-8").replace(old, new, 1)
    Path("a.csv").write_text(text, "utf-8", errors="surrogateescape")
    assert main(["sheet", "--score", "a.csv"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {where}\n")
    assert words in error
    assert not (here / "bso_own.json").exists()


def test_other_rows_are_refused(here: Path, capsys: Capsys) -> None:
    filled(here / "bso_own.csv", "a.csv", 0)
    (here / "bso_own.csv").unlink()
    assert main(["sheet", "bso_own", "--rows", "6"]) == 0
    filled(here / "bso_own.csv", "b.csv", 0)
    assert main(["sheet", "--score", "a.csv", "b.csv"]) == 1
    assert "found:    2 rows that only one of the two has" in capsys.readouterr().err
    write_dataset(Path("dist/hub/bso_own"), "sentence_ordering", {"test": ROWS[1:]})
    assert main(["sheet", "--score", "a.csv"]) == 1
    assert "a row of the data here, such as bso_own:" in capsys.readouterr().err


def test_the_report_shows_people_of_the_same_rows(tmp_path: Path, capsys: Capsys) -> None:
    of = AnnotatorScores(1, "sp_wiki", SP.digest, 50, (0.8, 0.9), 0.85, (0.75, 0.92), 0.6)
    files = [tmp_path / "same.json", tmp_path / "other.json"]
    write_stored(of, files[0])
    write_stored(replace(of, digest="0" * 64), files[1])
    report = report_of(tmp_path, TWO, people=files)
    assert "other.json: not shown" in capsys.readouterr().out
    (table,) = tables_of(report, "group")
    assert cells(table)[4] == ["People (n)", "85.0 [75.0, 92.0] (2 × 50 rows)"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium")
@pytest.mark.parametrize("buttons", [2, 1])
def test_the_page_saves_what_can_be_scored(
    here: Path, monkeypatch: pytest.MonkeyPatch, buttons: int
) -> None:
    from playwright.sync_api import sync_playwright

    monkeypatch.setattr("probeta.annotation.MAX_BUTTONS", buttons)
    (here / "bso_own.csv").unlink()
    assert main(["sheet", "bso_own", "--rows", "8"]) == 0
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = launched.new_page()
        page.goto((here / "bso_own.html").as_uri())
        answers = page.locator("input[value=original]" if buttons == 2 else "input").all()
        assert len(answers) == 8
        for answer in answers:
            answer.check() if buttons == 2 else answer.fill("original")
        with page.expect_download() as saved:
            page.get_by_role("button").click()
        saved.value.save_as("saved.csv")
    given, filled_in = lines_of(here / "bso_own.csv"), lines_of(Path("saved.csv"))
    assert filled_in == [given[0], *([*line[:2], "original"] for line in given[1:])]
    assert main(["sheet", "--score", "saved.csv"]) == 0
