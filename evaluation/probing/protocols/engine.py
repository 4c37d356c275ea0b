"""What computes the protocol "senteval", numpy or torch, and a problem's rows as it takes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpora_recipes.running.extras import load_packages
from evaluation.arrays import Floats, Labels, Values
from evaluation.measures.metrics import Metric
from evaluation.probing.protocols.targets import targets

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
