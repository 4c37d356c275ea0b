"""Measures the trivial baselines on invented text against spaCy tokenising the same text.

    python tests/bench/bench_baselines.py [rows of train] [texts of a row] [classes]

Prints the seconds and the accuracy of each baseline (the first that needs words or n-grams pays
for counting them), the sum, its ratio to spaCy's seconds in the same run, and the peak of memory.
Test has 0.4 times the rows of train, as in the paper's 10,000 / 4,000 / 4,000. The sentences have
the length of Wikipedia's, 155 characters on average; labels are random.
"""

import resource
import sys
from time import perf_counter

import numpy as np
import sklearn.ensemble
import sklearn.linear_model  # noqa: F401
import spacy
from threadpoolctl import threadpool_limits

from builders.auditing.trivial import Texts, predictions

SYLLABLES = [c + v + e for c in "bcdlmnprst" for v in "aeiou" for e in ("", "", "n", "s", "r")]
VOCABULARY = 30000


def main(rows: int = 10000, count: int = 6, classes: int = 5) -> None:
    """Run the benchmark on one thread."""
    generator = np.random.Generator(np.random.PCG64(1))
    lengths = generator.integers(1, 5, size=VOCABULARY)
    words = np.array(["".join(generator.choice(SYLLABLES, size=n)) for n in lengths], object)
    parts = []
    for size in (rows, rows * 2 // 5):
        texts = []
        for _ in range(size):
            drawn = [generator.zipf(1.2, size=generator.integers(6, 33)) for _ in range(count)]
            texts.append([" ".join(words[d % VOCABULARY]).capitalize() + "." for d in drawn])
        parts.append(Texts(texts, generator.integers(classes, size=size)))
    train, test = parts
    everything = [text for part in parts for row in part.texts for text in row]
    characters = sum(map(len, everything)) / len(everything)
    print(f"{rows} + {len(test.texts)} rows x {count} texts of {characters:.0f} characters")

    start = perf_counter()
    tokenise = spacy.blank("es").tokenizer
    tokens = sum(len(tokenise(text)) for text in everything)
    spacy_seconds = perf_counter() - start
    print(f"{'spaCy':18}{spacy_seconds:7.2f} s, {tokens / len(everything):.0f} tokens a text")

    with threadpool_limits(1):
        start = before = perf_counter()
        for name, predicted in predictions(train, test, classes):
            now = perf_counter()
            accuracy = np.mean(predicted == test.labels)
            print(f"{name:18}{now - before:7.2f} s, accuracy {accuracy:.3f}")
            before = now
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = before - start
    print(f"{'all':18}{seconds:7.2f} s, {seconds / spacy_seconds:.2f} of spaCy; peak {peak:.2f} GB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
