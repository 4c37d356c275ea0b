"""A parsed sentence as its tasks look at it, and counts of the words of many."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from corpora_recipes.casing import lower_case
from corpora_recipes.records import ParsedSentence, Word, text_of
from corpora_recipes.text.writing import writing_of


class Tree:
    """The tree of a sentence; words and tokens are numbered from 0.

    Attributes:
        sentence: the record, of which words, tokens and text are.
        root: the number of the root.
        children: for each word the numbers of its dependents, in text order.
        token_of: for each word the number of its token.
        first_of: for each token the number of its first word.
        begin: the number of the first token with a letter or a digit.
        spaces: whether its language, that of the treebank, has spaces between words.
    """

    def __init__(self, sentence: ParsedSentence) -> None:
        """Look at a sentence."""
        self.sentence, self.text = sentence, sentence.text
        self.words, self.tokens = sentence.words, sentence.tokens
        self.root = 0
        self.children: list[list[int]] = [[] for _ in self.words]
        for number, word in enumerate(self.words):
            if word.head:
                self.children[word.head - 1].append(number)
            else:
                self.root = number
        self.token_of: list[int] = []
        self.first_of: list[int] = []
        for number, token in enumerate(self.tokens):
            self.first_of.append(len(self.token_of))
            self.token_of += [number] * token.words
        begins = (n for n, token in enumerate(self.tokens) if any(map(str.isalnum, token.form)))
        self.begin = next(begins, 0)
        self.spaces = writing_of(sentence.treebank.partition("_")[0]).spaces

    @property
    def main(self) -> Word:
        """The word that is the root."""
        return self.words[self.root]

    def related(self, head: int, *relations: str) -> list[int]:
        """Return the dependents of a word with one of some relations.

        A relation without a subtype stands for all of its subtypes.
        """
        return [
            child
            for child in self.children[head]
            if (relation := self.words[child].relation) in relations
            or relation.partition(":")[0] in relations
        ]

    def subtree(self, top: int) -> list[int]:
        """Return the numbers of a word and of all words below it, in text order."""
        numbers = [top]
        for number in numbers:
            numbers += self.children[number]
        return sorted(numbers)

    def depth(self) -> int:
        """Return the number of words, not punctuation, on the longest way from the root."""
        depth, level = 0, [self.root]
        while level:
            depth += 1
            below = [child for number in level for child in self.children[number]]
            level = [child for child in below if self.words[child].relation != "punct"]
        return depth

    def is_word(self, token: int) -> bool:
        """Return whether a token is a single word, with a letter or a digit."""
        word = self.words[self.first_of[token]]
        return (
            self.tokens[token].words == 1
            and word.upos not in ("PUNCT", "SYM", "X")
            and any(map(str.isalnum, word.form))
        )

    def with_forms(self, forms: Iterable[str]) -> str:
        """Return the text with other forms in the places of its tokens."""
        tokens = zip(forms, self.tokens, strict=True)
        return text_of(token._replace(form=form) for form, token in tokens)


def is_finite(word: Word) -> bool:
    """Return whether a word is a finite verb, by what its treebank annotates.

    That is the form of the verb; or else a mood, a tense or a person, which other forms lack. The
    active participle of the past stands for a finite verb, as in Czech and Croatian.
    """
    if word.upos not in ("VERB", "AUX"):
        return False
    if form := word.feature("VerbForm"):
        past = word.feature("Tense") == "Past" and word.feature("Voice") == "Act"
        return form == "Fin" or (form == "Part" and past)
    return any(map(word.feature, ("Mood", "Tense", "Person")))


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
        left, right = self._numbers.get(lower_case(first)), self._numbers.get(lower_case(second))
        return 0 if left is None or right is None else self._pairs[left << 32 | right]
