"""Words and their vectors in memory; for fastText also those of character n-grams."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evaluation.arrays import Floats

# fastText, dictionary.cc: the token that ends a sentence; it has no n-grams.
FASTTEXT_END = "</s>"


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        rows: word to row.
        matrix: float32 [len(rows), dimension].
    """

    rows: dict[str, int]
    matrix: "Floats"

    def row(self, token: str) -> int | None:
        """Return the row of a token, or of its lower-cased form, or None."""
        row = self.rows.get(token)
        return self.rows.get(token.lower()) if row is None else row

    def vector(self, token: str) -> "Floats | None":
        """Return the vector of a token, or None."""
        row = self.row(token)
        return None if row is None else self.matrix[row]


@dataclass(frozen=True)
class SubwordVectors(WordVectors):
    """A fastText model: below the words, the matrix has one row for each bucket of n-grams.

    Attributes:
        buckets: number of buckets.
        shortest: length of the shortest n-gram in characters.
        longest: length of the longest; 0 without n-grams.
    """

    buckets: int
    shortest: int
    longest: int

    def vector(self, token: str) -> "Floats | None":
        """Return the mean over the word, if it is known, and its n-grams; None without either."""
        row = self.row(token)
        if row is None:
            word, rows = token, []
        else:
            word, rows = (token if token in self.rows else token.lower()), [row]
        if word != FASTTEXT_END and self.buckets:
            first = len(self.rows)
            rows += [
                first + hashed % self.buckets
                for hashed in ngram_hashes(f"<{word}>", self.shortest, self.longest)
            ]
        if not rows:
            return None
        mean: Floats = self.matrix[rows].mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean


def ngram_hashes(word: str, shortest: int, longest: int) -> Iterator[int]:
    """Yield the hashes of a word's character n-grams as fastText computes them.

    Source: fastText, dictionary.cc, computeSubwords and hash: the 32-bit FNV-1a of the UTF-8 bytes,
    each with its sign extended; no n-gram is a single "<" or ">" at the word's ends.

    Args:
        word: with its "<" and ">".
        shortest: length of the shortest n-gram in characters.
        longest: length of the longest.
    """
    letters = [letter.encode() for letter in word]
    for start in range(len(letters)):
        hashed = 2166136261
        for end in range(start, min(start + longest, len(letters))):
            for byte in letters[end]:
                signed = byte if byte < 128 else byte | 0xFFFFFF00
                hashed = (hashed ^ signed) * 16777619 & 0xFFFFFFFF
            length = end - start + 1
            bracket = length == 1 and start in (0, len(letters) - 1)
            if length >= shortest and not bracket:
                yield hashed
