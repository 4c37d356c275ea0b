"""L-BFGS (Liu and Nocedal 1989) for many small problems side by side."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evaluation.arrays import Doubles, Floats, Labels

Loss = Callable[[Floats], tuple[Doubles, Floats]]
"""Takes points [k, p]; returns the k problems' losses, float64 [k], and gradients, [k, p]."""

# Steps that are remembered: more take longer than they save.
MEMORY = 5
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
        found, new_value, new_slope = _search(loss, point, value, slope, direction, going)
        moved = going & (new_value < value)
        curvature.learn(found - point, new_slope - slope)
        enough = value - new_value > end.progress * np.maximum(np.abs(value), 1)
        going = moved & enough & (np.abs(new_slope).max(axis=1) > end.gradient)
        point, value, slope = found, new_value, new_slope
    return point


def _search(
    loss: Loss, point: Floats, value: Doubles, slope: Floats, direction: Floats, going: Labels
) -> tuple[Floats, Doubles, Floats]:
    """Return the points that are stepped to, with losses and gradients."""
    promised = np.vecdot(slope, direction).astype(np.float64)
    length = np.ones(len(point))
    found, new_value, new_slope = point, value, slope
    pending = going
    while pending.any():
        trial = point + length[:, None].astype(np.float32) * direction
        reached, gradients = loss(trial)
        allowed = value + DECREASE * length * promised + ROUNDING * np.abs(value)
        taken = pending & (reached <= allowed)
        if taken.all():
            return trial, reached, gradients
        found = np.where(taken[:, None], trial, found)
        new_value = np.where(taken, reached, new_value)
        new_slope = np.where(taken[:, None], gradients, new_slope)
        # The lowest point of the parabola through what is known, or nearly.
        beyond = np.where(pending, reached - value - length * promised, 1)
        lowest = -promised * length / (2 * np.maximum(beyond, 1e-30))
        length = np.where(pending, length * np.clip(lowest, 0.1, 0.5), length)
        pending = pending & ~taken & (length >= SHORTEST)
    return found, new_value, new_slope


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
        known = list(zip(self.steps, self.changes, self.weights, strict=True))
        for step, change, weight in reversed(known):
            share = weight * np.vecdot(step, direction)
            direction -= share[:, None] * change
            shares.append(share)
        if self.scale is not None:
            direction *= self.scale[:, None]
        for (step, change, weight), share in zip(known, reversed(shares), strict=True):
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
        for known in (self.steps, self.changes, self.weights):
            del known[:-MEMORY]
