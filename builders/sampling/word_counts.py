"""How often words and pairs of neighbouring words occur in a treebank."""

from collections import Counter
from itertools import pairwise

from corpora_recipes.casing import lower_case


class WordCounts:
    """Counts of words by kind (part of speech and features), and of neighbours in lower case."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self.of_kind: dict[str, Counter[str]] = {}
        self._numbers: dict[str, int] = {}
        self._pairs: Counter[int] = Counter()

    def add_word(self, kind: str, form: str) -> None:
        """Count a word of a kind."""
        self.of_kind.setdefault(kind, Counter())[form] += 1

    def add_neighbours(self, forms: list[str]) -> None:
        """Count each pair of neighbouring tokens of a sentence."""
        known = self._numbers
        numbers = [known.setdefault(lower_case(form), len(known)) for form in forms]
        # One integer a pair takes a third of the memory of a tuple.
        self._pairs.update(first << 32 | second for first, second in pairwise(numbers))

    def together(self, first: str, second: str) -> int:
        """Return how often two words are neighbours, in this order and any case."""
        one, two = self._numbers.get(lower_case(first)), self._numbers.get(lower_case(second))
        return 0 if one is None or two is None else self._pairs[one << 32 | two]
