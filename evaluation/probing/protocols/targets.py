"""What a softmax over classes learns from, class numbers or scores, and how it answers in kind."""

from dataclasses import dataclass

import numpy as np

from evaluation.arrays import Doubles, Flags, Floats, Labels, Reals, Values
from evaluation.measures.metrics import Metric


@dataclass(frozen=True, slots=True)
class Targets:
    """A distribution over classes for each row: on one of them, or on two neighbours.

    Attributes:
        classes: those that occur, in order, int64 [c].
        y: for each row the class, or the lower one of two, 0 … c - 1, int64 [rows].
        above: the share of the class after it, 0 … 1, float64 [rows]; the class itself has the
            rest. 0 throughout for class numbers.
    """

    classes: Labels
    y: Labels
    above: Doubles

    def shares(self, rows: Flags | slice = slice(None)) -> Doubles:
        """Return the share of each class in rows, which in all of them is above 0, float64 [c]."""
        shares = np.zeros(len(self.classes))
        for classes, parts in self.entries():
            shares += np.bincount(classes[rows], parts[rows], len(shares))
        found: Doubles = shares / shares.sum()
        return found

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
    """Return what to learn from class numbers ("accuracy") or scores ("pearson"), [rows]."""
    return soft_targets(values) if metric == "pearson" else hard_targets(values)


def answers(metric: Metric, classes: Labels, logits: Reals) -> Values:
    """Return the answers of logits [rows, c]: ``likeliest`` class, or ``mean`` class."""
    return mean(classes, logits) if metric == "pearson" else likeliest(classes, logits)


def hard_targets(labels: Values) -> Targets:
    """Return class numbers as distributions on one class."""
    classes, y = np.unique(labels, return_inverse=True)
    return Targets(classes, y, np.zeros(len(y)))


def soft_targets(scores: Values) -> Targets:
    """Return scores as distributions over the whole numbers next to them that have them as mean.

    After Tai, Socher and Manning 2015 ("Improved semantic representations from tree-structured
    LSTMs", section 4.2).
    """
    floors = np.floor(scores).astype(np.int64)
    above: Doubles = scores - floors
    classes = np.unique(np.concatenate([floors, floors[above > 0] + 1]))
    return Targets(classes, np.searchsorted(classes, floors), above)


def likeliest(classes: Labels, logits: Reals) -> Labels:
    """Return the class of the largest logit in each row, the first one on a tie."""
    found: Labels = classes[logits.argmax(axis=1)]
    return found


def mean(classes: Labels, logits: Reals) -> Doubles:
    """Return the mean class of each row under the softmax of its logits."""
    means: Doubles = softmax(logits) @ classes
    return means


def softmax(logits: Reals) -> Reals:
    """Return the distribution over classes in each row (or last axis), of the logits' dtype."""
    chances: Reals = np.exp(logits - logits.max(axis=-1, keepdims=True))
    chances /= chances.sum(axis=-1, keepdims=True)
    return chances
