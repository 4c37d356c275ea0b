"""The most frequent words of a corpus, counted exactly in bounded memory."""

import heapq
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa

from builders.store.record_files import record_batches
from corpora_recipes.casing import lower_case
from corpora_recipes.running.telling import progress
from corpora_recipes.text.same_text import runs_of

# Different words that are counted in memory (about 150 MB) before they are written to a file.
IN_MEMORY = 1_000_000
# Sentences that are split into words at a time, as a record may be a whole book.
SENTENCES = 10_000
# The column of a record that holds its running text.
_COLUMNS = {"documents": "sections", "dialogues": "conversations"}


class Vocabulary(NamedTuple):
    """The chosen words, and counts of the text they are from.

    Attributes:
        words: the most frequent first, ties in alphabetical order.
        rarest: the frequency of the last of ``words``; 0 without words.
    """

    words: list[str]
    running: int
    different: int
    rarest: int


def frequent_words(path: Path, kind: str, count: int) -> Vocabulary:
    """Return the most frequent words of a file of records.

    A word is a run of letters in lower case, with a hyphen or an apostrophe between letters; a
    typographic apostrophe counts as the plain one. Of documents, only the sections are read.
    """
    counts: Counter[str] = Counter()
    running = 0
    with TemporaryDirectory() as temporary:
        spilt: list[Path] = []
        with progress(None, f"words of {path.stem}", "word") as bar:
            for text in _texts(path, kind):
                words = words_of(text)
                counts.update(words)
                running += len(words)
                bar.update(len(words))
                if len(counts) >= IN_MEMORY:
                    spilt.append(Path(temporary, str(len(spilt))))
                    lines = (f"{word}\t{number}\n" for word, number in sorted(counts.items()))
                    with spilt[-1].open("w", encoding="utf-8", newline="\n") as file:
                        file.writelines(lines)
                    counts.clear()
        merged = heapq.merge(*map(_spilt, spilt), sorted(counts.items()))
        different = 0

        def summed() -> Iterator[tuple[int, str]]:
            nonlocal different
            for word, same in groupby(merged, key=itemgetter(0)):
                different += 1
                yield -sum(number for _, number in same), word

        chosen = heapq.nsmallest(count, summed())
    rarest = -chosen[-1][0] if chosen else 0
    return Vocabulary([word for _, word in chosen], running, different, rarest)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, see ``frequent_words``."""
    return _pattern().findall(as_word(text).replace("’", "'"))


def as_word(text: str) -> str:
    """Return the form in which words are compared: in lower case and NFC."""
    return unicodedata.normalize("NFC", lower_case(text))


@cache
def _pattern() -> re.Pattern[str]:
    letters = runs_of(r"[^\W\d_]")
    return re.compile(rf"{letters}(?:[-']{letters})*")


def _texts(path: Path, kind: str) -> Iterator[str]:
    """Yield the text of the records, ``SENTENCES`` at a time."""
    column = _COLUMNS[kind]
    for batch in record_batches(path, kind, [column]):
        sentences = _strings(batch[column])
        for start in range(0, len(sentences), SENTENCES):
            # Not "": a sentence must not run into the next one.
            yield "\n".join(sentences.slice(start, SENTENCES).to_pylist())


def _strings(values: pa.Array) -> pa.Array:
    """Return the sentences that an array of nested lists holds."""
    while not pa.types.is_string(values.type):
        if pa.types.is_struct(values.type):
            values = values.field("paragraphs")
        values = values.flatten()
    return values


def _spilt(path: Path) -> Iterable[tuple[str, int]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            word, _, number = line.rstrip("\n").partition("\t")
            yield word, int(number)
