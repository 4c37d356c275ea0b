"""Functions for the encoder `callable` that tell what the processes of a cluster do."""

import os
from collections.abc import Sequence
from functools import cache

import numpy as np

_loaded: list[str] = []


@cache
def _model() -> None:
    """Stand for a model that takes long to load."""
    _loaded.append("model")


def loads(texts: Sequence[str]) -> np.ndarray:
    """Return how many times this process has loaded the model, and the lengths of the texts."""
    _model()
    return np.array([[len(_loaded), len(text)] for text in texts], np.float32)


def process(texts: Sequence[str]) -> np.ndarray:
    """Return the number of this process: other vectors in every process."""
    return np.full((len(texts), 1), os.getpid(), np.float32)
