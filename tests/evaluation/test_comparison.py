"""Pairs of encoders: differences in the same draws, ties, groups, rows that do not match."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_results import RESULTS, SCORE

from corpora_recipes.errors import InputError
from evaluation.comparison import Difference, compare
from evaluation.results import Predictions, Results, predictions_table, write_results

ROWS = 400
GOLD = np.arange(ROWS) % 2


def answers(right: float, *, starts: int = 1, first: int = 0) -> Any:
    """Return answers of which that share is right, the wrong ones from row ``first`` on."""
    found = np.tile(GOLD, (starts, 1))
    wrong = (first + np.arange(round(ROWS * (1 - right)))) % ROWS
    found[:, wrong] = 1 - found[:, wrong]
    return found


def probed(folder: Path, name: str, predicted: dict[str, Any]) -> tuple[Results, Path]:
    """Write results with these answers; a dataset's task is told by its name."""
    tasks = {"bso": "sentence_ordering", "sp": "sentence_position"}
    scores = tuple(
        replace(SCORE, dataset=dataset, task=tasks[dataset.partition("_")[0]], layer="1")
        for dataset in predicted
    )
    tables = (
        predictions_table(
            dataset,
            "1",
            Predictions(
                ids=np.array([f"i{i}" for i in range(ROWS)]),
                documents=np.array([f"d{i // 2}" for i in range(ROWS)]),
                gold=GOLD,
                predicted=own,
            ),
        )
        for dataset, own in predicted.items()
    )
    results = replace(RESULTS, name=name, scores=scores)
    write_results(results, tables, folder / name)
    return results, folder / name


def test_every_pair_on_every_shared_dataset_and_group(tmp_path: Path) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.9), "bso_y": answers(0.6), "sp_x": answers(0.5)})
    b = probed(tmp_path, "b", {"bso_x": answers(0.7), "bso_y": answers(0.6)})
    c = probed(tmp_path, "c", {"bso_x": answers(0.9), "sp_x": answers(0.5)})
    found = compare([a, b, c])
    assert [(d.one, d.other, d.level, d.what) for d in found] == [
        ("a", "b", "dataset", "bso_x"),
        ("a", "b", "dataset", "bso_y"),
        ("a", "b", "group", "BSO"),
        ("a", "c", "dataset", "bso_x"),
        ("a", "c", "dataset", "sp_x"),
        ("a", "c", "group", "SP"),
        ("b", "c", "dataset", "bso_x"),
    ]
    first, second, group = found[:3]
    assert first.value == pytest.approx(0.2)
    assert group.value == pytest.approx(0.1)
    # 200 documents, of which 40 are wholly won: sqrt(0.2 * 0.8 / 200) is the standard error.
    half = 1.96 * np.sqrt(0.2 * 0.8 / 200)
    assert first.interval == pytest.approx((0.2 - half, 0.2 + half), abs=0.01)
    assert group.interval == pytest.approx((0.1 - half / 2, 0.1 + half / 2), abs=0.005)
    assert not first.tie
    assert second.interval == (0, 0)
    assert second.tie


def test_the_same_accuracy_on_other_rows_is_a_tie(tmp_path: Path) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.8)})
    b = probed(tmp_path, "b", {"bso_x": answers(0.8, first=200)})
    difference, group = compare([a, b])
    assert difference.value == 0
    assert difference.interval[0] < 0 < difference.interval[1]
    assert difference.tie
    assert replace(group, level="dataset", what="bso_x") == difference


def test_random_starts_count_by_their_mean(tmp_path: Path) -> None:
    five = np.concatenate([answers(0.9, starts=3), answers(0.5, starts=3)])
    a = probed(tmp_path, "a", {"bso_x": five})
    b = probed(tmp_path, "b", {"bso_x": answers(0.6)})
    difference, _ = compare([a, b])
    assert difference.value == pytest.approx(0.1)
    assert not difference.tie


def test_the_order_of_the_encoders_turns_the_sign(tmp_path: Path) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.9)})
    b = probed(tmp_path, "b", {"bso_x": answers(0.7)})
    one, other = compare([a, b])[0], compare([b, a])[0]
    assert (one.value, *one.interval) == pytest.approx(
        (-other.value, -other.interval[1], -other.interval[0])
    )


def test_one_encoder_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    assert compare([probed(tmp_path, "a", {"bso_x": answers(0.9)})]) == []


def test_other_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.9)})
    monkeypatch.setattr("test_comparison.GOLD", 1 - GOLD)
    b = probed(tmp_path, "b", {"bso_x": answers(0.9)})
    with pytest.raises(InputError, match="the rows of bso_x that a has, 400"):
        compare([a, b])


def test_a_difference_that_touches_zero_is_a_tie() -> None:
    assert Difference("dataset", "x", "a", "b", 0.1, (0.0, 0.2)).tie
    assert not Difference("dataset", "x", "a", "b", -0.1, (-0.2, -0.01)).tie
