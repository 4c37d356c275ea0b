"""Which repetitions of a sentence are leaks."""

from collections.abc import Iterable

from builders.sampling.passages import Passage
from corpora_recipes.text.same_text import mark, normalise
from corpora_recipes.text.writing import number_of_words

# Words: a repeated sentence of this length is a leak; shorter ones ("Véase el mapa.") recur anyway.
REPEATABLE_BELOW = 6


def without_repeated(passages: Iterable[Passage]) -> tuple[list[Passage], int]:
    """Leave out every passage that repeats a sentence of an earlier one or of itself.

    Sentences are compared by ``normalise``; those of fewer than six words may occur in several
    passages. The number left out is returned too.
    """
    seen: set[int] = set()
    kept, dropped = [], 0
    for passage in passages:
        marks = [mark(sentence) for sentence in passage.sentences]
        telling = [m for m, s in zip(marks, passage.sentences, strict=True) if is_telling(s)]
        if len(set(marks)) < len(marks) or not seen.isdisjoint(telling):
            dropped += 1
        else:
            seen.update(telling)
            kept.append(passage)
    return kept, dropped


def has_words(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def is_telling(sentence: str) -> bool:
    """Return whether a sentence is so long that its repetition is a leak."""
    return number_of_words(normalise(sentence)) >= REPEATABLE_BELOW
