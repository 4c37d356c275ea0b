"""Chooses which columns of third-party tables hold the texts, the classes or the scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.auditing.target import NUMBER, Columns
from corpora_recipes.running.errors import InputError

# Names of columns with classes, the likeliest first, in lower case.
LABEL_NAMES = (
    *("label", "labels", "class", "gold_label", "target", "sentiment", "polarity"),
    *("entailment_judgement", "entailment_judgment", "quality", "category", "intent"),
    *("etiqueta", "clase"),
)
SCORE_NAMES = ("score", "scores", "similarity_score", "relatedness_score", "similarity")
# Names of columns of strings that are no text.
NOT_TEXT = ("id", "idx", "guid", "uid", "split", "pair_id", *LABEL_NAMES, *SCORE_NAMES)
# Names that a header has, and hardly a first row.
HEADER_NAMES = frozenset((*NOT_TEXT, "text", "texto", "sentence", "sentence1", "sentence2"))
# A label found by its content has at most so many characters, and no blank.
LONGEST_LABEL = 40
SENTENCE_ENDS = (".", "?", "!", "…")
# A column of more different numbers than this, not all whole, holds scores.
MOST_CLASSES_WITH_FRACTIONS = 10


def choose(
    columns: Mapping[str, Sequence[Any]],
    wanted: Columns,
    where: Path,
    *,
    named: bool = True,
    shown: Sequence[str] = (),
) -> Columns:
    """Choose the columns of a dataset; the label and the score are "" if nothing is found.

    Without names (``named``), the labels are in the first column, or else in the last one, if its
    values have no blanks and recur. With names, they are in the column that is called so. Texts
    are all other columns of strings in most of which there are blanks, or all if none is so.

    Args:
        columns: name to its first values; a few hundred are enough.
        wanted: what users have named.
        where: the first file, for messages.
        shown: all columns, for messages; the names in ``columns`` if left out.
    """
    label, score = wanted.label, wanted.score
    if not label and not score:
        label = _answer_of(columns, named)
        if label.lower() in SCORE_NAMES or (label and _is_score(columns[label])):
            label, score = "", label
    strings = [
        name
        for name, values in columns.items()
        if name not in (label, score) and any(isinstance(v, str | list) for v in values)
    ]
    candidates = [n for n in strings if not named or n.lower() not in NOT_TEXT]
    likely = [n for n in candidates if not named or _is_text(columns[n])]
    texts = list(wanted.texts) or likely or candidates
    answers = [name for name in (label, score) if name]
    if not texts or not {*texts} <= {*strings} or not {*answers} <= {*columns}:
        expected = f"the columns {', '.join([*answers, *(texts or ['one or more with text'])])}"
        todo = "name the columns with --columns, such as text=premise,text=hypothesis,label=gold"
        raise InputError(where, expected, ", ".join(shown or columns), todo)
    return Columns(tuple(texts), label, score)


def is_label(values: Sequence[Any]) -> bool:
    """Return whether a column may hold classes: short values without blanks, which recur."""
    short = all(
        isinstance(v, int) or (isinstance(v, str) and v and len(v) <= LONGEST_LABEL and _is_word(v))
        for v in values
    )
    numbers = all(isinstance(v, int) or NUMBER.fullmatch(v) for v in values) if short else False
    return short and (numbers or len(set(values)) <= max(2, len(values) // 2))


def _answer_of(columns: Mapping[str, Sequence[Any]], named: bool) -> str:
    names = [*columns]
    if named:
        lower = {name.lower(): name for name in reversed(names)}
        return next((lower[n] for n in (*LABEL_NAMES, *SCORE_NAMES) if n in lower), "")
    ends = (names[0], names[-1]) if len(names) > 1 else ()
    return next((name for name in ends if is_label(columns[name])), "")


def _is_score(values: Sequence[Any]) -> bool:
    numbers = {
        float(v) for v in values if isinstance(v, float) or NUMBER.fullmatch(str(v)) is not None
    }
    whole = all(number.is_integer() for number in numbers)
    return len(numbers) > MOST_CLASSES_WITH_FRACTIONS and not whole


def _is_text(values: Sequence[Any]) -> bool:
    """Return whether most values are more than a word, or are lists of strings."""
    filled = [v for v in values if v]
    texts = sum(isinstance(v, list) or not _is_word(str(v)) for v in filled)
    return 2 * texts >= max(1, len(filled))


def _is_word(value: str) -> bool:
    """Return whether a value has no blank and is no sentence."""
    return " " not in value and not value.endswith(SENTENCE_ENDS)
