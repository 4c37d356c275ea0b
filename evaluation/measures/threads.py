"""Linear algebra on one thread."""

from importlib import import_module
from typing import Any


def one_thread(*libraries: str) -> Any:
    """Return a context in which linear algebra runs on one thread, for the same bits everywhere.

    And faster: processes work in parallel, a small fit on two threads takes many times as long.

    Args:
        libraries: modules that compute within, besides numpy, and have their own BLAS, such as
            "scipy.linalg"; only a library that is loaded can be limited.
    """
    from threadpoolctl import threadpool_limits

    for library in libraries:
        import_module(library)
    return threadpool_limits(1)
