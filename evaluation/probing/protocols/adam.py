"""A step of Adam, operation by operation in a library of arrays, or compiled into one loop."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from evaluation.arrays import Floats

# Adam's step size, and its decay rates and epsilon (Kingma and Ba 2015, algorithm 1).
STEP = 1e-3
DECAY1, DECAY2, EPSILON = 0.9, 0.999, 1e-8
# The loop saves about 1 ns for each number of the weights; to import numba and compile takes 1.6 s.
WORTH = 2_000_000_000


def adam(
    library: Any, steps: int, decay: Any, weights: Any, gradient: Any, mean: Any, square: Any
) -> None:
    """Take a step of Adam (Kingma and Ba 2015, algorithm 1), in place.

    The running means lack their factors 1 - decay rate and the correction for their start at 0;
    the step's size and epsilon make up for both (as in section 2, last paragraph).

    Steps count this one; decay are L2 strengths that multiply with weights, or None; the gradient
    is overwritten; mean and square are those of gradients up to now, without the factors.
    """
    epsilon, size = _rates(steps)
    if decay is not None:
        gradient += weights * decay
    mean *= DECAY1
    mean += gradient
    gradient *= gradient
    square *= DECAY2
    square += gradient
    library.sqrt(square, out=gradient)
    gradient += epsilon
    library.divide(mean, gradient, out=gradient)
    gradient *= size
    weights -= gradient


def compiled_adam(numbers: int) -> Callable[..., None] | None:
    """Return ``adam`` of numpy as one loop, to the bit the same; None without numba.

    Also None if no more than ``WORTH`` numbers were stepped, unless it is compiled already. It
    takes steps, decay [rows] and arrays [rows, columns], float32, and leaves the gradient alone.
    Each operation is rounded as in numpy, so that numba's version decides nothing. Nothing is kept
    on disk: numba's cache holds pickles.
    """
    return _compile() if numbers > WORTH or _compile.cache_info().currsize else None


@cache
def _compile() -> Callable[..., None] | None:
    try:
        numba = import_module("numba")
    except ImportError:
        return None
    matrix = numba.float32[:, ::1]
    signature = numba.void(
        numba.types.UniTuple(numba.float32, 4), numba.boolean, numba.float32[::1], *4 * [matrix]
    )
    loop = numba.njit(signature, error_model="numpy")(_loop)

    def step(steps: int, decay: Floats | None, weights: Floats, *others: Floats) -> None:
        rates = tuple(map(np.float32, (DECAY1, DECAY2, *_rates(steps))))
        decays = np.zeros(0, np.float32) if decay is None else decay
        loop(rates, decay is not None, decays, weights, *others)

    return step


def _rates(steps: int) -> tuple[float, float]:
    """Return epsilon and the step's size that go with the means as they are."""
    scale = ((1 - DECAY2**steps) / (1 - DECAY2)) ** 0.5
    return EPSILON * scale, STEP * scale * (1 - DECAY1) / (1 - DECAY1**steps)


def _loop(
    rates: Any, decays: bool, decay: Any, weights: Any, gradient: Any, mean: Any, square: Any
) -> None:
    decay1, decay2, epsilon, size = rates
    for row in range(weights.shape[0]):
        for i in range(weights.shape[1]):
            slope = gradient[row, i]
            if decays:
                slope += weights[row, i] * decay[row]
            mean[row, i] = mean[row, i] * decay1 + slope
            square[row, i] = square[row, i] * decay2 + slope * slope
            step = mean[row, i] / (np.sqrt(square[row, i]) + epsilon)
            weights[row, i] -= step * size
