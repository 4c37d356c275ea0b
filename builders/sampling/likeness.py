"""How alike the words of sentences are, rare words counting more."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from corpora_recipes.casing import lower_case

_WORD = re.compile(r"\w+")


class Likeness:
    """Compares sentences by their words, weighed by how rare they are in given sentences."""

    def __init__(self, sentences: Sequence[str]) -> None:
        """Weigh each word by log(n / number of sentences with it), of n sentences."""
        counts = Counter(word for sentence in sentences for word in _words(sentence))
        self._unseen = math.log(max(1, len(sentences)))
        self._weights = {word: self._unseen - math.log(count) for word, count in counts.items()}

    def of(self, sentence: str, others: Sequence[str]) -> float:
        """Return how alike a sentence is to others, on average, 0 … 1.

        Of two sentences it is the weight of their common words, over the geometric mean of their
        own weights.

        Args:
            sentence: to compare.
            others: one or more.
        """
        words = _words(sentence)
        weight = self._weight(words)
        alike = []
        for other in map(_words, others):
            norm = math.sqrt(weight * self._weight(other))
            alike.append(self._weight(words & other) / norm if norm else 0.0)
        return fmean(alike)

    def _weight(self, words: Iterable[str]) -> float:
        # An exact sum does not depend on the order of the words of a set.
        return math.fsum(self._weights.get(word, self._unseen) for word in words)


def _words(sentence: str) -> set[str]:
    return set(_WORD.findall(lower_case(sentence)))
