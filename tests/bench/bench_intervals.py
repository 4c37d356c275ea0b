"""Simulates how often intervals cover the truth, and how often encoders that tie seem to differ.

    python tests/bench/bench_intervals.py [simulations]

Prints the table in the docstring of `evaluation/measures/intervals.py`: the coverage of
`score_interval` for a true accuracy of .5, .7, .9 and a true correlation of .5, .9; then the type I
error of the tie rule of `evaluation/results/comparison.py`, for encoders with the same true
accuracy. Rows are one per document ("1"), or ten that are independent ("10") or have an intraclass
correlation of .3: all encoders find the same documents hard ("10 alike"), or each its own ones, so
that documents differ in the difference ("10 differ"). Each simulation is of four encoders, so that
it tells four times whether the truth is covered, and twice whether two encoders are tied.
"""

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evaluation.arrays import Values
from evaluation.measures.intervals import leave_out, reach, score_interval
from evaluation.measures.metrics import Metric, measure

DOCUMENTS = (5, 10, 20, 40, 200, 600)
ACCURACIES, CORRELATIONS = (0.5, 0.7, 0.9), (0.5, 0.9)
ENCODERS = 4


class Setting(NamedTuple):
    """How rows are related: their number per document, their intraclass correlation, and whether
    it is the same documents that all encoders find hard.
    """

    rows: int
    alike: float
    shared: bool


SETTINGS = {
    "1": Setting(1, 0.0, shared=True),
    "10": Setting(10, 0.0, shared=True),
    "10 alike": Setting(10, 0.3, shared=True),
    "10 differ": Setting(10, 0.3, shared=False),
}

Draw = Callable[[np.random.Generator, int, Setting, float], tuple[Values, Values]]


def draw_answers(
    generator: np.random.Generator, documents: int, setting: Setting, accuracy: float
) -> tuple[Values, Values]:
    """Return gold, [rows], and what the encoders answer, [encoders, rows]: 1 is right."""
    easy = np.full((ENCODERS, documents), accuracy)
    if setting.alike:
        # The mean is the accuracy, the intraclass correlation 1 / (1 + the sum of the parameters).
        total = 1 / setting.alike - 1
        easy = generator.beta(accuracy * total, (1 - accuracy) * total, size=easy.shape)
    if setting.shared:
        easy[:] = easy[0]
    easy = easy.repeat(setting.rows, axis=1)
    right = generator.random(easy.shape) < easy
    return np.ones(easy.shape[1], int), right.astype(int)


def draw_scores(
    generator: np.random.Generator, documents: int, setting: Setting, correlation: float
) -> tuple[Values, Values]:
    """Return normal scores, [rows], and those of the encoders with a correlation to them."""
    size = (ENCODERS + 1, documents)
    of_documents = generator.standard_normal(size).repeat(setting.rows, axis=1)
    of_rows = generator.standard_normal(of_documents.shape)
    noise = np.sqrt(setting.alike) * of_documents + np.sqrt(1 - setting.alike) * of_rows
    return noise[0], correlation * noise[0] + np.sqrt(1 - correlation**2) * noise[1:]


def simulate(
    generator: np.random.Generator,
    metric: Metric,
    draw: Draw,
    truth: float,
    documents: int,
    setting: Setting,
    simulations: int,
) -> tuple[float, float]:
    """Return the share of intervals that cover the truth, and of pairs that are no tie."""
    names = np.arange(documents).repeat(setting.rows)
    covered, apart = [], []
    for _ in range(simulations):
        gold, predicted = draw(generator, documents, setting, truth)
        left_out = leave_out(metric, gold, predicted, names)
        values = [measure(metric, gold, answers) for answers in predicted]
        for value, others in zip(values, left_out, strict=True):
            low, high = score_interval(metric, value, others, len(gold))
            covered.append(low <= truth <= high)
        for one in range(0, ENCODERS, 2):
            difference = values[one] - values[one + 1]
            apart.append(abs(difference) > reach(difference, left_out[one] - left_out[one + 1]))
    return float(np.mean(covered)), float(np.mean(apart))


def main(simulations: int = 2000) -> None:
    """Print the table."""
    generator = np.random.Generator(np.random.PCG64(1))
    print(f"{'documents':>9}  {'rows':9}  {'coverage: acc .5 .7 .9; r .5 .9':29}  type I: .5 .7 .9")
    for documents in DOCUMENTS:
        for name, setting in SETTINGS.items():
            given = (documents, setting, simulations)
            runs = [simulate(generator, "accuracy", draw_answers, p, *given) for p in ACCURACIES]
            scores = [simulate(generator, "pearson", draw_scores, r, *given) for r in CORRELATIONS]
            coverage = " ".join(f"{run[0]:.3f}" for run in runs + scores)
            errors = " ".join(f"{run[1]:.3f}" for run in runs)
            print(f"{documents:9}  {name:9}  {coverage:31}  {errors}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
