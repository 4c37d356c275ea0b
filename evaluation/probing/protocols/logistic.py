"""Logistic regressions on standardised features: scaling, principal axes, L-BFGS, the loss."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from builders.tasks.discourse_coherence import COUNT as SENTENCES
from evaluation.arrays import Doubles, Flags, Floats, Labels
from evaluation.probing.protocols.problem import Targets

# Deviations up to this share of a column's largest number are float32's rounding (2^-24, of numbers
# that were themselves computed).
CONSTANT_SHARE = 1e-6
# A deviation up to this share of that in all rows is about none.
CONSTANT = 1e-3
ROWS_AT_ONCE = 256
"""Rows that are in memory in float64 at one time."""


def standardised(train: Floats, *others: Floats) -> list[Floats]:
    """Return features less the mean of train, divided by its standard deviation, by column.

    All are float32 [rows, d]. A column that is constant in train, up to rounding, becomes 0.
    """
    mean = train.sum(axis=0, dtype=np.float64) / len(train)
    squares = np.zeros_like(mean)
    for start in range(0, len(train), ROWS_AT_ONCE):
        rest = train[start : start + ROWS_AT_ONCE] - mean
        squares += np.einsum("ij,ij->j", rest, rest)
    scale = np.sqrt(squares / len(train))
    largest = np.maximum(train.max(axis=0), -train.min(axis=0))
    scale[scale <= CONSTANT_SHARE * largest] = np.inf
    factor = (1 / scale).astype(np.float32)
    results = []
    for x in (train, *others):
        standard: Floats = np.empty(x.shape, np.float32)
        for start in range(0, len(x), ROWS_AT_ONCE):
            rows = standard[start : start + ROWS_AT_ONCE]
            np.subtract(x[start : start + ROWS_AT_ONCE], mean, out=rows, casting="same_kind")
            rows *= factor
        results.append(standard)
    return results


def deviations(x: Floats, used: Flags) -> Floats:
    """Return the standard deviations of columns in the ``used`` rows [k, n], float32 [k, d].

    In all rows each column of x [n, d] is of mean 0 and of deviation 1 or 0. Columns that are about
    constant in the used rows have 1.
    """
    counts = used.sum(axis=1, keepdims=True)
    sums, squares = np.zeros((2, len(used), x.shape[1]))
    for start in range(0, len(x), ROWS_AT_ONCE):
        rows = x[start : start + ROWS_AT_ONCE]
        flags = used[:, start : start + ROWS_AT_ONCE].astype(np.float32)
        sums += flags @ rows
        squares += flags @ np.square(rows)
    variances = np.maximum(squares / counts - np.square(sums / counts), 0)
    roots: Floats = np.sqrt(variances).astype(np.float32)
    roots[roots < CONSTANT] = 1
    return roots


def coherence_features(train: Floats, *others: Floats) -> list[Floats]:
    """Return the cosines of each passage's sentences, and how well the inner ones fit, in order.

    Embeddings are standardised with the mean and deviation of all sentences of train. Features
    are the cosines of the 15 pairs of sentences (0 where an embedding is 0), and for the second to
    the fifth sentence, one of which may have been replaced, the mean cosine with the other five,
    smallest first. Embeddings are side by side, float32 [rows, 6 * d]; features [rows, 19].
    """
    parts = (x.reshape(SENTENCES * len(x), -1) for x in (train, *others))
    return [_cosine_features(x.reshape(-1, SENTENCES, x.shape[1])) for x in standardised(*parts)]


def _cosine_features(x: Floats) -> Floats:
    """Return the features of standardised embeddings [rows, 6, d]."""
    first, second = np.array(list(combinations(range(SENTENCES), 2))).T
    features: Floats = np.empty((len(x), len(first) + SENTENCES - 2), np.float32)
    for start in range(0, len(x), ROWS_AT_ONCE):
        rows = x[start : start + ROWS_AT_ONCE]
        lengths = np.linalg.norm(rows, axis=2, keepdims=True)
        units = rows / np.where(lengths > 0, lengths, 1)
        cosines = units @ units.transpose(0, 2, 1)
        cosines_of_rows, fits_of_rows = np.split(
            features[start : start + ROWS_AT_ONCE], [len(first)], axis=1
        )
        cosines_of_rows[:] = cosines[:, first, second]
        cosines[:, range(SENTENCES), range(SENTENCES)] = 0
        fits_of_rows[:] = np.sort(cosines.sum(axis=2)[:, 1:-1], axis=1) / (SENTENCES - 1)
    return features


# Of more than so many rows and features, all axes would take too long.
SMALL = 1536
# How many of the longest axes are found then; rows that they are found from, and passes over these.
AXES = 128
ROWS = 8192
PASSES = 2
# As a share of a matrix's trace, what float32 may take from its eigenvalues.
VARIANCE_SHARE = 1e-6


def is_small(x: Floats) -> bool:
    """Return whether all axes of features [n, d] are found in a short time."""
    rows, features = x.shape
    return bool(min(rows, features) <= SMALL)


def all_axes(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return all axes along which rows [n, d] differ, of length 1, [d, r].

    With the mean square of the rows along each [r], and the rows along them [n, r]. Each column is
    of mean 0, or nearly.
    """
    from scipy.linalg import eigh

    wide = len(x) < x.shape[1]
    products = x @ x.T if wide else x.T @ x
    values, vectors = eigh(products, driver="evd", overwrite_a=True, check_finite=False)
    large = values > VARIANCE_SHARE * values.sum()
    values, vectors = values[large], vectors[:, large]
    if not wide:
        return vectors, values / len(x), x @ vectors
    lengths = np.sqrt(values)
    return x.T @ (vectors / lengths), values / len(x), vectors * lengths


# Up to so many squared rows per weight, axes of each regression take less time than they save;
# and numbers of features along them that are in memory, at most.
WORTH_AXES = 50
ALONG_AXES = 1 << 24


def are_worth_axes(n_classes: int, x: Floats, scales: Floats) -> bool:
    """Return whether each regression, with scales of its own [k, d], gets axes of its own."""
    squared = len(x) ** 2
    n_weights = x.shape[1] * (n_classes if n_classes > 2 else 1)
    return squared <= WORTH_AXES * n_weights and squared * len(scales) <= ALONG_AXES


def scaled_along_axes(x: Floats, scales: Floats) -> tuple[Floats, Floats]:
    """Return rows [n, d] that are divided by each of ``scales`` [k, d], along their own axes.

    They are [k, n, n], with the mean squares of the rows along each axis [k, 1, n]. Rows are as far
    apart as before, so that regressions with such a penalty predict the same. Axes with less than
    ``VARIANCE_SHARE`` of the variance are dropped: rows are 0 along them.
    """
    from scipy.linalg import eigh

    rotated, squares = np.zeros((len(scales), len(x), len(x)), np.float32), []
    for rows, scale in zip(rotated, scales, strict=True):
        scaled = x / scale
        values, vectors = eigh(
            scaled @ scaled.T, driver="evd", overwrite_a=True, check_finite=False
        )
        values[values <= VARIANCE_SHARE * values.sum()] = 0
        np.multiply(vectors, np.sqrt(values), out=rows)
        squares.append(values / len(x))
    return rotated, np.stack(squares)[:, None]


def longest_axes(x: Floats) -> tuple[Floats, Floats, float]:
    """Return about the longest axes of rows [n, d], and the mean squares along them: [d, r], [r].

    By orthogonal iteration that begins with some rows (Halko, Martinsson and Tropp 2011, "Finding
    structure with randomness", algorithm 4.4). Third is the mean square over the directions that
    are perpendicular to all of them. Each column is of mean 0, or nearly.
    """
    from scipy.linalg import qr

    rows = x[:: -(-len(x) // ROWS)]
    axes = rows[:: -(-len(rows) // AXES)].T
    for _ in range(PASSES):
        axes, _ = qr(axes, mode="economic", check_finite=False)
        axes = rows.T @ (rows @ axes)
    axes, _ = qr(axes, mode="economic", check_finite=False)
    along = rows @ axes
    squares = np.einsum("ij,ij->j", along, along) / len(rows)
    rest = np.einsum("ij,ij->", rows, rows) / len(rows) - squares.sum()
    return axes, squares, float(max(rest, 0) / max(x.shape[1] - axes.shape[1], 1))


Loss = Callable[[Floats], tuple[Doubles, Floats]]
"""Takes points [k, p]; returns the k problems' losses, float64 [k], and gradients, [k, p]."""

# Steps that are remembered: more take longer than they save.
STEPS_STORED = 5
# A step is taken if the loss falls by this share of what its slope promises (Nocedal and Wright
# 2006, "Numerical optimization", section 3.1), give or take float32's rounding; else it is
# shortened, to no less than SHORTEST in all.
DECREASE = 1e-4
ROUNDING = 1e-7
SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class End:
    """When the search ends.

    No place of the gradient is larger than ``gradient``; or a step lowers the loss by less than the
    share ``progress`` of it, or of 1; or so many steps are taken.
    """

    gradient: float
    progress: float
    steps: int = 500


def minimise(loss: Loss, start: Floats, end: End) -> Floats:
    """Return where the losses of problems are lowest, float32 [k, p], searching from ``start``.

    Losses are convex and smooth, and best about as curved in all directions. A problem that has
    ended rests, so that all calls of ``loss`` have the same shape: the bits of one problem do not
    depend on the others. It also ends if no step lowers its loss.
    """
    point = start
    value, slope = loss(point)
    curvature = _Curvature()
    going = np.abs(slope).max(axis=1) > end.gradient
    for _ in range(end.steps):
        if not going.any():
            break
        direction = curvature.direction(slope)
        direction[~going] = 0
        trial, new_value, new_slope = _search(loss, point, value, slope, direction, going)
        moved = going & (new_value < value)
        curvature.learn(trial - point, new_slope - slope)
        enough = value - new_value > end.progress * np.maximum(np.abs(value), 1)
        going = moved & enough & (np.abs(new_slope).max(axis=1) > end.gradient)
        point, value, slope = trial, new_value, new_slope
    return point


def _search(
    loss: Loss, point: Floats, value: Doubles, slope: Floats, direction: Floats, going: Labels
) -> tuple[Floats, Doubles, Floats]:
    """Return the points that are stepped to, with losses and gradients."""
    promised = np.vecdot(slope, direction).astype(np.float64)
    length = np.ones(len(point))
    result, new_value, new_slope = point, value, slope
    pending = going
    while pending.any():
        trial = point + length[:, None].astype(np.float32) * direction
        losses, gradients = loss(trial)
        allowed = value + DECREASE * length * promised + ROUNDING * np.abs(value)
        taken = pending & (losses <= allowed)
        if taken.all():
            return trial, losses, gradients
        result = np.where(taken[:, None], trial, result)
        new_value = np.where(taken, losses, new_value)
        new_slope = np.where(taken[:, None], gradients, new_slope)
        # The lowest point of the parabola through what is known, or nearly.
        beyond = np.where(pending, losses - value - length * promised, 1)
        lowest = -promised * length / (2 * np.maximum(beyond, 1e-30))
        length = np.where(pending, length * np.clip(lowest, 0.1, 0.5), length)
        pending = pending & ~taken & (length >= SHORTEST)
    return result, new_value, new_slope


@dataclass(slots=True)
class _Curvature:
    """What the last steps, each [k, p], and the gradients' changes tell of the inverse Hessian.

    Weights are 1 / (step · change), [k]; 0 where a step tells nothing.
    """

    steps: list[Floats] = field(default_factory=list)
    changes: list[Floats] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    scale: Floats | None = None

    def direction(self, slope: Floats) -> Floats:
        """Return minus the inverse Hessian times the gradient (the same book, algorithm 7.4)."""
        direction = -slope
        shares = []
        history = list(zip(self.steps, self.changes, self.weights, strict=True))
        for step, change, weight in reversed(history):
            share = weight * np.vecdot(step, direction)
            direction -= share[:, None] * change
            shares.append(share)
        if self.scale is not None:
            direction *= self.scale[:, None]
        for (step, change, weight), share in zip(history, reversed(shares), strict=True):
            direction += (share - weight * np.vecdot(change, direction))[:, None] * step
        return direction

    def learn(self, step: Floats, change: Floats) -> None:
        """Take note of a step and of the gradient's change on it."""
        product, square = np.vecdot(step, change), np.vecdot(change, change)
        tells = product > np.finfo(np.float32).tiny
        ones = np.ones_like(product)
        self.steps.append(step)
        self.changes.append(change)
        self.weights.append(np.where(tells, ones / np.where(tells, product, 1), 0))
        before = ones if self.scale is None else self.scale
        self.scale = np.where(tells, product / np.where(tells, square, 1), before)
        for history in (self.steps, self.changes, self.weights):
            del history[:-STEPS_STORED]


# When the search ends; the progress is about what float32 tells.
END = End(gradient=1e-5, progress=1e-10)
# Rows whose chances are in memory at one time. With FEW classes or less, only so many that a
# product of features and weights takes PRODUCTS multiplications at most: OpenBLAS does these
# without copying the features first, which is up to three times as fast.
CHUNK = 512
FEW = 16
PRODUCTS = 1_000_000
# The bias of a class that a regression has no row of: e to its power is 0 in float32.
NEVER = -1e4
# What the coordinates of the search take the share of a class for at least.
RARE = 1e-6


class Regressions:
    """Regressions that are fitted together, each on all rows or on its own ones.

    What is minimised is, for each, the mean over its rows of the cross-entropy with their targets,
    and ``strength / 2 * |W|^2``, where W multiplies the features as it scales them. It is convex,
    so that the start does not matter for where it ends. (scikit-learn's C is
    1 / (strength * rows). Like it, two classes have one vector of weights.)

    L-BFGS, in coordinates in which the Hessian is near the unit matrix, see ``_Coordinates``. If
    there are few rows or features, the rows are first rotated to their principal axes; weights
    perpendicular to all of them are 0. With scales, each may get axes of its own.
    """

    def __init__(
        self, x: Floats, targets: Targets, used: Flags | None = None, scales: Floats | None = None
    ) -> None:
        """Begin with weights of 0, which predict the shares of the classes.

        Features are float32 [n, d], each column of mean 0 and of deviation 1 or 0, or nearly so if
        ``used``, [k, n], gives the rows of each of k regressions: without it, one is fitted on all
        rows. Each divides the features by its scales, float32 [k, d].
        """
        self._rotation: Floats | None = None
        if scales is not None and are_worth_axes(len(targets.classes), x, scales):
            x, squares = scaled_along_axes(x, scales)
            self._axes: tuple[Floats | None, Floats, float] = None, squares, 0.0
            scales = None
        elif is_small(x):
            axes, squares, rotated = all_axes(x)
            self._axes = axes, squares, 0.0
            if scales is None:
                x, self._rotation, self._axes = rotated, axes, (None, squares, 0.0)
        else:
            self._axes = longest_axes(x)
        self._begin(x, targets, used, scales)

    def _begin(
        self, x: Floats, targets: Targets, used: Flags | None, scales: Floats | None
    ) -> None:
        shares = [targets.shares()] if used is None else [targets.shares(rows) for rows in used]
        self._used = used
        weights = None if used is None else used.astype(np.float32)
        binary = len(targets.classes) == 2
        self._loss = _CrossEntropy(x, targets.entries(), weights, scales, binary)
        self._shares = np.stack(shares)
        self.count = len(shares)
        bias = _first_bias(self._shares)
        self._parameters = np.zeros((*bias.shape, x.shape[-1]), np.float32), bias
        self._before = self._parameters

    def restart(self, targets: Targets, rows: slice | Labels = slice(None)) -> "Regressions":
        """Return regressions of other targets, on the same features, for which axes are known.

        ``rows``: those that are left if no rows were given to each regression; the targets are of
        these.
        """
        other, x = copy(self), self._loss.x
        other._begin(x if x.ndim > 2 else x[rows], targets, self._used, self._loss.scales)
        return other

    def fit(self, strengths: Sequence[float]) -> None:
        """Find the weights of the lowest losses.

        The search begins one step further than the last fit ended, of the length and direction of
        the step to there from the fit before: with strengths (positive, of each regression) that
        fall by the same factor, that saves a fifth to a half of the steps.
        """
        penalties = np.array(strengths)
        coordinates = _Coordinates.of(*self._axes, self._shares, penalties)

        def loss(point: Floats) -> tuple[Doubles, Floats]:
            weights, bias = coordinates.weights(point)
            values, to_weights, to_bias = self._loss(weights, bias)
            values += penalties / 2 * np.square(weights).sum(axis=(1, 2), dtype=np.float64)
            to_weights += penalties.astype(np.float32)[:, None, None] * weights
            return values, coordinates.slopes(to_weights, to_bias)

        last, before = (coordinates.point(*fit) for fit in (self._parameters, self._before))
        self._before = self._parameters
        self._parameters = coordinates.weights(minimise(loss, 2 * last - before, END))

    def logits(self, x: Floats) -> Floats:
        """Return what was fitted last for the rows that it was begun with, see ``Fitted``."""
        if self._loss.x.ndim == 2:
            return self.fitted().logits(x)
        weights, bias = self._parameters
        return _with_bias(weights @ self._loss.x.mT, bias)

    @property
    def along(self) -> Floats:
        """The rows that regressions are fitted on, along their axes if all are known."""
        return self._loss.x

    def fitted(self, along_axes: bool = False) -> "Fitted":
        """Return what was fitted last, unless each regression has its own axes: see ``logits``.

        ``along_axes``: for rows as in ``along``.
        """
        assert self._loss.x.ndim == 2
        weights, bias = self._parameters
        weights = self._loss.unscaled(weights)
        if self._rotation is not None and not along_axes:
            weights = weights @ self._rotation.T
        return Fitted(weights, bias)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights and biases of regressions; those of two classes, [k, 1, d], are the second's."""

    weights: Floats
    bias: Floats

    def logits(self, x: Floats) -> Floats:
        """Return what softmax makes chances of, float32 [k, rows, classes]."""
        k, c, d = self.weights.shape
        return _with_bias((self.weights.reshape(k * c, d) @ x.T).reshape(k, c, len(x)), self.bias)


def _with_bias(logits: Floats, bias: Floats) -> Floats:
    """Return logits [k, c, rows] with their bias, as [k, rows, classes]."""
    logits += bias[:, :, None]
    if bias.shape[1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    return logits.swapaxes(1, 2)


def _first_bias(shares: Doubles) -> Floats:
    """Return the biases that predict the shares of the classes, [k, c]; c is 1 for two."""
    with np.errstate(divide="ignore"):
        bias = np.log(shares)
    if bias.shape[1] == 2:
        bias = bias[:, 1:] - bias[:, :1]
    return np.clip(bias, NEVER, -NEVER).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Coordinates:
    """Coordinates in which the losses are about as curved everywhere.

    If the chances in every row were the shares p of the classes, a class's block of the Hessian
    would be about ``h * X'X / n + strength * I``, where h is the sum of the p (1 - p) over the
    number of classes less one (with the one vector of two classes, h is p (1 - p)). The weights are
    sought times the root of it: along its longest axes, and with one mean for all that is
    perpendicular to them. That takes a half to a tenth of the steps. The bias, which has no
    penalty, is sought times the root of p.

    Axes [d, r] are None where the features are along them already. Coordinates are weights times
    ``stretch``, along the axes [k, 1, r] and across them [k, 1, 1]; ``shrink`` is one over it.
    Those of the bias are times ``of_bias`` [k, c].
    """

    axes: Floats | None
    stretch: tuple[Floats, Floats]
    shrink: tuple[Floats, Floats]
    of_bias: Floats

    @classmethod
    def of(
        cls, axes: Floats | None, squares: Floats, rest: float, shares: Doubles, strengths: Doubles
    ) -> "_Coordinates":
        """Return those for axes, mean squares, shares of classes [k, classes] and strengths [k]."""
        if shares.shape[1] == 2:
            of_bias = shares.prod(axis=1, keepdims=True)
            spread = of_bias[:, 0]
        else:
            of_bias = shares
            classes = np.count_nonzero(shares, axis=1)
            spread = (shares * (1 - shares)).sum(axis=1) / np.maximum(classes - 1, 1)
        along = np.sqrt(spread[:, None, None] * squares + strengths[:, None, None])
        across = np.sqrt(spread * rest + strengths)[:, None, None]
        of_bias = np.sqrt(np.maximum(of_bias, RARE)).astype(np.float32)
        stretch = along.astype(np.float32), across.astype(np.float32)
        return cls(axes, stretch, (1 / stretch[0], 1 / stretch[1]), of_bias)

    def weights(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the weights [k, c, d] and biases [k, c] of a point [k, c * (d + 1)]."""
        k, c = self.of_bias.shape
        weights = self._moved(point[:, :-c].reshape(k, c, -1), *self.shrink)
        return weights, point[:, -c:] / self.of_bias

    def point(self, weights: Floats, bias: Floats) -> Floats:
        """Return the point of weights and biases."""
        moved = self._moved(weights, *self.stretch)
        return np.concatenate([moved.reshape(len(bias), -1), bias * self.of_bias], axis=1)

    def slopes(self, of_weights: Floats, of_bias: Floats) -> Floats:
        """Return the gradient at a point, of the one by its weights and biases."""
        moved = self._moved(of_weights, *self.shrink)
        return np.concatenate([moved.reshape(len(of_bias), -1), of_bias / self.of_bias], axis=1)

    def _moved(self, weights: Floats, along: Floats, across: Floats) -> Floats:
        if self.axes is None:
            return weights * along
        k, c, d = weights.shape
        flat = weights.reshape(k * c, d)
        inner = (flat @ self.axes).reshape(k, c, -1) * (along - across)
        moved: Floats = weights * across
        moved += (inner.reshape(k * c, -1) @ self.axes.T).reshape(k, c, d)
        return moved


@dataclass(frozen=True, slots=True)
class _CrossEntropy:
    """The mean cross-entropy of each regression over its rows, see ``Regressions``.

    Features are [n, d], or [k, n, d] if each regression has its own. Entries are
    ``Targets.entries``; of two classes (binary) the second alone has weights.
    """

    x: Floats
    entries: Sequence[tuple[Labels, Floats]]
    used: Floats | None
    scales: Floats | None
    binary: bool

    def unscaled(self, weights: Floats) -> Floats:
        """Return weights of the features as given, or a gradient by those of scaled ones."""
        return weights if self.scales is None else weights / self.scales[:, None]

    def __call__(self, weights: Floats, bias: Floats) -> tuple[Doubles, Floats, Floats]:
        """Return the values [k], and their gradients by the weights [k, c, d] and bias [k, c]."""
        k, c, d = weights.shape
        flat = self.unscaled(weights).reshape(k * c, d)
        size = CHUNK
        if k * c <= FEW:
            size = min(size, max(1, PRODUCTS // max(1, k * c * d)))
        values = np.zeros(k)
        to_weights: Floats = np.zeros_like(flat)
        to_bias: Floats = np.zeros_like(bias)
        n, shared = self.x.shape[-2], self.x.ndim == 2
        for start in range(0, n, size if shared else n):
            part = slice(start, start + size) if shared else slice(n)
            rows = self.x[..., part, :]
            # Classes by rows: numpy is fast along the rows, of which there are many.
            scores: Floats = weights @ rows.mT if not shared else flat @ rows.T
            scores = scores.reshape(k, c, -1)
            scores += bias[:, :, None]
            compute = self._binary_loss if self.binary else self._multiclass_loss
            losses, errors = compute(scores, part)
            if self.used is not None:
                losses *= self.used[:, part]
                errors *= self.used[:, None, part]
            values += losses.sum(axis=1, dtype=np.float64)
            slopes = errors.reshape(k * c, -1) @ rows if shared else errors @ rows
            to_weights += slopes.reshape(k * c, d)
            to_bias += errors.sum(axis=2)
        count = np.full(k, n) if self.used is None else self.used.sum(axis=1)
        shares = (1 / count).astype(np.float32)[:, None]
        by_weights = self.unscaled(to_weights.reshape(k, c, d) * shares[:, :, None])
        return values / count, by_weights, to_bias * shares

    def _binary_loss(self, scores: Floats, part: slice) -> tuple[Floats, Floats]:
        """Return the losses [k, rows] and errors [k, 1, rows] of the second class's scores."""
        wanted = sum((y[part] * shares[part] for y, shares in self.entries), np.float32(0))
        scores = scores[:, 0]
        small = np.exp(-np.abs(scores))
        losses: Floats = np.maximum(scores, 0) - wanted * scores + np.log1p(small)
        errors: Floats = np.where(scores >= 0, 1, small) / (1 + small) - wanted
        return losses, errors[:, None]

    def _multiclass_loss(self, scores: Floats, part: slice) -> tuple[Floats, Floats]:
        """Return the losses [k, rows] and errors [k, c, rows] of the classes' scores."""
        entries = [(y[part], shares[part]) for y, shares in self.entries]
        each = np.arange(scores.shape[2])
        scores -= scores.max(axis=1, keepdims=True)
        wanted = [scores[:, y, each] * shares for y, shares in entries]
        np.exp(scores, out=scores)
        sums = scores.sum(axis=1, keepdims=True)
        scores /= sums
        for y, shares in entries:
            scores[:, y, each] -= shares
        losses: Floats = np.log(sums[:, 0])
        for wanted_score in wanted:
            losses -= wanted_score
        return losses, scores
