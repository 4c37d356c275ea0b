"""Simulates how often intervals cover the truth, and how often encoders that tie seem to differ.

    python benchmarks/intervals.py [simulations]

Prints the two tables of intervals in docs/validity.md. The first: the
coverage of `score_interval` for a true accuracy of .5, .7, .9, .98 and a true correlation of .5,
.9. The second: of encoders with the same true accuracy, how often one is called worse than the best
of them by the tie rule of `evaluation/results/comparison.py`, in brackets without its correction
for the number of encoders. Rows are one per document ("1"), or ten that are independent ("10") or
have an intraclass correlation of .3: all encoders find the same documents hard ("10 alike"), or
each its own ones, so that documents differ in the difference ("10 differ"); or documents of
log-normal sizes differ in that way ("sizes").
"""

import sys
from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np

from evaluation.arrays import Values
from evaluation.measures import (
    Metric,
    effective_units,
    jackknife_half_width,
    leave_out,
    measure,
    score_interval,
)

DOCUMENTS = (8, 20, 60, 200, 600)
ACCURACIES, CORRELATIONS = (0.5, 0.7, 0.9, 0.98), (0.5, 0.9)
# Encoders whose scores are covered or not, and numbers of encoders that are compared.
ENCODERS, COMPARED = 4, (2, 6, 20)
# Of the logarithm of the number of rows of a document, mean and standard deviation.
SIZES = (1.5, 1.2)


class Setting(NamedTuple):
    """How rows are related: their number per document (0 for log-normal ones), their intraclass
    correlation, and whether it is the same documents that all encoders find hard.
    """

    rows: int
    alike: float
    shared: bool

    def names(self, generator: np.random.Generator, documents: int) -> Values:
        """Return the number of each row's document, int [rows]."""
        drawn = np.rint(generator.lognormal(*SIZES, documents)).clip(1).astype(int)
        return np.arange(documents).repeat(self.rows or drawn)


SETTINGS = {
    "1": Setting(1, 0.0, shared=True),
    "10": Setting(10, 0.0, shared=True),
    "10 alike": Setting(10, 0.3, shared=True),
    "10 differ": Setting(10, 0.3, shared=False),
    "sizes": Setting(0, 0.3, shared=False),
}

Draw = Callable[[np.random.Generator, Values, Setting, float, int], tuple[Values, Values]]


def draw_answers(
    generator: np.random.Generator, names: Values, setting: Setting, accuracy: float, encoders: int
) -> tuple[Values, Values]:
    """Return gold, [rows], and what the encoders answer, [encoders, rows]: 1 is right."""
    easy = np.full((encoders, names[-1] + 1), accuracy)
    if setting.alike:
        # The mean is the accuracy, the intraclass correlation 1 / (1 + the sum of the parameters).
        total = 1 / setting.alike - 1
        easy = generator.beta(accuracy * total, (1 - accuracy) * total, size=easy.shape)
    if setting.shared:
        easy[:] = easy[0]
    right = generator.random((encoders, len(names))) < easy[:, names]
    return np.ones(len(names), int), right.astype(int)


def draw_scores(
    generator: np.random.Generator,
    names: Values,
    setting: Setting,
    correlation: float,
    encoders: int,
) -> tuple[Values, Values]:
    """Return normal scores, [rows], and those of the encoders with a correlation to them."""
    of_documents = generator.standard_normal((encoders + 1, names[-1] + 1))[:, names]
    of_rows = generator.standard_normal(of_documents.shape)
    noise = np.sqrt(setting.alike) * of_documents + np.sqrt(1 - setting.alike) * of_rows
    return noise[0], correlation * noise[0] + np.sqrt(1 - correlation**2) * noise[1:]


def coverage(
    generator: np.random.Generator,
    metric: Metric,
    draw: Draw,
    truth: float,
    documents: int,
    setting: Setting,
    simulations: int,
) -> float:
    """Return the share of intervals that cover the truth."""
    covered = []
    for _ in range(simulations):
        names = setting.names(generator, documents)
        gold, predicted = draw(generator, names, setting, truth, ENCODERS)
        left_out = leave_out(metric, gold, predicted, names)
        for answers, others in zip(predicted, left_out, strict=True):
            low, high = score_interval(metric, measure(metric, gold, answers), others, names)
            covered.append(low <= truth <= high)
    return float(np.mean(covered))


def wrongly_worse(
    generator: np.random.Generator,
    accuracy: float,
    encoders: int,
    documents: int,
    setting: Setting,
    simulations: int,
) -> tuple[float, float]:
    """Return how often one of equal encoders is called worse than the best: corrected, or not."""
    worse = np.zeros((simulations, 2), bool)
    for number in range(simulations):
        names = setting.names(generator, documents)
        gold, predicted = draw_answers(generator, names, setting, accuracy, encoders)
        left_out, values = leave_out("accuracy", gold, predicted, names), predicted.mean(axis=1)
        best, units = values.argmax(), effective_units(names)
        for value, others in zip(values, left_out, strict=True):
            apart = values[best] - value, left_out[best] - others, units
            pairs = (comb(encoders, 2), 1)
            worse[number] |= [apart[0] > jackknife_half_width(*apart, count) for count in pairs]
    corrected, single = worse.mean(axis=0)
    return float(corrected), float(single)


def main(simulations: int = 500) -> None:
    """Print the tables."""
    generator = np.random.Generator(np.random.PCG64(1))
    print("| documents | rows | .5 | .7 | .9 | .98 | r .5 | r .9 |", "|" + 8 * " --- |", sep="\n")
    given = [(count, name) for count in DOCUMENTS for name in SETTINGS]
    for documents, name in given:
        how = (documents, SETTINGS[name], simulations)
        found = [coverage(generator, "accuracy", draw_answers, p, *how) for p in ACCURACIES]
        found += [coverage(generator, "pearson", draw_scores, r, *how) for r in CORRELATIONS]
        print(
            f"| {documents} | {name} | {' | '.join(f'{share:.3f}' for share in found)} |",
            flush=True,
        )
    print("| documents | rows | .5: 2 | 6 | 20 | .9: 2 | 6 | 20 |", "|" + 8 * " --- |", sep="\n")
    for documents, name in given:
        how = (documents, SETTINGS[name], simulations)
        found = [wrongly_worse(generator, p, k, *how) for p in (0.5, 0.9) for k in COMPARED]
        shares = " | ".join(f"{corrected:.3f} ({single:.2f})" for corrected, single in found)
        print(f"| {documents} | {name} | {shares} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
