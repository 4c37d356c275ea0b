"""Every protocol: scale, classes, chance, folds, and what it costs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from imports import REPOSITORY
from probe_problems import QUICK, folds, generator, splits

from builders.plan.groups import load_groups
from evaluation.probing.protocols import PROTOCOLS, Probing, effort, senteval
from evaluation.probing.protocols.problem import ProbeOutput, Problem, Protocol
from probeta.cli.listing import costs_listing


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
@pytest.mark.parametrize(
    ("protocol", "task", "rows", "classes", "measured"),
    [
        ("standard", "linguistic_probing", 120_000, 2, 8),
        ("standard", "sentence_position", 18_000, 5, 17),
        ("standard", "sentence_ordering", 18_000, 2, 5),
        ("standard", "word_content", 120_000, 1000, 156),
        ("senteval", "linguistic_probing", 120_000, 2, 30),
        ("senteval", "sentence_position", 18_000, 5, 32),
        ("senteval", "sentence_ordering", 18_000, 2, 13),
        ("senteval", "discourse_coherence", 18_000, 2, 7200),
    ],
)
def test_costs_are_near_those_measured(protocol, task, rows, classes, measured):
    told = effort(task, rows, classes, 768, protocol, "difference_product", False) / 1e9
    assert measured / 2 < told < 2 * measured


def test_list_tells_what_the_schedule_of_the_papers_costs():
    groups = load_groups(REPOSITORY / "params.yaml")
    told = costs_listing([d for group in groups for d in group.datasets], Probing())
    assert "7 min by standard" in told
    assert "h by senteval (dc_" in told
    assert costs_listing([], Probing()) == ""
