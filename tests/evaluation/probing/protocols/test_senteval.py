"""Tests of the protocol "senteval"."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from probe_problems import QUICK, blobs, folds, generator, in_splits, splits
from sklearn.linear_model import LogisticRegression

from builders.statistics import pearson
from builders.tasks import TASKS
from corpora_recipes.running.errors import InputError
from evaluation.measures import measure
from evaluation.probing.protocols import network, senteval
from evaluation.probing.protocols.network import (
    STRENGTHS,
    Network,
    Run,
    Schedule,
    Stopping,
    adam,
    compiled_adam,
    make_data,
    make_engine,
    train_runs,
)
from evaluation.probing.protocols.problem import SEEDS
from evaluation.probing.protocols.senteval import PROTOCOL, SCHEDULES, choose_strengths, fit_predict


def solve(problem, starts=2):
    return fit_predict(problem, 1, "numpy", starts)


def accuracies(problem, gold, starts=2):
    found = solve(problem, starts)
    assert found.predictions.shape == (starts, len(gold))
    return [measure(problem.metric, gold, predicted) for predicted in found.predictions]


@pytest.fixture
def quick(monkeypatch):
    """Give the tasks without a schedule of their own a short one."""
    monkeypatch.setattr(senteval, "Schedule", lambda: QUICK)


# What is learnt


def test_xor_takes_the_hidden_layer():
    random = generator(3)
    x = random.choice([-1.0, 1.0], size=(400, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
    x += 0.1 * random.normal(size=x.shape).astype(np.float32)
    assert min(accuracies(*in_splits(x, y, 200, 100, "discourse_coherence"), starts=1)) > 0.95
    assert max(accuracies(*in_splits(x, y, 200, 100, "section_prediction"))) < 0.8


def test_schedules_are_those_of_the_papers():
    assert SCHEDULES.keys() < TASKS.keys()
    assert STRENGTHS == (1e-5, 1e-4, 1e-3, 1e-2)
    assert Schedule() == Schedule(STRENGTHS, passes_per_check=4, passes=200, tenacity=5, hidden=0)
    kinds = ("discourse", "explicit", "implicit", "unit")
    assert {
        **{f"{kind}_relations": Schedule((0.0,), 1, 15, 5, 0) for kind in kinds},
        "section_prediction": Schedule((0.0,), 4, 200, 5, 0),
        "discourse_coherence": Schedule((0.0,), 15, 200, 8, 2000),
        "relatedness": Schedule((0.0,), 50, 1000, 3, 0),
    } == SCHEDULES


# The answers


def test_five_starts_differ_and_are_reproducible():
    problem, gold = splits(apart=0.5)
    one, other = fit_predict(problem, 1, "numpy"), fit_predict(problem, 1, "numpy")
    assert one.predictions.shape == (SEEDS, len(gold))
    assert np.array_equal(one.predictions, other.predictions)
    assert (one.chosen, one.validation) == (other.chosen, other.validation)
    assert len({row.tobytes() for row in one.predictions}) == SEEDS
    assert not np.array_equal(one.predictions, fit_predict(problem, 2, "numpy").predictions)
    renamed = fit_predict(replace(problem, name="other"), 1, "numpy")
    assert not np.array_equal(one.predictions, renamed.predictions)


def test_each_start_is_for_itself():
    problem, _ = splits(apart=0.5)
    found = solve(problem, 3)
    assert np.array_equal(solve(problem).predictions, found.predictions[:2])
    assert set(found.chosen) == {"strength", "passes"}
    assert set(found.chosen["strength"]) <= set(STRENGTHS)
    assert len(found.chosen["strength"]) == len(found.chosen["passes"]) == 3
    assert all(passes in range(4, 201, 4) for passes in found.chosen["passes"])


def test_smallest_of_the_best_strengths_is_chosen(monkeypatch):
    found = solve(splits(apart=20)[0])
    assert (found.chosen["strength"], found.validation) == ([1e-5, 1e-5], 1)
    # So strong a penalty of the others that their weights stay at nothing.
    monkeypatch.setattr(senteval, "Schedule", lambda: Schedule((1e6, 1e-5, 1e5), passes=40))
    assert solve(splits(apart=2)[0]).chosen["strength"] == [1e-5, 1e-5]


def test_relatedness():
    random = generator(4)
    x = random.normal(size=(500, 8)).astype(np.float32)
    score = np.clip(3 + x @ random.normal(size=8) * 0.5, 1, 5).round(1)
    problem, gold = in_splits(x, score, 300, 100, "relatedness", "pearson")
    found = solve(problem)
    assert found.predictions.dtype == np.float64
    assert 1 <= found.predictions.min() <= found.predictions.max() <= 5
    assert min(pearson(gold, predicted) for predicted in found.predictions) > 0.95
    assert found.chosen["strength"] == [0.0, 0.0]
    assert all(passes % 50 == 0 for passes in found.chosen["passes"])
    assert found.validation > 0.95


# Early stopping


def ends_at(values, tenacity):
    """Return the check at which training ends, counted from 1, and the best one; 0 for no end."""
    stopping = Stopping(tenacity)
    for number, value in enumerate(values, 1):
        stopping.check(value, number)
        if stopping.ended:
            return number, stopping.passes
    return 0, stopping.passes


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.integers(0, 6))
def test_stopping_counts_checks_without_improvement(values, tenacity):
    """None of them is set back by an improvement; the first is one, whatever its value."""
    values = [value / 5 for value in values]
    improves = [value > max(values[:i], default=-np.inf) for i, value in enumerate(values)]
    misses = np.cumsum(~np.array(improves))
    after = np.flatnonzero(misses > tenacity)
    end = int(after[0]) + 1 if after.size else 0
    seen = values[:end] if end else values
    assert ends_at(values, tenacity) == (end, seen.index(max(seen)) + 1)


# Adam


def naive_adam(weights, gradients, decay):
    """Take steps as the paper writes them, with the L2 of torch, in float64."""
    weights, mean, square = weights.astype(np.float64), 0.0, 0.0
    for step, gradient in enumerate(gradients, 1):
        slope = gradient + decay * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        weights = weights - 1e-3 * (mean / (1 - 0.9**step)) / (
            np.sqrt(square / (1 - 0.999**step)) + 1e-8
        )
    return weights


@given(st.integers(0, 1000), st.integers(1, 30), st.sampled_from([1e-6, 1.0, 100.0]))
@settings(max_examples=30)
def test_adam_is_the_papers(seed, steps, scale):
    random = generator(seed)
    weights = random.normal(size=(2, 5)).astype(np.float32)
    gradients = (scale * random.normal(size=(steps, 2, 5))).astype(np.float32)
    decay = np.array([[0.01], [0.0]], np.float32)
    moved, mean, square = weights.copy(), np.zeros((2, 5), np.float32), np.zeros((2, 5), np.float32)
    for step, gradient in enumerate(gradients, 1):
        adam(np, step, decay, moved, gradient.copy(), mean, square)
    assert np.allclose(moved, naive_adam(weights, gradients, decay), rtol=0, atol=2e-6 * steps)


@pytest.mark.parametrize("decays", [True, False])
def test_compiled_steps_are_those_of_numpy(decays, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(network, "WORTH", 0)
    random, step = generator(5), compiled_adam(1)
    plain = [random.normal(size=(3, 1001)).astype(np.float32), *np.zeros((2, 3, 1001), np.float32)]
    fused = [array.copy() for array in plain]
    decay = np.array([0.0, 1e-5, 0.01], np.float32)
    for steps in range(1, 30):
        gradient = (random.normal(size=(3, 1001)) * 10.0 ** random.integers(-9, 3)).astype("f4")
        gradient[:, ::7] = 0
        step(steps, decay if decays else None, fused[0], gradient, *fused[1:])
        adam(np, steps, decay[:, None] if decays else None, plain[0], gradient, *plain[1:])
        assert [array.tobytes() for array in fused] == [array.tobytes() for array in plain]


def test_the_compiled_loop_changes_no_answer(monkeypatch):
    pytest.importorskip("numba")
    problem, _ = splits("discourse_coherence", (64, 16, 16))
    monkeypatch.setattr(network, "compiled_adam", lambda numbers: None)
    expected = solve(problem, 1)
    monkeypatch.setattr(network, "compiled_adam", lambda numbers: network._compile())
    found = solve(problem, 1)
    assert np.array_equal(found.predictions, expected.predictions)
    assert (found.chosen, found.validation) == (expected.chosen, expected.validation)


def naive_step(task_metric, weights, x, wanted):
    """Return the gradient of the mean loss of a batch by finite differences, in float64."""

    def loss(flat):
        parts = np.split(flat, np.cumsum([w.size for w in weights])[:-1])
        *inner, last = (part.reshape(w.shape) for part, w in zip(parts, weights, strict=True))
        rows = x
        if inner:
            rows = 1 / (1 + np.exp(-rows @ inner[0].T))
            rows = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
        logits = rows @ last.T
        chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        if task_metric == "pearson":
            return np.mean((chances - wanted) ** 2)
        return -np.mean(np.sum(wanted * np.log(chances), axis=1))

    flat = np.concatenate([w.ravel() for w in weights]).astype(np.float64)
    steps = 1e-6 * np.eye(len(flat))
    return np.array([(loss(flat + step) - loss(flat - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize(("metric", "hidden"), [("accuracy", 0), ("accuracy", 4), ("pearson", 0)])
def test_gradients(metric, hidden, monkeypatch):
    random = generator(1)
    x = random.normal(size=(10, 3)).astype(np.float32)
    y = random.integers(3, size=10) if metric == "accuracy" else random.uniform(1, 4, size=10)
    data = make_data(make_engine("numpy"), metric, [x], y)
    run = Run(np.arange(10), (), (0.0,), generator(2))
    fits = Network(data, [run], hidden)
    weights = [array[0, 0] for array in fits.weights_of(0)]
    expected = naive_step(metric, weights, data.x.astype(np.float64), data.table[data.codes])
    found = []

    def catch(library, steps, decay, weights, gradient, mean, square):
        found.append(gradient.ravel().copy())

    monkeypatch.setattr(network, "adam", catch)
    monkeypatch.setattr(network, "compiled_adam", lambda numbers: None)
    fits.train_pass()
    assert np.concatenate(found) == pytest.approx(expected, abs=1e-5)


def test_batches_and_first_weights():
    x, y = blobs(150)
    data = make_data(make_engine("numpy"), "accuracy", [x], y)
    runs = [Run(np.arange(n), (), (0.0, 0.1), generator(n)) for n in (130, 150)]
    fits = Network(data, runs, 0)
    weights = np.stack([fits.weights_of(row)[0][0] for row in range(2)])
    assert (weights.shape, weights.dtype) == ((2, 2, 3, 11), np.float32)
    assert np.array_equal(weights[:, 0], weights[:, 1])
    assert not np.array_equal(weights[0], weights[1])
    assert 0.9 / np.sqrt(10) < np.abs(weights).max() <= 1 / np.sqrt(10)
    seen = []
    fits._step = lambda batch, share: seen.append((batch.copy(), share[:, 0, 0].copy()))
    fits.train_pass()
    fits.train_pass()
    assert [batch.shape for batch, _ in seen] == [(2, 64), (2, 64), (2, 22)] * 2
    for row, size in enumerate((130, 150)):
        orders = [
            np.concatenate([batch[row][share[row] > 0] for batch, share in seen[k : k + 3]])
            for k in (0, 3)
        ]
        assert [sorted(order) for order in orders] == [list(range(size))] * 2
        assert not np.array_equal(*orders)
        assert all(share[row].sum() == pytest.approx(1) for _, share in seen)


# Together and one by one


@pytest.mark.parametrize("block", [1, 1 << 14, 1 << 20])
def test_together_is_one_by_one(block):
    x, y = blobs(300, apart=0.7)
    data = make_data(replace(make_engine("numpy"), block=block), "accuracy", [x], y)
    schedule = Schedule((1e-5, 1e-3, 0.1), passes=60, tenacity=2)

    def runs(strengths):
        return [
            Run(rows, (slice(200, 250), slice(250, 300)), strengths, generator(k), slice(200, 300))
            for k, rows in enumerate(map(np.arange, (200, 200, 190, 100, 192)))
        ]

    together = train_runs(data, runs(schedule.strengths), schedule)
    ends = {tuple(trained.passes.ravel()) for trained in together}
    assert len(ends) > 1
    for fit, strength in enumerate(schedule.strengths):
        for number in range(5):
            run = runs((strength,))[number]
            (alone,), of_run = train_runs(data, [run], schedule), together[number]
            assert np.array_equal(alone.best_metrics[:, 0], of_run.best_metrics[:, fit])
            assert np.array_equal(alone.passes[:, 0], of_run.passes[:, fit])
            assert np.array_equal(alone.predictions[0], of_run.predictions[fit])


# Folds


def test_strengths_of_folds_are_those_of_the_naive_nesting():
    problem = folds(rows=90, count=4, apart=0.4)
    order = np.argsort(problem.folds, kind="stable")
    x, y, fold_of = problem.x[order], problem.y[order], problem.folds[order]
    parts = [slice(*np.flatnonzero(fold_of == fold)[[0, -1]] + [0, 1]) for fold in range(4)]
    schedule = Schedule((1e-5, 0.03, 1.0), passes=24, tenacity=1)
    data = make_data(make_engine("numpy"), "accuracy", [x], y)
    best, means = choose_strengths(data, parts, 1, "toy", schedule, 2)
    for start in range(2):
        for test in range(4):
            reached = []
            for strength in schedule.strengths:
                inner = []
                for validation in set(range(4)) - {test}:
                    pair = sorted((test, validation))
                    key = senteval._generator(1, "toy", start, *pair)
                    rows = np.flatnonzero((fold_of != test) & (fold_of != validation))
                    run = Run(rows, (parts[validation],), (strength,), key)
                    (trained,) = train_runs(data, [run], schedule)
                    inner.append(trained.best_metrics[0, 0])
                reached.append(np.mean(inner))
            assert means[start, test] == pytest.approx(max(reached))
            assert reached[best[start, test]] == pytest.approx(max(reached))
    assert len(set(best.ravel())) > 1


@pytest.fixture
def trained(monkeypatch):
    """Return the lists of runs that are trained in a test, which come while it runs."""
    calls = []

    def spy(data, runs, schedule):
        calls.append(runs)
        return train_runs(data, runs, schedule)

    monkeypatch.setattr(senteval, "train_runs", spy)
    return calls


def test_each_pair_of_folds_is_left_out_once(quick, trained):
    solve(folds(rows=100, count=5))
    inner, final = trained
    assert len(inner) == 2 * len(list(combinations(range(5), 2)))
    assert {len(run.train) for run in inner} == {60}
    assert all(run.strengths == QUICK.strengths and len(run.validations) == 2 for run in inner)
    assert len(final) == 2 * 5
    for run in final:
        held_out = set(run.validations[0])
        assert (len(run.train), len(held_out), len(run.strengths)) == (76, 4, 1)
        assert not held_out & set(run.train)
        assert not (held_out | set(run.train)) & set(range(100)[run.test_rows])


def test_train_is_whole_again_where_the_source_has_no_validation(quick, trained):
    problem, _ = splits(rows=(180, 20, 60))
    found = solve(replace(problem, held_out=True))
    parts, final = trained
    assert len(parts) == 2 * 10
    assert {len(run.train) for run in parts} == {180}
    for start in (parts[:10], parts[10:]):
        validated = np.concatenate([run.validations[0] for run in start])
        assert sorted(validated) == list(range(200))
        assert all(not {*run.train} & {*run.validations[0]} for run in start)
    assert [len(run.train) for run in final] == [190, 190]
    assert [run.test_rows for run in final] == [slice(200, 260)] * 2
    assert found.chosen["strength"] == [run.strengths[0] for run in final]
    # Other tasks keep the validation that they are given.
    kept = replace(problem, task="section_prediction", held_out=True)
    assert (
        solve(kept).predictions.tolist()
        == solve(replace(kept, held_out=False)).predictions.tolist()
    )


def test_folds_are_as_right_as_by_scikit_learn():
    problem = folds(rows=6000, count=3, apart=0.7)
    x, y = problem.x, problem.y
    theirs = np.empty_like(y)
    for fold in range(3):
        test = problem.folds == fold
        theirs[test] = LogisticRegression().fit(x[~test], y[~test]).predict(x[test])
    ours = fit_predict(problem, 1, "numpy", 1).predictions
    assert 0.8 < np.mean(theirs == y) < 0.85
    assert np.mean(ours == y) == pytest.approx(np.mean(theirs == y), abs=0.005)


def test_vectors_of_length_1_are_learnt_less_than_by_scikit_learn():
    """As in the engine of 2018, whose steps are too short for them (docs/probing.md)."""
    random = generator()
    x = random.normal(size=(3500, 300))
    y = x @ random.normal(size=300) / 300**0.5 + 0.2 * random.normal(size=3500) > 0
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
    problem, gold = in_splits(x, y.astype(np.int64), 1500, 500)
    theirs = LogisticRegression(C=16).fit(problem.x, problem.y).score(problem.test, gold)
    short, long = (
        np.mean(accuracies(*in_splits(k * x, y.astype(np.int64), 1500, 500))) for k in (1, 20)
    )
    assert short + 0.015 < min(long, theirs)


def test_a_hidden_layer_is_the_greater_effort():
    assert PROTOCOL.effort("discourse_coherence", 2) > PROTOCOL.effort("sentence_ordering", 2)
    assert PROTOCOL.effort("linguistic_probing", 6) > PROTOCOL.effort("linguistic_probing", 2)


# Engines


def test_missing_torch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"(extra |\[)torch\b"):
        fit_predict(splits()[0], 1, "torch")
