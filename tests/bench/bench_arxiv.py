"""Benchmark of reading arXiv's snapshot: MB per second of one core, and the peak of memory.

The records of a snapshot (by default the sample's) are repeated under other ids. Four times the
records should take four times as long, and hardly more memory.
"""

import argparse
import json
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from corpora_recipes.corpora.arxiv import recipe
from corpora_recipes.recipe import RECIPES, Corpus, load_facts

NAME = "arxiv-metadata-oai-snapshot.json"


def write(snapshot: Path, folder: Path, size: int) -> None:
    """Write a snapshot of ``size`` bytes, or a little more."""
    rows = [json.loads(line) for line in snapshot.read_text("utf-8").splitlines()]
    number = 0
    with (folder / NAME).open("w", encoding="utf-8") as file:
        while file.tell() < size:
            for row in rows:
                number += 1
                file.write(json.dumps(row | {"id": f"9901.{number:07}"}) + "\n")


def measure(folder: Path) -> tuple[float, float, int]:
    """Read a snapshot; return its MB, CPU seconds, and the process's peak in MB."""
    facts = load_facts("arxiv")
    corpus = Corpus("arxiv", "arxiv", "en", None, 1111, {}, {}, facts)
    blocks = recipe.blocks(folder, corpus)
    begin = time.process_time()
    for block in blocks:
        recipe.read_block(block, corpus)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return (folder / NAME).stat().st_size / 1e6, seconds, peak


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path, default=RECIPES / "arxiv" / "sample" / NAME)
    parser.add_argument("--megabytes", type=int, default=16)
    options = parser.parse_args()
    print("    MB  CPU s   MB/s  peak MB")
    for factor in (1, 4):
        with (
            tempfile.TemporaryDirectory() as folder,
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        ):
            write(options.snapshot, Path(folder), factor * options.megabytes * 10**6)
            size, seconds, peak = pool.submit(measure, Path(folder)).result()
        print(f"{size:6.1f} {seconds:6.1f} {size / seconds:6.1f} {peak:8}")


if __name__ == "__main__":
    main()
