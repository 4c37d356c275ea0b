"""Networks with a hidden layer or none, trained by Adam, in numpy or torch."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from corpora_recipes.running.errors import load_packages
from evaluation.arrays import Doubles, Floats, Labels, Values
from evaluation.measures import Metric, measure
from evaluation.probing.protocols.problem import predict, targets

Array = Any
"""An array of the engine's library."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A library of arrays, numpy or torch on a device: their functions have the same names.

    Block is how many numbers the arrays of runs that take a step together have, and chunk, how many
    of an array Adam goes through together.
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
    """Return the engine "numpy" or "torch", the latter on the GPU if there is one."""
    if name == "numpy":
        # The fastest of the powers of two, for small tasks and for folds; Adam's four chunks of a
        # quarter of a megabyte stay in the second-level cache of a core.
        return Engine(np, None, block=1 << 20, chunk=1 << 16)
    (torch,) = load_packages("probing.engine", "torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # As the caller has done for the libraries that were there before.
    torch.set_num_threads(1)
    return Engine(torch, device, block=1 << 28, chunk=1 << 28)


@dataclass(frozen=True, slots=True)
class Data:
    """All rows of a problem, as an engine takes them; the metric is measured on validation.

    Attributes:
        x: features, and a 1 for the bias, float32 [rows, features + 1].
        table: distributions over classes, float32 [distributions, classes].
        codes: for each row its distribution, int64 [rows]; 0 where it is not known.
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
    train_targets = targets(metric, y[: len(parts[0])])
    codes = np.zeros(rows, np.int64)
    if metric == "pearson":
        table = train_targets.dense().astype(np.float32)
        codes[: len(table)] = np.arange(len(table))
    else:
        table = np.eye(len(train_targets.classes), dtype=np.float32)
        codes[: len(train_targets.y)] = train_targets.y
    x_array, table_array, codes_array = (engine.array(values) for values in (x, table, codes))
    return Data(engine, metric, x_array, table_array, codes_array, train_targets.classes, y)


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


BATCH = 64
# Rows that are predicted at once.
CHUNK = 1024
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)

Rows = slice | Labels
"""Row numbers."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a task is trained: checked each ``passes_per_check``, of ``passes`` at most.

    ``tenacity`` checks without improvement do not end it yet. Strengths are of L2, to choose from;
    ``hidden`` is the number of hidden units, 0 for no such layer.
    """

    strengths: tuple[float, ...] = STRENGTHS
    passes_per_check: int = 4
    passes: int = 200
    tenacity: int = 5
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Fits on one train set from one random start, one for each strength.

    Training is checked on each of ``validations`` for itself; the best weights by the first of them
    predict ``test_rows``.
    """

    train: Labels
    validations: tuple[Rows, ...]
    strengths: tuple[float, ...]
    generator: np.random.Generator
    test_rows: slice | None = None


class Network:
    """Weights of fits that take their steps together, and Adam's state.

    Arrays of weights, one per layer, are float32 [runs, fits, units, inputs + 1]; the last input is
    the bias's. Batches are [runs, rows, inputs + 1], and what layers give [runs, fits, units,
    rows]: the last axis is the longest one, which numpy likes.
    """

    def __init__(self, data: Data, runs: Sequence[Run], hidden: int) -> None:
        """Draw the first weights; ``hidden`` is the number of hidden units, 0 for no such layer."""
        self._data, self._library = data, data.engine.library
        self._rows = [run.train for run in runs]
        self._generators = [run.generator for run in runs]
        self._decay = data.engine.array(np.array([r.strengths for r in runs], np.float32))
        sizes = [data.x.shape[1] - 1, *([hidden] if hidden else [])]
        outputs = [*sizes[1:], len(data.classes)]
        layers: list[list[Floats]] = [[] for _ in sizes]
        for run in runs:
            for layer, inputs, units in zip(layers, sizes, outputs, strict=True):
                first = run.generator.uniform(-1, 1, (units, inputs + 1)) / np.sqrt(inputs)
                shape = (len(run.strengths), units, inputs + 1)
                layer.append(np.broadcast_to(first.astype(np.float32), shape))
        self._weights = [data.engine.array(np.array(layer)) for layer in layers]
        self._means, self._squares, self._gradients = (
            [self._library.zeros_like(weights) for weights in self._weights] for _ in range(3)
        )
        self._has_decay = any(any(run.strengths) for run in runs)
        self._steps = 0

    def weights_of(self, row: int) -> list[Array]:
        """Return the weights of a run's fits."""
        return [weights[row : row + 1] for weights in self._weights]

    def copy_of(self, row: int, fit: int) -> list[Array]:
        """Return a copy of the weights of a fit."""
        return [weights[row : row + 1, fit : fit + 1] + 0 for weights in self._weights]

    def select(self, rows: Labels, columns: Labels) -> None:
        """Drop all runs but ``rows``, and of each all fits but ``columns`` [rows, fits]."""
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

    def predict(self, weights: Sequence[Array], rows: Rows) -> Values:
        """Return class numbers or scores by the weights of one run, [fits, rows]."""
        data = self._data
        chunks: Iterator[Any]
        if isinstance(rows, slice):
            end = rows.stop
            chunks = (slice(k, min(k + CHUNK, end)) for k in range(rows.start, end, CHUNK))
        else:
            chunks = (data.engine.array(rows[k : k + CHUNK]) for k in range(0, len(rows), CHUNK))
        predictions = []
        for chunk in chunks:
            logits = data.engine.numpy(self._forward(weights, data.x[chunk][None])[-1][0])
            predictions.append([predict(data.metric, data.classes, fit.T) for fit in logits])
        return np.concatenate(predictions, axis=1)

    def _step(self, batch: Array, share: Array) -> None:
        """Move the weights by a step on a batch, row numbers [runs, rows]."""
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
        numbers = self._steps * sum(math.prod(weights.shape) for weights in self._weights)
        compiled = compiled_adam(numbers) if self._library is np else None
        for layer in zip(self._weights, self._gradients, self._means, self._squares, strict=True):
            runs, fits, *_ = layer[0].shape
            flat = [array.reshape(runs * fits, -1) for array in layer]
            if compiled:
                compiled(self._steps, self._decay.ravel() if self._has_decay else None, *flat)
                continue
            size = flat[0].shape[1]
            height = max(1, self._data.engine.chunk // size)
            for top in range(0, runs * fits, height):
                rows = slice(top, top + height)
                decay = self._decay.reshape(-1, 1)[rows] if self._has_decay else None
                for left in range(0, size, self._data.engine.chunk):
                    columns = slice(left, left + self._data.engine.chunk)
                    chunk = (array[rows, columns] for array in flat)
                    adam(self._library, self._steps, decay, *chunk)


@dataclass(frozen=True, slots=True)
class Trained:
    """The best metrics of a run, and after which passes, both [validations, strengths].

    Predictions are class numbers or scores of ``test_rows``, [strengths, rows].
    """

    best_metrics: Doubles
    passes: Labels
    predictions: Values


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
            outcomes = _train_block(data, [runs[number] for number in block], schedule)
            trained.update(zip(block, outcomes, strict=True))
    return [trained[number] for number in range(len(runs))]


class Stopping:
    """Whether training has ended, by the checks on one validation set; the best, and its passes."""

    def __init__(self, tenacity: int) -> None:
        """Begin; ``tenacity`` checks without improvement do not end training yet."""
        self.best, self.passes, self.ended = -math.inf, 0, False
        self._left = tenacity

    def check(self, value: float, passes: int) -> bool:
        """Take note of a check, and return whether it is the best one up to now."""
        if value > self.best:
            self.best, self.passes = value, passes
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
    step = schedule.passes_per_check
    for n_passes in range(step, schedule.passes + 1, step):
        for _ in range(step):
            network.train_pass()
        for row, (number, places) in enumerate(fits.items()):
            run = runs[number]
            for v, validation in enumerate(run.validations):
                going = [p for p, fit in enumerate(places) if not stopping[number][fit][v].ended]
                if not going:
                    continue
                predicted = network.predict(network.weights_of(row), validation)
                for place in going:
                    fit = places[place]
                    value = measure(data.metric, data.y[validation], predicted[place])
                    improved = stopping[number][fit][v].check(value, n_passes)
                    if improved and v == 0 and run.test_rows is not None:
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
                numbers[row]: [fits[numbers[row]][column] for column in selected]
                for row, selected in zip(rows.tolist(), columns.tolist(), strict=True)
            }
            network.select(rows, columns)
    trained = []
    for number, run in enumerate(runs):
        metrics = [[stop.best for stop in stops] for stops in stopping[number]]
        passes = [[stop.passes for stop in stops] for stops in stopping[number]]
        predictions = [
            network.predict(best.pop((number, fit)), run.test_rows)[0]
            for fit in range(len(run.strengths))
            if run.test_rows is not None
        ]
        trained.append(Trained(np.array(metrics).T, np.array(passes).T, np.array(predictions)))
    return trained
