"""Measures what `probeta embed` costs when nothing, or little, is new.

    python tests/bench/bench_embeddings.py [encoder] [sentences]

Encodes sentences of made-up words, runs again on the same, and again with one new sentence in a
hundred, each as a command of its own. Prints seconds, and the last two as shares of the first.
"""

import sys
import tempfile
from pathlib import Path

from measuring import PROBETA, REPOSITORY, measure

sys.path.append(str(REPOSITORY / "tests/support"))

from instance_files import row, write_dataset

from corpora_recipes.hashing import keyed_hash

SYLLABLES = ("la", "me", "si", "do", "tru", "pan", "ver", "cos", "mi", "gua", "ler", "bo")


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
    costs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "params.yaml").write_text(f"encoders: {{{encoder}: {{}}}}\n")
        for count in (sentences, sentences, sentences + sentences // 100):
            rows = [row(i, i % 2, sentence=sentence(i)) for i in range(count)]
            splits = {"train": rows, "validation": rows[:2], "test": rows[:2]}
            write_dataset(folder / "dist/hub/ssp", "section_prediction", splits)
            costs.append(measure([*PROBETA, "embed", "--strict"], folder))
            print(f"{costs[-1].output.strip()}: {costs[-1].wall:.2f} s, {costs[-1].peak:.0f} MB")
    first, again, more = (cost.wall for cost in costs)
    print(f"again: {again:.2f} s, {again / first:.1%} of the first")
    print(f"1 % new: {more:.2f} s, {more / first:.1%}; less again {(more - again) / first:.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
