"""Sentences that are changed: are words or clauses swapped, is a word replaced by another one?

Bigram shift, coordination inversion and odd word (semantic odd man out) are of Conneau et al.
(2018), section 2. Each function returns what can be changed in a sentence, or the reason why
nothing can.
"""

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from builders.sampling.candidates import (
    Candidate,
    Tree,
    WordCounts,
    as_candidate,
    in_drawn_order,
    is_finite,
)
from builders.sampling.passages import Draw
from corpora_recipes.records import Token, Word, text_of
from corpora_recipes.text.language import is_letters
from corpora_recipes.text.tokens import lower_case

# In many languages, an adjective stands before or after its noun.
_EITHER_ORDER = {"ADJ", "NOUN"}
_FIRST, _SECOND, _EQUAL = "first longer", "second longer", "equal"
_QUOTES_AND_BRACKETS = frozenset("\"'«»“”„‘’()[]{}—–")
# The largest difference of the logarithms of two frequencies that are about the same.
ABOUT_THE_SAME = 0.5
_KINDS = ("NOUN", "VERB")


def shifted(tree: Tree, draw: Draw, *, size: int) -> Candidate | str:
    """Return the sentence with two neighbouring groups of ``size`` words swapped.

    The place is drawn among those where no word begins the sentence, covers several syntactic words
    or touches punctuation, the parts of speech of the groups differ, and no word comes to stand
    beside an equal one. An adjective and its noun are not swapped.
    """
    forms = [token.form for token in tree.tokens]
    kinds = [tree.words[first].upos for first in tree.first_of]
    spaced = [
        tree.is_word(n) and (token.space_after or not tree.spaces)
        for n, token in enumerate(tree.tokens)
    ]
    places = []
    for start in range(tree.begin + 1, len(forms) - 2 * size + 1):
        middle, end = start + size, start + 2 * size
        neighbourhood = [
            forms[start - 1],
            *forms[middle:end],
            *forms[start:middle],
            *forms[end : end + 1],
        ]
        if (
            all(spaced[start : end - 1])
            and tree.is_word(end - 1)
            and kinds[start:middle] != kinds[middle:end]
            and {*kinds[start:end]} != _EITHER_ORDER
            and all(left != right for left, right in pairwise(map(lower_case, neighbourhood)))
        ):
            places.append(start)
    if not places:
        return "without_place"
    start = places[draw.choice(len(places), tree.sentence.id, "place")]
    middle, end = start + size, start + 2 * size
    swapped = [*forms[:start], *forms[middle:end], *forms[start:middle], *forms[end:]]
    return as_candidate(
        tree,
        changed=tree.with_forms(swapped),
        columns={"position": start + 1, "swapped": " ".join(swapped[start:end])},
    )


def inverted(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with its two clauses swapped.

    Its root has one conjunct and one conjunction between them; each of the two is a finite verb,
    or has one as auxiliary or copula; both have a subject of their own, or none has.
    """
    joined = tree.related(tree.root, "conj")
    if len(joined) != 1:
        return "without_two_clauses"
    second = joined[0]
    links = tree.related(second, "cc")
    if len(links) != 1 or tree.related(tree.root, "cc"):
        return "without_one_conjunction"
    if not (_has_finite(tree, tree.root) and _has_finite(tree, second)):
        return "without_two_finite_verbs"
    if _has_subject(tree, tree.root) != _has_subject(tree, second):
        return "with_one_subject"
    parts = _parts(tree, second, links[0])
    if parts is None:
        return "with_entangled_clauses"
    link, begin, end = parts
    first, after = tree.tokens[tree.begin : link], tree.tokens[begin:end]
    changed = (
        *tree.tokens[: tree.begin],
        *_ended(_capital(after), first[-1].space_after),
        *tree.tokens[link:begin],
        *_ended(_lowered(first, tree.words[tree.first_of[tree.begin]]), after[-1].space_after),
        *tree.tokens[end:],
    )
    lengths = {"first_tokens": len(first), "second_tokens": len(after)}
    longer = _FIRST if len(first) > len(after) else _SECOND
    longer = _EQUAL if len(first) == len(after) else longer
    return as_candidate(tree, changed=text_of(changed), stratum=longer, columns=lengths)


def _has_finite(tree: Tree, top: int) -> bool:
    verbs = [top, *tree.related(top, "aux", "cop")]
    return any(is_finite(tree.words[verb]) for verb in verbs)


def _has_subject(tree: Tree, top: int) -> bool:
    return bool(tree.related(top, "nsubj", "csubj"))


def _parts(tree: Tree, second: int, conjunction: int) -> tuple[int, int, int] | None:
    """Return where the clauses are, or None if they are not two runs of tokens."""
    if _QUOTES_AND_BRACKETS.intersection(tree.text):
        return None
    wordy = [any(map(str.isalnum, token.form)) for token in tree.tokens]
    end = len(wordy) - wordy[::-1].index(True)
    link = tree.token_of[conjunction]
    begin = link + 1
    while not wordy[link - 1]:
        link -= 1
    tokens = {tree.token_of[word] for word in tree.subtree(second)}
    places = sorted(token for token in tokens if token < end)
    together = places == list(range(places[0], end)) and link <= places[0]
    if not together or not tree.begin < link or not begin < end:
        return None
    if not wordy[begin] or tree.tokens[begin - 1].words > 1:
        return None
    return link, begin, end


def _capital(tokens: Sequence[Token]) -> Sequence[Token]:
    first, *rest = tokens
    return (first._replace(form=first.form[:1].upper() + first.form[1:]), *rest)


def _lowered(tokens: Sequence[Token], word: Word) -> Sequence[Token]:
    """Return tokens without the capital of their first word, unless it has one everywhere."""
    first, *rest = tokens
    if word.upos == "PROPN" or word.lemma[:1].isupper() or first.form[1:2].isupper():
        return tokens
    return (first._replace(form=first.form[:1].lower() + first.form[1:]), *rest)


def _ended(tokens: Sequence[Token], space_after: bool) -> Sequence[Token]:
    return (*tokens[:-1], tokens[-1]._replace(space_after=space_after))


def with_both_orders(
    candidates: Sequence[Candidate], _: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Leave out candidates until either clause is as often the longer one.

    Half of each are inverted, so that the order of the lengths does not tell the class.
    """
    equal_length = [candidate for candidate in candidates if candidate.stratum == _EQUAL]
    ordered = in_drawn_order(candidates, draw)
    groups = [[c for c in ordered if c.stratum == longer] for longer in (_FIRST, _SECOND)]
    n_of_each = min(map(len, groups)) // 2 * 2
    return [*equal_length, *(candidate for group in groups for candidate in group[:n_of_each])]


class _Place(NamedTuple):
    """A word that may be replaced, with the tokens before and after it, or "" at the end."""

    kind: str  # see ``kind_of``
    form: str
    position: int  # of its token, from 1
    start: int  # in characters of the text
    before: str
    after: str


def kind_of(word: Word) -> str:
    """Return what a word shares with those that may replace it; "" if none may.

    It is the part of speech and the features, and whether the word begins with a vowel: articles
    and prepositions in front of it depend on the sound. A word with a capital that its lemma does
    not have is part of a name.
    """
    if word.upos not in _KINDS or not is_letters(word.form) or len(word.form) == 1:
        return ""
    if word.form[0].isupper() and not word.lemma[:1].isupper():
        return ""
    first = lower_case(unicodedata.normalize("NFD", word.form)[0])
    return f"{word.upos} {word.features} {'vowel' if first in 'aeiou' else 'consonant'}"


def count_words(tree: Tree, counts: WordCounts) -> None:
    """Count the nouns and verbs of a sentence, and its neighbouring tokens."""
    for number, token in enumerate(tree.tokens):
        word = tree.words[tree.first_of[number]]
        if token.words == 1 and (kind := kind_of(word)):
            counts.add_word(kind, word.form)
    counts.add_neighbours([token.form for token in tree.tokens])


def replaceable(tree: Tree, draw: Draw) -> Candidate | str:
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
    return as_candidate(tree, material=places)


def replaced(
    candidates: Sequence[Candidate], counts: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Return the sentences in which a word can be replaced, with the changed text.

    The replacing word has the same part of speech, the same features and about the same frequency,
    and is seen beside both neighbours no less often than the original is elsewhere. Frequencies and
    neighbours are counted in the sentences of the corpus.
    """
    words = _Words(counts, draw)
    changed_candidates = []
    for candidate in candidates:
        for place in candidate.material:
            new = next(words.iter_replacements(candidate, place), None)
            if new is not None:
                end = place.start + len(place.form)
                changed = f"{candidate.text[: place.start]}{new}{candidate.text[end:]}"
                columns = {"position": place.position, "original": place.form, "replacement": new}
                changed_candidate = replace(
                    candidate, changed=changed, columns=columns, material=None
                )
                changed_candidates.append(replace(changed_candidate, forms=(lower_case(new),)))
                break
    return changed_candidates


class _Words:
    """The words that may replace others."""

    def __init__(self, counts: WordCounts, draw: Draw) -> None:
        self._counts = counts
        self._draw = draw
        # Kind to the words on a keyed circle; and those of about a frequency.
        self._all = {
            kind: sorted((draw.hash(form, "circle"), form) for form in words)
            for kind, words in counts.of_kind.items()
        }
        self._alike: dict[tuple[str, int], list[tuple[int, str]]] = {}

    def iter_replacements(self, candidate: Candidate, place: _Place) -> Iterator[str]:
        """Yield the words that may stand in a place, from a drawn one on."""
        circle = self._similar_frequency(place)
        first = bisect_left(circle, (self._draw.hash(candidate.id, "replacement"), ""))
        text = lower_case(candidate.text)
        for _, form in (*circle[first:], *circle[:first]):
            if lower_case(form) not in text and self._fits_context(form, place):
                yield form

    def _similar_frequency(self, place: _Place) -> list[tuple[int, str]]:
        """Return the words that are about as frequent as one and of its kind."""
        words = self._counts.of_kind[place.kind]
        frequency = words[place.form]
        key = (place.kind, frequency)
        if key not in self._alike:
            self._alike[key] = [
                entry
                for entry in self._all[place.kind]
                if abs(math.log(words[entry[1]] / frequency)) <= ABOUT_THE_SAME
            ]
        return self._alike[key]

    def _fits_context(self, form: str, place: _Place) -> bool:
        """Return whether a word is no rarer beside both neighbours than the original elsewhere."""
        together = self._counts.together
        return (
            together(place.before, form) >= together(place.before, place.form) - 1
            and together(form, place.after) >= together(place.form, place.after) - 1
        )
