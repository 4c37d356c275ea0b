"""Training until validation brings nothing better, many fits at once."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.arrays import Doubles, Labels, Values
from evaluation.measures.metrics import measure
from evaluation.probing.protocols.engine import Array, Data
from evaluation.probing.protocols.network import BATCH, Network, Run

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a task is trained.

    Attributes:
        strengths: of L2, to choose from.
        every: passes between two checks.
        passes: after which training ends at the latest.
        tenacity: checks without improvement that do not end training yet.
        hidden: units of the hidden layer, 0 for none.
    """

    strengths: tuple[float, ...] = STRENGTHS
    every: int = 4
    passes: int = 200
    tenacity: int = 5
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a run.

    Attributes:
        reached: the best metric, [validations, strengths].
        passes: after which it was reached, [validations, strengths].
        answers: class numbers or scores of ``asked``, [strengths, rows].
    """

    reached: Doubles
    passes: Labels
    answers: Values


def train_runs(data: Data, runs: Sequence[Run], schedule: Schedule) -> list[Trained]:
    """Train all fits of all runs; runs that are alike in size go together."""
    inputs = data.x.shape[1]
    alike: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        batches = -(-len(run.train) // BATCH)
        alike[batches, len(run.validations), len(run.strengths)].append(number)
    trained: dict[int, Trained] = {}
    for (_, _, strengths), numbers in alike.items():
        units = (schedule.hidden or len(data.classes)) * strengths
        size = max(1, data.engine.block // (inputs * (4 * units + BATCH)))
        for begin in range(0, len(numbers), size):
            block = numbers[begin : begin + size]
            found = _train_block(data, [runs[number] for number in block], schedule)
            trained.update(zip(block, found, strict=True))
    return [trained[number] for number in range(len(runs))]


class Stopping:
    """When training ends, by the checks on one validation set.

    Attributes:
        reached: the best metric; minus infinity before the first check.
        passes: after which it was reached.
        ended: whether training is over.
    """

    def __init__(self, tenacity: int) -> None:
        """Begin; ``tenacity`` checks without improvement do not end training yet."""
        self.reached, self.passes, self.ended = -math.inf, 0, False
        self._left = tenacity

    def check(self, value: float, passes: int) -> bool:
        """Take note of a check, and return whether it is the best one up to now."""
        if value > self.reached:
            self.reached, self.passes = value, passes
            return True
        self.ended = self._left == 0
        self._left -= 1
        return False


def _train_block(data: Data, runs: Sequence[Run], schedule: Schedule) -> list[Trained]:
    """Train runs together, all with as many batches, validations and strengths."""
    network = Network(data, runs, schedule.hidden)
    # Of each run and fit, for each validation.
    stopping = [
        [[Stopping(schedule.tenacity) for _ in run.validations] for _ in run.strengths]
        for run in runs
    ]
    best: dict[tuple[int, int], list[Array]] = {}
    # The runs that the network still has, and the fits of each.
    fits = {number: list(range(len(run.strengths))) for number, run in enumerate(runs)}
    for now in range(schedule.every, schedule.passes + 1, schedule.every):
        for _ in range(schedule.every):
            network.train_pass()
        for row, (number, places) in enumerate(fits.items()):
            run = runs[number]
            for v, validation in enumerate(run.validations):
                going = [p for p, fit in enumerate(places) if not stopping[number][fit][v].ended]
                if not going:
                    continue
                answered = network.answers(network.weights_of(row), validation)
                for place in going:
                    fit = places[place]
                    value = measure(data.metric, data.y[validation], answered[place])
                    improved = stopping[number][fit][v].check(value, now)
                    if improved and v == 0 and run.asked is not None:
                        best[number, fit] = network.copy_of(row, place)
        done = np.array(
            [
                [all(stop.ended for stop in stopping[number][fit]) for fit in places]
                for number, places in fits.items()
            ]
        )
        if done.all():
            break
        # The arrays stay full: runs that are done leave, and as many fits of each as are done in
        # all of them.
        rows = np.flatnonzero(~done.all(axis=1))
        size = int((~done).sum(axis=1).max())
        if (len(rows), size) != done.shape:
            columns = np.argsort(done[rows], axis=1, kind="stable")[:, :size]
            numbers = list(fits)
            fits = {
                numbers[row]: [fits[numbers[row]][column] for column in own]
                for row, own in zip(rows.tolist(), columns.tolist(), strict=True)
            }
            network.keep(rows, columns)
    trained = []
    for number, run in enumerate(runs):
        reached = [[stop.reached for stop in of_fit] for of_fit in stopping[number]]
        passes = [[stop.passes for stop in of_fit] for of_fit in stopping[number]]
        asked = [
            network.answers(best.pop((number, fit)), run.asked)[0]
            for fit in range(len(run.strengths))
            if run.asked is not None
        ]
        trained.append(Trained(np.array(reached).T, np.array(passes).T, np.array(asked)))
    return trained
