"""Hashed character n-grams, without training: a baseline that every encoder should beat."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evaluation.encoders.encoder import OneVector

if TYPE_CHECKING:
    from evaluation.arrays import Floats


@dataclass(frozen=True)
class CharHash(OneVector):
    """Character n-grams inside words, hashed with sign into a fixed number of columns.

    A lower-cased word with a space on either side gives its n-grams (scikit-learn's ``char_wb``);
    an n-gram that occurs tf times counts 1 + ln tf, with the sign and in the column that
    MurmurHash3 gives it (Weinberger et al. 2009, "Feature hashing for large scale multitask
    learning"); the sum has length 1, or 0 for a text without a word. Pearson with the
    gold scores of STS 2017 track 3 (Spanish): 0.79.

    Attributes:
        dimension: number of columns.
        shortest: length of the shortest n-gram in characters.
        longest: length of the longest.
    """

    dimension: int = 512
    shortest: int = 3
    longest: int = 5
    name: ClassVar[str] = "char_hash"
    revision: ClassVar[str] = "1"
    packages: ClassVar[tuple[str, ...]] = ("numpy", "scikit-learn")
    # Not parallel: one process encodes 30,000 texts while another one imports scikit-learn.

    def __post_init__(self) -> None:
        if not (self.dimension >= 1 and 1 <= self.shortest <= self.longest):
            raise ValueError("dimension >= 1 and 1 <= shortest <= longest")

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, dimension], vectors of length 1 (0 without a word)."""
        from sklearn.feature_extraction import FeatureHasher
        from sklearn.feature_extraction.text import CountVectorizer

        if not texts:
            return np.zeros((0, 1, self.dimension), np.float32)
        ngrams = CountVectorizer(
            analyzer="char_wb", ngram_range=(self.shortest, self.longest)
        ).build_analyzer()
        weighted = (
            [(ngram, 1.0 + log(tf)) for ngram, tf in Counter(ngrams(text)).items()]
            for text in texts
        )
        hasher = FeatureHasher(self.dimension, input_type="pair", dtype=np.float64)
        counts = hasher.transform(weighted).toarray()
        norms = np.linalg.norm(counts, axis=1, keepdims=True)
        vectors: Floats = (counts / np.where(norms > 0, norms, 1.0)).astype(np.float32)
        return vectors[:, None]
