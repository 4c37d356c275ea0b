"""The protocol "standard": what it learns, and what its predictions depend on."""

import tracemalloc
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from evaluation.measures import measure
from evaluation.probing.protocols import logistic, standard
from evaluation.probing.protocols.logistic import (
    End,
    Regressions,
    coherence_features,
    deviations,
    standardised,
)
from evaluation.probing.protocols.problem import Problem, predict, softmax, targets
from evaluation.probing.protocols.standard import LARGE_STRENGTHS, PROTOCOL, STRENGTHS


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
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


def for_task(task: str, *rows: int, distance: float) -> list[Any]:
    """Return parts of passages for discourse coherence, else of blobs: their classes or scores."""
    if task == "discourse_coherence":
        return [passages(n, seed=i) for i, n in enumerate(rows)]
    if task == "relatedness":
        return [(x, gold(x)) for x, _ in parts_of(4, distance=distance, rows=rows)]
    return parts_of(3, distance=distance, rows=rows)


def parts_of(classes: int, *, distance: float, rows: Any = (300, 80, 80)) -> list[Any]:
    return [blobs(n, classes, distance=distance, seed=i) for i, n in enumerate(rows)]


def in_splits(train: Any, validation: Any, test: Any, **others: Any) -> Problem:
    given: dict[str, Any] = {"name": "x", "task": "linguistic_probing", "metric": "accuracy"}
    return Problem(
        **{**given, **others}, x=train[0], y=train[1], validation=validation, test=test[0]
    )


def in_folds(x: Any, y: Any, folds: Any, **others: Any) -> Problem:
    given: dict[str, Any] = {"name": "x", "task": "sentence_classification", "metric": "accuracy"}
    return Problem(**{**given, **others}, x=x, y=y, folds=folds)


def solve(problem: Problem, seed: int = 1) -> Any:
    return PROTOCOL.fit_predict(problem, seed, "numpy")


def passages(rows: int, *, seed: int, size: int = 16, noise: float = 0.7) -> tuple[Any, Any]:
    """Return six embeddings around a topic; where y is 0, one of 2 to 5 is of another topic."""
    generator = np.random.Generator(np.random.PCG64(seed))
    x = generator.normal(size=(rows, 1, size)) + noise * generator.normal(size=(rows, 6, size))
    y = generator.integers(2, size=rows)
    place = generator.integers(1, 5, size=rows)
    strange = np.sqrt(1 + noise**2) * generator.normal(size=(rows, size))
    x[np.arange(rows), place] = np.where(y[:, None] == 1, x[np.arange(rows), place], strange)
    return x.reshape(rows, -1).astype(np.float32), y


def tighten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the search go on as long as float32 lets it, for comparisons."""
    monkeypatch.setattr(logistic, "END", End(gradient=1e-6, progress=1e-12))


# What is learnt


@pytest.mark.parametrize(("rows", "accuracy"), [(1, 0.75), (80, 1)])
def test_separable_classes_are_separated(rows: int, accuracy: float) -> None:
    """Also with a validation of one row."""
    train, validation, test = parts_of(4, distance=15, rows=(300, rows, 80))
    found = solve(in_splits(train, validation, test))
    assert found.predictions.shape == (1, 80)
    assert found.predictions.dtype == np.int64
    assert np.mean(found.predictions == test[1]) >= accuracy
    assert (found.validation, list(found.chosen)) == (1, ["strength"])


# What predictions do not depend on


@settings(max_examples=15)
@given(
    scale=st.sampled_from([1e-3, 0.1, 10, 1e3]),
    shift=st.sampled_from([0.0, 3.0]),
    task=st.sampled_from(["linguistic_probing", "discourse_coherence", "relatedness"]),
)
def test_scale_and_shift_of_the_features_do_not_matter(
    scale: float, shift: float, task: str
) -> None:
    parts = for_task(task, 200, 100, 1000, distance=2)
    moved = [(((x + shift) * scale).astype(np.float32), y) for x, y in parts]
    facts = {"task": task, "metric": "pearson" if task == "relatedness" else "accuracy"}
    plain, other = (solve(in_splits(*rows, **facts)).predictions for rows in (parts, moved))
    assert np.mean(np.abs(plain - other) < 0.01) >= 0.998


def test_a_constant_column_changes_nothing() -> None:
    train, validation, test = parts_of(3, distance=3)

    wider = [(np.insert(x, 20, np.float32(0.1), axis=1), y) for x, y in (train, validation)]
    # Even where it is not constant in test.
    wide = solve(in_splits(*wider, (np.concatenate([test[0], test[0][:, :1] * 1e6], axis=1), None)))
    assert (solve(in_splits(train, validation, test)).predictions == wide.predictions).all()


@pytest.mark.parametrize("task", ["linguistic_probing", "discourse_coherence"])
def test_nothing_is_random(task: str) -> None:
    problem = in_splits(*for_task(task, 200, 60, 400, distance=1.2), task=task)
    one, other = solve(problem), solve(replace(problem, name="y"), seed=2)
    assert one.predictions.tobytes() == other.predictions.tobytes()
    assert (one.chosen, one.validation) == (other.chosen, other.validation)


@pytest.mark.parametrize("metric", ["accuracy", "pearson"])
def test_the_order_of_the_rows_of_test_does_not_matter(metric: Any) -> None:
    task = "relatedness" if metric == "pearson" else "linguistic_probing"
    parts = for_task(task, 200, 60, 400, distance=1.2)
    order = np.random.Generator(np.random.PCG64(4)).permutation(400)
    problem = in_splits(*parts, metric=metric)
    moved = solve(replace(problem, test=parts[2][0][order]))
    assert moved.predictions[0] == pytest.approx(solve(problem).predictions[0][order], abs=1e-5)


def test_ties_go_to_the_strongest_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    class Constant:
        """Regressions that answer with class 1 for all rows, if the strength is 3 or more."""

        def __init__(self, x: Any, targets: Any, used: Any = None, scales: Any = None) -> None:
            self.count = 1 if used is None else len(used)
            self.strengths: Any = None

        def restart(self, targets: Any) -> Any:
            return copy(self)

        def fit(self, strengths: Any) -> None:
            self.strengths = strengths

        def fitted(self) -> Any:
            return copy(self)

        def logits(self, rows: Any) -> Any:
            return np.array([np.eye(2)[[int(s >= 3)] * len(rows)] for s in self.strengths])

    monkeypatch.setattr(standard, "Regressions", Constant)
    monkeypatch.setattr(standard, "STRENGTHS", (1.0, 2.0, 3.0, 4.0))
    x, y = np.eye(4, dtype=np.float32), np.array([0, 1, 0, 1])
    found = solve(in_splits((x, y), (x, np.ones(4, np.int64)), (x, None)))
    assert found.chosen == {"strength": [3.0]}
    y, folds = np.array([0, 1, 1] * 3), np.repeat([0, 1, 2], 3)
    found = solve(in_folds(np.zeros((9, 9), np.float32), y, folds))
    assert found.chosen == {"strength": [3.0] * 3}


def test_strengths_are_as_documented() -> None:
    assert STRENGTHS[0] == 100
    assert STRENGTHS[-1] == pytest.approx(0.001)
    assert [STRENGTHS[i] / STRENGTHS[i + 2] for i in range(9)] == pytest.approx([10] * 9)
    assert (PROTOCOL.name, PROTOCOL.version, PROTOCOL.engines) == ("standard", 5, ("numpy",))


# Folds


@pytest.mark.parametrize(("rows", "folds"), [(160, 4), (90, 3), (18, 3)])
def test_folds_are_nested(rows: int, folds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against loops that fit every split anew; 18 rows are fewer than the 20 features."""
    tighten(monkeypatch)
    x, y = blobs(rows, 3, distance=1.5, seed=rows)
    fold = np.arange(rows) * 7 % folds * 10
    found = solve(in_folds(x, y, fold))

    def fit(train: Any, asked: Any, strength: float) -> Any:
        learnt, other = standardised(x[train], x[asked])
        regressions = Regressions(learnt, targets("accuracy", y[train]))
        regressions.fit([strength])
        return np.unique(y[train])[regressions.fitted().logits(other)[0].argmax(axis=1)]

    predictions, validation = np.zeros(rows, np.int64), []
    for k in np.unique(fold):
        accuracies = []
        for strength in STRENGTHS:
            answered = np.full(rows, -1)
            for j in set(fold) - {k}:
                answered[fold == j] = fit((fold != k) & (fold != j), fold == j, strength)
            accuracies.append(np.mean(answered[fold != k] == y[fold != k]))
        best = int(np.argmax(accuracies))
        assert found.chosen["strength"][list(np.unique(fold)).index(k)] == STRENGTHS[best]
        predictions[fold == k] = fit(fold != k, fold == k, STRENGTHS[best])
        validation.append(accuracies[best])
    assert (found.predictions == predictions).all()
    assert found.validation == pytest.approx(np.mean(validation))


def test_a_column_that_varies_by_rounding_alone_is_constant() -> None:
    """The mean of k times 0.1 in float32 is another number for some k: that may tell nothing."""
    y = np.arange(300) % 3
    noise = np.float32(0.1) + y.astype(np.float32) * np.float32(7.5e-9)
    assert len(np.unique(noise)) > 1
    x = np.stack([noise, noise * 100], axis=1)
    found = solve(in_splits((x[:200], y[:200]), (x[200:250], y[200:250]), (x[250:], y[250:])))
    assert len(np.unique(found.predictions)) == 1


def test_a_class_in_one_fold_only_is_never_right() -> None:
    x, y = blobs(150, 3, distance=9)
    (predictions,) = solve(in_folds(x, y, np.where(y == 2, 0, np.arange(150) % 3))).predictions
    assert (predictions[y != 2] == y[y != 2]).all()
    assert (predictions[y == 2] != 2).all()
    # What is left without two folds of one class each has one class: it is the answer.
    found = solve(in_folds(x, y, y))
    assert found.validation == 0
    assert (found.predictions[0] != y).all()


def test_folds_of_scores() -> None:
    x, _ = blobs(200, 4, distance=1)
    found = solve(in_folds(x, gold(x), np.arange(200) % 5, metric="pearson", task="relatedness"))
    assert found.predictions.shape == (1, 200)
    assert found.predictions.dtype == np.float64
    assert measure("pearson", gold(x), found.predictions[0]) > 0.9
    assert found.validation > 0.9


# The regression


def loss_of(weights: Any, logits: Any, y: Any, strength: float) -> float:
    chances = softmax(logits.astype(np.float64))[np.arange(len(y)), y]
    squares = float(np.square(weights, dtype=np.float64).sum())
    return strength / 2 * squares - float(np.log(chances).mean())


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(("rows", "tolerance"), [(15, 1e-2), (400, 1e-3)])
def test_the_regression_is_that_of_scikit_learn(
    rows: int, tolerance: float, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same lowest loss, and chances; 15 rows are fewer than the 20 features."""
    from sklearn.linear_model import LogisticRegression

    tighten(monkeypatch)
    (train, y), test = (blobs(n, classes, distance=1.5, seed=n) for n in (rows, 300))
    x, asked = standardised(train, test[0])
    regressions = Regressions(x, targets("accuracy", y))
    for strength in STRENGTHS:
        regressions.fit([strength])
        fitted = regressions.fitted()
        assert fitted.weights.shape == (1, 1 if classes == 2 else classes, 20)
        (logits,), (answered,) = fitted.logits(x), fitted.logits(asked)
        model = LogisticRegression(C=1 / (strength * rows), tol=1e-9, max_iter=10000)
        model.fit(x.astype(np.float64), y)
        lowest = loss_of(model.coef_, model.predict_log_proba(x), y, strength)
        assert loss_of(fitted.weights, logits, y, strength) == pytest.approx(lowest, abs=2e-7)
        assert softmax(answered) == pytest.approx(model.predict_proba(asked), abs=tolerance)


def test_where_the_search_ends_the_loss_is_lowest(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs(500, 4, distance=1.5)
    (train,) = standardised(x)
    usual, longer = (Regressions(train, targets("accuracy", y)) for _ in range(2))
    for strength in STRENGTHS:
        usual.fit([strength])
        with monkeypatch.context() as patch:
            patch.setattr(logistic, "END", End(gradient=1e-7, progress=1e-14))
            longer.fit([strength])
        reached, lowest = (
            loss_of(one.fitted().weights, one.fitted().logits(train)[0], y, strength)
            for one in (usual, longer)
        )
        assert reached == pytest.approx(lowest, abs=1e-6)


@pytest.mark.parametrize(("small", "worth"), [(0, 0), (1536, 0), (1536, 10**6)])
@pytest.mark.parametrize("classes", [2, 4])
def test_regressions_side_by_side_are_those_of_their_rows(
    small: int, worth: int, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with its own rows, scale and strength, with all axes, some or its own; as if alone."""
    tighten(monkeypatch)
    monkeypatch.setattr(logistic, "SMALL", small)
    monkeypatch.setattr(logistic, "WORTH_AXES", worth)
    monkeypatch.setattr(logistic, "AXES", 7)
    x, y = blobs(300, classes, distance=1.5)
    x *= np.geomspace(1, 50, 20, dtype=np.float32)
    used = np.arange(300) % 5 != np.array([[0], [1], [7]])
    (everything,) = standardised(x)
    together = Regressions(everything, targets("accuracy", y), used, deviations(everything, used))
    for strengths in ((10.0, 1.0, 1.0), (0.1, 0.1, 0.01)):
        together.fit(strengths)
    logits = together.logits(everything)
    for rows, strength, found in zip(used, strengths, logits, strict=True):
        train, asked = standardised(x[rows], x)
        alone = Regressions(train, targets("accuracy", y[rows]))
        alone.fit([strength])
        assert softmax(found) == pytest.approx(softmax(alone.fitted().logits(asked)[0]), abs=1e-3)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = in_splits(*parts_of(12, distance=1.5, rows=(1500, 400, 1000)))
    usual = solve(problem)
    monkeypatch.setattr(logistic, "CHUNK", 100)
    small = solve(problem)
    assert small.chosen == usual.chosen
    assert np.mean(usual.predictions == small.predictions) > 0.997


def test_what_is_large_is_rows_times_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = in_splits(*parts_of(4, distance=1, rows=(100, 50, 10)))
    assert set(np.unique(problem.y)) == {0, 1, 2, 3}
    strengths: list[Any] = []
    fit = Regressions.fit

    def spy(regressions: Any, given: Any) -> None:
        strengths.extend(given)
        fit(regressions, given)

    monkeypatch.setattr(Regressions, "fit", spy)
    for limit in (399, 400):
        monkeypatch.setattr(standard, "LARGE", limit)
        solve(problem)
    assert tuple(strengths) == (*LARGE_STRENGTHS, *STRENGTHS)


def test_the_memory_of_a_large_fit_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """40,000 rows, 100 classes: features of 3 MB; all chances at once would be 16 MB in float32."""
    generator = np.random.Generator(np.random.PCG64(1))
    x = generator.normal(size=(40_000, 20)).astype(np.float32)
    y = np.arange(40_000) % 100
    monkeypatch.setattr(logistic, "END", End(gradient=3e-5, progress=1e-9, steps=2))
    asked = (x[:100], y[:100])
    solve(in_splits((x[:5000], y[:5000]), asked, asked))  # loads what it needs
    tracemalloc.start()
    solve(in_splits((x, y), asked, asked))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 14e6


# Discourse coherence


def test_a_strange_sentence_is_found() -> None:
    parts = [passages(rows, seed=i) for i, rows in enumerate((400, 100, 400))]
    problem = in_splits(*parts, task="discourse_coherence")
    assert np.mean(solve(problem).predictions[0] == parts[2][1]) > 0.9
    # The same embeddings side by side tell a regression nothing.
    linear = solve(replace(problem, task="linguistic_probing"))
    assert np.mean(linear.predictions[0] == parts[2][1]) < 0.6


def test_coherence_in_folds() -> None:
    x, y = passages(240, seed=1)
    found = solve(in_folds(x, y, np.arange(240) % 4, task="discourse_coherence"))
    assert np.mean(found.predictions[0] == y) > 0.88


def test_coherence_features_by_hand() -> None:
    x = np.random.Generator(np.random.PCG64(2)).normal(2, 3, size=(5, 6, 4)).astype(np.float32)
    z = (x - x[:3].mean(axis=(0, 1))) / x[:3].std(axis=(0, 1))
    train, test = coherence_features(x[:3].reshape(3, 24), x[3:].reshape(2, 24))
    assert train.shape == (3, 19)
    units = z / np.linalg.norm(z, axis=2, keepdims=True)
    for rows, found in zip(units, np.concatenate([train, test]), strict=True):
        cosines = rows @ rows.T
        fits = [np.delete(cosines[i], i).mean() for i in (1, 2, 3, 4)]
        expected = [*cosines[np.triu_indices(6, 1)], *sorted(fits)]
        assert found == pytest.approx(expected, abs=1e-5)
    # Embeddings that are all alike have no cosines.
    (found,) = coherence_features(np.full((4, 18), 0.1, np.float32))
    assert (found == 0).all()


# Scores


def gold(x: Any) -> Any:
    """Return scores from 1 to 5 that a linear function of the features tells, but for noise."""
    noise = np.random.Generator(np.random.PCG64(len(x))).normal(0, 0.3, len(x))
    return np.round(np.clip(3 + x[:, 0] - x[:, 1] / 2 + noise, 1, 5), 1)


def test_relatedness_is_cross_entropy_with_soft_targets() -> None:
    """Against gradient descent on the loss as the paper writes it, for the strength chosen."""
    parts = for_task("relatedness", 150, 60, 60, distance=1)
    found = solve(in_splits(*parts, metric="pearson", task="relatedness"))
    (strength,) = found.chosen["strength"]
    wanted = np.zeros((150, 5))
    for i, score in enumerate(parts[0][1]):
        # Tai et al. 2015, section 4.2: p_i = y - floor(y) for i = floor(y) + 1 and so on.
        floor = int(np.floor(score))
        wanted[i, floor - 1] = floor - score + 1
        if score > floor:
            wanted[i, floor] = score - floor
    x, x_test = standardised(parts[0][0], parts[2][0])
    weights, bias = np.zeros((20, 5)), np.zeros(5)
    for _ in range(10000):
        errors = (softmax(x @ weights + bias) - wanted) / 150
        weights -= 0.9 * (x.T @ errors + strength * weights)
        bias -= 0.9 * errors.sum(axis=0)
    expected = softmax(x_test @ weights + bias) @ np.arange(1, 6)
    assert found.predictions[0] == pytest.approx(expected, abs=0.01)


@settings(max_examples=50)
@given(st.lists(st.floats(0, 5, allow_nan=False), min_size=1, max_size=20))
def test_soft_targets_have_the_score_as_their_mean(given_scores: list[float]) -> None:
    scores = np.array(given_scores)
    found = targets("pearson", scores)
    dense = found.dense()
    assert (dense >= 0).all()
    assert (dense.sum(axis=0) > 0).all()
    assert dense.sum(axis=1) == pytest.approx(np.ones(len(scores)))
    assert dense @ found.classes == pytest.approx(scores)
    assert ((dense > 0).sum(axis=1) <= 2).all()
    assert found.shares() == pytest.approx(dense.mean(axis=0), abs=1e-6)
    summed = np.zeros_like(dense)
    for classes, shares in found.entries():
        summed[np.arange(len(scores)), classes] += shares
    assert summed == pytest.approx(dense, abs=1e-6)


def test_targets_and_predictions_by_hand() -> None:
    found = targets("pearson", np.array([1.0, 4.0, 2.5]))
    assert found.classes.tolist() == [1, 2, 3, 4]
    assert found.dense().tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0.5, 0.5, 0]]
    found = targets("accuracy", np.array([7, 2, 7]))
    assert found.classes.tolist() == [2, 7]
    assert found.dense().tolist() == [[0, 1], [1, 0], [0, 1]]
    assert found.shares() == pytest.approx([1 / 3, 2 / 3])
    logits = np.log([[0.2, 0.8], [0.5, 0.5]])
    assert predict("accuracy", found.classes, logits).tolist() == [7, 2]
    assert predict("pearson", found.classes, logits) == pytest.approx([6.0, 4.5])
