"""What the probe adds: scores beside their controls, and beside random weights."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_files import DEEP, DR, ONE, SP, TWO, report_of, tables_of, whole_report

from evaluation.results.scores import (
    Controls,
    CurvePoint,
    Results,
    Score,
    read_predictions,
    read_results,
    write_results,
)
from evaluation.results.scores import predictions_table as table_of
from probeta.report.tables.added import above_random, added, describe_added, random_weights
from probeta.report.tables.encoders import profiles
from probeta.report.writing import write_report
from probeta.scores import Scores

MEASURES = {"selectivity": 0.2, "code_length": 150.0, "compression": 2.0, "information": 0.5}
ENDS = dict(zip(MEASURES, ((0.1, 0.3), (140.0, 160.0), (1.8, 2.2), (-0.1, 1.1)), strict=True))
CURVE = (CurvePoint(8, 0.25), CurvePoint(80, 0.5))
NONE = Controls({}, dict.fromkeys(MEASURES, "nothing is trained"))


def controlled(score: Score, **changes: float) -> Score:
    """Return a score with controls."""
    controls = Controls(ENDS, {}, control=0.3, control_rows=9, curve=CURVE)
    measures = score.measures | MEASURES | changes
    return replace(score, measures=measures, controls=controls)


def weighted(results: Results, name: str, **options: object) -> Results:
    encoder = results.encoder | {"encoder": "transformers", "options": {"model": "m", **options}}
    return replace(results, name=name, encoder=encoder)


def test_the_table_of_scores_has_the_controls() -> None:
    results = replace(ONE, scores=(controlled(SP), replace(DR, controls=NONE)))
    lines = [line.split() for line in str(Scores(results, (), {}, frozenset(), None)).splitlines()]
    assert lines[0][-3:] == ["selectivity", "compression", "bits"]
    assert {line[0]: line[-3:] for line in lines[1:3]} == {
        "sp_wiki": ["20.0", "2.00", "0.50"],
        "dr_rst": ["–", "–", "–"],
    }
    assert sum(line[0] == "selectivity:" for line in lines) == 1


def test_scores_have_their_controls_beside_them(tmp_path: Path) -> None:
    trained = replace(ONE, scores=(controlled(SP), replace(DR, controls=NONE)))
    trained = weighted(trained, "bert")
    random = weighted(replace(ONE, scores=(replace(SP, value=0.4),)), "drawn", weights="random")
    report = report_of(tmp_path, trained, random, TWO)
    assert random_weights(report) == {"bert": "drawn"}
    rows = {(r["dataset"], r["measure"]): r for r in added(report) if r["encoder"] == "bert"}
    assert {r["encoder"] for r in added(report)} == {"bert"}
    found = {measure: rows["sp_wiki", measure] for measure in (*MEASURES, "score")}
    assert {measure: found[measure]["value"] for measure in MEASURES} == MEASURES
    assert (found["information"]["low"], found["information"]["high"]) == (-0.1, 1.1)
    assert rows["sp_wiki", "random_weights"]["value"] == 0.4
    without = rows["dr_rst", "selectivity"]
    assert (without["value"], without["not_applicable"]) == (None, "nothing is trained")
    # The mean of those that have the measure.
    assert rows["Mean of 1", "information"]["value"] == 0.5
    assert "low" not in rows["Mean of 1", "information"]
    (table,) = tables_of(report, "added")
    assert not any(line[0].text == "dr_rst" for _, line in table.rows)
    cells = {c.text: c.detail for _, line in table.rows for c in line if line[0].text == "sp_wiki"}
    expected = {"+20.0": "[+10.0, +30.0]", "2.00": "[1.80, 2.20]", "150": "[140, 160]"}
    assert cells.items() >= (expected | {"0.50": "[-0.10, 1.10]"}).items()


def test_what_it_adds_is_said_of_intervals_above_nothing(tmp_path: Path) -> None:
    trained = weighted(replace(ONE, scores=(controlled(SP),)), "bert")
    random = weighted(replace(ONE, scores=(SP,)), "drawn", weights="random")
    report = report_of(tmp_path, trained, random, right={"bert": 20, "drawn": 2})
    (average,) = report.benchmark_averages.values()
    assert describe_added(report, "bert", average) == (
        "bert: selectivity is clearly above 0 on 1 of 1 datasets, usable information on 0 of 1. "
        "Above its own random weights on 1 of 1."
    )
    assert describe_added(report, "drawn", average) == ""


def test_random_weights_are_compared_layer_by_layer(tmp_path: Path) -> None:
    deep = weighted(DEEP, "bert")
    drawn = weighted(DEEP, "drawn", weights="random", seed=3)
    other = weighted(DEEP, "other", weights="random", pooling="cls")
    report = report_of(tmp_path, deep, drawn, other, right={"bert": 20, "drawn": 2})
    rows = [row for row in above_random(report) if not row["benchmark"]]
    layers = [(row["layer"], row["main"]) for row in rows]
    assert layers == [("avg", True), ("0", False), ("1", False), ("2", False)]
    assert {(row["value"], row["compared"], row["note"]) for row in rows} == {(2, 2, "of 2")}
    assert {row["random"] for row in rows} == {"drawn"}
    assert report.results_once["above_random"] is above_random(report)


def test_layers_have_the_compression_that_all_have(tmp_path: Path) -> None:
    coded = [controlled(score, compression=1 + n / 10) for n, score in enumerate(DEEP.scores)]
    report = report_of(tmp_path, replace(DEEP, scores=tuple(coded)), ONE)
    (profile,) = profiles(report)
    flat = sorted(value for values in profile.compression or () for value in values)
    assert flat == pytest.approx(sorted(1 + n / 10 for n in range(len(coded))))
    lacking = (replace(coded[0], measures={}), *coded[1:])
    report = report_of(tmp_path / "lacking", replace(DEEP, scores=lacking), ONE)
    assert [profile.compression for profile in profiles(report)] == [None]


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """The data of a page whose first encoder has controls where there are classes."""
    given = whole_report(tmp_path / "given")
    folder = given["results"][0]
    results, scores, tables = read_results(folder), [], []
    for s in results.scores:
        scores.append(controlled(s) if s.metric == "accuracy" else replace(s, controls=NONE))
        tables.append(table_of(s.dataset, s.layer, read_predictions(folder, s.dataset, s.layer)))
    write_results(replace(results, scores=tuple(scores)), tables, folder)
    write_report(**given, out=tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_has_measures_and_curve(written: Any) -> None:
    names = [name for name, _ in written["encoders"]]
    place = str(names.index("char_hash"))
    (benchmark,) = (each for each in written["benchmarks"] if each["probed"])
    assert [bool(text) for text in benchmark["added"]] == [name == "char_hash" for name in names]
    curve = [[8, 250], [80, 500]]
    measures = [[200, 100, 300], [2000, 1800, 2200], [500, -100, 1100]]
    assert written["datasets"]["mc_x"]["added"] == {place: [*measures, curve]}
    assert written["datasets"]["sts_x"]["added"] == {}
    columns = dict(written["datasets"]["mc_x"]["more"])
    assert columns["information"][int(place)] == "0.50"
    reasons = "selectivity, code length, compression, information; nothing is trained"
    assert f"Not measured: {reasons}." in written["datasets"]["sts_x"]["remarks"]
