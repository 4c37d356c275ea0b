"""Odd word (semantic odd man out): was a noun or a verb replaced by another one?

Conneau et al. (2018), section 2. The replacing word has the same part of speech, the same features
and about the same frequency, and is seen beside both neighbours no less often than the original is
elsewhere. Frequencies and neighbours are counted in the sentences of the corpus.
"""

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.forms import split_of
from builders.sampling.tree import Tree
from builders.sampling.word_counts import WordCounts
from builders.tasks.task import Column
from builders.tasks.treebank_task import ORIGIN, TreebankTask, offered
from corpora_recipes.casing import lower_case
from corpora_recipes.records import SPLITS, Split, Word

# The largest difference of the logarithms of two frequencies that are about the same.
ABOUT_THE_SAME = 0.5
_KINDS = ("NOUN", "VERB")


class _Place(NamedTuple):
    """A word that may be replaced.

    Attributes:
        kind: part of speech, features, and how it begins: see ``kind_of``.
        form: of the word.
        position: of its token, from 1.
        start: where it begins in the text, in characters.
        before: the token before.
        after: the token after, "" at the end.
    """

    kind: str
    form: str
    position: int
    start: int
    before: str
    after: str


def kind_of(word: Word) -> str:
    """Return what a word shares with those that may replace it; "" if none may.

    It is the part of speech and the features, and whether the word begins with a vowel: articles
    and prepositions in front of it depend on the sound. A word with a capital that its lemma does
    not have is part of a name.
    """
    if word.upos not in _KINDS or not word.form.isalpha() or len(word.form) == 1:
        return ""
    if word.form[0].isupper() and not word.lemma[:1].isupper():
        return ""
    first = lower_case(unicodedata.normalize("NFD", word.form)[0])
    return f"{word.upos} {word.features} {'vowel' if first in 'aeiou' else 'consonant'}"


def _count(tree: Tree, counts: WordCounts) -> None:
    """Count the nouns and verbs of a sentence, and its neighbouring tokens."""
    for number, token in enumerate(tree.tokens):
        word = tree.words[tree.first_of[number]]
        if token.words == 1 and (kind := kind_of(word)):
            counts.add_word(kind, word.form)
    counts.add_neighbours([token.form for token in tree.tokens])


def _places(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with the nouns and verbs that may be replaced, in drawn order."""
    places, start = [], 0
    for number, token in enumerate(tree.tokens):
        word = tree.words[tree.first_of[number]]
        if number > tree.begin and token.words == 1 and (kind := kind_of(word)):
            before = tree.tokens[number - 1].form
            after = tree.tokens[number + 1].form if number + 1 < len(tree.tokens) else ""
            places.append(_Place(kind, word.form, number + 1, start, before, after))
        start += len(token.form) + token.space_after
    if not places:
        return "without_noun_or_verb"
    places.sort(key=lambda place: draw.hash(tree.sentence.id, str(place.position), "place"))
    return offered(tree, material=places)


def _replaced(
    candidates: Sequence[Candidate], counts: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Return the sentences in which a word can be replaced, with the changed text."""
    words = _Words(counts, draw)
    kept = []
    for candidate in candidates:
        for place in candidate.material:
            new = next(words.fitting(candidate, place), None)
            if new is not None:
                end = place.start + len(place.form)
                changed = f"{candidate.text[: place.start]}{new}{candidate.text[end:]}"
                columns = {"position": place.position, "original": place.form, "replacement": new}
                kept.append(replace(candidate, changed=changed, columns=columns, material=None))
                break
    return kept


class _Words:
    """The words that may replace others; each belongs to one split."""

    def __init__(self, counts: WordCounts, draw: Draw) -> None:
        self._counts = counts
        self._draw = draw
        # Kind and split to the words on a keyed circle; and those of about a frequency.
        self._all: dict[tuple[str, Split], list[tuple[int, str]]] = {}
        self._alike: dict[tuple[str, Split, int], list[tuple[int, str]]] = {}
        for kind, words in counts.of_kind.items():
            for form in words:
                split = split_of(lower_case(form), SPLITS, draw)
                self._all.setdefault((kind, split), []).append((draw.hash(form, "circle"), form))
        for circle in self._all.values():
            circle.sort()

    def fitting(self, candidate: Candidate, place: _Place) -> Iterator[str]:
        """Yield the words that may stand in a place, from a drawn one on."""
        circle = self._circle(place, candidate.split)
        first = bisect_left(circle, (self._draw.hash(candidate.id, "replacement"), ""))
        there = lower_case(candidate.text)
        for _, form in (*circle[first:], *circle[:first]):
            if lower_case(form) not in there and self._goes_with(form, place):
                yield form

    def _circle(self, place: _Place, split: Split) -> list[tuple[int, str]]:
        """Return the words of a split that are about as frequent as one and of its kind."""
        words = self._counts.of_kind[place.kind]
        frequency = words[place.form]
        key = (place.kind, split, frequency)
        if key not in self._alike:
            self._alike[key] = [
                entry
                for entry in self._all.get((place.kind, split), ())
                if abs(math.log(words[entry[1]] / frequency)) <= ABOUT_THE_SAME
            ]
        return self._alike[key]

    def _goes_with(self, form: str, place: _Place) -> bool:
        """Return whether a word is no rarer beside both neighbours than the original elsewhere."""
        together = self._counts.together
        return (
            together(place.before, form) >= together(place.before, place.form) - 1
            and together(form, place.after) >= together(place.form, place.after) - 1
        )


ODD_WORD = TreebankTask(
    name="odd_word",
    question="Was a noun or a verb of the sentence replaced by another one of the same form?",
    labels=("original", "replaced"),
    unchanged="original",
    needs="a noun or a verb, and another one with the same features and frequency",
    example="""\
| sentence | class |
|---|---|
| La draga tocó sombrero a los cuatro metros. | **replaced** |""",
    provenance=ORIGIN
    | {
        "position": Column("integer", "the number of the replaced token, null if none is"),
        "original": Column("string", "the word that was replaced, null if none was"),
        "replacement": Column("string", "the word in its place, null if none is"),
    },
    find=_places,
    count=_count,
    settle=_replaced,
)
