"""The principal axes of features."""

from typing import Any

import numpy as np
import pytest

from evaluation.probing.protocols import logistic
from evaluation.probing.protocols.logistic import all_axes, is_small, longest_axes


def features(rows: int, columns: int, rank: int) -> Any:
    """Return rows of mean 0 whose spread falls from axis to axis."""
    generator = np.random.Generator(np.random.PCG64(rows))
    inner = generator.normal(size=(rows, rank)) * np.geomspace(10, 0.5, rank)
    x = inner @ np.linalg.qr(generator.normal(size=(columns, rank)))[0].T
    return (x - x.mean(axis=0)).astype(np.float32)


@pytest.mark.parametrize(("rows", "columns", "rank"), [(200, 30, 30), (20, 90, 19), (200, 30, 8)])
def test_all_axes(rows: int, columns: int, rank: int) -> None:
    x = features(rows, columns, rank)
    axes, squares, along = all_axes(x)
    assert axes.shape == (columns, rank)
    assert axes.T @ axes == pytest.approx(np.eye(rank), abs=1e-3)
    assert along == pytest.approx(x @ axes, abs=1e-3)
    assert squares == pytest.approx(np.square(along).mean(axis=0), rel=1e-3)
    # Nothing is left out: the products of the rows are the same.
    assert along @ along.T == pytest.approx(x @ x.T, abs=0.02)


def test_the_longest_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic, "AXES", 6)
    x = features(500, 40, 40)
    axes, squares, rest = longest_axes(x)
    assert axes.shape == (40, 6)
    assert axes.T @ axes == pytest.approx(np.eye(6), abs=1e-4)
    exact = np.linalg.eigvalsh(x.T @ x / 500)[::-1]
    assert squares.sum() == pytest.approx(exact[:6].sum(), rel=0.03)
    assert rest == pytest.approx((exact.sum() - squares.sum()) / 34, rel=1e-3)


def test_what_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic, "SMALL", 10)
    found = [is_small(np.zeros(shape)) for shape in ((10, 99), (99, 10), (11, 11))]
    assert found == [True, True, False]
