"""The words among which neighbours are looked for, in a casing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corpora_recipes.casing import lower_case
from evaluation.arrays import Rows
from evaluation.embedding.store import EmbeddingStore
from evaluation.embedding.vocabulary import Vocabulary
from evaluation.measures.similarity import norms_of

Casing = Literal["as_is", "lower"]


@dataclass(frozen=True, slots=True)
class Forms:
    """The words of a vocabulary in one casing.

    Attributes:
        rows: form to the row of the first word that has it, in ascending order.
        without: the forms of words that have no vector.
    """

    rows: dict[str, int]
    without: set[str]

    @property
    def words(self) -> Rows:
        """The rows of the words, ascending."""
        return np.fromiter(self.rows.values(), np.int64, len(self.rows))


def cased(word: str, casing: Casing) -> str:
    """Return a word in a casing: as it is, or in lower case."""
    return lower_case(word) if casing == "lower" else word


def forms_of(vocabulary: Vocabulary, casing: Casing) -> Forms:
    """Return the words of a vocabulary in one casing."""
    rows: dict[str, int] = {}
    without = set()
    for row, (word, has_vector) in enumerate(
        zip(vocabulary.words, vocabulary.norms > 0, strict=True)
    ):
        form = cased(word, casing)
        if has_vector:
            rows.setdefault(form, row)
        else:
            without.add(form)
    return Forms(rows, without - rows.keys())


def make_vocabulary(texts: Mapping[str, str], store: EmbeddingStore, layer: str) -> Vocabulary:
    """Return words with their vectors of a store.

    Args:
        texts: word to its text in the form that the encoder takes.
        store: of the encoder.
        layer: of the encoder.

    Raises:
        InputError: a text was never encoded.
    """
    vectors = store.lookup(list(texts.values()), layer)
    return Vocabulary(list(texts), vectors, norms_of(vectors))
