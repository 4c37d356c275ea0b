"""The probe: a small classifier on fixed features, the protocol "standard".

Protocol "standard", version 1:

1. Features are standardised with the mean and the standard deviation of train; a column that is
   constant in train becomes 0. Scores therefore do not depend on the scale of the embeddings.
2. Multinomial logistic regression with an L2 penalty (the bias is free). The penalty is the one of
   ``STRENGTHS`` with the best accuracy on validation, the strongest of these on a tie. It is fitted
   on train alone, and not once more with validation.
3. Tasks with a hidden layer (DiscoEval, section 3.4: 2,000 sigmoid units): layer and regression are
   trained together by Adam; the number of passes over train, 1 … ``PASSES``, takes the place of the
   penalty and is chosen on validation in the same way, the smallest on a tie.
4. A class that train lacks is never predicted, and counts as an error where test has it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpora_recipes.hashing import keyed_hash

PROTOCOL = "standard"
PROTOCOL_VERSION = 1
# The penalty is strength / 2 * |W|^2 beside the mean cross-entropy over train (scikit-learn's C is
# 1 / (strength * rows)): from 100, where features hardly count, to 0.001, in half powers of ten.
STRENGTHS = tuple(float(10.0 ** (2 - half / 2)) for half in range(11))
# Where the gradient is smaller than this in every place, a fit has converged.
GRADIENT = 1e-6
ITERATIONS = 1000

# Passes over train and rows a step. DiscoEval's code trains 15 passes for this task too; none is
# left out for want of progress, as accuracy can stand still for several passes before it rises.
PASSES = 15
BATCH = 128
# Adam's step size, and its decay rates and epsilon (Kingma and Ba 2015, algorithm 1).
STEP = 1e-3
DECAY1, DECAY2, EPSILON = 0.9, 0.999, 1e-8

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Predict = Callable[[Doubles], Labels]


@dataclass(frozen=True, slots=True)
class Fit:
    """A probe that was fitted.

    Attributes:
        chosen: what validation chose: {"strength": …} or {"passes": …}.
        validation_accuracy: with that choice, 0 … 1.
        predictions: class numbers for the rows of test, int64.
    """

    chosen: dict[str, float]
    validation_accuracy: float
    predictions: Labels


def probe(
    train: tuple[Floats, Labels],
    validation: tuple[Floats, Labels],
    test: Floats,
    *,
    hidden: int,
    seed: int,
    name: str,
) -> Fit:
    """Fit a probe by the protocol and predict test.

    Linear algebra has to run on one thread for the same bits everywhere (``evaluation.results``
    sees to it).

    Args:
        train: features float32 [n, d] and class numbers int64 [n], of two classes or more.
        validation: the same for validation, one row or more.
        test: features float32 [m, d].
        hidden: number of units in the hidden layer, 0 for none.
        seed: the run's seed.
        name: of the dataset; with the seed it gives the hidden layer's random start.
    """
    classes, y = np.unique(train[1], return_inverse=True)
    mean, scale = _moments(train[0])
    x, x_validation, x_test = (
        _standardise(part, mean, scale) for part in (train[0], validation[0], test)
    )
    if hidden:
        generator = np.random.Generator(np.random.PCG64(keyed_hash(seed, name, "hidden layer")))
        path = _hidden_path(x, y, len(classes), hidden, generator)
    else:
        path = _linear_path(x, y)
    best: Fit | None = None
    for value, predict in path:
        accuracy = float(np.mean(classes[predict(x_validation)] == validation[1]))
        if best is None or accuracy > best.validation_accuracy:
            chosen = {"passes" if hidden else "strength": value}
            best = Fit(chosen, accuracy, classes[predict(x_test)])
    assert best is not None
    return best


def _moments(x: Floats) -> tuple[Doubles, Doubles]:
    """Return the mean and standard deviation of each column; infinite where it is constant."""
    mean = x.mean(axis=0, dtype=np.float64)
    scale = np.sqrt(np.square(x - mean).mean(axis=0))
    # By the extremes: rounding leaves the deviation of a constant column slightly above 0.
    scale[x.min(axis=0) == x.max(axis=0)] = np.inf
    return mean, scale


def _standardise(x: Floats, mean: Doubles, scale: Doubles) -> Doubles:
    standard: Doubles = x - mean
    standard /= scale
    return standard


def _linear_path(x: Doubles, y: Labels) -> Iterator[tuple[float, Predict]]:
    """Fit a logistic regression for each of ``STRENGTHS``, from strong to weak.

    Each fit starts from the one before, which saves a third of the time; the problem is convex, so
    that the start does not matter for where it ends.

    Args:
        x: float64 [n, d]; in float32 scikit-learn stops too early where the penalty is strong.
        y: int64 [n].

    Yields:
        The strength and the regression as it is now; it changes with the next fit.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(tol=GRADIENT, max_iter=ITERATIONS, warm_start=True)
    for strength in STRENGTHS:
        model.set_params(C=1 / (strength * len(x)))
        model.fit(x, y)
        yield strength, model.predict


def _hidden_path(
    x: Doubles, y: Labels, classes: int, hidden: int, generator: np.random.Generator
) -> Iterator[tuple[float, Predict]]:
    """Train a network with one hidden layer of sigmoid units, by Adam on the cross-entropy.

    Args:
        x: float64 [n, d].
        y: int64 [n], 0 … classes - 1.
        classes: number of classes.
        hidden: number of sigmoid units.
        generator: for the start (Glorot and Bengio 2010, uniform) and the order of the rows.

    Yields:
        After each pass over the rows, the number of passes and the network as it is now; it
        changes with the next pass.
    """
    from scipy.special import expit

    inputs = x.astype(np.float32)
    weights1 = _glorot(generator, x.shape[1], hidden)
    weights2 = _glorot(generator, hidden, classes)
    bias1, bias2 = np.zeros(hidden, np.float32), np.zeros(classes, np.float32)
    parameters = (weights1, bias1, weights2, bias2)
    adam = Adam(parameters)

    def predict(rows: Doubles) -> Labels:
        starts = range(0, len(rows), 1000)
        parts = (rows[start : start + 1000].astype(np.float32) for start in starts)
        scores = [expit(part @ weights1 + bias1) @ weights2 + bias2 for part in parts]
        best: Labels = np.argmax(np.concatenate(scores), axis=1)
        return best

    for passes in range(1, PASSES + 1):
        order = generator.permutation(len(x))
        for start in range(0, len(x), BATCH):
            batch = order[start : start + BATCH]
            rows = inputs[batch]
            units: Floats = rows @ weights1
            units += bias1
            expit(units, out=units)
            errors: Floats = _softmax(units @ weights2 + bias2)
            errors[np.arange(len(batch)), y[batch]] -= 1
            errors /= len(batch)
            back = (errors @ weights2.T) * units * (1 - units)
            adam.step((rows.T @ back, back.sum(axis=0), units.T @ errors, errors.sum(axis=0)))
        yield float(passes), predict


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1), in place."""

    def __init__(self, parameters: Sequence[Floats]) -> None:
        """Start with the parameters, float32 arrays, which ``step`` will change."""
        self._parameters = parameters
        self._means = [np.zeros_like(p) for p in parameters]
        self._squares = [np.zeros_like(p) for p in parameters]
        self._scratch = [np.empty_like(p) for p in parameters]
        self._steps = 0

    def step(self, gradients: Sequence[Floats]) -> None:
        """Move the parameters by one step; the gradients are overwritten."""
        self._steps += 1
        size = STEP * np.sqrt(1 - DECAY2**self._steps) / (1 - DECAY1**self._steps)
        for parameter, gradient, mean, square, move in zip(
            self._parameters, gradients, self._means, self._squares, self._scratch, strict=True
        ):
            mean *= DECAY1
            np.multiply(gradient, 1 - DECAY1, out=move)
            mean += move
            square *= DECAY2
            np.square(gradient, out=gradient)
            gradient *= 1 - DECAY2
            square += gradient
            np.sqrt(square, out=move)
            move += EPSILON
            np.divide(mean, move, out=move)
            move *= size
            parameter -= move


def _glorot(generator: np.random.Generator, rows: int, columns: int) -> Floats:
    bound = np.sqrt(6 / (rows + columns))
    return generator.uniform(-bound, bound, (rows, columns)).astype(np.float32)


def _softmax(scores: Floats) -> Floats:
    chances: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances
