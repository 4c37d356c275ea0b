"""Measures reading, building and probing a task of X-Probe at its full size.

    python tests/bench/bench_examples.py [rows of train] [classes] [dimension]

Prints CPU seconds and the peak of memory of `read` and `build`, each a process of its own, on
invented sentences in X-Probe's layout, with their ratio to spaCy tokenising the same sentences;
then the CPU seconds and the accuracy of the probe (protocol "standard") on as many random rows and
classes.
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

from evaluation.probing.protocols.problem import Problem
from evaluation.probing.protocols.standard import PROTOCOL

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
            "corpus": {"recipe": "xprobe"},
            "datasets": {"wc": {"task": "linguistic_probing", "collection": "word_content"}},
        }
        params = {"seed": 1, "sources": str(folder), "corpora": {"xprobe": entry}}
        (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
        common = f"xprobe --params {folder}/params.yaml"
        for name, command in {
            "read": f"evaluation.commands read {common} --raw {folder}/raw --workers 1 "
            f"--out {folder}/x.parquet",
            "build": f"evaluation.commands build {common} --records {folder}/x.parquet "
            f"--out {folder}/out",
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
        x, y = _overlapping(generator, rows + 4000, classes, dimension)
        held_out, asked = slice(rows, rows + 2000), slice(rows + 2000, None)
        problem = Problem(
            name="random",
            task="linguistic_probing",
            metric="accuracy",
            x=x[:rows],
            y=y[:rows],
            validation=(x[held_out], y[held_out]),
            test=x[asked],
        )
        start = process_time()
        (predictions,) = PROTOCOL.answer(problem, 1, "numpy").predictions
        seconds = process_time() - start
    print(f"probe, {rows:,} x {classes:,}: {seconds:.1f} s, {np.mean(predictions == y[asked]):.4f}")


def _overlapping(
    generator: np.random.Generator, rows: int, classes: int, dimension: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes that overlap; the first rows are one of each class."""
    y = np.concatenate([np.arange(classes), generator.integers(classes, size=rows - classes)])
    centres = 0.15 * generator.normal(size=(classes, dimension)).astype(np.float32)
    x = generator.normal(size=(rows, dimension)).astype(np.float32)
    x += centres[y]
    return x, y


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
