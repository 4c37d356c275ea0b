"""The classic probing engine, task by task, strength by strength, fold by fold, for comparison.

Plain numpy after the descriptions in Conneau and Kiela 2018 (SentEval) and Chen, Chu and Gimpel
2019 (DiscoEval), with one fit at a time and the refit of the chosen strength on the same data with
the same seed. Adam works in place.
"""

from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evaluation.probing.protocols.problem import Problem

BATCH = 64


class Settings(NamedTuple):
    """Those of a task."""

    strengths: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)  # of L2
    passes_per_check: int = 4
    max_passes: int = 200
    tenacity: int = 5
    hidden: int = 0  # units


SETTINGS = {
    "section_prediction": Settings((0.0,)),
    "discourse_relations": Settings((0.0,), passes_per_check=1, max_passes=15),
    "discourse_coherence": Settings((0.0,), passes_per_check=15, tenacity=8, hidden=2000),
}


class Net:
    """One or two layers, softmax, and Adam in place."""

    def __init__(
        self, inputs: int, classes: int, hidden: int, l2: float, generator: np.random.Generator
    ) -> None:
        sizes = [inputs, hidden, classes] if hidden else [inputs, classes]
        self.parameters: list[np.ndarray] = []
        for n, m in pairwise(sizes):
            bound = 1 / np.sqrt(n)
            for shape in ((n, m), (m,)):
                self.parameters.append(generator.uniform(-bound, bound, shape).astype(np.float32))
        self.hidden, self.l2, self.steps = hidden, l2, 0
        self.means = [np.zeros_like(p) for p in self.parameters]
        self.squares = [np.zeros_like(p) for p in self.parameters]

    def train(self, x: np.ndarray, y: np.ndarray, order: np.ndarray) -> None:
        """Make one pass over the rows in this order."""
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows = x[batch]
            w, b = self.parameters[-2:]
            units = self._units(rows)
            errors = units @ w + b
            errors -= errors.max(axis=1, keepdims=True)
            np.exp(errors, out=errors)
            errors /= errors.sum(axis=1, keepdims=True)
            errors[np.arange(len(batch)), y[batch]] -= 1
            errors /= len(batch)
            gradients = [units.T @ errors, errors.sum(axis=0)]
            if self.hidden:
                back = (errors @ w.T) * units * (1 - units)
                gradients = [rows.T @ back, back.sum(axis=0), *gradients]
            self.adam(gradients)

    def adam(self, gradients: list[np.ndarray]) -> None:
        """Take one step."""
        self.steps += 1
        correct1, correct2 = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for p, g, m, v in zip(self.parameters, gradients, self.means, self.squares, strict=True):
            if self.l2:
                g += self.l2 * p
            m *= 0.9
            m += 0.1 * g
            v *= 0.999
            g *= g
            g *= 0.001
            v += g
            np.divide(v, correct2, out=g)
            np.sqrt(g, out=g)
            g += 1e-8
            np.divide(m, g, out=g)
            g *= 1e-3 / correct1
            p -= g

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Return class numbers."""
        return (self._units(x) @ self.parameters[-2] + self.parameters[-1]).argmax(axis=1)

    def _units(self, x: np.ndarray) -> np.ndarray:
        # The sigmoid; numpy's tanh is its fastest way.
        w, b, *_ = self.parameters
        return 0.5 * np.tanh(0.5 * (x @ w + b)) + 0.5 if self.hidden else x


Part = tuple[np.ndarray, np.ndarray]


def fit(
    train: Part, validation: Part, n_classes: int, l2: float, settings: Settings, seed: int
) -> tuple[float, Net]:
    """Train one network and return its best accuracy on validation, and it as it was then."""
    generator = np.random.default_rng((seed,))
    net = Net(train[0].shape[1], n_classes, settings.hidden, l2, generator)
    best, best_parameters, misses = -1.0, net.parameters, 0
    for _ in range(settings.max_passes // settings.passes_per_check):
        for _ in range(settings.passes_per_check):
            net.train(*train, generator.permutation(len(train[0])))
        accuracy = float(np.mean(net.predict(validation[0]) == validation[1]))
        if accuracy > best:
            best, best_parameters = accuracy, deepcopy(net.parameters)
        elif misses >= settings.tenacity:
            break
        else:
            misses += 1
    net.parameters = best_parameters
    return best, net


def choose_strength(
    pairs: Sequence[tuple[Part, Part]], n_classes: int, settings: Settings, seed: int
) -> float:
    """Return the strength with the best mean accuracy over pairs of train and validation."""
    means = [
        np.mean([fit(*pair, n_classes, l2, settings, seed)[0] for pair in pairs])
        for l2 in settings.strengths
    ]
    return settings.strengths[int(np.argmax(means))]


def classic(problem: Problem, seed: int) -> np.ndarray:
    """Return predictions for test, or for all rows if there are folds.

    The problem has the metric "accuracy"; the classic engine has one random start, ``seed``.
    """
    settings = SETTINGS.get(problem.task, Settings())
    classes, y = np.unique(problem.y, return_inverse=True)
    if problem.folds is None:
        assert problem.validation is not None
        assert problem.test is not None
        train = problem.x, y
        validation = problem.validation[0], np.searchsorted(classes, problem.validation[1])
        l2 = choose_strength([(train, validation)], len(classes), settings, seed)
        return classes[
            fit(train, validation, len(classes), l2, settings, seed)[1].predict(problem.test)
        ]

    def part(rows: np.ndarray) -> Part:
        return problem.x[rows], y[rows]

    predictions = np.empty_like(problem.y)
    numbers = np.unique(problem.folds)
    for number in numbers:
        rest = np.flatnonzero(problem.folds != number)
        inner = [problem.folds[rest] == other for other in numbers if other != number]
        pairs = [(part(rest[~held]), part(rest[held])) for held in inner]
        l2 = choose_strength(pairs, len(classes), settings, seed)
        shuffled = np.random.default_rng(seed).permutation(rest)
        n_held_out = max(1, int(0.05 * len(rest)))
        last, held_out = part(shuffled[n_held_out:]), part(shuffled[:n_held_out])
        net = fit(last, held_out, len(classes), l2, settings, seed)[1]
        tested = problem.folds == number
        predictions[tested] = classes[net.predict(problem.x[tested])]
    return predictions
