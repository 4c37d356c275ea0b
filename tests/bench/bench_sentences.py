"""Benchmark of the sentence splitter beside spaCy's sentencizer: boundary F1 and speed."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from corpora_recipes.text.sentences import split_sentences

Splitter = Callable[[str], list[str]]


def read_texts(path: Path) -> list[str]:
    """Return the sentences of a CoNLL-U file that end in a stop, in the order of the file."""
    lines = path.read_text("utf-8").splitlines()
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    return [" ".join(text.split()) for text in texts if text.rstrip().endswith((*".!?…",))]


def boundaries(sentences: list[str]) -> set[int]:
    """Return where sentences end, in characters that are no blanks; the last end is trivial."""
    ends, position = set(), 0
    for sentence in sentences:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends - {position}


def score(groups: list[list[str]], split: Splitter, show: bool) -> tuple[int, int, int]:
    """Return how many boundaries were found rightly, found wrongly and missed."""
    right = wrong = missed = 0
    for group in groups:
        sentences = split(" ".join(group))
        gold, found = boundaries(group), boundaries(sentences)
        right += len(gold & found)
        wrong += len(found - gold)
        missed += len(gold - found)
        if show:
            for sentence in sorted(set(sentences) ^ set(group)):
                print("gold " if sentence in group else "found", sentence)
    return right, wrong, missed


def seconds(texts: list[str], split: Splitter) -> float:
    """Return the CPU seconds of splitting the texts, the best of three passes."""
    passes = []
    for _ in range(3):
        begin = time.process_time()
        for text in texts:
            split(text)
        passes.append(time.process_time() - begin)
    return min(passes)


def spacy_sentencizer(language: str) -> Splitter:
    """Return spaCy's rule-based sentencizer for the language."""
    import spacy

    nlp = spacy.blank(language)
    nlp.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in nlp(text).sents]


def main() -> None:
    """Print a row of figures for each splitter."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python tests/bench/bench_sentences.py es_gsd-ud-dev.conllu",
    )
    parser.add_argument("conllu", type=Path, help="a CoNLL-U file with '# text =' lines")
    parser.add_argument("--language", default="es", help="ISO 639 code (default: es)")
    parser.add_argument("--group", type=int, default=10, help="sentences a text (default: 10)")
    parser.add_argument("--errors", action="store_true", help="also print our errors")
    args = parser.parse_args()

    texts = read_texts(args.conllu)
    groups = [texts[i : i + args.group] for i in range(0, len(texts), args.group)]
    joined = [" ".join(group) for group in groups]
    splitters: dict[str, Splitter] = {
        "split_sentences": lambda text: split_sentences(text, args.language),
        "spaCy sentencizer": spacy_sentencizer(args.language),
    }
    print(f"{len(texts)} sentences in {len(groups)} texts")
    for name, split in splitters.items():
        right, wrong, missed = score(groups, split, args.errors and name == "split_sentences")
        f1 = 2 * right / (2 * right + wrong + missed)
        speed = len(texts) / seconds(joined, split)
        print(
            f"{name:18} F1 {f1:.4f} (wrong {wrong}, missed {missed}), "
            f"{speed:,.0f} sentences per CPU-second"
        )


if __name__ == "__main__":
    main()
