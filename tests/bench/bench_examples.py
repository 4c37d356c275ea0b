"""Measures reading, building and probing a task of X-Probe at its full size.

    python tests/bench/bench_examples.py [rows of train] [classes] [dimension]

Prints CPU seconds and the peak of memory of `read` and `build`, each a process of its own, on
invented sentences in X-Probe's layout, with their ratio to spaCy tokenising the same sentences;
then the CPU seconds of the large probe on as many random rows and classes, and of the exact probe
and the large one on a problem small enough for both, with their accuracies.
"""

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import spacy
import yaml
from threadpoolctl import threadpool_limits

from evaluation.probes import _large_path, _linear_path

SYLLABLES = [c + v for c in "bcdlmnprst" for v in "aeiou"]
WORDS = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in ("", *SYLLABLES)]
TOKENS = 20


def main(rows: int = 100_000, classes: int = 1000, dimension: int = 512) -> None:
    """Run the benchmark."""
    generator = np.random.Generator(np.random.PCG64(1))
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sentences = []
        for part, count in {"tr": rows, "va": rows // 10, "te": rows // 10}.items():
            drawn = generator.integers(len(WORDS), size=(count, TOKENS))
            lines = []
            for number, row in enumerate(drawn):
                words = [WORDS[word] for word in row]
                label = words[0] = WORDS[number % classes]
                sentences.append(" ".join([*words, "."]))
                lines.append(f"{sentences[-1]}\t{label}\n")
            path = folder / "raw" / "es" / "word_content" / f"{part}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(lines), "utf-8")
        start = process_time()
        tokenise = spacy.blank("es").tokenizer
        for sentence in sentences:
            tokenise(sentence)
        reference = process_time() - start
        print(f"spaCy: {len(sentences):,} sentences in {reference:.1f} s")
        entry = {
            "recipe": "xprobe",
            "datasets": {"wc": {"task": "linguistic_probing", "collection": "word_content"}},
        }
        params = {"seed": 1, "sources": str(folder), "corpora": {"xprobe": entry}}
        (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
        common = f"xprobe --params {folder}/params.yaml"
        for name, command in {
            "read": f"corpora_recipes read {common} --raw {folder}/raw --out {folder}/x.parquet "
            "--workers 1",
            "build": f"builders build {common} --records {folder}/x.parquet --out {folder}/out",
        }.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-m", *command.split()], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            peak = after.ru_maxrss / 2**10
            print(
                f"{name}: {seconds:.1f} s, {seconds / reference:.1f} of spaCy; peak {peak:.0f} MB"
            )
    with threadpool_limits(1):
        x, y, _, _ = _problem(generator, rows, classes, dimension)
        start = process_time()
        for _ in _large_path(x, y, np.ones(rows), classes):
            pass
        print(f"large probe, {rows:,} x {classes:,}: {process_time() - start:.1f} s")
        x, y, x_test, y_test = _problem(generator, 5000, 50, 128)
        paths = {
            "exact": _linear_path(x.astype(np.float64), y, np.ones(5000)),
            "large": _large_path(x, y, np.ones(5000), 50),
        }
        for name, path in paths.items():
            start = process_time()
            best = max(float(np.mean(f(x_test).argmax(axis=1) == y_test)) for _, f in path)
            print(f"{name} probe, 5,000 x 50: {process_time() - start:.1f} s, best {best:.4f}")


def _problem(
    generator: np.random.Generator, rows: int, classes: int, dimension: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return standardised features and classes that overlap, of train and of 2,000 rows of test."""
    y = np.concatenate(
        [np.arange(classes), generator.integers(classes, size=rows + 2000 - classes)]
    )
    centres = 0.4 * generator.normal(size=(classes, dimension)).astype(np.float32)
    x = generator.normal(size=(len(y), dimension)).astype(np.float32)
    x += centres[y]
    return x[:rows], y[:rows], x[rows:], y[rows:]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
