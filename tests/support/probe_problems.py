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


def in_splits(x, y, train, validation, task="sentence_classification", metric="accuracy"):
    """Return a problem whose train and validation have so many rows, and the targets of test."""
    end = train + validation
    held_out = x[train:end], y[train:end]
    return Problem("toy", task, metric, x[:train], y[:train], held_out, x[end:]), y[end:]


def splits(task="sentence_classification", rows=(200, 100, 100), y=None, scale=1.0, **options):
    x, labels = blobs(sum(rows), **options)
    return in_splits(x * np.float32(scale), labels if y is None else y, *rows[:2], task)


def folds(rows=120, count=4, **options):
    x, y = blobs(rows, **options)
    fold = generator(5).permutation(rows) % count
    return Problem("toy", "sentence_classification", "accuracy", x, y, folds=fold)
