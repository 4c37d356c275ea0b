"""Chances of classes from logits, calibrated on rows that were not fitted on.

    p = (1 - share) * softmax(log q + (logits - log q) / temperature) + share * prior

Temperature scaling (Guo, Pleiss, Sun and Weinberger 2017, "On calibration of modern neural
networks", section 4.2) of what the logits add to the shares q of the classes: scaled as a whole,
logits of rare classes would say less than the shares. A share of the prior bounds what one row can
cost. The temperature is the best one of ``TEMPERATURES`` with the least share; then the share is
found that is best with it.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.arrays import Doubles, Floats, Labels

# From 1/64, as the strongest penalties leave next to nothing, to 16, where next to nothing is left.
TEMPERATURES = 2.0 ** (np.arange(-12, 9) / 2)
# Halvings of the interval that the share of the prior is in.
_HALVINGS = 20
# Logits that are in memory in float64 at a time.
_LOGITS = 1 << 20


@dataclass(frozen=True, slots=True)
class Calibration:
    """A temperature, and the share of the prior."""

    temperature: float
    share: float


def mix(fitted: Doubles, prior: Doubles, share: float) -> Doubles:
    """Return fitted chances with a share of the prior."""
    mixed: Doubles = (1 - share) * fitted + share * prior
    return mixed


def least_share(n_rows: int) -> float:
    """Return the least share of the prior: of a fault that none of so many rows has shown."""
    return 1 / (n_rows + 2)


def gold_chances(
    logits: Floats, y: Labels, q: Doubles, temperatures: Doubles = TEMPERATURES
) -> Doubles:
    """Return the chance of each row's class at some temperatures, float64 [temperatures, rows].

    Args:
        logits: float32 [rows, classes].
        y: the rows' classes, 0 … classes - 1; -1 for another one, whose chance is 0.
        q: shares of the classes, float64 [classes].
        temperatures: which.
    """
    chances = np.zeros((len(temperatures), len(y)))
    size = max(1, _LOGITS // len(q))
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        numbers, each = y[rows], np.arange(len(y[rows]))
        added = logits[rows] - np.log(q)
        for number, temperature in enumerate(temperatures):
            scores = added / temperature + np.log(q)
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            shares = scores[each, numbers] / scores.sum(axis=1)
            chances[number, rows] = np.where(numbers >= 0, shares, 0)
    return chances


def calibrate(fitted: Doubles, prior: Doubles) -> Calibration:
    """Return the calibration that gives rows the shortest code.

    Args:
        fitted: chances of their classes at all temperatures, float64 [temperatures, rows].
        prior: of their classes, above 0, float64 [rows].
    """
    low, high = least_share(len(prior)), 1.0
    best = int(np.log(mix(fitted, prior, low)).sum(axis=1).argmax())
    gain = prior - fitted[best]
    # The code is convex in the share: its slope changes sign once.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if (gain / mix(fitted[best], prior, middle)).sum() > 0:
            low = middle
        else:
            high = middle
    return Calibration(float(TEMPERATURES[best]), low)


def usable_information(
    calibration: Calibration, logits: Floats, y: Labels, shares: Doubles
) -> Doubles:
    """Return the bits that logits save in coding each row's class by the shares, float64 [rows].

    Pointwise usable information (Ethayarajh, Choi and Swayamdipta 2022, "Understanding dataset
    difficulty with V-usable information", section 3); its mean is that of Xu et al. (2020, "A
    theory of usable information under computational constraints", definition 2), where nothing but
    the shares of the classes is known without the vectors. Arguments as of ``gold_chances``.
    """
    (fitted,) = gold_chances(logits, y, shares, np.array([calibration.temperature]))
    bits: Doubles = np.log2(mix(fitted, shares[y], calibration.share) / shares[y])
    return bits
