"""Description length of classes given vectors, by an online code.

Online coding of Voita and Titov (2020, "Information-theoretic probing with minimum description
length"): rows of train are in a random order; the classes of the first portion cost log2(number of
classes) each, those of each further one are coded by a probe that was fitted on all rows before.
Strength and calibration are chosen within each portion: what was fitted on the portion before is
tried on the rows that this one adds. The second portion is coded by the shares of the classes. All
features are scaled and rotated as train's are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.arrays import Doubles, Floats, Labels
from evaluation.probing.protocols.calibration import calibrate, gold_chances, least_share, mix
from evaluation.probing.protocols.logistic import Regressions
from evaluation.probing.protocols.problem import class_numbers, targets

PORTIONS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5)
# A probe is fitted on so many rows at least, and on so many a class.
MIN_ROWS = 20
MIN_ROWS_A_CLASS = 2


class Code(NamedTuple):
    """Bits of each row's class, float64 [rows]; and the learning curve: (rows, accuracy)."""

    bits: Doubles
    curve: list[tuple[int, float]]


def portions_of(y: Labels) -> list[int]:
    """Return how many rows portions have that a probe is fitted on; y are classes in order."""
    n_rows, least = len(y), max(MIN_ROWS, MIN_ROWS_A_CLASS * len(np.unique(y)))
    ends = sorted({round(share * n_rows) for share in PORTIONS})
    return [end for end in ends if end >= least and (y[:end] != y[0]).any()]


def online_code(
    regressions: Regressions,
    values: Labels,
    order: Labels,
    strengths: Sequence[float],
    test: tuple[Floats, Labels] | None,
) -> Code:
    """Code the classes of rows one portion after the other.

    Args:
        regressions: on these rows' features, without rows or scales of their own.
        values: the classes, [rows].
        order: numbers of the rows in the order in which they are coded.
        strengths: of the penalty, from the strongest.
        test: standardised features and classes that the learning curve is measured on; None for
            the rows that are not fitted on yet.
    """
    classes, y = np.unique(values[order], return_inverse=True)
    n_rows, n_classes = len(y), len(classes)
    ordered = regressions.restart(targets("accuracy", y), order)
    bits = np.full(n_rows, np.log2(n_classes))
    curve = []
    chosen: tuple[float, float, float] | None = None
    portions = portions_of(y)
    for end, next_end in zip(portions, [*portions[1:], n_rows], strict=False):
        of_portion, block = targets("accuracy", y[:end]), y[end:next_end]
        shares, numbers = of_portion.shares(), class_numbers(of_portion.classes, block)
        prior = ((np.bincount(y[:end], minlength=n_classes) + 1) / (end + n_classes))[block]
        fits, best = ordered.restart(of_portion, slice(end)), -np.inf
        bits[end:next_end] = -np.log2(prior)
        for strength in strengths:
            fits.fit([strength])
            fitted = fits.fitted(along_axes=True)
            (logits,) = fitted.logits(ordered.along[end:next_end])
            (gold,) = gold_chances(logits, numbers, shares, [1])
            value = float(np.log(mix(gold, prior, least_share(len(block)))).sum())
            if value > best:
                best, best_strength, best_logits = value, strength, logits
            if chosen is not None and strength == chosen[0]:
                (gold,) = gold_chances(logits, numbers, shares, [chosen[1]])
                bits[end:next_end] = -np.log2(mix(gold, prior, chosen[2]))
                if test is None:
                    asked, gold_of = fitted.logits(ordered.along[end:]), classes[y[end:]]
                else:
                    asked, gold_of = fits.fitted().logits(test[0]), test[1]
                predicted = classes[of_portion.classes[asked[0].argmax(axis=1)]]
                curve.append((end, float(np.mean(predicted == gold_of))))
        chosen = best_strength, *calibrate(gold_chances(best_logits, numbers, shares), prior)
    in_rows = np.empty(n_rows)
    in_rows[order] = bits
    return Code(in_rows, curve)
