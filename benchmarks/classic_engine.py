"""The classic probing engine, task by task, strength by strength, fold by fold, for comparison.

Plain numpy after the descriptions in Conneau and Kiela 2018 (SentEval) and Chen, Chu and Gimpel
2019 (DiscoEval), with one fit at a time and the refit of the chosen strength on the same data with
the same seed. Adam works in place. With ``torch`` a fit is torch's modules and optimiser instead,
as in the original.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from evaluation.probing.protocols.problem import Problem

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
BATCH = 64


@dataclass(frozen=True)
class Settings:
    """Of a task: strengths of L2, passes between checks, passes, tenacity, hidden units."""

    strengths: tuple[float, ...] = STRENGTHS
    epoch_size: int = 4
    max_passes: int = 200
    tenacity: int = 5
    hidden: int = 0


SETTINGS = {
    "section_prediction": Settings((0.0,)),
    "discourse_relations": Settings((0.0,), epoch_size=1, max_passes=15),
    "discourse_coherence": Settings((0.0,), epoch_size=15, tenacity=8, hidden=2000),
}


class Net(Protocol):
    """A network with its optimiser."""

    def train(self, x: np.ndarray, y: np.ndarray, order: np.ndarray) -> None:
        """Make one pass over the rows in this order."""

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Return class numbers."""

    def state(self) -> Any:
        """Return a copy of the weights."""

    def load(self, state: Any) -> None:
        """Take the weights."""


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return the sigmoid; numpy's tanh is its fastest way."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


class NumpyNet:
    """One or two layers, softmax, and Adam in place."""

    def __init__(
        self, inputs: int, classes: int, hidden: int, l2: float, rng: np.random.Generator
    ) -> None:
        sizes = [inputs, hidden, classes] if hidden else [inputs, classes]
        self.parameters: list[np.ndarray] = []
        for n, m in pairwise(sizes):
            bound = 1 / np.sqrt(n)
            for shape in ((n, m), (m,)):
                self.parameters.append(rng.uniform(-bound, bound, shape).astype(np.float32))
        self.hidden, self.l2, self.steps = hidden, l2, 0
        self.means = [np.zeros_like(p) for p in self.parameters]
        self.squares = [np.zeros_like(p) for p in self.parameters]

    def train(self, x: np.ndarray, y: np.ndarray, order: np.ndarray) -> None:
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows = x[batch]
            *weights, w, b = self.parameters
            units = sigmoid(rows @ weights[0] + weights[1]) if self.hidden else rows
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
        *weights, w, b = self.parameters
        units = sigmoid(x @ weights[0] + weights[1]) if self.hidden else x
        return (units @ w + b).argmax(axis=1)

    def state(self) -> list[np.ndarray]:
        return deepcopy(self.parameters)

    def load(self, state: list[np.ndarray]) -> None:
        self.parameters = state


class TorchNet:
    """The same of torch's modules and optimiser."""

    def __init__(
        self, inputs: int, classes: int, hidden: int, l2: float, rng: np.random.Generator
    ) -> None:
        import torch

        self.torch = torch
        torch.manual_seed(int(rng.integers(2**31)))
        layers = [torch.nn.Linear(hidden or inputs, classes)]
        if hidden:
            layers = [torch.nn.Linear(inputs, hidden), torch.nn.Sigmoid(), *layers]
        self.model = torch.nn.Sequential(*layers)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-3, weight_decay=l2)
        self.loss = torch.nn.CrossEntropyLoss()

    def train(self, x: np.ndarray, y: np.ndarray, order: np.ndarray) -> None:
        x_all, y_all = self.torch.from_numpy(x), self.torch.from_numpy(y)
        for start in range(0, len(order), BATCH):
            batch = self.torch.from_numpy(order[start : start + BATCH])
            loss = self.loss(self.model(x_all[batch]), y_all[batch])
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()

    def predict(self, x: np.ndarray) -> np.ndarray:
        with self.torch.no_grad():
            return self.model(self.torch.from_numpy(x)).argmax(dim=1).numpy()

    def state(self) -> Any:
        return deepcopy(self.model.state_dict())

    def load(self, state: Any) -> None:
        self.model.load_state_dict(state)


NETS: dict[str, Callable[..., Net]] = {"numpy": NumpyNet, "torch": TorchNet}
Part = tuple[np.ndarray, np.ndarray]


def fit(
    train: Part,
    validation: Part,
    classes: int,
    l2: float,
    settings: Settings,
    key: tuple[int, ...],
    net: str,
) -> tuple[float, Net]:
    """Train one network and return its best accuracy on validation, and it as it was then."""
    rng = np.random.default_rng(key)
    model = NETS[net](train[0].shape[1], classes, settings.hidden, l2, rng)
    best, best_state, misses = -1.0, None, 0
    for _ in range(settings.max_passes // settings.epoch_size):
        for _ in range(settings.epoch_size):
            model.train(*train, rng.permutation(len(train[0])))
        accuracy = float(np.mean(model.predict(validation[0]) == validation[1]))
        if accuracy > best:
            best, best_state = accuracy, model.state()
        else:
            if misses >= settings.tenacity:
                break
            misses += 1
    model.load(best_state)
    return best, model


def classic(
    problem: Problem, seed: int, net: str, progress: Callable[[str], None] = print
) -> np.ndarray:
    """Return predictions for test, or for all rows if there are folds.

    The problem has the metric "accuracy"; the classic engine has one random start, ``seed``.
    """
    settings = SETTINGS.get(problem.task, Settings())
    classes, y = np.unique(problem.y, return_inverse=True)
    if problem.folds is None:
        assert problem.validation is not None
        assert problem.test is not None
        train, validation = (problem.x, y), problem.validation
        validation = (validation[0], np.searchsorted(classes, validation[1]))
        key = (seed,)
        reached = [
            fit(train, validation, len(classes), l2, settings, key, net)[0]
            for l2 in settings.strengths
        ]
        l2 = settings.strengths[int(np.argmax(reached))]
        _, model = fit(train, validation, len(classes), l2, settings, key, net)
        return classes[model.predict(problem.test)]
    predictions = np.empty_like(problem.y)
    numbers = np.unique(problem.folds)
    for test in numbers:
        rest = np.flatnonzero(problem.folds != test)
        means = []
        for l2 in settings.strengths:
            found = []
            for inner in numbers[numbers != test]:
                held = problem.folds[rest] == inner
                train, validation = rest[~held], rest[held]
                parts = ((problem.x[rows], y[rows]) for rows in (train, validation))
                found.append(fit(*parts, len(classes), l2, settings, (seed,), net)[0])
            means.append(np.mean(found))
        l2 = settings.strengths[int(np.argmax(means))]
        shuffled = np.random.default_rng(seed).permutation(rest)
        held_out = max(1, int(0.05 * len(rest)))
        validation, train = shuffled[:held_out], shuffled[held_out:]
        parts = ((problem.x[rows], y[rows]) for rows in (train, validation))
        _, model = fit(*parts, len(classes), l2, settings, (seed,), net)
        asked = problem.folds == test
        predictions[asked] = classes[model.predict(problem.x[asked])]
        accuracy = np.mean(problem.y[asked] == predictions[asked])
        progress(f"fold {test}: strength {l2:g}, accuracy {accuracy:.3f}")
    return predictions
