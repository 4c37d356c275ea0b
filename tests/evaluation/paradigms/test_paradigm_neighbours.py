"""The nearest words: equal to a brute force in float64, ties by row, whatever the blocks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaluation.paradigms as module
from evaluation.arrays import Floats
from evaluation.embedding.store import Vocabulary
from evaluation.measures import norms_of
from evaluation.paradigms import Neighbours, apply_casing, find_nearest, forms_of


def brute_force(vectors: Floats, words: list[int], row: int, count: int) -> list[int]:
    """Return the nearest of the words in float64, ties by row."""
    wide = vectors.astype(np.float64)
    norms = np.sqrt(np.square(wide).sum(axis=1))
    scored = [
        (-(wide[row] * wide[other]).sum() / (norms[row] * norms[other]), other)
        for other in words
        if other != row
    ]
    return [other for _, other in sorted(scored)[:count]]


def found(vectors: Floats, words: list[int], asked: list[int], count: int) -> list[list[int]]:
    numbers = np.array(words, np.int64)
    rows = find_nearest(vectors, norms_of(vectors), numbers, np.array(asked, np.int64), count)
    lists: list[list[int]] = rows.tolist()
    return lists


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(2, 60),
    dimension=st.integers(1, 40),
    count=st.integers(1, 12),
    block=st.integers(1, 50),
    # 0: as they are drawn; 1: many equal and opposite ones; 2: nearly equal ones, of all sizes.
    kind=st.integers(0, 2),
)
def test_equal_to_a_brute_force_in_float64(
    seed: int, rows: int, dimension: int, count: int, block: int, kind: int
) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(rows, dimension)).astype(np.float32)
    if kind == 1:
        vectors = generator.integers(-1, 2, size=(rows, dimension)).astype(np.float32)
        vectors[:, 0] += 2
    if kind == 2:
        vectors = (1 + vectors * 1e-6).astype(np.float32)
        vectors *= (10.0 ** generator.integers(-30, 30, size=(rows, 1))).astype(np.float32)
    words = sorted(generator.choice(rows, generator.integers(1, rows + 1), replace=False).tolist())
    asked = words[:: 1 + seed % 3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_WORDS", block)
        patch.setattr(module, "_BLOCK_NUMBERS", block * dimension)
        got = found(vectors, words, asked, count)
    assert got == [brute_force(vectors, words, row, count) for row in asked]


def test_equal_cosines_by_row_and_fewer_than_asked_for() -> None:
    vectors = np.array([[1, 0], [0, 1], [2, 0], [1, 0], [-1, 0], [4, 0]], np.float32)
    words = list(range(6))
    assert found(vectors, words, [3, 1], 3) == [[0, 2, 5], [0, 2, 3]]
    assert found(vectors, words, [4], 30) == [[1, 0, 2, 3, 5]]
    assert found(vectors, [1, 4, 5], [4], 2) == [[1, 5]]
    assert found(vectors, [2], [2], 30) == [[]]
    assert found(vectors, words, [], 3) == []


def test_what_float32_cannot_tell_apart() -> None:
    # Beside 1, what is left of these cosines is below the precision of float32.
    vectors = np.ones((200, 64), np.float32)
    vectors[:, 0] += np.linspace(0, 1e-4, 200, dtype=np.float32)
    got = found(vectors, list(range(200)), [0, 100, 199], 5)
    assert got == [brute_force(vectors, list(range(200)), row, 5) for row in (0, 100, 199)]
    assert got[0] == [1, 2, 3, 4, 5]


def test_a_constant_encoder_stays_within_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    products = []
    exact = module._products

    def watched(*arguments: Any) -> Any:
        products.append(len(arguments[2]))
        return exact(*arguments)

    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 1000)
    monkeypatch.setattr(module, "_products", watched)
    vectors = np.ones((500, 3), np.float32)
    assert found(vectors, list(range(500)), list(range(10)), 4)[0] == [1, 2, 3, 4]
    assert max(products) <= 1000


def test_lengths_that_float32_cannot_square() -> None:
    vectors = np.array([[3e38, 3e38], [1e-40, 0], [0, 0], [3, 4]], np.float32)
    assert norms_of(vectors) == pytest.approx([3e38 * 2**0.5, 1e-40, 0, 5], rel=1e-5)


def test_words_are_asked_for_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(7, 4, dtype=np.float32) + np.float32(0.1))
    vectors = np.load(tmp_path / "v.npy", mmap_mode="r")
    asked: list[list[int]] = []
    original = find_nearest

    def watched(*arguments: Any) -> Any:
        asked.append(arguments[3].tolist())
        return original(*arguments)

    monkeypatch.setattr(module, "find_nearest", watched)
    monkeypatch.setattr(module, "_BLOCK_QUERIES", 2)
    neighbours = Neighbours(vectors, norms_of(vectors), np.arange(7))
    neighbours.look_up([5, 0, 5, 3])
    neighbours.look_up([3, 5, 1])
    neighbours.look_up([0, 1])
    assert asked == [[0, 3], [5], [1]]
    assert sorted(neighbours) == [0, 1, 3, 5]
    # Of the rows 4 to 6 all numbers are the same.
    assert neighbours[5] == [4, 6, 0, 1, 2, 3]


def test_words_in_a_casing() -> None:
    words = ["el", "París", "nada", "parís", "\udcf1and\udcfa", "Sol", "sol", "İsveç"]
    vectors = np.ones((8, 2), np.float32)
    vectors[[2, 5]] = 0
    vocabulary = Vocabulary(words, vectors, norms_of(vectors))
    as_is, lower = forms_of(vocabulary, "as_is"), forms_of(vocabulary, "lower")
    assert as_is.rows == {word: row for row, word in enumerate(words) if row not in (2, 5)}
    # The first stands, of those that have a vector.
    assert lower.rows == {"el": 0, "parís": 1, "\udcf1and\udcfa": 4, "sol": 6, "isveç": 7}
    assert lower.words.tolist() == [0, 1, 4, 6, 7]
    assert (as_is.without, lower.without) == ({"nada", "Sol"}, {"nada"})
    assert apply_casing("İzlanda", "lower") == "izlanda"
