"""Benchmark of the sentence splitter on treebanks, beside spaCy's sentencizer: F1 and speed.

Up to ten neighbouring sentences of a treebank (of one paragraph, if it marks paragraphs) are joined
to a text. Sentences that do not end in a stop, as headlines do, are skipped, and those that begin
with a lower-case letter, as fragments do: their neighbours in the file are not those in a text.
"Inside quotations" are boundaries of the treebank between the sentences of a quotation, which the
splitter keeps together if the sentence around them goes on («Vete. Ya», dijo).
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import spacy
from measuring import main_of, make_parser, time_call

from corpora_recipes.text.language import is_finished, is_lower, writing_of
from corpora_recipes.text.sentences import split_sentences
from corpora_recipes.text.tokens import has_tokenizer_rules

Splitter = Callable[[str], list[str]]
MAX_SENTENCES = 10
TEXT = "# text = "


class Counts(NamedTuple):
    """Boundaries that were found, wrongly found, and missed; of these, inside quotations."""

    right: int
    wrong: int
    missed: int
    quoted: int

    def f1(self, *, quoted: bool = True) -> float:
        """Return F1, with or without the boundaries inside quotations."""
        missed = self.missed if quoted else self.missed - self.quoted
        return 2 * self.right / (2 * self.right + self.wrong + missed)


def read_groups(path: Path) -> Iterator[list[str]]:
    """Yield the sentences of a CoNLL-U file by text, and one by one those that are skipped."""
    group: list[str] = []
    lines = path.read_text("utf-8").splitlines()
    # Where each sentence is a document, neighbours in the file are joined all the same.
    n_documents, n_texts = (sum(x.startswith(mark) for x in lines) for mark in ("# newdoc", TEXT))
    ends = ("# newdoc", "# newpar") if 2 * n_documents < n_texts else ("# newpar",)
    for line in lines:
        if line.startswith(ends) or len(group) == MAX_SENTENCES:
            yield group
            group = []
        if line.startswith(TEXT):
            text = " ".join(line.removeprefix(TEXT).split())
            if is_natural(text):
                group.append(text)
            else:
                yield [text]
    yield group


def is_natural(sentence: str) -> bool:
    """Return whether a sentence begins and ends as those of running text do."""
    first = next(filter(str.isalnum, sentence), "")
    return not is_lower(first) and is_finished(sentence)


def boundaries(sentences: list[str]) -> set[int]:
    """Return where sentences end, in characters that are no blanks; the last end is trivial."""
    ends, position = set(), 0
    for sentence in sentences:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends - {position}


def score(groups: list[list[str]], separator: str, split: Splitter) -> Counts:
    """Count the boundaries that were found and missed."""
    sums = [0, 0, 0, 0]
    for group in groups:
        text = "".join(" ".join(group).split())
        gold, predicted = boundaries(group), boundaries(split(separator.join(group)))
        missed = gold - predicted
        quoted = sum(text.count("«", 0, i) > text.count("»", 0, i) for i in missed)
        counts = (len(gold & predicted), len(predicted - gold), len(missed), quoted)
        sums = [total + count for total, count in zip(sums, counts, strict=True)]
    return Counts(*sums)


def cpu_seconds(texts: list[str], split: Splitter) -> float:
    """Return the CPU seconds of splitting the texts, the best of three passes."""
    return min(time_call(lambda: [split(text) for text in texts])[1] for _ in range(3))


def spacy_sentencizer(language: str) -> Splitter:
    """Return spaCy's rule-based sentencizer, with its tokeniser for the language if it has one."""
    nlp = spacy.blank(language if has_tokenizer_rules(language) else "xx")
    nlp.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in nlp(text).sents]


def benchmark() -> None:
    """Print a row of figures per treebank."""
    parser = make_parser(__doc__, "example: python benchmarks/sentences.py treebanks/")
    about = "CoNLL-U files, or folders of them, with names such as es_gsd-ud-dev.conllu"
    parser.add_argument("path", type=Path, nargs="+", help=about)
    args = parser.parse_args()

    files = [file for path in args.path for file in (sorted(path.rglob("*.conllu")) or [path])]
    files.sort(key=lambda file: file.name)
    print(f"{'treebank':12}{'sentences':>10}{'skipped':>10}{'wrong':>7}{'missed':>8}", end="")
    print(f"{'in quot.':>10}{'F1':>9}{'less quot.':>12}{'spaCy F1':>10}{'times spaCy':>13}")
    for treebank, treebank_files in groupby(files, key=lambda file: file.name.partition("-")[0]):
        language = treebank.partition("_")[0]
        ours, spacys = partial(split_sentences, language=language), spacy_sentencizer(language)
        all_groups = [group for file in treebank_files for group in read_groups(file) if group]
        groups = [group for group in all_groups if is_natural(group[0])]
        separator = writing_of(language).separator
        texts = [separator.join(group) for group in groups]
        counts = score(groups, separator, ours)
        print(
            f"{treebank:12}{sum(map(len, groups)):10,}{len(all_groups) - len(groups):10,}"
            f"{counts.wrong:7}{counts.missed:8}{counts.quoted:10}{counts.f1():9.4f}"
            f"{counts.f1(quoted=False):12.4f}{score(groups, separator, spacys).f1():10.4f}"
            f"{cpu_seconds(texts, spacys) / cpu_seconds(texts, ours):13.1f}"
        )


if __name__ == "__main__":
    main_of(benchmark)
