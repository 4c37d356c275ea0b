"""Linear algebra on one thread."""

from typing import Any


def one_thread() -> Any:
    """Return a context in which linear algebra runs on one thread, for the same bits everywhere.

    And faster: processes work in parallel, a small fit on two threads takes many times as long.
    """
    # scipy has its own BLAS, and only a library that is loaded can be limited.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)
