"""What a protocol gets and gives: problem, predictions, targets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from builders.tasks.sentence_position import COUNT
from evaluation.arrays import Doubles, Flags, Floats, Labels, Reals, Values
from evaluation.measures import Metric

# Random starts, where there are any; results have their mean and standard deviation.
SEEDS = 5
# The plain probe of one layer, without a schedule or features of its own.
PLAIN = "sentence_classification"


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows to learn from and rows to predict, in splits or in folds (three or more).

    The dataset's name and the run's seed determine all random choices; a protocol may choose
    features or a schedule by the task. Features of train (x) and test are float32 [rows, features];
    y are class numbers int64 where the metric is "accuracy", else scores float64. Where there are
    folds, each of which is test once, there are no validation (features and targets) and no test.
    Validation is ``held_out`` if it is a part of the source's train, which has nothing else for it.
    ``gold`` are the classes of the predicted rows, for their information; None if it is not asked.
    """

    name: str
    task: str
    metric: Metric
    x: Floats
    y: Values
    validation: tuple[Floats, Values] | None = None
    test: Floats | None = None
    folds: Labels | None = None
    held_out: bool = False
    gold: Labels | None = None


@dataclass(frozen=True, slots=True)
class ProbeOutput:
    """What a protocol predicts for the rows of test, or for all rows where there are folds.

    Predictions are class numbers int64 or scores float64, [starts, rows]: ``SEEDS`` random starts,
    or one if nothing is random. ``chosen`` has what was chosen for each test fold (and
    start), by the name of the setting; validation is the metric that the choice was made by, the
    mean over folds and starts. ``probe`` (``standard.Probe``) fits other targets on these features;
    information, if it is asked for, is in bits, float64 [rows]. A protocol may have neither.
    """

    predictions: Values
    chosen: dict[str, list[float]]
    validation: float
    probe: Any = None
    information: Doubles | None = None


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way to train probes.

    Attributes:
        name: as in params.yaml.
        version: changes whenever the same embeddings could get another score.
        engines: the libraries that can compute it, the default first: "numpy", "torch".
        fit_predict: trains and predicts: problem, the run's seed, engine. It is called with the
            BLAS on one thread, in any process, and depends on nothing else.
        scale_matters: whether embeddings times a number could get another score.
        effort: task and number of classes to the nanoseconds, roughly, that a row takes for each
            of its features (measured on a CPU of 2026).
        in_folds: how many times as long it takes, roughly, if rows are in folds.
    """

    name: str
    version: int
    engines: tuple[str, ...]
    fit_predict: Callable[[Problem, int, str], ProbeOutput]
    scale_matters: bool = False
    effort: Callable[[str, int], int] = lambda task, classes: int(80 * classes**0.5)
    in_folds: int = 5


@dataclass(frozen=True, slots=True)
class Ablation:
    """A change of a task's probe: to that of another task, or to some of the features."""

    name: str
    task: str
    features: Callable[[Floats], Floats]

    def ablate(self, problem: Problem) -> Problem:
        """Return a problem, in splits or in folds, as the ablation sees it."""
        name, x = f"{problem.name} {self.name}", self.features(problem.x)
        ablated = replace(problem, name=name, task=self.task, x=x)
        if problem.validation is None or problem.test is None:
            return ablated
        x, y = problem.validation
        return replace(ablated, validation=(self.features(x), y), test=self.features(problem.test))


ABLATIONS: Mapping[str, Ablation] = {
    # Only the moved sentence, of [x1, x1-x2, …].
    "sentence_position": Ablation(
        "without context", "sentence_position", lambda x: x[:, : x.shape[1] // COUNT]
    ),
    "discourse_coherence": Ablation("without hidden layer", PLAIN, lambda x: x),
}
"""Task to its ablation."""


@dataclass(frozen=True, slots=True)
class Targets:
    """A distribution over classes for each row: on one of them, or on two neighbours.

    Of the classes that occur, in order [c], y is the row's, or the lower one of two, 0 … c - 1.
    The class after it has the share ``above``, the class itself the rest.
    """

    classes: Labels
    y: Labels
    above: Doubles

    def shares(self, rows: Flags | slice = slice(None)) -> Doubles:
        """Return the share of each class in rows, which in all of them is above 0, float64 [c]."""
        shares = np.zeros(len(self.classes))
        for classes, parts in self.entries():
            shares += np.bincount(classes[rows], parts[rows], len(shares))
        normalised: Doubles = shares / shares.sum()
        return normalised

    def entries(self) -> list[tuple[Labels, Floats]]:
        """Return the class and share of each row; also its second class, if any row has two."""
        entries = [(self.y, (1 - self.above).astype(np.float32))]
        if self.above.any():
            # At the highest class, which has no class above it, the share is 0.
            above = np.minimum(self.y + 1, len(self.classes) - 1)
            entries.append((above, self.above.astype(np.float32)))
        return entries

    def dense(self) -> Doubles:
        """Return the distributions, float64 [rows, c]."""
        dense = np.zeros((len(self.y), len(self.classes)))
        rows = np.arange(len(self.y))
        dense[rows, self.y] = 1 - self.above
        has_second = self.above > 0
        dense[rows[has_second], self.y[has_second] + 1] = self.above[has_second]
        return dense


def targets(metric: Metric, values: Values) -> Targets:
    """Return what to learn from class numbers ("accuracy") or scores ("pearson"), [rows].

    A score is the distribution over the whole numbers next to it that has it as its mean (Tai,
    Socher and Manning 2015, "Improved semantic representations from tree-structured LSTMs",
    section 4.2).
    """
    if metric == "accuracy":
        classes, y = np.unique(values, return_inverse=True)
        return Targets(classes, y, np.zeros(len(y)))
    floors = np.floor(values).astype(np.int64)
    above: Doubles = values - floors
    classes = np.unique(np.concatenate([floors, floors[above > 0] + 1]))
    return Targets(classes, np.searchsorted(classes, floors), above)


def class_numbers(classes: Labels, values: Labels) -> Labels:
    """Return the numbers of values among the sorted classes, -1 for a value that is not there."""
    numbers = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
    return np.where(classes[numbers] == values, numbers, -1)


def predict(metric: Metric, classes: Labels, logits: Reals) -> Values:
    """Return the likeliest class of logits [rows, c], the first one on a tie, or the mean class."""
    if metric == "accuracy":
        labels: Labels = classes[logits.argmax(axis=1)]
        return labels
    means: Doubles = softmax(logits) @ classes
    return means


def softmax(logits: Reals) -> Reals:
    """Return the distribution over classes in each row (or last axis), of the logits' dtype."""
    chances: Reals = np.exp(logits - logits.max(axis=-1, keepdims=True))
    chances /= chances.sum(axis=-1, keepdims=True)
    return chances
