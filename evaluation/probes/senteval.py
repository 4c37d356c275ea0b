"""The protocol "senteval": the schedule of the papers, all its fits trained at once.

After SentEval (Conneau and Kiela 2018, "SentEval: An evaluation toolkit for universal sentence
representations") and DiscoEval (Chen, Chu and Gimpel 2019, "Evaluation benchmarks and learning
criteria for discourse-aware sentence representations"), as they and their engine describe it.
Version 1:

1. Features are taken as they are. A linear layer and softmax learn by Adam on the cross-entropy, in
   batches of 64; L2 is weight decay, which is added to the gradient, the bias's too. Weights and
   bias start uniform within ±1 / sqrt(inputs).
2. After every 4 passes over train the accuracy on validation is taken. Training ends at the 6th
   check, consecutive or not, that brought nothing better than the best one (tenacity 5, the count
   is never reset), or after 200 passes. The best check's weights answer, the first of equal ones.
3. The L2 strength is the one of ``STRENGTHS`` with the best accuracy on validation, the smallest of
   these on a tie. What was trained with it answers: it is not trained again.
4. Section prediction, discourse relations and discourse coherence have no L2. Discourse relations
   has 15 passes at most and a check after each. Discourse coherence has a hidden layer of 2,000
   sigmoid units, a check after every 15 passes, and tenacity 8.
5. Relatedness: scores as distributions over whole numbers (Tai, Socher and Manning 2015, "Improved
   semantic representations from tree-structured LSTMs", section 4.2), the mean squared error on
   them, no L2, a check of Pearson's correlation after every 50 passes, an end at the 4th without
   improvement or after 1,000 passes. The answer is the mean of the distribution.
6. Folds: each is test once. Its strength has the best mean accuracy over the other folds, each of
   which validates once what all the rest has trained. Then one fit is trained on all but the test
   fold, with a random 5 % of it, rounded down but one row
   or more, as validation.
7. All of it ``SEEDS`` times. A start gives the first weights, which all its strengths share, the
   orders of rows, and the 5 %.
8. A class that train lacks is never predicted. With folds, classes are those of all rows.

Where this departs from the engine of 2018 and its editions: "at most" is meant (they check whether
the limit is passed before they go on, and so train for one check more); the loss is a mean over the
batch (with torch before 0.4.1 it was the sum, beside which L2 counts for a 64th); each task has the
schedule above, where the Spanish edition trains NLI without L2 for 15 passes and chooses the L2 of
PAWS by folds of train, and features are those of `probing` for all pairs, where it has four parts
for both; and the bugs are left out (settings that stay for the next task, class numbers by the
order of a set, training again what was trained).

A fit that leaves out folds i and j serves twice: with i as test and j as validation, and the
reverse. All strengths of one train set see the same batches; their weights lie one below the other
and share one matrix product. Runs with as many batches a pass take their steps together, as many as
fit the cache, and a fit leaves when it has ended.

Computed in float32, the same to the bit on one machine and one thread; "torch" differs in rounding.
Beside the problem it takes memory for one more copy of the features; for some six times the weights
of the runs that go together (all strengths of one start, or more, up to ``block`` numbers), and,
where they answer test, their best ones; for ``CHUNK`` rows times the classes or hidden units of a
run, a few times; and for the numbers of the rows of all train sets.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from corpora_recipes.errors import InputError
from corpora_recipes.hashing import keyed_hash
from evaluation.metrics import Metric, Values, measure
from evaluation.probes.problem import SEEDS, Answers, Doubles, Floats, Labels, Problem, Protocol
from evaluation.probes.targets import answers, targets

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
BATCH = 64
HELD_OUT = 0.05
# Adam's step size, and its decay rates and epsilon (Kingma and Ba 2015, algorithm 1).
STEP = 1e-3
DECAY1, DECAY2, EPSILON = 0.9, 0.999, 1e-8
# Rows that are answered at once.
CHUNK = 1024

Array = Any
"""An array of the engine's library."""
Rows = slice | Labels
"""Numbers of rows."""


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


SCHEDULES = {
    "section_prediction": Schedule((0.0,)),
    "discourse_relations": Schedule((0.0,), every=1, passes=15),
    "discourse_coherence": Schedule((0.0,), every=15, tenacity=8, hidden=2000),
    "relatedness": Schedule((0.0,), every=50, passes=1000, tenacity=3),
}
"""Of the tasks that have one of their own."""


def answer(problem: Problem, seed: int, engine: str) -> Answers:
    """Train by the protocol, from ``SEEDS`` random starts, and answer.

    Raises:
        InputError: the engine is "torch", which is not installed.
    """
    return answer_starts(problem, seed, engine, SEEDS)


def answer_starts(problem: Problem, seed: int, engine: str, starts: int) -> Answers:
    """Train from so many random starts and answer.

    Args:
        problem: features and targets.
        seed: the run's seed.
        engine: "numpy" or "torch".
        starts: how many.

    Returns:
        ``chosen`` has, start after start and in each fold after fold, the "strength", and the
        "passes" after which the weights that answer were reached.

    Raises:
        InputError: the engine is "torch", which is not installed.
    """
    schedule = SCHEDULES.get(problem.task, Schedule())
    library = make_engine(engine)
    if problem.folds is None:
        return _answer_splits(problem, seed, library, schedule, starts)
    return _answer_folds(problem, problem.folds, seed, library, schedule, starts)


PROTOCOL = Protocol("senteval", 1, ("numpy", "torch"), answer)


@dataclass(frozen=True, slots=True)
class Engine:
    """A library of arrays, and how much of them it likes at once.

    Attributes:
        library: numpy or torch, whose functions of arrays have the same names.
        device: torch's.
        block: numbers in the arrays of runs that take a step together.
        chunk: numbers in an array that Adam goes through together.
    """

    library: Any
    device: str | None
    block: int
    chunk: int

    def array(self, values: Values) -> Array:
        """Return a numpy array as an array of the library."""
        if self.device is None:
            return values
        return self.library.from_numpy(values).to(self.device)

    def numpy(self, array: Array) -> Values:
        """Return an array of the library as a numpy array."""
        values: Values = array if self.device is None else array.cpu().numpy()
        return values


def make_engine(name: str) -> Engine:
    """Return the engine "numpy" or "torch", the latter on the GPU if there is one.

    Raises:
        InputError: torch is not installed.
    """
    if name == "numpy":
        # The fastest of the powers of two, for small tasks and for folds; Adam's four chunks of a
        # quarter of a megabyte stay in the second-level cache of a core.
        return Engine(np, None, block=1 << 20, chunk=1 << 16)
    try:
        import torch
    except ImportError:
        raise InputError(
            "params.yaml: probing.engine",
            expected="a library that is installed",
            found="torch, which is not",
            todo="install the extra `torch`, or choose the engine numpy",
        ) from None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # As the caller has done for the libraries that were there before.
    torch.set_num_threads(1)
    return Engine(torch, device, block=1 << 28, chunk=1 << 28)


@dataclass(frozen=True, slots=True)
class Data:
    """All rows of a problem, as an engine takes them.

    Attributes:
        engine: whose arrays they are.
        metric: what is measured on validation.
        x: features, and a 1 for the bias, float32 [rows, features + 1].
        table: distributions over classes, float32 [distributions, classes].
        codes: for each row its distribution, int64 [rows]; 0 where it is not known.
        classes: their numbers, int64 [classes].
        y: class numbers or scores, [rows]; a numpy array, shorter if the last rows' are not known.
    """

    engine: Engine
    metric: Metric
    x: Array
    table: Array
    codes: Array
    classes: Labels
    y: Values


def make_data(engine: Engine, metric: Metric, parts: Sequence[Floats], y: Values) -> Data:
    """Return the rows of parts one after the other; ``y`` are the targets of the first ones.

    Classes are those of the first part.
    """
    rows = sum(map(len, parts))
    x = np.empty((rows, parts[0].shape[1] + 1), np.float32)
    np.concatenate(parts, out=x[:, :-1])
    x[:, -1] = 1
    learnt = targets(metric, y[: len(parts[0])])
    codes = np.zeros(rows, np.int64)
    if metric == "pearson":
        table = learnt.dense().astype(np.float32)
        codes[: len(table)] = np.arange(len(table))
    else:
        table = np.eye(len(learnt.classes), dtype=np.float32)
        codes[: len(learnt.y)] = learnt.y
    x_array, table_array, codes_array = (engine.array(values) for values in (x, table, codes))
    return Data(engine, metric, x_array, table_array, codes_array, learnt.classes, y)


@dataclass(frozen=True, slots=True)
class Run:
    """Fits on one train set from one random start, one for each strength.

    Attributes:
        train: its rows.
        validations: rows that training is checked on, each for itself.
        strengths: of L2.
        generator: for the first weights and the orders of rows.
        asked: rows to answer with the best weights by the first of ``validations``.
    """

    train: Labels
    validations: tuple[Rows, ...]
    strengths: tuple[float, ...]
    generator: np.random.Generator
    asked: slice | None = None


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


def _answer_splits(
    problem: Problem, seed: int, engine: Engine, schedule: Schedule, starts: int
) -> Answers:
    assert problem.validation is not None
    assert problem.test is not None
    x_validation, y_validation = problem.validation
    y = np.concatenate([problem.y, y_validation])
    data = make_data(engine, problem.metric, [problem.x, x_validation, problem.test], y)
    train, labelled = len(problem.x), len(y)
    runs = [
        Run(
            np.arange(train),
            (slice(train, labelled),),
            schedule.strengths,
            _generator(seed, problem.name, start),
            slice(labelled, len(data.x)),
        )
        for start in range(starts)
    ]
    predictions, strengths, passes, reached = [], [], [], []
    for trained in train_runs(data, runs, schedule):
        best = int(trained.reached[0].argmax())
        predictions.append(trained.answers[best])
        strengths.append(schedule.strengths[best])
        passes.append(float(trained.passes[0, best]))
        reached.append(trained.reached[0, best])
    return Answers(
        np.stack(predictions), {"strength": strengths, "passes": passes}, float(np.mean(reached))
    )


def _answer_folds(
    problem: Problem, folds: Labels, seed: int, engine: Engine, schedule: Schedule, starts: int
) -> Answers:
    order = np.argsort(folds, kind="stable")
    data = make_data(engine, problem.metric, [problem.x[order]], problem.y[order])
    ends = np.cumsum(np.unique(folds, return_counts=True)[1]).tolist()
    parts = [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    best, means = choose_strengths(data, parts, seed, problem.name, schedule, starts)
    runs, where = [], []
    for start in range(starts):
        for test, part in enumerate(parts):
            generator = _generator(seed, problem.name, start, test)
            rest = generator.permutation(_without(len(order), part))
            held_out = max(1, int(HELD_OUT * len(rest)))
            strength = schedule.strengths[best[start, test]]
            validation, train = rest[:held_out], rest[held_out:]
            runs.append(Run(train, (validation,), (strength,), generator, part))
            where.append((start, order[part]))
    predictions = np.empty((starts, len(order)), problem.y.dtype)
    strengths, passes = [], []
    trained = train_runs(data, runs, schedule)
    for run, one, place in zip(runs, trained, where, strict=True):
        predictions[place] = one.answers[0]
        strengths.append(run.strengths[0])
        passes.append(float(one.passes[0, 0]))
    if len(schedule.strengths) == 1:
        means = np.array([one.reached[0, 0] for one in trained])
    chosen = {"strength": strengths, "passes": passes}
    return Answers(predictions, chosen, float(means.mean()))


def choose_strengths(
    data: Data, parts: Sequence[slice], seed: int, name: str, schedule: Schedule, starts: int
) -> tuple[Labels, Doubles]:
    """Return the best strength's index for each test fold, and its mean metric over the others.

    Args:
        data: the rows, fold after fold.
        parts: which rows each fold has.
        seed: the run's seed.
        name: of the dataset.
        schedule: of the task.
        starts: how many.

    Returns:
        int64 and float64 [starts, folds]; zeros if there is nothing to choose from.
    """
    count = len(parts)
    if len(schedule.strengths) == 1:
        return np.zeros((starts, count), np.int64), np.zeros((starts, count))
    pairs = [
        (start, one, other)
        for start in range(starts)
        for one, other in combinations(range(count), 2)
    ]
    runs = [
        Run(
            _without(len(data.y), parts[one], parts[other]),
            (parts[one], parts[other]),
            schedule.strengths,
            _generator(seed, name, start, one, other),
        )
        for start, one, other in pairs
    ]
    # Of each fold as test, in the order of the folds that validate.
    reached = np.zeros((starts, count, count, len(schedule.strengths)))
    for (start, one, other), trained in zip(pairs, train_runs(data, runs, schedule), strict=True):
        reached[start, other, one], reached[start, one, other] = trained.reached
    means = reached.sum(axis=2) / (count - 1)
    return means.argmax(axis=2), means.max(axis=2)


def _without(count: int, *parts: slice) -> Labels:
    kept = np.ones(count, bool)
    for part in parts:
        kept[part] = False
    return np.flatnonzero(kept)


def _generator(seed: int, name: str, start: int, *without: int) -> np.random.Generator:
    key = keyed_hash(seed, name, "senteval", *map(str, (start, *without)))
    return np.random.Generator(np.random.PCG64(key))


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
    network = Network(data, runs, schedule)
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


class Network:
    """Weights of fits that take their steps together, and Adam's state.

    Arrays of weights, one a layer, are float32 [runs, fits, units, inputs + 1]; the last input is
    the bias's. Batches are [runs, rows, inputs + 1], and what layers give [runs, fits, units,
    rows]: the last axis is the longest one, which numpy likes.
    """

    def __init__(self, data: Data, runs: Sequence[Run], schedule: Schedule) -> None:
        """Draw the first weights."""
        self._data, self._library = data, data.engine.library
        self._rows = [run.train for run in runs]
        self._generators = [run.generator for run in runs]
        self._decay = data.engine.array(np.array([r.strengths for r in runs], np.float32))
        sizes = [data.x.shape[1] - 1, *([schedule.hidden] if schedule.hidden else [])]
        outputs = [*sizes[1:], len(data.classes)]
        layers: list[list[Floats]] = [[] for _ in sizes]
        for run in runs:
            for layer, inputs, units in zip(layers, sizes, outputs, strict=True):
                first = run.generator.uniform(-1, 1, (units, inputs + 1)) / np.sqrt(inputs)
                shape = (len(run.strengths), units, inputs + 1)
                layer.append(np.broadcast_to(first.astype(np.float32), shape))
        self._weights = [data.engine.array(np.array(layer)) for layer in layers]
        self._means = [self._library.zeros_like(weights) for weights in self._weights]
        self._squares = [self._library.zeros_like(weights) for weights in self._weights]
        self._gradients = [self._library.zeros_like(weights) for weights in self._weights]
        self._has_decay = any(schedule.strengths)
        self._steps = 0

    def weights_of(self, row: int) -> list[Array]:
        """Return the weights of a run's fits."""
        return [weights[row : row + 1] for weights in self._weights]

    def copy_of(self, row: int, place: int) -> list[Array]:
        """Return a copy of the weights of a fit."""
        one = slice(place, place + 1)
        return [weights[row : row + 1, one] + 0 for weights in self._weights]

    def keep(self, rows: Labels, columns: Labels) -> None:
        """Keep of the runs ``rows``, and of each the fits ``columns`` [rows, fits]."""
        self._rows = [self._rows[row] for row in rows]
        self._generators = [self._generators[row] for row in rows]
        index = self._data.engine.array(rows[:, None]), self._data.engine.array(columns)
        self._decay = self._decay[index]
        for arrays in (self._weights, self._means, self._squares, self._gradients):
            for layer, array in enumerate(arrays):
                arrays[layer] = array[index]

    def train_pass(self) -> None:
        """Take one step for each batch of a pass over train."""
        batches = -(-len(self._rows[0]) // BATCH)
        orders = np.zeros((len(self._rows), batches * BATCH), np.int64)
        shares = np.zeros(orders.shape, np.float32)
        for order, share, rows, generator in zip(
            orders, shares, self._rows, self._generators, strict=True
        ):
            order[: len(rows)] = generator.permutation(rows)
            last = (batches - 1) * BATCH
            share[:last] = 1 / BATCH
            share[last : len(rows)] = 1 / (len(rows) - last)
        order_array, share_array = self._data.engine.array(orders), self._data.engine.array(shares)
        longest = max(map(len, self._rows))
        for begin in range(0, longest, BATCH):
            batch = slice(begin, min(begin + BATCH, longest))
            self._step(order_array[:, batch], share_array[:, None, None, batch])

    def answers(self, weights: Sequence[Array], rows: Rows) -> Values:
        """Return class numbers or scores by the weights of one run, [fits, rows]."""
        data = self._data
        chunks: Iterator[Any]
        if isinstance(rows, slice):
            begins = range(rows.start, rows.stop, CHUNK)
            chunks = (slice(begin, min(begin + CHUNK, rows.stop)) for begin in begins)
        else:
            begins = range(0, len(rows), CHUNK)
            chunks = (data.engine.array(rows[begin : begin + CHUNK]) for begin in begins)
        found = []
        for chunk in chunks:
            logits = data.engine.numpy(self._forward(weights, data.x[chunk][None])[-1][0])
            found.append([answers(data.metric, data.classes, of_fit.T) for of_fit in logits])
        return np.concatenate(found, axis=1)

    def _step(self, batch: Array, share: Array) -> None:
        """Move the weights by one step of Adam.

        Args:
            batch: numbers of rows, [runs, rows].
            share: of each row in the mean over the batch, [runs, 1, 1, rows].
        """
        library, data = self._library, self._data
        x = data.x[batch]
        wanted = data.table[data.codes[batch]].swapaxes(1, 2)[:, None]
        *inner, logits = self._forward(self._weights, x)
        errors = self._softmax(logits, 2)
        if data.metric == "pearson":
            slopes = (errors - wanted) * errors
            errors *= slopes.sum(axis=2, keepdims=True)
            errors = (slopes - errors) * (2 / len(data.classes))
        else:
            errors -= wanted
        errors *= share
        if inner:
            (units,) = inner
            library.matmul(errors, units.swapaxes(2, 3), out=self._gradients[1])
            units = units[:, :, :-1]
            errors = library.matmul(self._weights[1][..., :-1].swapaxes(2, 3), errors)
            errors *= units
            errors *= 1 - units
        runs, fits, units_count, inputs = self._weights[0].shape
        flat = (runs, fits * units_count)
        library.matmul(errors.reshape(*flat, -1), x, out=self._gradients[0].reshape(*flat, inputs))
        self._adam()

    def _forward(self, weights: Sequence[Array], x: Array) -> list[Array]:
        """Return what the layers give, the hidden one with a 1 for the bias."""
        runs, fits, units, inputs = weights[0].shape
        flat = weights[0].reshape(runs, fits * units, inputs)
        outputs = self._library.matmul(flat, x.swapaxes(1, 2)).reshape(runs, fits, units, -1)
        if len(weights) == 1:
            return [outputs]
        # The sigmoid; both libraries have a fast tanh.
        outputs *= 0.5
        self._library.tanh(outputs, out=outputs)
        outputs += 1
        outputs *= 0.5
        ones = self._library.ones_like(outputs[:, :, :1])
        outputs = self._library.concatenate([outputs, ones], 2)
        return [outputs, self._library.matmul(weights[1], outputs)]

    def _softmax(self, logits: Array, axis: int) -> Array:
        """Return distributions over classes, in place of their logits."""
        logits -= self._library.amax(logits, axis, keepdims=True)
        self._library.exp(logits, out=logits)
        logits /= logits.sum(axis, keepdims=True)
        return logits

    def _adam(self) -> None:
        """Take a step from the gradients, which are overwritten."""
        self._steps += 1
        for layer in zip(self._weights, self._gradients, self._means, self._squares, strict=True):
            runs, fits, *_ = layer[0].shape
            flat = [array.reshape(runs * fits, -1) for array in layer]
            size = flat[0].shape[1]
            height = max(1, self._data.engine.chunk // size)
            for top in range(0, runs * fits, height):
                rows = slice(top, top + height)
                decay = self._decay.reshape(-1, 1)[rows] if self._has_decay else None
                for left in range(0, size, self._data.engine.chunk):
                    columns = slice(left, left + self._data.engine.chunk)
                    chunk = (array[rows, columns] for array in flat)
                    adam(self._library, self._steps, decay, *chunk)


def adam(
    library: Any,
    steps: int,
    decay: Array | None,
    weights: Array,
    gradient: Array,
    mean: Array,
    square: Array,
) -> None:
    """Take a step of Adam (Kingma and Ba 2015, algorithm 1), in place.

    The running means lack their factors 1 - decay rate and the correction for their start at 0;
    the step's size and epsilon make up for both (as in section 2, last paragraph).

    Args:
        library: of the arrays.
        steps: taken, with this one.
        decay: L2 strengths that multiply with weights, or None for no L2.
        weights: to be moved.
        gradient: of them; overwritten.
        mean: of gradients up to now, times 1 / (1 - DECAY1).
        square: mean of their squares, times 1 / (1 - DECAY2).
    """
    scale = ((1 - DECAY2**steps) / (1 - DECAY2)) ** 0.5
    if decay is not None:
        gradient += weights * decay
    mean *= DECAY1
    mean += gradient
    gradient *= gradient
    square *= DECAY2
    square += gradient
    library.sqrt(square, out=gradient)
    gradient += EPSILON * scale
    library.divide(mean, gradient, out=gradient)
    gradient *= STEP * scale * (1 - DECAY1) / (1 - DECAY1**steps)
    weights -= gradient
