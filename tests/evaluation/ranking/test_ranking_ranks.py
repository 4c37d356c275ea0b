"""Ranks: by hand, equal to exact arithmetic, at float32's limits, of constant and zero vectors."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import ranking
from evaluation.ranking import Ranks, Similarity, rank_positives

SIMILARITIES: tuple[Similarity, ...] = ("cosine", "l2")
both = pytest.mark.parametrize("similarity", SIMILARITIES)


def rank(vectors: Any, pairs: Any, similarity: Similarity) -> Ranks:
    queries, positives = np.array(pairs, np.int64).reshape(-1, 2).T
    return rank_positives(np.asarray(vectors, np.float32), queries, positives, similarity)


def exact(vectors: list[list[int]], pairs: list[tuple[int, int]], similarity: Similarity) -> Any:
    """Return ranking, None where there is none, and ties, of whole numbers and without rounding."""

    def score(one: list[int], other: list[int]) -> Fraction | None:
        if similarity == "l2":
            return -Fraction(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
        product = sum(a * b for a, b in zip(one, other, strict=True))
        squares = sum(a * a for a in one) * sum(b * b for b in other)
        # In the order of the cosines: their squares, with their signs.
        return Fraction(product * abs(product), squares) if squares else None

    found = []
    for query, positive in pairs:
        left_out = {query} | {other for one, other in pairs if one == query}
        target = score(vectors[query], vectors[positive])
        others = [score(vectors[query], v) for i, v in enumerate(vectors) if i not in left_out]
        if target is None:
            found.append((None, False))
            continue
        above = sum(other > target for other in others if other is not None)
        ties = sum(other == target for other in others)
        found.append((1 + above + ties / 2, ties > 0))
    return found


def listed(found: Ranks) -> Any:
    numbers = [None if np.isnan(rank) else rank for rank in found.ranks.tolist()]
    return list(zip(numbers, found.tied.tolist(), strict=True))


def test_by_hand() -> None:
    """By cosine directions count alone, by distance the far one is last; 3 and 4 tie."""
    vectors = [[1, 0], [1, 1], [30, 1], [0, 1], [0, 2], [-1, 0]]
    pairs = [(0, 1), (0, 3), (1, 0), (5, 3)]
    # Of 0, that 1 is above 3 does not count: it is a positive too.
    assert rank(vectors, pairs, "cosine").ranks.tolist() == [2, 2.5, 3, 1.5]
    assert rank(vectors, pairs, "cosine").tied.tolist() == [False, True, True, True]
    assert rank(vectors, pairs, "l2").ranks.tolist() == [1, 1, 1.5, 1]
    assert rank(vectors, pairs, "l2").tied.tolist() == [False, False, True, False]


@settings(max_examples=150)
@given(data=st.data(), offset=st.sampled_from([0, 1000, 2**23]))
def test_equal_to_exact_arithmetic(data: st.DataObject, offset: int) -> None:
    """Small whole numbers, among which scores are often equal; zeros too; in several blocks."""
    size = data.draw(st.integers(1, 4))
    vector = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
    vectors = data.draw(st.lists(vector, min_size=2, max_size=12))
    row = st.integers(0, len(vectors) - 1)
    pairs = data.draw(st.lists(st.tuples(row, row), unique=True, max_size=10))
    pairs = [(query, positive) for query, positive in pairs if query != positive]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_BLOCK_TEXTS", data.draw(st.integers(1, 12)))
        patch.setattr(ranking, "_BLOCK_QUERIES", data.draw(st.integers(1, 4)))
        patch.setattr(ranking, "_GROUP", data.draw(st.integers(1, 6)))
        patch.setattr(ranking, "_MAX_UNCERTAIN", data.draw(st.sampled_from([0, 1 / 64, 1])))
        patch.setattr(ranking, "_EXACT_QUERIES", data.draw(st.integers(1, 3)))
        assert listed(rank(vectors, pairs, "cosine")) == exact(vectors, pairs, "cosine")
        # Distances do not depend on where zero is.
        moved = np.array(vectors) + offset
        assert listed(rank(moved, pairs, "l2")) == exact(vectors, pairs, "l2")


def brute_force(vectors: Any, query: int, positive: int, similarity: Similarity) -> float:
    wide = vectors.astype(np.float64)
    if similarity == "cosine":
        scores = wide @ wide[query] / np.linalg.norm(wide, axis=1)
    else:
        scores = 1 / (1 + np.linalg.norm(wide - wide[query], axis=1))
    others = np.delete(scores, [query, positive])
    return float(1 + np.sum(others > scores[positive]))


@both
@pytest.mark.parametrize("many", [0, 1])
def test_what_float32_cannot_tell_is_computed_in_float64(
    similarity: Similarity, many: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 texts as near to the queries as float32 can write down, picked or all in float64."""
    monkeypatch.setattr(ranking, "_MAX_UNCERTAIN", many)
    generator = np.random.default_rng(3)
    crowd = generator.normal(size=48) + 2e-7 * generator.normal(size=(300, 48))
    queries = generator.normal(size=(40, 48))
    vectors = np.concatenate([crowd, queries]).astype(np.float32)
    pairs = [(300 + i, 7 * i) for i in range(40)]
    found = rank(vectors, pairs, similarity)
    assert not found.tied.any()
    assert found.ranks.tolist() == [brute_force(vectors, *pair, similarity) for pair in pairs]
    # Products in float32 alone would have it otherwise.
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    products = units[300:] @ units[:300].T
    rough = 1 + (products > products[np.arange(40), 7 * np.arange(40)][:, None]).sum(axis=1)
    assert (rough != [brute_force(vectors, *pair, "cosine") for pair in pairs]).sum() > 20


@both
@pytest.mark.parametrize("count", [2, 3, 200])
def test_a_constant_encoder_gets_the_mean_rank(similarity: Similarity, count: int) -> None:
    vectors = np.tile(np.random.default_rng(1).normal(size=33), (count, 1))
    found = rank(vectors, [(0, 1), (1, 0)], similarity)
    # Of the positive and all but the query: count - 1 texts.
    assert found.ranks.tolist() == [count / 2] * 2
    assert found.tied.tolist() == [count > 2] * 2


@both
def test_texts_of_one_direction_or_of_one_vector_tie(similarity: Similarity) -> None:
    generator = np.random.default_rng(5)
    once = generator.normal(size=(60, 24)).astype(np.float32)
    # A power of two: in float32 a tenth of a vector has another direction.
    scale = np.float32(1 if similarity == "l2" else 0.25)
    vectors = np.concatenate([once, once * scale, once])
    found = rank(vectors, [(i, (i + 1) % 60) for i in range(60)], similarity)
    assert found.tied.all()
    # Two others tie with the positive, and two are equal to the query.
    assert ((found.ranks - 2) % 3 == 2).all()


def test_vectors_of_zero_have_no_cosine() -> None:
    vectors = [[0, 0], [1, 0], [0, 0], [1, 1], [-1, 0]]
    pairs = [(0, 1), (1, 0), (1, 4), (3, 1)]
    found = rank(vectors, pairs, "cosine")
    assert np.isnan(found.ranks).tolist() == [True, True, False, False]
    # 0 and 2 would stand above 4.
    assert found.ranks[2:].tolist() == [2, 1]
    assert not found.tied.any()
    assert rank(vectors, pairs, "l2").ranks.tolist() == [2.5, 2, 3, 1]


@both
@pytest.mark.parametrize("scale", [2.0**-140, 2.0**-90, 2.0**90, 2.0**120])
def test_the_scale_does_not_matter(similarity: Similarity, scale: float) -> None:
    """Products would leave the range of float32."""
    generator = np.random.default_rng(2)
    # Few digits, as float32 has near the smallest of its numbers.
    vectors = generator.integers(-30, 30, size=(80, 5)).astype(np.float32)
    pairs = [(i, (7 * i + 1) % 80) for i in range(0, 80, 2)]
    scaled = vectors * np.float32(scale)
    assert listed(rank(scaled, pairs, similarity)) == listed(rank(vectors, pairs, similarity))


@both
def test_one_outlier_takes_nothing_from_the_others(similarity: Similarity) -> None:
    generator = np.random.default_rng(4)
    vectors = generator.normal(size=(100, 16)).astype(np.float32)
    outlier = np.full((1, 16), 1e5, np.float32)
    pairs = [(i, (11 * i + 1) % 100) for i in range(0, 100, 3)]
    found = rank(np.concatenate([vectors, outlier]), pairs, similarity)
    with_it = np.concatenate([vectors, outlier])
    assert found.ranks.tolist() == [brute_force(with_it, *pair, similarity) for pair in pairs]


def test_a_query_in_the_centre() -> None:
    """Its products are 0: the texts' lengths alone tell, which differ by less than float32 can."""
    there = [[5000 + k, 5000 - k, 3] for k in range(-9, 10)]
    vectors = [[0, 0, 0], *there, *([-a, -b, -c] for a, b, c in there)]
    pairs = [(0, 1 + k) for k in range(19)]
    for pair in pairs:
        assert listed(rank(vectors, [pair], "l2")) == exact(vectors, [pair], "l2")


@both
def test_pairs_in_any_order_and_vectors_on_the_disk(similarity: Similarity, tmp_path: Path) -> None:
    generator = np.random.default_rng(6)
    vectors = generator.normal(size=(90, 12)).astype(np.float32)
    pairs = np.array([(i, j) for i in range(0, 90, 4) for j in (i + 1, i + 3) if j < 90])
    order = generator.permutation(len(pairs))
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    found = rank(vectors, pairs, similarity)
    again = rank_positives(mapped, *pairs[order].T, similarity)
    assert (again.ranks == found.ranks[order]).all()
    assert (again.tied == found.tied[order]).all()


@both
def test_no_pairs(similarity: Similarity) -> None:
    assert listed(rank([[1, 2]], [], similarity)) == []


@pytest.mark.parametrize("dimension", [300, 4096])
def test_the_band_holds_the_error_of_products_that_all_have_one_sign(dimension: int) -> None:
    generator = np.random.default_rng(5)
    vectors = generator.uniform(0.5, 1, (40, dimension)).astype(np.float32)
    space = ranking._Space(dimension, None, 1.0)
    points = space.transform(vectors)
    narrow = points.vectors.astype(np.float32)
    # One after another, as badly as a product may be summed.
    products = np.zeros((40, 40), np.float32)
    for column in narrow.T:
        products += np.outer(column, column)
    error = np.abs(products - points.vectors @ points.vectors.T).max(axis=1)
    allowed = space.error(points.lengths, points)
    assert (error <= allowed).all()
    # A bound that forgets the dimension would not hold it.
    assert error.max() > 8 * 2.0**-24
