"""Small problems for the tests of probes; needs no package that only tests have."""

import numpy as np

from evaluation.probing.protocols.network import Schedule
from evaluation.probing.protocols.problem import Problem

QUICK = Schedule((1e-5, 1e-2), passes=24, tenacity=1)


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def blobs(rows, classes=3, dimension=10, apart=2.0, seed=0):
    """Return points around the centres of classes, which overlap the more the less apart."""
    random = generator(seed)
    y = random.integers(classes, size=rows)
    centres = apart * generator(99).normal(size=(classes, dimension))
    return (centres[y] + random.normal(size=(rows, dimension))).astype(np.float32), y


def splits(task="sentence_classification", rows=(200, 100, 100), y=None, scale=1.0, **options):
    x, labels = blobs(sum(rows), **options)
    x *= np.float32(scale)
    y = labels if y is None else y
    one, two = rows[0], rows[0] + rows[1]
    problem = Problem(
        "toy",
        task,
        "accuracy",
        x[:one],
        y[:one],
        validation=(x[one:two], y[one:two]),
        test=x[two:],
    )
    return problem, y[two:]


def folds(rows=120, count=4, **options):
    x, y = blobs(rows, **options)
    return Problem(
        "toy",
        "sentence_classification",
        "accuracy",
        x,
        y,
        folds=generator(5).permutation(rows) % count,
    )
