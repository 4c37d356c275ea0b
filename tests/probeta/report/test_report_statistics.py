"""Averages, editions of datasets, and likely label errors."""

from dataclasses import replace
from math import hypot
from pathlib import Path

import numpy as np
import pytest
from report_files import DEEP, MC, ONE, SP, audit_file, kept, one, say_of_dataset

from builders.tasks import benchmarks
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN
from evaluation.measures import jackknife_half_width, leave_out_means
from evaluation.results.comparison import JackknifeScore
from evaluation.results.scores import Predictions
from probeta.report.formats import write_markdown
from probeta.report.inputs import OWN, read_inputs
from probeta.report.statistics import (
    Report,
    compare_editions,
    compare_items,
    discriminations,
    list_averages,
    mean_score,
    order_report,
)
from probeta.report.tables.compared import editions

# --- averages ------------------------------------------------------------------------------------

TASKS = {
    "mc": "sentence_classification",
    "sp_mine": "sentence_position",
    "sp_wiki": "sentence_position",
    "dr_rst": "discourse_relations",
}
SHIPPED = {"mc": "spanish_senteval", "sp_wiki": "spanish_discoeval", "dr_rst": "spanish_discoeval"}


def test_averages_are_per_benchmark_and_say_what_is_missing() -> None:
    found = list_averages(TASKS, SHIPPED)
    assert [(one.name, one.heading, one.datasets) for one in found] == [
        ("spanish_senteval SC", "SC (1 of 5)", ("mc",)),
        ("spanish_senteval", "All (1 of 20)", ("mc",)),
        ("spanish_discoeval SP", "SP (1 of 3)", ("sp_wiki",)),
        ("spanish_discoeval DR", "DR (1)", ("dr_rst",)),
        ("spanish_discoeval", "All (2 of 11)", ("sp_wiki", "dr_rst")),
        ("own datasets SP", "SP (1)", ("sp_mine",)),
        ("own datasets", "All (1)", ("sp_mine",)),
    ]
    assert found[2].missing == ("sp_mlsum", "sp_thesis")
    assert found[2].title == "Sentence position: sp_wiki; not in this report: sp_mlsum, sp_thesis"
    assert {item.benchmark for item in found} == {"spanish_senteval", "spanish_discoeval", OWN}
    assert (found[0].group, found[1].group) == (benchmarks.SC, None)
    *_, small, _, every, of_users, _ = list_averages(TASKS, SHIPPED, {"sp_wiki", "sp_mine"})
    assert (small.datasets, small.too_small, small.heading) == ((), ("sp_wiki",), "SP (0 of 3)")
    assert (every.datasets, every.heading) == (("dr_rst",), "All (1 of 11)")
    assert of_users.title == "Sentence position: ; test too small: sp_mine"


def test_a_whole_benchmark_misses_nothing_not_even_what_is_withdrawn() -> None:
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_discoeval"].items()}
    found = list_averages(tasks, dict.fromkeys(tasks, "spanish_discoeval"))
    headings = [one.heading for one in found]
    assert headings == ["SP (3)", "BSO (3)", "DC (3)", "SSP (1)", "DR (1)", "All (11)"]
    assert not any(one.missing for one in found)
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_senteval"].items()}
    *others, probing, every = list_averages(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert (probing.heading, probing.missing) == ("LPT (8)", ())
    assert probing.title.endswith("; withdrawn: somo")
    assert every.heading == "All (20)"
    gone = {"somo": WITHDRAWN["spanish_senteval"]["somo"]["withdrawn"]}
    assert every.withdrawn == probing.withdrawn == gone
    assert not any(one.withdrawn for one in others)
    # In a package of before, it is one of the datasets.
    tasks["somo"] = "linguistic_probing"
    before = list_averages(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert [one.heading for one in before[-2:]] == ["LPT (9)", "All (21)"]
    assert not any(one.withdrawn for one in before)


def test_the_interval_of_a_mean() -> None:
    one = replace(SP, value=0.5, interval=(0.44, 0.53))
    other = replace(SP, value=0.7, interval=(0.62, 0.74))
    assert mean_score([one]).interval == pytest.approx(one.interval)
    found = mean_score([one, other])
    assert found.value == pytest.approx(0.6)
    # Half of √(.06² + .08²) and of √(.03² + .04²).
    assert found.interval == pytest.approx((0.55, 0.625))


# --- editions ------------------------------------------------------------------------------------


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


# --- items ---------------------------------------------------------------------------------------


def to_six_rows(*starts: str) -> Predictions:
    """Return the answers to six rows of class 0, a digit each, for each random start."""
    ids = np.array(list("abcdef"), object)
    predicted = np.array([[float(digit) for digit in start] for start in starts])
    return Predictions(ids, ids, np.zeros(6), predicted)


def test_discriminations() -> None:
    hits = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0]], bool)
    assert discriminations(hits).tolist() == [0.0, -0.5, 0.0, -0.866, 0.0]
    rest = hits.sum(axis=1) - hits[:, 1]
    assert np.corrcoef(hits[:, 1], rest)[0, 1] == pytest.approx(-0.5)
    # So many rows that whole numbers of 32 bits would not do.
    many = np.zeros((3, 100_000), bool)
    many[0], many[1, ::2], many[2, 1] = True, True, True
    assert discriminations(many)[:3].tolist() == [0.866, 0.0, 0.866]


def test_likely_label_errors_come_first() -> None:
    good, fair = to_six_rows("000100", "001100"), to_six_rows("001111")
    bad = to_six_rows("011011", "011011", "111111")
    found = compare_items({"y": [good, fair, bad], "x": [bad, good, fair]})
    assert found.to_csv(index=False, lineterminator="\n") == (
        "dataset,row,hits,encoders,discrimination\nx,d,1,3,-0.756\ny,d,1,3,-0.756\n"
        "x,c,0,3,0.0\ny,c,0,3,0.0\nx,b,2,3,0.0\ny,b,2,3,0.0\nx,a,3,3,0.0\ny,a,3,3,0.0\n"
        "x,e,1,3,1.0\nx,f,1,3,1.0\ny,e,1,3,1.0\ny,f,1,3,1.0\n"
    )
    assert compare_items({}).to_csv(index=False) == "dataset,row,hits,encoders,discrimination\n"
