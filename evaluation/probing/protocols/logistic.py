"""Logistic regressions with an L2 penalty, fitted side by side on the same rows or some of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.arrays import Doubles, Flags, Floats, Labels
from evaluation.probing.protocols.lbfgs import End, minimise
from evaluation.probing.protocols.principal_axes import all_axes, is_small, longest_axes
from evaluation.probing.protocols.targets import Targets

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
    perpendicular to all of them are 0.
    """

    def __init__(
        self, x: Floats, targets: Targets, used: Flags | None = None, scales: Floats | None = None
    ) -> None:
        """Begin with weights of 0, which answer with the shares of the classes.

        Features are float32 [n, d], each column of mean 0 and of deviation 1 or 0, or nearly so if
        ``used``, [k, n], gives the rows of each of k regressions: without it, one is fitted on all
        rows. Each divides the features by its scales, float32 [k, d].
        """
        self._rotation: Floats | None = None
        if is_small(x):
            axes, squares, rotated = all_axes(x)
            self._axes: tuple[Floats | None, Floats, float] = axes, squares, 0.0
            if scales is None:
                x, self._rotation, self._axes = rotated, axes, (None, squares, 0.0)
        else:
            self._axes = longest_axes(x)
        shares = [targets.shares()] if used is None else [targets.shares(rows) for rows in used]
        self._loss = _CrossEntropy(
            x,
            targets.entries(),
            None if used is None else used.astype(np.float32),
            scales,
            len(targets.classes) == 2,
        )
        self._shares = np.stack(shares)
        self.count = len(shares)
        bias = _first_bias(self._shares)
        self._parameters = np.zeros((*bias.shape, x.shape[1]), np.float32), bias
        self._before = self._parameters

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

    def fitted(self) -> "Fitted":
        """Return what was fitted last."""
        weights, bias = self._parameters
        weights = self._loss.unscaled(weights)
        return Fitted(weights if self._rotation is None else weights @ self._rotation.T, bias)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What regressions answer with; the weights of two classes, [k, 1, d], are the second's."""

    weights: Floats
    bias: Floats

    def logits(self, x: Floats) -> Floats:
        """Return what softmax makes chances of, float32 [k, rows, classes]."""
        k, c, d = self.weights.shape
        logits: Floats = (self.weights.reshape(k * c, d) @ x.T).reshape(k, c, len(x))
        logits += self.bias[:, :, None]
        if c == 1:
            logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
        return logits.swapaxes(1, 2)


def _first_bias(shares: Doubles) -> Floats:
    """Return the biases that answer with the shares of the classes, [k, c]; c is 1 for two."""
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

    Axes [d, r] are None where the features are along them already. Coordinates are divided by
    ``along`` them [k, 1, r], ``across`` them [k, 1, 1], and by ``of_bias`` [k, c].
    """

    axes: Floats | None
    along: Floats
    across: Floats
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
        of_bias = np.sqrt(np.maximum(of_bias, RARE))
        return cls(axes, *(part.astype(np.float32) for part in (along, across, of_bias)))

    def weights(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the weights [k, c, d] and biases [k, c] of a point [k, c * (d + 1)]."""
        k, c = self.of_bias.shape
        return self._shortened(point[:, :-c].reshape(k, c, -1)), point[:, -c:] / self.of_bias

    def point(self, weights: Floats, bias: Floats) -> Floats:
        """Return the point of weights and biases."""
        moved = self._moved(weights, self.along, self.across)
        return np.concatenate([moved.reshape(len(bias), -1), bias * self.of_bias], axis=1)

    def slopes(self, of_weights: Floats, of_bias: Floats) -> Floats:
        """Return the gradient at a point, of the one by its weights and biases."""
        moved = self._shortened(of_weights)
        return np.concatenate([moved.reshape(len(of_bias), -1), of_bias / self.of_bias], axis=1)

    def _shortened(self, weights: Floats) -> Floats:
        along, across = (np.reciprocal(part) for part in (self.along, self.across))
        return self._moved(weights, along, across)

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

    Entries are ``Targets.entries``; of two classes (binary) the second alone has weights.
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
        for start in range(0, len(self.x), size):
            part = slice(start, start + size)
            rows = self.x[part]
            # Classes by rows: numpy is fast along the rows, of which there are many.
            scores: Floats = (flat @ rows.T).reshape(k, c, len(rows))
            scores += bias[:, :, None]
            losses, errors = (self._two if self.binary else self._many)(scores, part)
            if self.used is not None:
                losses *= self.used[:, part]
                errors *= self.used[:, None, part]
            values += losses.sum(axis=1, dtype=np.float64)
            to_weights += errors.reshape(k * c, -1) @ rows
            to_bias += errors.sum(axis=2)
        count = np.full(k, len(self.x)) if self.used is None else self.used.sum(axis=1)
        shares = (1 / count).astype(np.float32)[:, None]
        by_weights = self.unscaled(to_weights.reshape(k, c, d) * shares[:, :, None])
        return values / count, by_weights, to_bias * shares

    def _two(self, scores: Floats, part: slice) -> tuple[Floats, Floats]:
        """Return the losses [k, rows] and errors [k, 1, rows] of the second class's scores."""
        wanted = sum((y[part] * shares[part] for y, shares in self.entries), np.float32(0))
        scores = scores[:, 0]
        small = np.exp(-np.abs(scores))
        losses: Floats = np.maximum(scores, 0) - wanted * scores + np.log1p(small)
        errors: Floats = np.where(scores >= 0, 1, small) / (1 + small) - wanted
        return losses, errors[:, None]

    def _many(self, scores: Floats, part: slice) -> tuple[Floats, Floats]:
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
