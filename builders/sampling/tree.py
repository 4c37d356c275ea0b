"""A parsed sentence as its tasks look at it: children, subtrees, and the tokens of words."""

from collections.abc import Iterable

from corpora_recipes.records import ParsedSentence, Word, text_of


class Tree:
    """The tree of a sentence; words and tokens are numbered from 0.

    Attributes:
        sentence: the record.
        words: of the sentence.
        tokens: of the sentence.
        text: of the sentence.
        root: the number of the root.
        children: for each word the numbers of its dependents, in text order.
        token_of: for each word the number of its token.
        first_of: for each token the number of its first word.
        begin: the number of the first token with a letter or a digit.
    """

    __slots__ = (
        "begin",
        "children",
        "first_of",
        "root",
        "sentence",
        "text",
        "token_of",
        "tokens",
        "words",
    )

    def __init__(self, sentence: ParsedSentence) -> None:
        """Look at a sentence."""
        self.sentence = sentence
        self.words = sentence.words
        self.tokens = sentence.tokens
        self.text = sentence.text
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
        found, todo = [], [top]
        while todo:
            number = todo.pop()
            found.append(number)
            todo += self.children[number]
        return sorted(found)

    def depth(self) -> int:
        """Return the number of words on the longest way from the root to a leaf.

        Punctuation is not counted.
        """
        deepest, todo = 1, [(self.root, 1)]
        while todo:
            number, depth = todo.pop()
            deepest = max(deepest, depth)
            todo += [
                (child, depth + 1)
                for child in self.children[number]
                if self.words[child].relation != "punct"
            ]
        return deepest

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
        return text_of(
            token._replace(form=form) for form, token in zip(forms, self.tokens, strict=True)
        )


def is_finite(word: Word) -> bool:
    """Return whether a word is a finite verb."""
    form = word.feature("VerbForm")
    return word.upos in ("VERB", "AUX") and (
        form == "Fin" or (not form and bool(word.feature("Mood")))
    )
