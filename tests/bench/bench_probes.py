"""Measures the probe's path of strengths against fitting one strength after another.

    python tests/bench/bench_probes.py [rows] [dimension of an embedding]

Prints the seconds of either and their ratio. Either is scikit-learn's regression; the path starts
each fit from the one before. Both fit the same standardised features, as many as
sentence position has (five embeddings), on one thread.
"""

import sys
from time import perf_counter

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evaluation.probes import GRADIENT, ITERATIONS, STRENGTHS, _linear_path


def main(rows: int = 3000, dimension: int = 256) -> None:
    """Run the benchmark on synthetic features of five classes that overlap."""
    generator = np.random.Generator(np.random.PCG64(1))
    y = generator.integers(5, size=rows)
    centres = generator.normal(size=(5, 5 * dimension))
    x = 0.1 * centres[y] + generator.normal(size=(rows, 5 * dimension))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    with threadpool_limits(1):
        start = perf_counter()
        ours = [logits(x).argmax(axis=1) for _, logits in _linear_path(x, y, np.ones(rows))]
        own_seconds = perf_counter() - start
        start = perf_counter()
        theirs = [
            LogisticRegression(C=1 / (strength * rows), tol=GRADIENT, max_iter=ITERATIONS)
            .fit(x, y)
            .predict(x)
            for strength in STRENGTHS
        ]
        sklearn_seconds = perf_counter() - start
    agreement = min(float(np.mean(a == b)) for a, b in zip(ours, theirs, strict=True))
    print(
        f"{rows} x {5 * dimension}: path {own_seconds:.2f} s, one by one {sklearn_seconds:.2f} s, "
        f"ratio {sklearn_seconds / own_seconds:.1f}; least agreement {agreement:.4f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
