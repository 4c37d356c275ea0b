"""What every protocol has."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from probe_problems import QUICK, folds, generator, splits

from evaluation.probing.protocols import PROTOCOLS, senteval
from evaluation.probing.protocols.problem import ProbeOutput, Problem, Protocol


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
