"""Multinomial logistic regression with an L2 penalty, for one strength after another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.arrays import Doubles, Floats, Labels
from evaluation.probing.protocols.targets import Targets

# A fit ends where no place of the gradient, in the coordinates of the search, is larger than
# GRADIENT, or where a step lowers the loss by less than this share of it (about what float32
# tells), or after ITERATIONS.
GRADIENT = 3e-5
PROGRESS = 1e-9
ITERATIONS = 500
# As a share of a matrix's trace, what float32 may take from its eigenvalues.
ROUNDING = 1e-6
CHUNK = 4096
"""Rows whose chances are in memory at one time."""


@dataclass(frozen=True, slots=True)
class Regression:
    """A regression that was fitted.

    Attributes:
        weights: float32 [classes, features].
        bias: float32 [classes].
    """

    weights: Floats
    bias: Floats

    def logits(self, x: Floats) -> Floats:
        """Return what softmax makes chances of, float32 [rows, classes]."""
        logits: Floats = x @ self.weights.T
        logits += self.bias
        return logits


def regressions(
    x: Floats,
    targets: Targets,
    strengths: Sequence[float],
) -> Iterator[tuple[float, Regression]]:
    """Fit a logistic regression for each strength, each from the one before.

    What is minimised is the mean over the rows of the cross-entropy with their targets, and
    ``strength / 2 * |W|^2``. It is convex, so that the start does not matter for where it ends.
    (scikit-learn's C is 1 / (strength * rows). Like it, two classes have one vector w of weights,
    here written as two, w / 2 and -w / 2, whose squares therefore count twice.)

    L-BFGS (Liu and Nocedal 1989), in coordinates in which the Hessian is near the unit matrix, see
    ``cholesky_factors``. With no more rows than features, the features are first rotated to the
    space that the rows span, which loses nothing, as the weights lie in it.

    Args:
        x: features float32 [n, d], each column of mean 0 and of deviation 1 or 0.
        targets: of the n rows.
        strengths: positive, best from strong to weak.

    Yields:
        The strength and the regression.
    """
    from scipy.linalg import qr
    from scipy.optimize import minimize

    rotation: Floats | None = None
    if len(x) <= x.shape[1]:
        rotation, rotated = qr(x.T, mode="economic", check_finite=False)
        x = np.ascontiguousarray(rotated.T)
    shares = targets.shares()
    entries = targets.entries()
    parameters: Floats = np.zeros((len(shares), x.shape[1] + 1), np.float32)
    parameters[:, -1] = np.log(shares)
    factors = cholesky_factors(x, shares, strengths)
    for strength, factor in zip(strengths, factors, strict=True):
        loss = _Loss(x, entries, _penalty(strength, len(shares)), factor, np.sqrt(shares))
        found = minimize(
            loss,
            loss.coordinates(parameters),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": ITERATIONS, "gtol": GRADIENT, "ftol": PROGRESS},
        )
        parameters = loss.parameters(found.x)
        weights = parameters[:, :-1] if rotation is None else parameters[:, :-1] @ rotation.T
        yield strength, Regression(np.ascontiguousarray(weights), parameters[:, -1].copy())


def cholesky_factors(x: Floats, shares: Doubles, strengths: Sequence[float]) -> Iterator[Floats]:
    """Yield coordinates for each strength, in which the loss is about as curved everywhere.

    If the chances in every row were the shares p of the classes, a class's block of the Hessian
    would be about ``h * X'X / n + strength * I``, where h is the sum of the p (1 - p) over the
    number of classes less one. Its Cholesky factor L is what is yielded: the weights W are sought
    as W L. That takes a half to a tenth of the steps.

    Args:
        x: features float32 [n, d], each column of mean 0 and of deviation 1 or 0.
        shares: of the classes [c].
        strengths: positive.

    Yields:
        float32 [d, d], lower triangular.
    """
    from scipy.linalg import cholesky

    hessian: Floats = x.T @ x
    hessian *= (shares * (1 - shares)).sum() / max(len(shares) - 1, 1) / len(x)
    diagonal = np.diag_indices(len(hessian))
    own = hessian[diagonal].copy()
    # So that rounding does not make it indefinite; a little off, the coordinates are still good.
    own += ROUNDING * own.sum()
    for strength in strengths:
        hessian[diagonal] = own + np.float32(_penalty(strength, len(shares)))
        yield cholesky(hessian, lower=True, check_finite=False)


def _penalty(strength: float, classes: int) -> float:
    return strength * (2 if classes == 2 else 1)


@dataclass(frozen=True, slots=True)
class _Loss:
    """What is minimised, as a function of the coordinates of the search.

    Attributes:
        x: features float32 [n, d].
        entries: classes of the rows and their shares, each [n], see ``Targets.entries``.
        penalty: of the squares of the weights.
        factor: float32 [d, d]; the coordinates of weights W are W L.
        scale: [classes]; the coordinates of the bias, which has no penalty, are bias * scale.
    """

    x: Floats
    entries: list[tuple[Labels, Floats]]
    penalty: float
    factor: Floats
    scale: Doubles

    def coordinates(self, parameters: Floats) -> Doubles:
        """Return the coordinates of the weights and, in the last column, the bias."""
        coordinates = parameters.astype(np.float64)
        coordinates[:, :-1] = parameters[:, :-1] @ self.factor
        coordinates[:, -1] *= self.scale
        return coordinates.ravel()

    def parameters(self, coordinates: Doubles) -> Floats:
        """Return the weights and, in the last column, the bias of the coordinates."""
        parameters: Floats = coordinates.reshape(len(self.scale), -1).astype(np.float32)
        parameters[:, :-1] = self._solve(parameters[:, :-1], transposed=1)
        parameters[:, -1] /= self.scale
        return parameters

    def __call__(self, coordinates: Doubles) -> tuple[float, Doubles]:
        """Return the loss and its gradient."""
        parameters = self.parameters(coordinates)
        value, gradient = self._cross_entropy(parameters)
        value += self.penalty / 2 * float(np.square(parameters[:, :-1], dtype=np.float64).sum())
        gradient[:, :-1] += self.penalty * parameters[:, :-1]
        gradient[:, :-1] = self._solve(gradient[:, :-1], transposed=0)
        gradient[:, -1] /= self.scale
        return value, gradient.astype(np.float64).ravel()

    def _solve(self, rows: Floats, transposed: int) -> Floats:
        # What solve_triangular calls; its checks take longer than a small problem.
        from scipy.linalg.lapack import strtrs

        solved, _ = strtrs(self.factor, rows.T, lower=1, trans=transposed)
        found: Floats = solved.T
        return found

    def _cross_entropy(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the mean cross-entropy over the rows, and its gradient."""
        value = 0.0
        gradient: Floats = np.zeros_like(parameters)
        for start in range(0, len(self.x), CHUNK):
            rows = self.x[start : start + CHUNK]
            own = [(y[start : start + CHUNK], p[start : start + CHUNK]) for y, p in self.entries]
            each = np.arange(len(rows))
            # Classes by rows: numpy is fast along the rows, of which there are many.
            scores: Floats = parameters[:, :-1] @ rows.T
            scores += parameters[:, -1:]
            scores -= scores.max(axis=0)
            for y, shares in own:
                value -= float((scores[y, each] * shares).sum(dtype=np.float64))
            np.exp(scores, out=scores)
            sums = scores.sum(axis=0)
            value += float(np.log(sums).sum(dtype=np.float64))
            scores /= sums
            for y, shares in own:
                scores[y, each] -= shares
            gradient[:, :-1] += scores @ rows
            gradient[:, -1] += scores.sum(axis=1)
        gradient /= len(self.x)
        return value / len(self.x), gradient
