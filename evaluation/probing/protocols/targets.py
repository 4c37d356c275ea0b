"""What a softmax over classes learns from, class numbers or scores, and how it answers in kind."""

from dataclasses import dataclass

import numpy as np

from evaluation.arrays import Doubles, Flags, Floats, Labels, Reals, Values
from evaluation.measures.metrics import Metric


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
        whole: Doubles = shares / shares.sum()
        return whole

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
        some = self.above > 0
        dense[rows[some], self.y[some] + 1] = self.above[some]
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


def answers(metric: Metric, classes: Labels, logits: Reals) -> Values:
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
