"""Static word vectors (word2vec, GloVe, fastText), averaged over the tokens of a text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.telling import progress
from evaluation.encoders.encoder import Form, OneVector
from evaluation.encoders.vector_files import (
    BLOCK_ROWS,
    Header,
    WordVectors,
    no_file,
    open_vectors,
    read_blocks,
    read_header,
    read_vectors,
)

if TYPE_CHECKING:
    from evaluation.arrays import Floats


@dataclass(frozen=True)
class StaticVectors(OneVector):
    """The mean of a text's word vectors, read from a file.

    A token that is not in the file is looked up in lower case; if it is not found either, it is
    left out. A text without any known token gets zeros. With a model of fastText (``.bin``)
    an unknown token gets the mean of its character n-grams instead (Bojanowski et al. 2017, TACL 5,
    section 3.2), as in fastText itself.

    The formats, each also compressed with gzip:

    - word2vec's and fastText's text: a line "COUNT DIMENSION", then one word per line with its
      numbers;
    - GloVe's text: the same without the first line. A word may contain spaces there (". . ." in
      glove.840B): the vector is the last DIMENSION fields, and such a word never matches a token.
      If the word before them ends in a number, the line counts as too long;
    - word2vec's binary format (``.bin``): the first line, then a word, a space and the float32;
    - fastText's own ``.bin`` (version 11 or 12), words and n-grams, unless it is quantised.

    Files trained on web text have words that are not UTF-8. They are read, and never match a token.
    A repeated word is an error, since its vector is ambiguous.

    Attributes:
        path: the file; the name of a binary one ends in ``.bin`` or ``.bin.gz``.
    """

    path: str
    name: ClassVar[str] = "static"
    form: ClassVar[Form] = "tokens"

    @property
    def revision(self) -> str:
        """The first 16 hexadecimal digits of the file's SHA-256."""
        return _digest(*_stamp(self.path))

    @property
    def dimension(self) -> int:
        """Length of a vector, from the file's first line or header."""
        return _dimension(*_stamp(self.path))

    @property
    def options(self) -> dict[str, Any]:
        """The name of the file, without its folder."""
        return {"file": Path(self.path).name}

    def check(self) -> None:
        """See ``Encoder.check``."""
        _ = self.dimension

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, dimension]; the texts are tokens joined by spaces."""
        table = load_model(*_stamp(self.path))
        # Each distinct token once: with fastText a vector is the mean of about twenty vectors.
        known: dict[str, Floats | None] = {}
        vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
        for row, text in enumerate(texts):
            tokens = _tokens(text)
            known |= {token: table.vector(token) for token in tokens if token not in known}
            of_words = [vector for token in tokens if (vector := known[token]) is not None]
            if of_words:
                vectors[row, 0] = np.mean(of_words, axis=0, dtype=np.float64)
        return vectors

    def vocabulary(self) -> Iterator[tuple[list[str], "Floats"]]:
        """Yield the file's words and their vectors, float32 [words, dimension], in its order.

        They come in blocks; except for fastText's ``.bin``, only one block is in memory, so that
        repeated words are not detected. The words of fastText's ``.bin`` are those of its
        dictionary, with the vectors that ``encode`` gives them.
        """
        stamp = _stamp(self.path)
        with open_vectors(self.path) as file, progress(stamp[1], Path(self.path).name, "B") as bar:
            header = read_header(file)
            if isinstance(header, Header):
                yield from read_blocks(file, header, bar)
                return
        table = load_model(*stamp)
        words = list(table.rows)
        for first in range(0, len(words), BLOCK_ROWS):
            block = words[first : first + BLOCK_ROWS]
            yield block, np.array([table.vector(word) for word in block])

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the number of tokens, and of tokens that are not among the file's words.

        With fastText's ``.bin`` the words of its dictionary count, not the n-grams.
        """
        table = load_model(*_stamp(self.path))
        rows = [table.row(token) for text in texts for token in _tokens(text)]
        return {"tokens": len(rows), "out_of_vocabulary": rows.count(None)}


def _tokens(text: str) -> list[str]:
    return [token for token in text.split(" ") if token]


def _stamp(path: str) -> tuple[str, int, int]:
    """Return the cache key of a file: path, size, time of its last change."""
    try:
        file = Path(path).stat()
    except OSError as error:
        raise no_file(path, error) from None
    return path, file.st_size, file.st_mtime_ns


@lru_cache(maxsize=8)
def _digest(path: str, size: int, changed: int) -> str:
    try:
        return sha256_of(Path(path))[:16]
    except OSError as error:
        raise no_file(path, error) from None


@lru_cache(maxsize=8)
def _dimension(path: str, size: int, changed: int) -> int:
    with open_vectors(path) as file:
        return read_header(file).dimension


# Only one: a table may take several GiB.
@lru_cache(maxsize=1)
def load_model(path: str, size: int, changed: int) -> WordVectors:
    """Return the model, which stays in memory until ``release``."""
    with open_vectors(path) as file, progress(size, Path(path).name, "B") as bar:
        return read_vectors(file, bar)
