"""The protocols together; logistic regression and what it is fitted on."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from case_tables import read_tables
from imports import REPOSITORY
from probe_problems import QUICK, folds, generator, splits

from evaluation.arrays import Doubles, Floats
from evaluation.probing.protocols import PROTOCOLS, Probing, effort, logistic, senteval
from evaluation.probing.protocols.logistic import (
    End,
    Loss,
    all_axes,
    is_small,
    longest_axes,
    minimise,
)
from evaluation.probing.protocols.problem import ProbeOutput, Problem, Protocol
from probeta.cli.listing import vector_costs

TABLES = read_tables(__file__)

# --- protocols -----------------------------------------------------------------------------------


@pytest.fixture(params=PROTOCOLS.values(), ids=PROTOCOLS.keys())
def protocol(request: Any) -> Any:
    return request.param


def solve(protocol: Protocol, problem: Problem) -> ProbeOutput:
    return protocol.fit_predict(problem, 1, protocol.engines[0])


@pytest.mark.parametrize("factor", [0.01, 100])
def test_the_scale_matters_where_the_protocol_says_so(protocol: Protocol, factor: float) -> None:
    problem, _ = splits(rows=(60, 30, 30), apart=1)
    scaled, _ = splits(rows=(60, 30, 30), apart=1, scale=factor)
    plain, other = (solve(protocol, given) for given in (problem, scaled))
    assert (plain.predictions == other.predictions).all() != protocol.scale_matters


def test_classes_keep_their_numbers_and_missing_ones_are_never_predicted(
    protocol: Protocol,
) -> None:
    problem, gold = splits(apart=4)
    assert problem.validation is not None
    numbers, (x, y) = np.array([2, 5, 9]), problem.validation
    problem = replace(problem, y=numbers[problem.y], validation=(x, numbers[y]))
    predictions = solve(protocol, problem).predictions
    assert predictions.dtype == np.int64
    assert np.mean(predictions == numbers[gold]) > 0.98
    kept = problem.y != 5
    found = solve(protocol, replace(problem, x=problem.x[kept], y=problem.y[kept]))
    assert {*found.predictions.flat} == {2, 9}
    assert found.validation == pytest.approx(np.mean(y != 1), abs=0.03)


def test_shuffled_labels_stay_at_chance(protocol: Protocol) -> None:
    y = generator(7).integers(2, size=1200)
    problem, gold = splits(rows=(400, 200, 600), y=y)
    assert np.mean(solve(protocol, problem).predictions == gold) == pytest.approx(0.5, abs=0.08)


def test_labels_of_a_fold_do_not_matter_to_its_answers(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit: where a search ends does not depend on them either."""
    monkeypatch.setattr(senteval, "Schedule", lambda: QUICK)
    problem = folds(apart=0.5)
    second = problem.folds == 2
    y = np.where(second, (problem.y + 1) % 3, problem.y)
    before, after = (
        solve(protocol, given).predictions for given in (problem, replace(problem, y=y))
    )
    assert (before[:, second] == after[:, second]).all()
    assert (before[:, ~second] != after[:, ~second]).any()


# Seconds of CPU that docs/scale.md gives for 768 dimensions.
@pytest.mark.parametrize(("protocol", "task", "rows", "classes", "measured"), TABLES["costs"])
def test_costs_are_near_those_measured(protocol, task, rows, classes, measured):
    told = effort(task, rows, classes, 768, Probing(protocol), False) / 1e9
    assert measured / 2 < told < 2 * measured


def test_list_tells_what_the_schedule_of_the_papers_costs(empty_folder):
    _, _, told = vector_costs(REPOSITORY / "params.yaml")["use_multilingual"]
    assert "5 min by standard" in told
    assert "h by senteval" in told


# --- logistic ------------------------------------------------------------------------------------


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
    # A step that is too long is shortened.
    loss, asked = bowls([[0.0]], [[1000.0]])
    found = minimise(loss, np.ones((1, 1), np.float32), END)
    assert abs(asked[1][0, 0]) > 1000
    assert found[0, 0] == pytest.approx(0, abs=1e-6)


def test_the_bits_of_a_problem_do_not_depend_on_the_others() -> None:
    start = np.zeros((2, 3), np.float32)
    steep = np.array([[1.0, 3, 9], [2, 2, 2]])
    one, _ = bowls([[0.5, -0.5, 1], [0, 0, 0]], steep)
    other, _ = bowls([[0.5, -0.5, 1], [-30, 7, 0.1]], steep)
    found = [minimise(loss, start, END) for loss in (one, other)]
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == 0).all()
    assert found[1][1] == pytest.approx([-30, 7, 0.1], abs=1e-3)


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
