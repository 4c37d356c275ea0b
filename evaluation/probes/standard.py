"""The probe: a small classifier on fixed features, the protocol "standard".

Protocol "standard", version 2:

1. Features are standardised with the mean and the standard deviation of train; a column that is
   constant in train becomes 0. Scores therefore do not depend on the scale of the embeddings.
2. Multinomial logistic regression with an L2 penalty (the bias is free). The penalty is the one of
   ``STRENGTHS`` with the best accuracy on validation, the strongest of these on a tie. It is fitted
   on train alone, and not once more with validation.
3. Tasks with a hidden layer (DiscoEval, section 3.4: 2,000 sigmoid units): layer and regression are
   trained together by Adam; the number of passes over train, 1 … ``PASSES``, takes the place of the
   penalty and is chosen on validation in the same way, the smallest on a tie.
4. A class that train lacks is never predicted, and counts as an error where test has it.
5. Relatedness, after Tai, Socher and Manning 2015 ("Improved semantic representations from
   tree-structured LSTMs", section 4.2), as in SentEval (Conneau and Kiela 2018): the classes are
   whole numbers; a score is taken as the distribution over the two next to it that has the score
   as its mean; the answer is the mean of the predicted distribution. The loss is the paper's
   cross-entropy (SentEval's code has the squared error). The strength is chosen by Pearson's
   correlation.
6. Where a dataset has folds in place of splits, each fold is test once, with the next one (after
   the last the first) as validation and the rest as train; all rows are then measured together.
7. Where train has more than ``LARGE`` rows times classes (word content: 100,000 times 1,000), the
   same regression is sought in float32, for ``LARGE_STRENGTHS`` and in ``LARGE_ITERATIONS`` a
   strength. Besides the features and a standardised copy in float32, that takes memory for
   ``CHUNK`` rows times classes and for some fifty times the weights.

Version 2 adds 5 to 7. Of the rest, scores are those of version 1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from corpora_recipes.hashing import keyed_hash
from evaluation.metrics import Metric, Values, measure

PROTOCOL = "standard"
PROTOCOL_VERSION = 2
# The penalty is strength / 2 * |W|^2 beside the mean cross-entropy over train (scikit-learn's C is
# 1 / (strength * rows)): from 100, where features hardly count, to 0.001, in half powers of ten.
STRENGTHS = tuple(float(10.0 ** (2 - half / 2)) for half in range(11))
# Where the gradient is smaller than this in every place, a fit has converged.
GRADIENT = 1e-6
ITERATIONS = 1000

# Rows times classes: tasks of 100,000 rows and up to 10 classes are still fitted in the usual way.
# Of 100 words in 10,000 sentences (char_hash) both ways tell 95.7 % on test, the large one in 2 and
# the usual one in 20 seconds; word content is a hundred times as large.
LARGE = 1_000_000
LARGE_STRENGTHS = (0.1, 0.01, 0.001)
LARGE_ITERATIONS = 25
CHUNK = 4096

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
Reals = np.ndarray[Any, np.dtype[np.floating[Any]]]
Logits = Callable[[Reals], Reals]
"""Standardised features [n, d] to what softmax makes chances of, [n, classes]."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A probe that was fitted.

    Attributes:
        chosen: what validation chose: {"strength": …} or {"passes": …}.
        validation: the metric on validation with that choice.
        predictions: for the rows of test, class numbers int64, or scores float64.
    """

    chosen: dict[str, float]
    validation: float
    predictions: Values


def probe(
    train: tuple[Floats, Values],
    validation: tuple[Floats, Values],
    test: Floats,
    *,
    metric: Metric,
    hidden: int,
    seed: int,
    name: str,
) -> Fit:
    """Fit a probe by the protocol and predict test.

    Linear algebra has to run on one thread for the same bits everywhere (``evaluation.results``
    sees to it).

    Args:
        train: features float32 [n, d] and, for the metric "accuracy", class numbers int64 [n], of
            two classes or more; for "pearson" scores float64 [n], two different ones or more.
        validation: the same for validation, one row or more.
        test: features float32 [m, d].
        metric: what the choice is made by.
        hidden: number of units in the hidden layer, 0 for none.
        seed: the run's seed.
        name: of the dataset; with the seed it gives the hidden layer's random start.
    """
    targets, answer = (_soft_targets, _mean) if metric == "pearson" else (_hard_targets, _likeliest)
    classes, rows, y, weights = targets(train[1])
    answers = partial(answer, classes)
    large = len(y) * len(classes) > LARGE
    mean, scale = _moments(train[0])
    kind = np.float32 if hidden or large else np.float64
    x, x_validation, x_test = (
        _standardise(part, mean, scale, kind) for part in (train[0][rows], validation[0], test)
    )
    if hidden:
        generator = np.random.Generator(np.random.PCG64(keyed_hash(seed, name, "hidden layer")))
        path = _hidden_path(x, y, len(classes), hidden, generator)
    elif large:
        path = _large_path(x, y, weights, len(classes))
    else:
        path = _linear_path(x, y, weights)
    best: Fit | None = None
    for value, logits in path:
        reached = measure(metric, validation[1], answers(logits(x_validation)))
        if best is None or reached > best.validation:
            chosen = {"passes" if hidden else "strength": value}
            best = Fit(chosen, reached, answers(logits(x_test)))
    assert best is not None
    return best


Targets = tuple[Labels, Labels | slice, Labels, Doubles]
"""Classes [c]; and in parallel rows of train, indices of their classes, and weights."""


def _hard_targets(labels: Values) -> Targets:
    classes, y = np.unique(labels, return_inverse=True)
    return classes, slice(None), y, np.ones(len(y))


def _soft_targets(scores: Values) -> Targets:
    """Return each row as one or two of whole-number classes (Tai et al. 2015, section 4.2).

    The weights are the row's distribution, so that weighted cross-entropy is, but for a constant,
    the divergence of Kullback and Leibler that the paper minimises.
    """
    floors = np.floor(scores).astype(np.int64)
    rest = scores - floors
    weights = np.concatenate([1 - rest, rest])
    some = weights > 0
    classes, y = np.unique(np.concatenate([floors, floors + 1])[some], return_inverse=True)
    return classes, np.tile(np.arange(len(scores)), 2)[some], y, weights[some]


def _likeliest(classes: Labels, logits: Reals) -> Labels:
    """Return the class of the largest logit in each row."""
    likeliest: Labels = classes[logits.argmax(axis=1)]
    return likeliest


def _mean(classes: Labels, logits: Reals) -> Doubles:
    """Return the mean class of each row."""
    means: Doubles = _softmax(logits) @ classes
    return means


def _moments(x: Floats) -> tuple[Doubles, Doubles]:
    """Return the mean and standard deviation of each column; infinite where it is constant."""
    mean: Doubles = x.sum(axis=0, dtype=np.float64) / len(x)
    squares = np.zeros_like(mean)
    for start in range(0, len(x), CHUNK):
        squares += np.square(x[start : start + CHUNK] - mean).sum(axis=0)
    scale = np.sqrt(squares / len(x))
    # By the extremes: rounding leaves the deviation of a constant column slightly above 0.
    scale[x.min(axis=0) == x.max(axis=0)] = np.inf
    return mean, scale


def _standardise(x: Floats, mean: Doubles, scale: Doubles, kind: type[np.floating[Any]]) -> Reals:
    standard = np.empty(x.shape, kind)
    for start in range(0, len(x), CHUNK):
        standard[start : start + CHUNK] = (x[start : start + CHUNK] - mean) / scale
    return standard


def _linear_path(x: Reals, y: Labels, weights: Doubles) -> Iterator[tuple[float, Logits]]:
    """Fit a logistic regression for each of ``STRENGTHS``, from strong to weak.

    Each fit starts from the one before, which saves a third of the time; the problem is convex, so
    that the start does not matter for where it ends.

    Args:
        x: float64 [n, d]; in float32 scikit-learn stops too early where the penalty is strong.
        y: int64 [n], 0 … classes - 1, all of which occur.
        weights: float64 [n].

    Yields:
        The strength and the regression as it is now; it changes with the next fit.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(tol=GRADIENT, max_iter=ITERATIONS, warm_start=True)

    def logits(rows: Reals) -> Reals:
        scores: Doubles = model.decision_function(rows)
        # Of two classes it gives the second one's, with 0 for the first.
        return scores if scores.ndim > 1 else np.stack([np.zeros(len(rows)), scores], axis=1)

    for strength in STRENGTHS:
        model.set_params(C=1 / (strength * weights.sum()))
        model.fit(x, y, sample_weight=weights)
        yield strength, logits


def _large_path(
    x: Reals, y: Labels, weights: Doubles, classes: int
) -> Iterator[tuple[float, Logits]]:
    """Fit a logistic regression for each of ``LARGE_STRENGTHS``, from strong to weak, by chunks.

    The minimum is that of ``_linear_path``, sought by L-BFGS (Liu and Nocedal 1989) from the
    one before.

    Args:
        x: float32 [n, d].
        y: int64 [n], 0 … classes - 1.
        weights: float64 [n].
        classes: number of classes.

    Yields:
        The strength and the regression.
    """
    from scipy.optimize import minimize

    shape = (x.shape[1] + 1, classes)
    # Of two classes scikit-learn has one vector of weights, here there are two of half its size,
    # whose squares add up to half of its.
    factor = 2 if classes == 2 else 1
    shares = (weights / weights.sum()).astype(np.float32)

    def loss(flat: Doubles, strength: float) -> tuple[float, Doubles]:
        """Return penalty and mean cross-entropy, and their gradient."""
        parameters = flat.reshape(shape)
        narrow = parameters.astype(np.float32)
        gradient = strength * parameters
        gradient[-1] = 0
        value = strength / 2 * float(np.square(parameters[:-1]).sum())
        for start in range(0, len(x), CHUNK):
            rows, own = x[start : start + CHUNK], y[start : start + CHUNK]
            share, each = shares[start : start + CHUNK], np.arange(len(own))
            scores = _affine(narrow, rows)
            scores -= scores.max(axis=1, keepdims=True)
            right = scores[each, own]
            np.exp(scores, out=scores)
            sums = scores.sum(axis=1)
            value += float(((np.log(sums) - right) * share).sum(dtype=np.float64))
            scores *= (share / sums)[:, None]
            scores[each, own] -= share
            gradient[:-1] += rows.T @ scores
            gradient[-1] += scores.sum(axis=0)
        return value, gradient.ravel()

    flat = np.zeros(shape[0] * shape[1])
    for strength in LARGE_STRENGTHS:
        flat = minimize(
            loss,
            flat,
            args=(factor * strength,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": LARGE_ITERATIONS, "gtol": GRADIENT},
        ).x
        yield strength, partial(_affine, flat.reshape(shape).astype(np.float32))


def _affine(parameters: Reals, rows: Reals) -> Reals:
    """Return rows times weights, and the bias, which is the last row of the parameters, added."""
    scores: Reals = rows @ parameters[:-1]
    scores += parameters[-1]
    return scores


def _hidden_path(
    x: Floats, y: Labels, classes: int, hidden: int, generator: np.random.Generator
) -> Iterator[tuple[float, Logits]]:
    """Train a network with one hidden layer of sigmoid units, by Adam on the cross-entropy.

    Args:
        x: float32 [n, d].
        y: int64 [n], 0 … classes - 1.
        classes: number of classes.
        hidden: number of sigmoid units.
        generator: for the start (Glorot and Bengio 2010, uniform) and the order of the rows.

    Yields:
        After each pass over the rows, the number of passes and the network as it is now; it
        changes with the next pass.
    """
    from scipy.special import expit

    weights1 = _glorot(generator, x.shape[1], hidden)
    weights2 = _glorot(generator, hidden, classes)
    bias1, bias2 = np.zeros(hidden, np.float32), np.zeros(classes, np.float32)
    parameters = (weights1, bias1, weights2, bias2)
    adam = Adam(parameters)

    def logits(rows: Reals) -> Reals:
        starts = range(0, len(rows), 1000)
        parts = (rows[start : start + 1000] for start in starts)
        return np.concatenate([expit(part @ weights1 + bias1) @ weights2 + bias2 for part in parts])

    for passes in range(1, PASSES + 1):
        order = generator.permutation(len(x))
        for start in range(0, len(x), BATCH):
            batch = order[start : start + BATCH]
            rows = x[batch]
            units: Floats = rows @ weights1
            units += bias1
            expit(units, out=units)
            errors: Floats = _softmax(units @ weights2 + bias2)
            errors[np.arange(len(batch)), y[batch]] -= 1
            errors /= len(batch)
            back = (errors @ weights2.T) * units * (1 - units)
            adam.step((rows.T @ back, back.sum(axis=0), units.T @ errors, errors.sum(axis=0)))
        yield float(passes), logits


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


def _softmax(scores: Reals) -> Reals:
    chances: Reals = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances
