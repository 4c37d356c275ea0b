"""Measures ParaLex against a loop that asks neighbours anew, and its memory on millions of words.

    python tests/bench/bench_paradigms.py [words of the loop's] [words of the mapped one]

Clusters as large as the Spanish ones stand in vocabularies that are made up: words around topics,
of which the terms of a cluster share one. First 50,000 words of 100 dimensions: seconds of the loop
and of ours, both on one core, and whether all scores are the same. Then 2,000,000 words of 300
dimensions, mapped from a temporary file of 2.4 GB: seconds, words asked for, and the peak of the
memory that is not mapped (RssAnon), above what the process had before, with the words in it.
"""

import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import numpy as np
from paralex_loop import suggestion_loop

from evaluation.arrays import Floats
from evaluation.embedding.vocabulary import Vocabulary
from evaluation.measures.similarity import norms_of
from evaluation.measures.threads import one_thread
from evaluation.paradigms.neighbours import COUNT, Neighbours
from evaluation.paradigms.suggestion import run_tests
from evaluation.paradigms.vocabulary import forms_of

# Terms of the Spanish clusters.
SIZES = (12, 8, 8, 5, 8, 12, 8, 4, 12, 5, 4, 10, 7)
THRESHOLD = 2
TOPIC_WORDS = 100
BLOCK = 10_000


def main(words: int = 50_000, mapped: int = 2_000_000) -> None:
    """Run the benchmark."""
    with one_thread():
        _against_the_loop(words, 100)
        with TemporaryDirectory() as folder:
            _mapped(Path(folder) / "vectors.npy", mapped, 300)


def _against_the_loop(words: int, dimension: int) -> None:
    vectors: Floats = np.empty((words, dimension), np.float32)
    _fill(vectors)
    clusters = _clusters(words)
    start = perf_counter()
    neighbours = Neighbours(vectors, norms_of(vectors), np.arange(words))
    tested = run_tests(clusters, neighbours, THRESHOLD)
    ours = perf_counter() - start
    start = perf_counter()
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = 0

    def nearest(row: int) -> list[int]:
        nonlocal asked
        asked += 1
        near = units @ units[row]
        near[row] = -np.inf
        chosen: list[int] = np.argpartition(near, -COUNT)[-COUNT:].tolist()
        return chosen

    found = suggestion_loop(clusters, nearest, THRESHOLD)
    loop = perf_counter() - start
    same = sum(
        np.isclose(test.suggestion, np.mean(own), rtol=0, atol=1e-12)
        and np.isclose(test.deviation, np.std(own), rtol=0, atol=1e-12)
        for test, own in zip(tested, found, strict=True)
    )
    print(f"{words} x {dimension}: {len(neighbours)} words asked for, {ours:.2f} s")
    print(f"the loop: {asked} words asked for, {loop:.2f} s; {loop / ours:.0f} times as long")
    print(f"clusters with the same scores: {same} of {len(clusters)}")
    print("suggestion by cluster:", " ".join(f"{test.suggestion:.2f}" for test in tested))


def _mapped(path: Path, words: int, dimension: int) -> None:
    made = np.lib.format.open_memmap(path, "w+", np.float32, (words, dimension))
    _fill(made)
    made.flush()
    del made
    vectors: Floats = np.load(path, mmap_mode="r")
    before = _memory()
    with _Peak() as peak:
        start = perf_counter()
        norms = norms_of(vectors)
        vocabulary = Vocabulary([f"Palabra{row}" for row in range(words)], vectors, norms)
        forms = forms_of(vocabulary, "lower")
        known = perf_counter()
        neighbours = Neighbours(vectors, norms, forms.words)
        tested = run_tests(_clusters(words), neighbours, THRESHOLD)
        end = perf_counter()
    print(
        f"{words} x {dimension}, mapped: {len(neighbours)} words asked for, {end - known:.0f} s, "
        f"after {known - start:.0f} s for lengths and words"
    )
    print(f"peak of memory beyond the map: {peak.found - before:.2f} GB")
    print("suggestion by cluster:", " ".join(f"{test.suggestion:.2f}" for test in tested))


def _fill(vectors: Floats) -> None:
    """Put words around topics, the more spread the further behind; the first are the terms."""
    generator = np.random.default_rng(1)
    words, dimension = vectors.shape
    topics = generator.standard_normal((words // TOPIC_WORDS, dimension), np.float32)
    for first in range(0, words, BLOCK):
        last = min(first + BLOCK, words)
        own = np.arange(first, last) % len(topics)
        block = generator.standard_normal((last - first, dimension), np.float32)
        if not first:
            for number, terms in enumerate(_clusters(words)):
                own[terms] = number
        # Some clusters are tight and found, others are not.
        block *= 0.6 + 2.0 * (own[:, None] % 7) / 7
        vectors[first:last] = topics[own] + block


def _clusters(words: int) -> list[list[int]]:
    ends = np.cumsum(SIZES)
    return [list(range(end - size, end)) for end, size in zip(ends.tolist(), SIZES, strict=True)]


def _memory() -> float:
    """Return the process's memory that no file holds, in GB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1e6


class _Peak:
    """The peak of ``_memory`` in a block, looked at every 10 ms."""

    def __enter__(self) -> "_Peak":
        self.found = _memory()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._watch.join()

    def _look(self) -> None:
        while not self._ended.is_set():
            self.found = max(self.found, _memory())
            sleep(0.01)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
