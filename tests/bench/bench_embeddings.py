"""Measures what `embed` costs when nothing, or little, is new.

    python tests/bench/bench_embeddings.py [encoder] [sentences]

Encodes sentences of made-up words, runs again on the same, and again with one new sentence in a
hundred, each as a command of its own. Prints seconds, and the last two as shares of the first.
"""

import sys
import tempfile
from pathlib import Path

from measuring import measure

sys.path.append(str(Path(__file__).parents[1] / "support"))

from instance_files import row, write_dataset

from corpora_recipes.hashing import keyed_hash

SYLLABLES = ("la", "me", "si", "do", "tru", "pan", "ver", "cos", "mi", "gua", "ler", "bo")
HOUR = 3600.0


def sentence(number: int) -> str:
    """Return a sentence of eight to twenty words, another one for each number."""
    words = []
    for word in range(8 + keyed_hash(number, "words") % 13):
        drawn = keyed_hash(number, str(word))
        parts = (drawn // 12**place % 12 for place in range(1 + drawn % 4))
        words.append("".join(SYLLABLES[part] for part in parts))
    return " ".join(words).capitalize() + f" {number}."


def main(encoder: str = "use_multilingual", sentences: int = 20_000) -> None:
    """Run the benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "params.yaml").write_text(f"seed: 1\nencoders: {{{encoder}: {{}}}}\n")
        command = [sys.executable, "-m", "evaluation.commands", "embed", encoder]
        command += ["--instances", str(here / "i"), "--out", str(here / "store")]
        command += ["--params", str(here / "params.yaml")]
        seconds = []
        for count in (sentences, sentences, sentences + sentences // 100):
            rows = [row(i, i % 2, sentence=sentence(i)) for i in range(count)]
            splits = {"train": rows, "validation": rows[:2], "test": rows[:2]}
            write_dataset(here / "i" / "own" / "ssp", "section_prediction", splits)
            cost = measure(command, HOUR)
            seconds.append(cost.wall)
            print(f"{cost.output.strip()}: {cost.wall:.2f} s, peak {cost.peak:.0f} MB")
    first, again, more = seconds
    print(f"again: {again:.2f} s, {again / first:.1%} of the first")
    print(f"1 % new: {more:.2f} s, {more / first:.1%}; less again {(more - again) / first:.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
