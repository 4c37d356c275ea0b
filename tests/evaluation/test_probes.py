"""The probe: what it can learn, what it cannot, and what its scores do not depend on."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from evaluation import probes
from evaluation.probes import STRENGTHS, Adam, probe


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    import sklearn.linear_model  # noqa: F401

    with threadpool_limits(1):
        yield


def blobs(rows: int, classes: int, *, distance: float, seed: int = 0) -> tuple[Any, Any]:
    """Return rows around one centre a class, ``distance`` from the origin, of deviation 1."""
    generator = np.random.Generator(np.random.PCG64(seed))
    centres = np.linalg.qr(np.random.Generator(np.random.PCG64(99)).normal(size=(20, 20)))[0]
    y = generator.integers(classes, size=rows)
    x = distance * centres[y] + generator.normal(size=(rows, 20))
    return x.astype(np.float32), y


def fit(
    train: Any, validation: Any, test: Any, *, hidden: int = 0, seed: int = 1, name: str = "x"
) -> Any:
    return probe(train, validation, test, hidden=hidden, seed=seed, name=name)


@pytest.mark.parametrize("hidden", [0, 32])
def test_separable_classes_are_separated(hidden: int) -> None:
    train, validation, test = (
        blobs(rows, 4, distance=15, seed=i) for i, rows in enumerate((300, 80, 80))
    )
    found = fit(train, validation, test[0], hidden=hidden)
    assert (found.predictions == test[1]).all()
    assert found.validation_accuracy == 1


@pytest.mark.parametrize("hidden", [0, 32])
def test_shuffled_labels_are_not_learnt(hidden: int) -> None:
    generator = np.random.Generator(np.random.PCG64(5))
    accuracies = []
    for repeat in range(4):
        train, validation, test = (
            (blobs(250, 2, distance=5, seed=10 * repeat + i)[0], generator.integers(2, size=250))
            for i in range(3)
        )
        found = fit(train, validation, test[0], hidden=hidden)
        accuracies.append(np.mean(found.predictions == test[1]))
    # 1,000 rows: standard error 1.6 points.
    assert np.mean(accuracies) == pytest.approx(0.5, abs=0.05)


def test_only_a_hidden_layer_learns_an_exclusive_or() -> None:
    generator = np.random.Generator(np.random.PCG64(3))
    signs = generator.choice([-1.0, 1.0], size=(4800, 2))
    y = (signs[:, 0] != signs[:, 1]).astype(np.int64)
    x = (np.repeat(signs, 50, axis=1) + generator.normal(0, 0.5, (4800, 100))).astype(np.float32)
    parts = ((x[:4000], y[:4000]), (x[4000:4400], y[4000:4400]), x[4400:])
    assert np.mean(fit(*parts).predictions == y[4400:]) < 0.6
    assert np.mean(fit(*parts, hidden=200).predictions == y[4400:]) > 0.95


def test_the_regression_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    train, validation, test = (
        blobs(rows, 5, distance=1.5, seed=i) for i, rows in enumerate((400, 100, 300))
    )
    found = fit(train, validation, test[0])
    mean, deviation = train[0].mean(axis=0), train[0].std(axis=0)
    accuracies = {}
    for strength in STRENGTHS:
        model = LogisticRegression(C=1 / (strength * 400), tol=1e-8, max_iter=10000)
        model.fit((train[0] - mean) / deviation, train[1])
        accuracies[strength] = model.score((validation[0] - mean) / deviation, validation[1])
        if strength == found.chosen["strength"]:
            expected = model.predict((test[0] - mean) / deviation)
    best = max(accuracies.values())
    assert found.validation_accuracy == best
    assert found.chosen["strength"] == max(s for s, a in accuracies.items() if a == best)
    assert np.mean(found.predictions == expected) >= 0.997


@settings(max_examples=15, deadline=None)
@given(scale=st.sampled_from([1e-3, 0.1, 10, 1e3]), shift=st.sampled_from([0.0, 3.0]))
def test_scale_and_shift_of_the_features_do_not_matter(scale: float, shift: float) -> None:
    with threadpool_limits(1):
        parts = [blobs(rows, 3, distance=2, seed=i) for i, rows in enumerate((200, 100, 1000))]
        moved = [((x + shift) * scale).astype(np.float32) for x, _ in parts]
        for hidden in (0, 16):
            before = fit(parts[0], parts[1], parts[2][0], hidden=hidden)
            after = fit((moved[0], parts[0][1]), (moved[1], parts[1][1]), moved[2], hidden=hidden)
            assert np.mean(before.predictions == after.predictions) >= 0.998


def test_a_constant_column_changes_nothing() -> None:
    train, validation, test = (
        blobs(rows, 3, distance=3, seed=i) for i, rows in enumerate((200, 50, 50))
    )

    def with_constant(x: Any) -> Any:
        return np.concatenate([x, np.full((len(x), 1), 0.1, np.float32)], axis=1)

    plain = fit(train, validation, test[0])
    wide = fit(
        (with_constant(train[0]), train[1]),
        (with_constant(validation[0]), validation[1]),
        # Even where it is not constant in test.
        np.concatenate([test[0], test[0][:, :1] * 1e6], axis=1),
    )
    assert (plain.predictions == wide.predictions).all()


def test_class_numbers_need_not_be_dense_and_missing_ones_are_never_predicted() -> None:
    x, y = blobs(300, 3, distance=15)
    numbers = np.array([2, 7, 28])
    found = fit((x[:200], numbers[y[:200]]), (x[200:], numbers[y[200:]]), x)
    assert (found.predictions == numbers[y]).all()
    only = y[:200] != 1
    found = fit((x[:200][only], numbers[y[:200][only]]), (x[200:], numbers[y[200:]]), x)
    assert set(found.predictions) == {2, 28}
    assert found.validation_accuracy == pytest.approx(np.mean(y[200:] != 1))


def test_the_seed_and_the_name_matter_to_the_hidden_layer_alone() -> None:
    train, validation, test = (
        blobs(rows, 3, distance=1.2, seed=i) for i, rows in enumerate((200, 60, 400))
    )

    def predictions(**options: Any) -> bytes:
        found: bytes = fit(train, validation, test[0], **options).predictions.tobytes()
        return found

    assert predictions(seed=1) == predictions(seed=2)
    assert predictions(hidden=16) == predictions(hidden=16)
    assert predictions(hidden=16) != predictions(hidden=16, seed=2)
    assert predictions(hidden=16) != predictions(hidden=16, name="y")


def test_adam_by_hand() -> None:
    parameter = np.array([1.0, -2.0], np.float32)
    adam = Adam([parameter])
    adam.step([np.array([0.5, -4.0], np.float32)])
    # The first step has the size of STEP whatever the gradient.
    assert parameter == pytest.approx([0.999, -1.999], abs=1e-6)
    adam.step([np.array([0.5, 4.0], np.float32)])
    # Second: m = [0.095, 0.04] / 0.19, v = g^2, by algorithm 1 of the paper.
    assert parameter == pytest.approx([0.998, -1.999 - 0.001 * 0.04 / 0.19 / 4], abs=1e-6)


@pytest.mark.parametrize("path", ["_linear_path", "_hidden_path"])
def test_ties_go_to_the_strongest_penalty_and_the_fewest_passes(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = {3.0: 1, 4.0: 1}

    def constant(*_: Any) -> Any:
        for value in (1.0, 2.0, 3.0, 4.0):
            yield value, lambda rows, v=value: np.full(len(rows), right.get(v, 0))

    monkeypatch.setattr(probes, path, constant)
    x = np.eye(4, dtype=np.float32)
    hidden = 3 if path == "_hidden_path" else 0
    found = fit((x, np.array([0, 1, 0, 1])), (x, np.ones(4, np.int64)), x, hidden=hidden)
    assert list(found.chosen.values()) == [3.0]


def test_strengths_are_as_documented() -> None:
    assert STRENGTHS[0] == 100
    assert STRENGTHS[-1] == pytest.approx(0.001)
    assert [STRENGTHS[i] / STRENGTHS[i + 2] for i in range(9)] == pytest.approx([10] * 9)
