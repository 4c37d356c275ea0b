"""Controls of probes: control labels, and the selectivity of scores."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_files import row, write_dataset

from corpora_recipes.hashing import keyed_hash
from evaluation.datasets import find_datasets
from evaluation.probing.controls import control_problem, draw_classes, first_words
from evaluation.probing.protocols.problem import Problem

WORDS = [f"w{keyed_hash(1, str(i)) % 60 // (1 + i % 7)}" for i in range(2000)]
CLASSES = np.array([min(keyed_hash(2, str(i)) % 10, 3) for i in range(2000)])


def test_a_word_has_one_class_and_rows_have_each_as_often_as_in_train() -> None:
    draw = draw_classes(WORDS, CLASSES, 1, "x control")
    drawn = np.array([draw(word) for word in WORDS])
    assert all(len({*drawn[np.array(WORDS) == word]}) == 1 for word in {*WORDS})
    shares, wanted = (np.bincount(y, minlength=4) / 2000 for y in (drawn, CLASSES))
    assert np.abs(shares - wanted).max() < 0.05
    others = [draw_classes(WORDS, CLASSES, seed, "x control") for seed in range(2, 30)]
    assert len({tuple(other(word) for word in {*WORDS}) for other in others}) == 28
    # Also that of a word which train lacks.
    counts = Counter(draw(f"other {i}") for i in range(2000))
    assert abs(counts[3] / 2000 - wanted[3]) < 0.05


def test_words_are_the_first_of_first_texts(tmp_path: Path) -> None:
    texts = ["¿Qué es?", "que es", "Qué, no", "...", "«Así» va"]
    rows = [row(i, 0, sentences=[text, "Otra"]) for i, text in enumerate(texts)]
    write_dataset(
        tmp_path / "c" / "bso",
        "sentence_ordering",
        dict.fromkeys(("train", "validation", "test"), rows),
    )
    (dataset,) = find_datasets(tmp_path)
    assert first_words(dataset, "test") == ["qué", "que", "qué", "... .", "así"]


@pytest.mark.parametrize("folds", [False, True])
def test_rows_whose_word_train_lacks_are_not_scored(folds: bool) -> None:
    x = np.zeros((6, 2), np.float32)
    y = np.array([0, 1, 0, 1, 0, 1])
    problem: dict[str, Any] = {"name": "x", "task": "fac", "metric": "accuracy", "x": x, "y": y}
    words: Any = {"train": ["a", "a", "b", "c", "b", "d"]}
    if folds:
        problem |= {"folds": np.array([0, 1, 0, 1, 0, 2])}
    else:
        problem |= {"validation": (x, y), "test": x[:3]}
        words |= {"validation": words["train"], "test": ["d", "e", "a"]}
    control, gold, used = control_problem(Problem(**problem), y[: 6 if folds else 3], words, 1)
    assert used.tolist() == (
        [True, True, False, False, False, False] if folds else [True, False, True]
    )
    assert (control.y[0], control.y[2]) == (control.y[1], control.y[4])
    if folds:
        assert gold.tolist() == control.y.tolist()
    else:
        assert (gold[0], gold[2]) == (control.y[5], control.y[0])


def test_scores_are_permuted_within_their_split() -> None:
    scores = np.linspace(0, 5, 200)
    x = np.zeros((200, 2), np.float32)
    problem = Problem("x", "relatedness", "pearson", x, scores, (x[:50], scores[:50]), x[:100])
    control, gold, used = control_problem(problem, scores[:100], {"train": []}, 1)
    assert control.validation is not None
    for permuted, before in (
        (control.y, scores),
        (control.validation[1], scores[:50]),
        (gold, scores[:100]),
    ):
        assert sorted(permuted) == sorted(before)
        assert abs(np.corrcoef(permuted, before)[0, 1]) < 0.3
    assert used.all()
