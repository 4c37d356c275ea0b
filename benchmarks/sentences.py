"""Benchmark of the sentence splitter on treebanks, beside spaCy's sentencizer: F1 and speed.

Up to ten neighbouring sentences of a treebank (of one paragraph, if it tells paragraphs) are joined
to a text. Left out are sentences that do not end in a stop, as headlines do, and those that begin
with a lower-case letter, as fragments do: their neighbours in the file are not those in a text.
"Inside quotations" are boundaries of the treebank between the sentences of a quotation, which the
splitter keeps together if the sentence around them goes on («Vete. Ya», dijo).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from measuring import parser_of

from corpora_recipes.text.language import is_finished, is_lower, writing_of
from corpora_recipes.text.sentences import split_sentences

Splitter = Callable[[str], list[str]]
# Sentences of one text.
GROUP = 10
_TEXT = "# text = "


@dataclass
class Counts:
    """Boundaries found rightly, wrongly and not; and those missed inside quotations."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    quoted: int = 0

    def f1(self, *, quoted: bool) -> float:
        """Return F1, with or without the boundaries inside quotations."""
        missed = self.missed if quoted else self.missed - self.quoted
        return 2 * self.right / (2 * self.right + self.wrong + missed)


def read_groups(path: Path) -> Iterator[list[str]]:
    """Yield the sentences of a CoNLL-U file by text, and one by one those that are left out."""
    group: list[str] = []
    lines = path.read_text("utf-8").splitlines()
    # Where each sentence is a document, neighbours in the file are joined all the same.
    documents, texts = (sum(x.startswith(mark) for x in lines) for mark in ("# newdoc", _TEXT))
    ends = ("# newdoc", "# newpar") if 2 * documents < texts else ("# newpar",)
    for line in lines:
        if line.startswith(ends) or len(group) == GROUP:
            yield group
            group = []
        if line.startswith(_TEXT):
            text = " ".join(line.removeprefix(_TEXT).split())
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


def score(groups: list[list[str]], between: str, split: Splitter, show: bool) -> Counts:
    """Count the boundaries that were found and missed."""
    counts = Counts()
    for group in groups:
        text = "".join(" ".join(group).split())
        sentences = split(between.join(group))
        gold, found = boundaries(group), boundaries(sentences)
        counts.right += len(gold & found)
        counts.wrong += len(found - gold)
        counts.missed += len(gold - found)
        counts.quoted += sum(text.count("«", 0, i) > text.count("»", 0, i) for i in gold - found)
        if show:
            for sentence in sorted(set(sentences) ^ set(group)):
                print("gold " if sentence in group else "found", sentence)
    return counts


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
    """Return spaCy's rule-based sentencizer, with its tokeniser for the language if it has one."""
    import spacy

    from corpora_recipes.text.tokens import has_tokenizer_rules

    nlp = spacy.blank(language if has_tokenizer_rules(language) else "xx")
    nlp.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in nlp(text).sents]


def main() -> None:
    """Print a row of figures for each treebank."""
    parser = parser_of(__doc__, "example: python benchmarks/sentences.py treebanks/")
    parser.add_argument(
        "path",
        type=Path,
        nargs="+",
        help="CoNLL-U files, or folders with them, named as in Universal Dependencies: "
        "es_gsd-ud-dev.conllu",
    )
    parser.add_argument("--errors", action="store_true", help="also print our errors")
    args = parser.parse_args()

    files = [file for path in args.path for file in (sorted(path.rglob("*.conllu")) or [path])]
    files.sort(key=lambda file: file.name)
    print(f"{'treebank':12}{'sentences':>10}{'left out':>10}{'wrong':>7}{'missed':>8}", end="")
    print(f"{'in quot.':>10}{'F1':>9}{'less quot.':>12}{'spaCy F1':>10}{'times spaCy':>13}")
    for treebank, of_treebank in groupby(files, key=lambda file: file.name.partition("-")[0]):
        language = treebank.partition("_")[0]

        def ours(text: str, language: str = language) -> list[str]:
            return split_sentences(text, language)

        spacy = spacy_sentencizer(language)
        read = [group for file in of_treebank for group in read_groups(file) if group]
        groups = [group for group in read if is_natural(group[0])]
        between = writing_of(language).separator
        joined = [between.join(group) for group in groups]
        counts = score(groups, between, ours, args.errors)
        of_spacy = score(groups, between, spacy, False).f1(quoted=True)
        times = seconds(joined, spacy) / seconds(joined, ours)
        print(
            f"{treebank:12}{sum(map(len, groups)):10,}{len(read) - len(groups):10,}"
            f"{counts.wrong:7}{counts.missed:8}{counts.quoted:10}{counts.f1(quoted=True):9.4f}"
            f"{counts.f1(quoted=False):12.4f}{of_spacy:10.4f}"
            f"{times:13.1f}"
        )


if __name__ == "__main__":
    main()
