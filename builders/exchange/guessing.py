"""Tells what files of others hold: columns of texts and answers, the task, the kind of texts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from builders.exchange.target import NUMBER, Columns
from builders.tasks import TASKS
from builders.tasks.task import Task
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.damage import faults, group_of

# Names of columns with classes, the likeliest first, in lower case.
LABEL_NAMES = (
    "label",
    "labels",
    "class",
    "gold_label",
    "target",
    "sentiment",
    "polarity",
    "entailment_judgement",
    "entailment_judgment",
    "quality",
    "category",
    "intent",
    "etiqueta",
    "clase",
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
# Texts that are looked at, and the share that must be single whole sentences: at least 97 of 100
# are in encyclopedias and abstracts.
_LOOKED_AT, _WHOLE = 2000, 0.8
# The share of texts that may ask, exclaim, break off or begin with a dash: fewer than 1 of 100 in
# encyclopedias and abstracts, 40 of 100 in subtitles and in the dialogues of books.
_SPOKEN = 0.15
_SPEECH = re.compile(r"[-–—]|.*(?:[?!…]|\.\.)\W*$", re.DOTALL)


def choose(
    columns: Mapping[str, Sequence[Any]],
    wanted: Columns,
    where: Path,
    *,
    named: bool = True,
    shown: Sequence[str] = (),
) -> Columns:
    """Choose the columns of a dataset.

    Without names, the labels are in the first column, or else in the last one, if its values have
    no blanks and recur. With names, they are in the column that is called so. Texts are all other
    columns of strings in most of which there are blanks, or all if no column is like that.

    Args:
        columns: name to its first values; a few hundred are enough.
        wanted: what users have named.
        where: the first file, for messages.
        named: whether the file names its columns.
        shown: all columns, for messages; the names in ``columns`` if left out.

    Returns:
        The columns; the label and the score are "" if nothing was found.

    Raises:
        InputError: there is no column with text, or no column of a name that was given.
    """
    label, score = wanted.label, wanted.score
    if not label and not score:
        label = _answer(columns, named)
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
    asked = [name for name in (label, score) if name]
    if not texts or not {*texts} <= {*strings} or not {*asked} <= {*columns}:
        expected = f"the columns {', '.join([*asked, *texts] or ['with text'])}"
        raise InputError(
            where,
            expected=expected if texts else f"{expected} and one or more with text",
            found=", ".join(shown or columns),
            todo="name the columns with --columns, such as text=premise,text=hypothesis,label=gold",
        )
    return Columns(tuple(texts), label, score)


def is_label(values: Sequence[Any]) -> bool:
    """Return whether a column may hold classes: short values without blanks, which recur."""
    short = all(
        isinstance(v, int) or (isinstance(v, str) and v and len(v) <= LONGEST_LABEL and _is_word(v))
        for v in values
    )
    numbers = all(isinstance(v, int) or NUMBER.fullmatch(v) for v in values) if short else False
    return short and (numbers or len(set(values)) <= max(2, len(values) // 2))


def _answer(columns: Mapping[str, Sequence[Any]], named: bool) -> str:
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


def task_of(folders: Iterable[str], width: int, classes: int, units: bool) -> Task | None:
    """Return the task that a folder is named after, if the rows may be instances of it.

    The folders are those of SentEval's and DiscoEval's descendants.

    Args:
        folders: the names of the folders that the files are in.
        width: the number of texts in a row.
        classes: the number of classes.
        units: whether texts are lists of units.
    """
    fits = {
        "sp": ("sentence_position", width == classes == 5),
        "bso": ("sentence_ordering", width == 2 and classes in (0, 2)),
        "dc": ("discourse_coherence", width >= 4 and classes == 2),
        "ssp": ("section_prediction", width == 1 and classes == 2),
        "rst": ("discourse_relations", width == 2 and units),
    }
    tasks = [fits[name.lower()] for name in folders if name.lower() in fits]
    return next((TASKS[task] for task, does in tasks if does), None)


def records_of(
    task: Task | None, texts: Sequence[Sequence[str]], units: bool, language: str
) -> str:
    """Return the kind of records that rows were built from.

    Args:
        task: of the rows.
        texts: for each row its texts.
        units: whether texts are lists of units.
        language: of the texts.
    """
    if units:
        return "trees"
    if task is not None and "dialogues" not in task.records:
        return task.records[0]
    if task is None and len(texts[0]) < 3:
        return "examples"
    looked = list(islice((text for row in texts for text in row), _LOOKED_AT))
    if sum(_SPEECH.match(text) is not None for text in looked) > _SPOKEN * len(looked):
        return "dialogues"
    whole = sum("mis_split" not in map(group_of, faults(text, language)) for text in looked)
    return "documents" if whole >= _WHOLE * len(looked) else "dialogues"
