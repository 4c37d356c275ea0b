"""Cosines: by hand, of vectors of 0, and at any scale; distances turned round."""

import math

import numpy as np
import pytest

from evaluation.measures import alignment, cosines, inverse_distances, uniformity


def test_by_hand() -> None:
    one = np.array([[1, 0], [3, 4], [1, 1], [2, 2]], np.float32)
    other = np.array([[0, 5], [3, 4], [-1, -1], [1, 0]], np.float32)
    assert cosines(one, other).dtype == np.float64
    assert cosines(one, other).tolist() == [0, 1, -1, 0.707107]


def test_a_vector_of_0() -> None:
    vectors = np.array([[0, 0], [1, 2]], np.float32)
    assert cosines(vectors, vectors[::-1]).tolist() == [0, 0]
    assert cosines(vectors, vectors).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 10, 1e30])
def test_the_scale_does_not_matter(scale: float) -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 50, 8)).astype(np.float32)
    assert (cosines(one, one) == 1).all()  # exactly
    scaled = one * np.float32(scale)
    assert cosines(scaled, other) == pytest.approx(cosines(one, other), abs=2e-6)


def test_distances_by_hand() -> None:
    one = np.array([[0, 0], [3, 4], [0, 1]], np.float32)
    other = np.array([[3, 4], [3, 4], [0, -1]], np.float32)
    assert inverse_distances(one, other).tolist() == [1 / 6, 1, 1 / 3]


def test_distances_of_large_vectors() -> None:
    one = np.full((1, 4), 3e38, np.float32)
    assert inverse_distances(one, -one) == pytest.approx(1 / 12e38)


def test_alignment_and_uniformity_by_hand() -> None:
    """Squared distances on the circle: 2 at a right angle, 4 of opposites; lengths do not count."""
    vectors = np.array([[1, 0], [0, 3], [-2, 0], [0, 0]], np.float32)
    assert alignment(vectors[[0, 0, 3]], vectors[[1, 2, 0]]) == pytest.approx((2 + 4) / 2)
    expected = math.log((math.exp(-4) + math.exp(-8) + math.exp(-4)) / 3)
    assert uniformity(vectors) == pytest.approx(expected)
    assert uniformity(np.ones((5, 3), np.float32)) == pytest.approx(0)
    assert (alignment(vectors[3:], vectors[:1]), uniformity(vectors[2:])) == (None, None)
