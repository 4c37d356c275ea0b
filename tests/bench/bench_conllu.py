"""Benchmark of the reader of CoNLL-U, beside the packages conllu and pyconll: MB/s and memory.

    python tests/bench/bench_conllu.py FILE.conllu …

Prints megabytes a second of one core for the reader, for all that the recipe does (it looks through
the files for documents and repetitions first) and for both packages, where they are installed, with
the ratios to them; and the largest share of memory that the reader held at once.
"""

import argparse
import importlib.util
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time

from corpora_recipes.corpora.universal_dependencies.scanning import look_through
from corpora_recipes.entries import corpus_of
from corpora_recipes.formats.conllu import parse, pieces
from corpora_recipes.recipe import Corpus, Dropped

REPEATS = 3


def read(path: Path) -> Iterable[object]:
    """Read a file with the project's reader."""
    for piece in pieces(path):
        try:
            yield parse(piece, path)
        except Dropped:
            continue


def read_with_conllu(path: Path) -> Iterable[object]:
    """Read a file with conllu."""
    import conllu

    with path.open(encoding="utf-8") as file:
        yield from conllu.parse_incr(file)


def read_with_pyconll(path: Path) -> Iterable[object]:
    """Read a file with pyconll."""
    import pyconll

    yield from pyconll.iter_from_file(str(path))


def speed(function: Callable[[Path], Iterable[object]], files: list[Path]) -> float:
    """Return megabytes a CPU second, of the fastest of some runs."""
    seconds = []
    for _ in range(REPEATS):
        start = process_time()
        for path in files:
            for _sentence in function(path):
                pass
        seconds.append(process_time() - start)
    return sum(path.stat().st_size for path in files) / 1e6 / min(seconds)


def scan(corpus: Corpus) -> Callable[[Path], Iterable[object]]:
    """Return what looks through a file and then reads it, as the recipe does."""

    def function(path: Path) -> Iterable[object]:
        look_through([(path, "")], corpus)
        return read(path)

    return function


def main(files: list[Path]) -> None:
    """Run the benchmark."""
    entry = {"corpus": {"recipe": "universal_dependencies"}}
    corpus = corpus_of({"seed": 1, "corpora": {"ud": entry}}, Path("params.yaml"), "ud")
    own = speed(read, files)
    print(f"reader: {own:.1f} MB/s")
    print(f"recipe (one core): {speed(scan(corpus), files):.1f} MB/s")
    for name, function in (("conllu", read_with_conllu), ("pyconll", read_with_pyconll)):
        if importlib.util.find_spec(name) is None:
            print(f"{name}: not installed")
        else:
            other = speed(function, files)
            print(f"{name}: {other:.1f} MB/s; the reader is {own / other:.1f} times as fast")
    largest = max(files, key=lambda path: path.stat().st_size)
    tracemalloc.start()
    for _sentence in read(largest):
        pass
    held = tracemalloc.get_traced_memory()[1] / 1e6
    print(f"memory: {held:.1f} MB, for a file of {largest.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    main(parser.parse_args().files)
