"""Rows that stand out: their counts, the examples on the page, and where these are shown."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from report_files import DR, ONE, SP, STS, TWO, cells, one, report_of, whole_report

from evaluation.datasets import find_datasets
from evaluation.results.scores import (
    predictions_table,
    read_predictions,
    read_results,
    write_results,
)
from probeta.report.formats import write_json
from probeta.report.inputs import read_inputs
from probeta.report.instances import MAX_ROWS, browser_contents
from probeta.report.statistics import order_report
from probeta.report.tables.encoders import examples, items


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
