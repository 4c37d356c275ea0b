"""L-BFGS for many problems side by side."""

from typing import Any

import numpy as np
import pytest

from evaluation.arrays import Doubles, Floats
from evaluation.probing.protocols.logistic import End, Loss, minimise

END = End(gradient=1e-5, progress=0)


def bowls(lowest: Any, steep: Any) -> tuple[Loss, list[Floats]]:
    """Return (x - lowest)^4 + steep (x - lowest)^2 over all places, and the points asked for."""
    asked: list[Floats] = []
    lowest, steep = np.asarray(lowest, np.float64), np.asarray(steep, np.float64)

    def loss(point: Floats) -> tuple[Doubles, Floats]:
        asked.append(point)
        off = point - lowest
        slope = 4 * off**3 + 2 * steep * off
        return (off**4 + steep * off**2).sum(axis=1), slope.astype(np.float32)

    return loss, asked


def test_the_lowest_points_are_found() -> None:
    lowest = np.arange(12.0).reshape(3, 4) / 6 - 1
    steep = np.geomspace(0.5, 20, 12).reshape(3, 4)
    loss, asked = bowls(lowest, steep)
    found = minimise(loss, np.zeros((3, 4), np.float32), END)
    assert found.dtype == np.float32
    assert found == pytest.approx(lowest, abs=1e-4)
    assert len(asked) < 60


def test_the_bits_of_a_problem_do_not_depend_on_the_others() -> None:
    start = np.zeros((2, 3), np.float32)
    steep = np.array([[1.0, 3, 9], [2, 2, 2]])
    one, _ = bowls([[0.5, -0.5, 1], [0, 0, 0]], steep)
    other, _ = bowls([[0.5, -0.5, 1], [-30, 7, 0.1]], steep)
    found = [minimise(loss, start, END) for loss in (one, other)]
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == 0).all()
    assert found[1][1] == pytest.approx([-30, 7, 0.1], abs=1e-3)


def test_a_step_that_is_too_long_is_shortened() -> None:
    loss, asked = bowls([[0.0]], [[1000.0]])
    found = minimise(loss, np.ones((1, 1), np.float32), END)
    assert abs(asked[1][0, 0]) > 1000
    assert found[0, 0] == pytest.approx(0, abs=1e-6)


def test_where_it_ends() -> None:
    start = np.full((1, 2), 3, np.float32)
    loss, asked = bowls([[0.0, 1.0]], [[1.0, 30.0]])
    assert (minimise(loss, start, End(gradient=1e9, progress=0)) == start).all()
    assert len(asked) == 1
    few = minimise(loss, start, End(gradient=0, progress=0, steps=2))
    assert np.abs(few - [0, 1]).max() > 0.01
    rough = minimise(loss, start, End(gradient=0, progress=0.1))
    fine = minimise(loss, start, End(gradient=0, progress=0))
    assert np.abs(rough - [0, 1]).max() > np.abs(fine - [0, 1]).max()
    # float32 lets no step lower the loss any more: it ends all the same.
    assert fine == pytest.approx(np.array([[0, 1]]), abs=1e-2)
