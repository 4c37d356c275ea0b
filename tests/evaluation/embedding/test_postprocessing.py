"""Post-processing: against the papers' formulas, of zeros, of what varies in few directions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evaluation.embedding import embedding
from evaluation.embedding.embedding import Fitting
from evaluation.encoders.encoder import Postprocess as Name
from evaluation.measures import one_thread

NAMES: tuple[Name, ...] = ("centre", "abtt", "component_removal", "whitening")


@pytest.fixture(autouse=True)
def _on_one_thread() -> Iterator[None]:
    with one_thread():
        yield


every = pytest.mark.parametrize("name", NAMES)


def some(count: int, dimension: int, offset: float = 2) -> Any:
    """Return vectors that vary more in some directions than in others, about another centre."""
    generator = np.random.default_rng(count + dimension)
    mixed = generator.normal(size=(count, dimension)) * np.geomspace(3, 0.1, dimension)
    turned = mixed @ np.linalg.qr(generator.normal(size=(dimension, dimension)))[0]
    return (turned + offset).astype(np.float32)


def postprocess(vectors: Any, name: Name) -> Any:
    return Fitting(vectors).postprocess(name)


def cosines(vectors: Any) -> Any:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units @ units.T


def test_none_and_centre() -> None:
    vectors = np.array([[1, 5], [3, 5], [8, 5]], np.float32)
    assert postprocess(vectors, "none") is vectors
    found = postprocess(vectors, "centre")
    assert found.dtype == np.float32
    assert found.tolist() == [[-3, 0], [-1, 0], [4, 0]]


@pytest.mark.parametrize(("dimension", "removed"), [(30, 1), (149, 1), (250, 2), (320, 3)])
def test_abtt_takes_out_the_components_of_the_largest_variance(
    dimension: int, removed: int
) -> None:
    vectors = some(400, dimension)
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    components = np.linalg.svd(centred, full_matrices=False)[2][:removed]
    expected = centred - centred @ components.T @ components
    found = postprocess(vectors, "abtt")
    assert found == pytest.approx(expected, abs=1e-5)
    assert np.linalg.matrix_rank(found, tol=1e-2) == dimension - removed


def test_component_removal_takes_out_the_first_singular_direction_uncentred() -> None:
    vectors = some(300, 40)
    first = np.linalg.svd(vectors.astype(np.float64), full_matrices=False)[2][0]
    found = postprocess(vectors, "component_removal")
    assert found == pytest.approx(vectors - np.outer(vectors @ first, first), abs=1e-5)
    assert found @ first == pytest.approx(np.zeros(300), abs=1e-5)


def test_whitening_brings_all_components_to_variance_1() -> None:
    vectors = some(500, 30)
    found = postprocess(vectors, "whitening").astype(np.float64)
    assert found.mean(axis=0) == pytest.approx(np.zeros(30), abs=1e-6)
    assert found.T @ found / 500 == pytest.approx(np.eye(30), abs=1e-5)
    # As the paper has it: W = U sqrt(1 / S), U S U' the covariance.
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    directions, variances, _ = np.linalg.svd(centred.T @ centred / 500)
    papers = centred @ directions / np.sqrt(variances)
    assert cosines(found) == pytest.approx(cosines(papers), abs=1e-5)


@pytest.mark.parametrize(("count", "rank"), [(12, 11), (2, 1)])
def test_whitening_of_fewer_texts_than_dimensions(count: int, rank: int) -> None:
    """What does not vary stays out, and is not blown up."""
    found = postprocess(some(count, 30), "whitening").astype(np.float64)
    variances = np.linalg.eigvalsh(found.T @ found / count)
    assert variances == pytest.approx([0] * (30 - rank) + [1] * rank, abs=1e-4)


def test_a_component_that_varies_by_rounding_is_not_whitened() -> None:
    vectors = some(200, 8)
    vectors[:, 3] = 1000 + np.arange(200) % 2 * np.float32(6.2e-5)
    found = postprocess(vectors, "whitening").astype(np.float64)
    # Else it would be -1 and 1.
    assert found[:, 3] == pytest.approx(np.zeros(200), abs=1e-3)
    others = np.delete(found, 3, axis=1)
    assert others.T @ others / 200 == pytest.approx(np.eye(7), abs=1e-3)


def test_the_same_whatever_was_fitted_before() -> None:
    vectors = some(100, 20)
    fitting = Fitting(vectors)
    for name in (*NAMES, *NAMES[::-1]):
        assert fitting.postprocess(name).tobytes() == postprocess(vectors, name).tobytes()


@every
def test_the_signs_of_eigenvectors_do_not_matter(
    name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = some(100, 20)
    once = postprocess(vectors, name)
    eigh = np.linalg.eigh

    def flipped(matrix: Any) -> Any:
        variances, components = eigh(matrix)
        return variances, components * np.where(np.arange(len(variances)) % 2, -1, 1)

    monkeypatch.setattr(np.linalg, "eigh", flipped)
    assert postprocess(vectors, name).tobytes() == once.tobytes()


@every
def test_blocks_do_not_matter(name: Name, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = some(100, 20)
    once = postprocess(vectors, name)
    monkeypatch.setattr(embedding, "_BLOCK_TEXTS", 7)
    assert postprocess(vectors, name) == pytest.approx(once, abs=1e-5)


@every
def test_what_is_left_of_equal_vectors_is_0(name: Name) -> None:
    """And not rounding, which would have a direction."""
    vectors = np.tile(some(1, 30), (7, 1))
    assert (postprocess(vectors, name) == 0).all()


@pytest.mark.parametrize("name", ["centre", "abtt", "whitening"])
def test_what_is_left_of_the_mean_is_0(name: Name) -> None:
    # Of few digits, so that 4 less them is not rounded.
    vectors = (some(50, 10) * 64).round() / 64
    mirrored = np.concatenate([vectors, 4 - vectors, np.full((1, 10), 2, np.float32)])
    found = postprocess(mirrored.astype(np.float32), name)
    assert (found[-1] == 0).all()
    assert found[:-1].any(axis=1).all()


@every
def test_vectors_of_0_stay_0_and_are_not_fitted_on(name: Name) -> None:
    vectors = some(60, 10)
    zeros = np.zeros((25, 10), np.float32)
    found = postprocess(np.concatenate([zeros, vectors]), name)
    assert (found[:25] == 0).all()
    assert found[25:] == pytest.approx(postprocess(vectors, name), abs=1e-5)
    assert (postprocess(zeros, name) == 0).all()


def test_fitted_on_some_and_applied_to_others() -> None:
    vectors = some(90, 6)
    fitted = Fitting(vectors[:60]).fit("abtt")
    found = fitted.apply(vectors)
    assert (found[:60] == postprocess(vectors[:60], "abtt")).all()
    direction = np.linalg.svd(vectors[:60] - vectors[:60].mean(axis=0, dtype=np.float64))[2][0]
    assert found[60:] @ direction == pytest.approx(np.zeros(30), abs=1e-5)


def test_what_leaves_the_range_of_float32_is_infinite() -> None:
    vectors = np.array([[3e38], [3e38], [3e38], [-3e38]], np.float32)
    assert postprocess(vectors, "centre").ravel()[-1] == -np.inf
