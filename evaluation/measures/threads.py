"""The number of threads of linear algebra: one, except for encoders."""

from importlib import import_module
from typing import Any

from threadpoolctl import threadpool_limits

from corpora_recipes.running.executors import CPUS


def one_thread(*libraries: str) -> Any:
    """Return a context in which linear algebra runs on one thread, for the same bits everywhere.

    And faster: processes work in parallel, a small fit on two threads takes many times as long.

    Args:
        libraries: modules that compute within, besides numpy, and have their own BLAS, such as
            "scipy.linalg"; only a library that is loaded can be limited.
    """
    for library in libraries:
        import_module(library)
    return threadpool_limits(1)


def all_threads() -> Any:
    """Return a context in which an encoder, which states how its vectors depend on it, has all."""
    return threadpool_limits(CPUS, "blas")
