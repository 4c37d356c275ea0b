"""Simulates how often intervals cover the truth, and how often encoders that tie seem to differ.

    python benchmarks/intervals.py [simulations]

Prints the two tables of intervals in docs/validity.md. The first: the coverage of `score_interval`
for a true accuracy of .5, .7, .9, .98 and a true correlation of .5, .9. The second: of encoders
with the same true accuracy, how often one is called worse than the best of them by the tie rule of
`evaluation/results/comparison.py`, in brackets without its correction for the number of encoders.
Rows are one per document ("1"), or ten that are independent ("10") or have an intraclass
correlation of .3: all encoders find the same documents hard ("10 alike"), or each its own ones, so
that documents differ in the difference ("10 differ"); or documents of log-normal sizes differ in
that way ("sizes").
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
N_ENCODERS, COMPARED = 4, (2, 6, 20)
# Of the logarithm of the number of rows of a document, mean and standard deviation.
SIZES = (1.5, 1.2)


class Setting(NamedTuple):
    """How rows are related, and whether all encoders find the same documents hard."""

    n_rows: int  # per document; 0 for log-normal ones
    alike: float  # intraclass correlation
    shared: bool


class Simulation(NamedTuple):
    """Simulations of a number of documents in a setting."""

    generator: np.random.Generator
    setting: Setting
    n_documents: int
    n_simulations: int

    def documents(self) -> Values:
        """Return the number of each row's document, int [rows]."""
        sizes = np.rint(self.generator.lognormal(*SIZES, self.n_documents)).clip(1).astype(int)
        return np.arange(self.n_documents).repeat(self.setting.n_rows or sizes)

    def draw_predictions(
        self, documents: Values, accuracy: float, n_encoders: int
    ) -> tuple[Values, Values]:
        """Return gold, [rows], and what the encoders predict, [encoders, rows]: 1 is right."""
        easy = np.full((n_encoders, self.n_documents), accuracy)
        if self.setting.alike:
            # The mean is the accuracy, the intraclass correlation 1 / (1 + the parameters' sum).
            total = 1 / self.setting.alike - 1
            easy = self.generator.beta(accuracy * total, (1 - accuracy) * total, size=easy.shape)
        if self.setting.shared:
            easy[:] = easy[0]
        right = self.generator.random((n_encoders, len(documents))) < easy[:, documents]
        return np.ones(len(documents), int), right.astype(int)

    def draw_scores(
        self, documents: Values, correlation: float, n_encoders: int
    ) -> tuple[Values, Values]:
        """Return normal scores, [rows], and those of the encoders with a correlation to them."""
        alike = self.setting.alike
        documents_noise = self.generator.standard_normal((n_encoders + 1, self.n_documents))
        noise = np.sqrt(alike) * documents_noise[:, documents]
        noise += np.sqrt(1 - alike) * self.generator.standard_normal(noise.shape)
        return noise[0], correlation * noise[0] + np.sqrt(1 - correlation**2) * noise[1:]

    def coverage(
        self, metric: Metric, draw: Callable[..., tuple[Values, Values]], truth: float
    ) -> float:
        """Return the share of intervals that cover the truth."""
        covered = []
        for _ in range(self.n_simulations):
            documents = self.documents()
            gold, predicted = draw(self, documents, truth, N_ENCODERS)
            replicates = leave_out(metric, gold, predicted, documents)
            for row, others in zip(predicted, replicates, strict=True):
                low, high = score_interval(metric, measure(metric, gold, row), others, documents)
                covered.append(low <= truth <= high)
        return float(np.mean(covered))

    def wrongly_worse(self, accuracy: float, n_encoders: int) -> Values:
        """Return how often one of equal encoders is called worse than the best: corrected, not."""
        worse = np.zeros((self.n_simulations, 2), bool)
        for row in worse:
            documents = self.documents()
            gold, predicted = self.draw_predictions(documents, accuracy, n_encoders)
            replicates = leave_out("accuracy", gold, predicted, documents)
            values, units = predicted.mean(axis=1), effective_units(documents)
            best = values.argmax()
            for value, others in zip(values, replicates, strict=True):
                difference = values[best] - value, replicates[best] - others, units
                for i, n_pairs in enumerate((comb(n_encoders, 2), 1)):
                    row[i] |= difference[0] > jackknife_half_width(*difference, n_pairs)
        return worse.mean(axis=0)


SETTINGS = {
    "1": Setting(1, 0.0, shared=True),
    "10": Setting(10, 0.0, shared=True),
    "10 alike": Setting(10, 0.3, shared=True),
    "10 differ": Setting(10, 0.3, shared=False),
    "sizes": Setting(0, 0.3, shared=False),
}


def main(n_simulations: int = 500) -> None:
    """Print the tables."""
    generator = np.random.Generator(np.random.PCG64(1))
    simulations = {
        f"| {n_documents} | {name} |": Simulation(generator, setting, n_documents, n_simulations)
        for n_documents in DOCUMENTS
        for name, setting in SETTINGS.items()
    }
    print("| documents | rows | .5 | .7 | .9 | .98 | r .5 | r .9 |", "|" + 8 * " --- |", sep="\n")
    for heading, simulation in simulations.items():
        shares = [
            simulation.coverage("accuracy", Simulation.draw_predictions, p) for p in ACCURACIES
        ]
        shares += [simulation.coverage("pearson", Simulation.draw_scores, r) for r in CORRELATIONS]
        print(heading, " | ".join(f"{share:.3f}" for share in shares), "|", flush=True)
    print("| documents | rows | .5: 2 | 6 | 20 | .9: 2 | 6 | 20 |", "|" + 8 * " --- |", sep="\n")
    for heading, simulation in simulations.items():
        worse = [simulation.wrongly_worse(p, k) for p in (0.5, 0.9) for k in COMPARED]
        cells = " | ".join(f"{corrected:.3f} ({single:.2f})" for corrected, single in worse)
        print(heading, cells, "|", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
