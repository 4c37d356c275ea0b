"""Editions of a dataset: the gap of each encoder, and less that of the floor encoder."""

from dataclasses import replace
from math import hypot
from pathlib import Path

import numpy as np
import pytest
from report_files import DEEP, MC, ONE, SP, audit_file, kept, one, say_of_dataset

from evaluation.measures import jackknife_half_width, leave_out_means
from evaluation.results.comparison import JackknifeScore
from probeta.report.formats import write_markdown
from probeta.report.inputs import read_inputs
from probeta.report.statistics import Report, compare_editions, order_report
from probeta.report.tables.compared import editions


def measured(right: np.ndarray) -> JackknifeScore:
    """Return the accuracy of answers, [rows], of two rows a document."""
    documents = np.arange(len(right)) // 2
    (left_out,) = leave_out_means(right[None].astype(float), documents)
    return JackknifeScore("accuracy", float(right.mean()), left_out, len(right) / 2)


def answers(rows: int, wrong: int, first: int = 0) -> np.ndarray:
    right = np.ones(rows)
    right[(first + 7 * np.arange(wrong)) % rows] = 0
    return right


def test_variances_of_both_editions_add() -> None:
    floor = {"old": measured(answers(400, 200)), "new": measured(answers(300, 180, 1))}
    mine = {"old": measured(answers(400, 40)), "new": measured(answers(300, 90, 1))}
    found = compare_editions({"mine": mine, "floor": floor}, {"new": "old"}, "floor")
    first, second = ((e.encoder, e.new_score, e.old_score) for e in found)
    assert (first, second) == (("mine", pytest.approx(0.7), 0.9), ("floor", 0.4, 0.5))
    assert found[0].difference.value == pytest.approx(-0.2)
    ends = [
        jackknife_half_width(mine[name].value, mine[name].replicates, mine[name].units)
        for name in ("new", "old")
    ]
    assert found[0].difference.interval == pytest.approx((-0.2 - hypot(*ends), -0.2 + hypot(*ends)))
    assert not found[0].difference.tie
    beyond = found[0].difference_to_baseline
    assert beyond is not None
    assert beyond.value == pytest.approx(-0.1)
    ends = [
        jackknife_half_width(one.value - other.value, one.replicates - other.replicates, one.units)
        for one, other in zip(mine.values(), floor.values(), strict=True)
    ]
    assert beyond.interval == pytest.approx((-0.1 - hypot(*ends), -0.1 + hypot(*ends)))
    assert found[1].difference_to_baseline is None


def test_without_a_floor_or_an_edition() -> None:
    mine = {"old": measured(answers(40, 4)), "new": measured(answers(30, 9))}
    (found,) = compare_editions({"mine": mine}, {"new": "old"}, None)
    assert found.difference_to_baseline is None
    both = {"mine": mine, "floor": {"old": mine["old"]}}
    (found,) = compare_editions(both, {"new": "old"}, "floor")
    assert found.difference_to_baseline is None
    assert compare_editions({"mine": {"new": mine["new"]}}, {"new": "old"}, None) == []


def test_the_interval_holds_where_nothing_was_seen() -> None:
    # Both encoders find newer texts as hard as older ones, or both harder: no gap beyond the floor.
    generator = np.random.default_rng(1)
    misses = {"gap": 0, "beyond": 0}
    times = 400
    for _ in range(times):
        draws = {
            name: {
                edition: measured(generator.random(200) < share)
                for edition, share in (("old", old), ("new", old - harder))
            }
            for name, old, harder in (("same", 0.8, 0.0), ("floor", 0.5, 0.0))
        }
        (found, _) = compare_editions(draws, {"new": "old"}, "floor")
        assert found.difference_to_baseline is not None
        misses["gap"] += not found.difference.tie
        misses["beyond"] += not found.difference_to_baseline.tie
    for count in misses.values():
        assert 0.01 * times <= count <= 0.08 * times


def edition_inputs(folder: Path) -> Report:
    scores = tuple(replace(SP, dataset=name) for name in ("sp_old", "sp_new"))
    baselines = {name: {"majority": 0.2, "length": 0.3} for name in ("sp_old", "sp_new")}
    rows = dict.fromkeys(("sp_old", "sp_new"), SP.rows)
    path = audit_file(folder, baselines, **rows)
    say_of_dataset(path, "sp_new", edition_of="sp_old")
    other = replace(ONE, name="other", encoder=ONE.encoder | {"encoder": "static"}, scores=scores)
    results = kept(folder, replace(ONE, scores=scores), other, right={"other": 15})
    return order_report(read_inputs(results, path))


def test_the_report_has_a_table_for_each_edition(tmp_path: Path) -> None:
    report = edition_inputs(tmp_path)
    table = one(editions(report))
    header = [cell.text for cell in table.header]
    assert header[:3] == ["Encoder", "sp_old", "sp_new"]
    assert len(header) == 5
    rows = {row.cells[0].text: [cell.text for cell in row.cells[1:]] for row in table.rows}
    assert rows == {
        "char_hash": ["50.0", "50.0", "0.0", "–"],
        "other": ["75.0", "75.0", "0.0", "0.0"],
    }
    text = write_markdown(report)
    assert "Editions: sp_new and sp_old" in text
    assert "it may have seen them" in text


def test_a_report_without_editions_has_no_such_table(tmp_path: Path) -> None:
    baselines = {"mc": {"majority": 0.2, "length": 0.3}}
    results = kept(tmp_path, replace(DEEP, scores=(replace(MC, layer=DEEP.encoder["layer"]),)))
    report = order_report(read_inputs(results, audit_file(tmp_path, baselines)))
    assert report.editions == []
    assert editions(report) == []
