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
    train: Any,
    validation: Any,
    test: Any,
    *,
    metric: Any = "accuracy",
    hidden: int = 0,
    seed: int = 1,
    name: str = "x",
) -> Any:
    return probe(train, validation, test, metric=metric, hidden=hidden, seed=seed, name=name)


@pytest.mark.parametrize("hidden", [0, 32])
def test_separable_classes_are_separated(hidden: int) -> None:
    train, validation, test = (
        blobs(rows, 4, distance=15, seed=i) for i, rows in enumerate((300, 80, 80))
    )
    found = fit(train, validation, test[0], hidden=hidden)
    assert (found.predictions == test[1]).all()
    assert found.validation == 1


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
    assert found.validation == best
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
    assert found.validation == pytest.approx(np.mean(y[200:] != 1))


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
            yield value, lambda rows, v=value: np.eye(2)[np.full(len(rows), right.get(v, 0))]

    monkeypatch.setattr(probes, path, constant)
    x = np.eye(4, dtype=np.float32)
    hidden = 3 if path == "_hidden_path" else 0
    found = fit((x, np.array([0, 1, 0, 1])), (x, np.ones(4, np.int64)), x, hidden=hidden)
    assert list(found.chosen.values()) == [3.0]


def gold(x: Any) -> Any:
    """Return scores from 1 to 5 that a linear function of the features tells, but for noise."""
    noise = np.random.Generator(np.random.PCG64(len(x))).normal(0, 0.3, len(x))
    return np.round(np.clip(3 + x[:, 0] - x[:, 1] / 2 + noise, 1, 5), 1)


def test_relatedness_is_learnt() -> None:
    xs = [blobs(rows, 4, distance=1, seed=i)[0] for i, rows in enumerate((400, 100, 200))]
    found = fit((xs[0], gold(xs[0])), (xs[1], gold(xs[1])), xs[2], metric="pearson")
    assert found.predictions.dtype == np.float64
    assert found.predictions.min() >= 1
    assert found.predictions.max() <= 5
    assert np.corrcoef(found.predictions, gold(xs[2]))[0, 1] > 0.9
    assert found.validation > 0.9
    assert np.mean(np.abs(found.predictions - gold(xs[2]))) < 0.5


def test_relatedness_is_cross_entropy_with_soft_targets() -> None:
    """Against gradient descent on the loss as the paper writes it, for the strength chosen."""
    xs = [blobs(rows, 4, distance=1, seed=i)[0] for i, rows in enumerate((150, 60, 60))]
    y = gold(xs[0])
    found = fit((xs[0], y), (xs[1], gold(xs[1])), xs[2], metric="pearson")
    targets = np.zeros((150, 5))
    for i, score in enumerate(y):
        # Tai et al. 2015, section 4.2: p_i = y - floor(y) for i = floor(y) + 1 and so on.
        floor = int(np.floor(score))
        targets[i, floor - 1] = floor - score + 1
        if score > floor:
            targets[i, floor] = score - floor
    mean, deviation = xs[0].mean(axis=0), xs[0].std(axis=0)
    x, x_test = ((part - mean) / deviation for part in (xs[0], xs[2]))
    weights, bias = np.zeros((20, 5)), np.zeros(5)
    for _ in range(10000):
        errors = (probes._softmax(x @ weights + bias) - targets) / 150
        weights -= 0.9 * (x.T @ errors + found.chosen["strength"] * weights)
        bias -= 0.9 * errors.sum(axis=0)
    expected = probes._softmax(x_test @ weights + bias) @ np.arange(1, 6)
    assert found.predictions == pytest.approx(expected, abs=0.01)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 5, allow_nan=False), min_size=1, max_size=20))
def test_soft_targets_have_the_score_as_their_mean(given_scores: list[float]) -> None:
    scores = np.array(given_scores)
    classes, rows, y, weights = probes._soft_targets(scores)
    assert (weights > 0).all()
    assert set(y) == set(range(len(classes)))
    assert np.bincount(rows, weights) == pytest.approx(np.ones(len(scores)))
    assert np.bincount(rows, weights * classes[y]) == pytest.approx(scores)


def test_whole_scores_have_one_class() -> None:
    classes, rows, y, weights = probes._soft_targets(np.array([1.0, 4.0, 2.5]))
    assert classes.tolist() == [1, 2, 3, 4]
    assert rows.tolist() == [0, 1, 2, 2]
    assert y.tolist() == [0, 3, 1, 2]
    assert weights.tolist() == [1, 1, 0.5, 0.5]


@pytest.mark.parametrize("classes", [2, 12])
def test_the_large_fit_is_the_usual_one(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunks do not fit the rows, and the usual fit is given the strengths of the large one."""
    train, validation, test = (
        blobs(rows, classes, distance=1.5, seed=i) for i, rows in enumerate((1500, 400, 1000))
    )
    monkeypatch.setattr(probes, "STRENGTHS", probes.LARGE_STRENGTHS)
    usual = fit(train, validation, test[0])
    monkeypatch.setattr(probes, "LARGE", 0)
    monkeypatch.setattr(probes, "CHUNK", 256)
    large = fit(train, validation, test[0])
    accuracies = [np.mean(found.predictions == test[1]) for found in (usual, large)]
    assert accuracies[1] == pytest.approx(accuracies[0], abs=0.006)
    assert np.mean(usual.predictions == large.predictions) > 0.96
    assert large.predictions.tobytes() == fit(train, validation, test[0]).predictions.tobytes()


def test_two_classes_are_penalised_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs(600, 2, distance=1, seed=1)
    monkeypatch.setattr(probes, "STRENGTHS", probes.LARGE_STRENGTHS)
    monkeypatch.setattr(probes, "LARGE_ITERATIONS", 500)
    weights = np.ones(len(y))
    usual = [logits(x) for _, logits in probes._linear_path(x.astype(np.float64), y, weights)]
    large = [logits(x) for _, logits in probes._large_path(x, y, weights, 2)]
    for one, other in zip(usual, large, strict=True):
        np.testing.assert_allclose(np.diff(one), np.diff(other), atol=1e-3)


def test_what_is_large_is_rows_times_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    train, validation = (blobs(rows, 4, distance=9, seed=rows) for rows in (100, 50))
    assert set(np.unique(train[1])) == {0, 1, 2, 3}
    monkeypatch.setattr(probes, "_linear_path", None)
    monkeypatch.setattr(probes, "LARGE", 399)
    assert fit(train, validation, train[0]).chosen["strength"] in probes.LARGE_STRENGTHS
    monkeypatch.setattr(probes, "LARGE", 400)
    with pytest.raises(TypeError):
        fit(train, validation, train[0])


def test_a_large_fit_of_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    xs = [blobs(rows, 4, distance=1, seed=i)[0] for i, rows in enumerate((400, 100, 200))]
    parts = ((xs[0], gold(xs[0])), (xs[1], gold(xs[1])), xs[2])
    usual = fit(*parts, metric="pearson")
    monkeypatch.setattr(probes, "LARGE", 0)
    large = fit(*parts, metric="pearson")
    assert np.corrcoef(usual.predictions, large.predictions)[0, 1] > 0.99


def test_the_memory_of_a_large_fit_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """40,000 rows, 100 classes: features of 3 MB; all chances at once would be 16 MB in float32."""
    import tracemalloc

    generator = np.random.Generator(np.random.PCG64(1))
    x = generator.normal(size=(40_000, 20)).astype(np.float32)
    y = np.arange(40_000) % 100
    monkeypatch.setattr(probes, "LARGE_ITERATIONS", 2)
    fit((x[:5000], y[:5000]), (x[:100], y[:100]), x[:100])  # loads what it needs
    tracemalloc.start()
    fit((x, y), (x[:100], y[:100]), x[:100])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 14e6


def test_strengths_are_as_documented() -> None:
    assert STRENGTHS[0] == 100
    assert STRENGTHS[-1] == pytest.approx(0.001)
    assert [STRENGTHS[i] / STRENGTHS[i + 2] for i in range(9)] == pytest.approx([10] * 9)
