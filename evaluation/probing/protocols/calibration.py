"""Chances of classes from logits, calibrated on rows that were not fitted on.

    p = (1 - share) * softmax(log q + (logits - log q) / temperature) + share * prior

Temperature scaling (Guo, Pleiss, Sun and Weinberger 2017, "On calibration of modern neural
networks", section 4.2) of what logits add to the shares q of the classes. A share of the prior
bounds what one row can cost.
"""

from collections.abc import Sequence

import numpy as np

from evaluation.arrays import Doubles, Floats, Labels

# From 1/64, as the strongest penalties leave next to nothing, to 16, where next to nothing is left.
TEMPERATURES = tuple(float(2.0 ** (half / 2)) for half in range(-12, 9))
# Halvings of the interval that the share of the prior is in.
_HALVINGS = 20
# Scores that are in memory at a time.
_SCORES = 1 << 20

Calibration = tuple[float, float]
"""A temperature, and the share of the prior."""


def mix(fitted: Doubles, prior: Doubles, share: float) -> Doubles:
    """Return fitted chances with a share of the prior."""
    mixed: Doubles = (1 - share) * fitted + share * prior
    return mixed


def least_share(n_rows: int) -> float:
    """Return the least share of the prior: of a fault that none of so many rows has shown."""
    return 1 / (n_rows + 2)


def gold_chances(
    logits: Floats, y: Labels, q: Doubles, temperatures: Sequence[float] = TEMPERATURES
) -> Doubles:
    """Return the chance of each row's class at some temperatures, float64 [temperatures, rows].

    Logits are float32 [rows, classes]; y the rows' classes, 0 … classes - 1, or -1 for another one,
    whose chance is 0; q the shares of the classes, [classes].
    """
    chances = np.zeros((len(temperatures), len(y)))
    factors = (1 / np.array(temperatures, np.float32))[:, None, None]
    log_q = np.log(q, dtype=np.float32)
    size = max(1, _SCORES // (len(q) * len(temperatures)))
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        scores = (logits[rows] - log_q) * factors + log_q
        scores -= scores.max(axis=2, keepdims=True)
        np.exp(scores, out=scores)
        gold = scores[:, np.arange(len(y[rows])), y[rows]] / scores.sum(axis=2)
        chances[:, rows] = np.where(y[rows] >= 0, gold, 0)
    return chances


def calibrate(fitted: Doubles, prior: Doubles) -> Calibration:
    """Return the calibration that gives rows the shortest code.

    ``fitted`` are the chances of their classes at all temperatures, [temperatures, rows], ``prior``
    those of the prior, above 0, [rows].
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
    return float(TEMPERATURES[best]), low


def usable_information(
    calibration: Calibration, logits: Floats, y: Labels, shares: Doubles
) -> Doubles:
    """Return the bits that logits save in coding each row's class by the shares, float64 [rows].

    Pointwise usable information (Ethayarajh, Choi and Swayamdipta 2022, "Understanding dataset
    difficulty with V-usable information", section 3); its mean is that of Xu et al. (2020, "A
    theory of usable information under computational constraints", definition 2), where nothing but
    the shares of the classes is known without the vectors. Arguments as of ``gold_chances``.
    """
    temperature, share = calibration
    (fitted,) = gold_chances(logits, y, shares, [temperature])
    bits: Doubles = np.log2(mix(fitted, shares[y], share) / shares[y])
    return bits
