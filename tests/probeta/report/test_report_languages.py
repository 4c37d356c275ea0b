"""Tables across languages, and of single rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import report_files
from report_files import (
    ALL_BASELINES,
    CLUSTERED,
    DR,
    ONE,
    PARADIGM,
    SP,
    STS,
    TWO,
    audit_file,
    cells,
    kept,
    names,
    one,
    report_of,
    say_of_dataset,
    whole_report,
)

from evaluation.datasets import find_datasets
from evaluation.results.scores import (
    predictions_table,
    read_predictions,
    read_results,
    write_results,
)
from probeta.report.formats import write_json, write_latex, write_markdown
from probeta.report.inputs import read_inputs
from probeta.report.instances import MAX_ROWS, browser_contents
from probeta.report.statistics import Report, order_report
from probeta.report.tables.compared import languages, shared_tasks, tasks_in_languages
from probeta.report.tables.encoders import examples, items

# --- report languages ----------------------------------------------------------------------------

WIKIPEDIA: dict[str, Any] = {"from": ["wikipedia"], "options": {}}
NEWS: dict[str, Any] = {"from": ["news"], "options": {}}


def report_of_languages(folder: Path, made: dict[str, tuple[str, dict[str, Any]]]) -> Report:
    """Return the results of two encoders on sentence position: dataset to language and making."""
    scores = tuple(
        replace(SP, dataset=name, language=language) for name, (language, _) in made.items()
    )
    baselines = {name: {"majority": 0.2, "length": 0.3} for name in made}
    path = audit_file(folder, baselines, **dict.fromkeys(made, SP.rows))
    for name, (_, making) in made.items():
        say_of_dataset(path, name, made=making)
    better = tuple(replace(score, value=0.6, interval=(0.58, 0.62)) for score in scores)
    other = replace(ONE, name="other", encoder=ONE.encoder | {"encoder": "static"}, scores=better)
    results = kept(folder, replace(ONE, scores=scores), other)
    return order_report(read_inputs(results, path))


def test_the_same_task_stands_side_by_side(tmp_path: Path) -> None:
    made = {
        "sp_es": ("es", WIKIPEDIA),
        "sp_en": ("en", WIKIPEDIA),
        "news_es": ("es", NEWS),
        "news_en": ("en", NEWS),
        "news_pt": ("pt", NEWS),
        "alone": ("es", {"from": ["theses"], "options": {}}),
    }
    report = report_of_languages(tmp_path, made)
    news, wikipedia = shared_tasks(report)
    assert news.name == "sentence position: news"
    assert news.datasets == {"en": "news_en", "es": "news_es", "pt": "news_pt"}
    assert wikipedia.datasets == {"en": "sp_en", "es": "sp_es"}
    assert news.different == wikipedia.different == frozenset()
    rows = cells(one(tasks_in_languages(report)))
    header = names(one(tasks_in_languages(report)))
    assert header == ["Task", "Measure", "Encoder", "en", "es", "pt"]
    for row, source in zip(rows[::2], ("news", "wikipedia"), strict=True):
        assert row[:4] == [f"sentence position: {source}", "accuracy", "other", "60.0"]
    assert rows[-1][-1] == "–"
    # The way from the best trivial baseline, 30 per cent, to 100; without one, from 0.
    english = one(tasks_in_languages(report)).rows[0].cells[3]
    assert english.shade == pytest.approx((0.6 - 0.3) / (1 - 0.3))
    assert (english.title, english.detail) == ("news_en [58.0, 62.0]", "")
    assert [cell.title for cell in one(tasks_in_languages(report)).header[3:]] == [
        *("English", "Spanish", "Portuguese")
    ]
    # Of the two, only one is in all languages.
    table = one(languages(report))
    assert "Means over the tasks that all these languages have" in table.about[1]
    assert table.about[1].count("sentence position") == 1
    means = {"char_hash": "45.2", "other": "60.0", "trivial baselines": "30.0"}
    assert {row[0]: row[1:] for row in cells(table)} == {n: [mean] * 3 for n, mean in means.items()}
    # A language that has other tasks alone takes nothing away from the others' means.
    made["ssp_fr"] = ("fr", {"from": ["theses"], "options": {"a": "b"}})
    assert (
        one(languages(report_of_languages(tmp_path / "more", made))).header[1:] == table.header[1:]
    )
    text = write_markdown(report)
    for title in ("Across languages", "Tasks across languages"):
        assert f"## {title}\n" in text
        assert title in write_latex(report)


def test_what_is_made_otherwise_is_in_no_mean(tmp_path: Path) -> None:
    similar = {"from": ["wikipedia"], "options": {"donors": "similar"}}
    made = {"dc_es": ("es", WIKIPEDIA), "dc_en": ("en", similar), "dc_pt": ("pt", WIKIPEDIA)}
    report = report_of_languages(tmp_path, made)
    (task,) = shared_tasks(report)
    assert task.different == {"en"}
    assert languages(report) == []
    row = one(tasks_in_languages(report)).rows[0].cells[3:]
    assert [("(d)" in cell.marks) for cell in row] == [True, False, False]
    # With two, neither is as the other.
    made.pop("dc_pt")
    (task,) = shared_tasks(report_of_languages(tmp_path / "two", made))
    assert task.different == {"en", "es"}
    # The one that is made as in the other language is taken.
    made["dc_en_too"] = ("en", WIKIPEDIA)
    (task,) = shared_tasks(report_of_languages(tmp_path / "three", made))
    assert task.datasets == {"en": "dc_en_too", "es": "dc_es"}
    assert task.different == frozenset()


def test_an_edition_stands_in_no_row(tmp_path: Path) -> None:
    made = {"sp_old": ("es", WIKIPEDIA), "sp_new": ("pt", WIKIPEDIA)}
    report = report_of_languages(tmp_path, made)
    assert len(shared_tasks(report)) == 1
    edition = {"sp_new": {**report.inputs.audit["sp_new"], "edition_of": "sp_old"}}
    audit = {"datasets": report.inputs.audit | edition}
    inputs = replace(report.inputs, audit_report=audit)
    assert shared_tasks(replace(report, inputs=inputs)) == []


@pytest.mark.parametrize("making", [None, WIKIPEDIA])
def test_a_report_in_one_language_has_no_such_table(
    tmp_path: Path, making: dict[str, Any] | None
) -> None:
    report = report_of_languages(
        tmp_path, {"sp_a": ("es", making or {}), "sp_b": ("es", making or {})}
    )
    assert languages(report) == tasks_in_languages(report) == []


def test_clusters_stand_side_by_side_by_the_shared_words(tmp_path: Path) -> None:
    datasets = ("paralex_es", "paralex_en")
    audit = audit_file(tmp_path, ALL_BASELINES, datasets)
    for name in datasets:
        say_of_dataset(audit, name, made=WIKIPEDIA)
    english = replace(PARADIGM, dataset="paralex_en", language="en")
    paradigms = [replace(CLUSTERED, scores=(PARADIGM, english))]
    report = report_files.report_of(tmp_path, ONE, paradigms=paradigms, audit=audit)
    (task,) = shared_tasks(report)
    assert (task.name, task.measure) == ("paradigms", "suggestion, shared words, as is")
    assert {mean.value for mean in task.scores["char_hash"].values()} == {PARADIGM.suggestion}


# --- report items --------------------------------------------------------------------------------


def test_counts_of_rows_that_stand_out(tmp_path: Path) -> None:
    """Of the 20 rows, encoders are right on the first 5, 10 or 15."""
    three = [replace(ONE, name=name, scores=(SP, STS)) for name in "abc"]
    right = {"a": 15, "b": 10, "c": 5}
    table = one(items(report_of(tmp_path, *three, replace(ONE, scores=(DR,)), right=right)))
    assert cells(table) == [["sp_wiki", "3", "20", "25.0", "25.0", "0.0"]]
    assert [cell.detail for cell in table.rows[0].cells[3:]] == ["(5)", "(5)", "(0)"]
    few = report_of(tmp_path / "few", ONE, TWO)
    assert one(items(few)).about[0].startswith("This table needs a dataset of classes on which")
    assert examples(few) == []


def test_examples_are_in_the_browser(tmp_path: Path) -> None:
    """A third encoder is right on the first rows only, where the first one is wrong."""
    given = whole_report(tmp_path)
    first = read_results(given["results"][0])
    tables = []
    for score in first.main:
        known = read_predictions(given["results"][0], score.dataset, score.layer)
        wrong = known.gold + (np.arange(len(known.gold)) > 0)
        table = predictions_table(score.dataset, "output", replace(known, predicted=wrong[None]))
        tables.append(table)
    write_results(replace(first, name="worse"), tables, tmp_path / "worse")
    given["results"].append(tmp_path / "worse")
    report = order_report(read_inputs(given["results"], given["instances"] / "audit.json"))
    (row,) = (row for row in one(examples(report)).rows if row.cells[0].text == "mc_x")
    assert [cell.text for cell in row.cells[1:]] == ["mc_x-0", "2 of 3", "-50.0"]
    assert row.cells[1].link == "#instances-title?dataset=mc_x&find=mc_x-0"
    contents = browser_contents(report, find_datasets(given["instances"]))
    shown = {item["name"]: item["rows"] for item in contents}
    of_mc = next(
        row for row in json.loads(write_json(report))["items"]["rows"] if "mc_x" in str(row)
    )
    assert of_mc[1] == {"text": "3", "value": 3}
    # That row is not among those that are drawn.
    assert (len(shown["mc_x"]), shown["mc_x"][0]["id"]) == (MAX_ROWS + 1, "mc_x-0")
