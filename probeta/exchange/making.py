"""Makes a dataset to audit of the tables that were read, and tells what its columns hold."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from builders.auditing.target import (
    LEFT_UNITS,
    NUMBER,
    Columns,
    Location,
    Place,
    Target,
    make_rows,
    no_rows,
    other_width,
)
from builders.tasks import TASKS
from builders.tasks.task import Task
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.damage import faults, group_of
from corpora_recipes.text.detokenizing import detokenize
from corpora_recipes.text.writing import writing_of

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


def task_of(folders: Iterable[str], width: int, classes: int, units: bool) -> Task | None:
    """Return the task that a folder is named after, if the rows may be instances of it.

    The folders are those of SentEval's and DiscoEval's descendants; rows have ``width`` texts,
    which are lists of units if ``units``.
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
    """Return the kind of records that rows were built from; ``units``: texts are lists of them."""
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


Cell = Any  # str, int, float, None, or a list of strings
Row = tuple[Place, Sequence[Cell]]
"""Where a row stands, and its cells."""


def make_target(
    location: Location,
    names: Sequence[str],
    roles: Columns,
    rows: Mapping[Split, Sequence[Row]],
    *,
    classes: Sequence[str] = (),
    further: Mapping[Split, Mapping[str, list[Any]]] = MappingProxyType({}),
    corpus: str = "",
) -> Target:
    """Return the dataset of these rows.

    ``roles`` are the columns to take; ``classes`` the names in the order of their numbers, empty to
    sort what occurs. ``further`` columns and a ``corpus`` are those of our instances, which are
    natural text.
    """
    task = TASKS[location.task] if location.task else None
    any_width = task is not None and task.target == "neighbours" and not task.lists_positives
    language = "" if corpus else location.language
    between = writing_of(location.language).between
    answer = roles.label or roles.score
    width = 0
    read: dict[Split, tuple[list[list[str]], list[list[str]], list[str], list[float]]] = {}
    left: dict[Split, list[int]] = {}
    columns = [(name, names.index(name)) for name in roles.texts]
    at = names.index(answer) if answer else 0
    for split, of_split in rows.items():
        if not of_split:
            raise no_rows(location.files[split][0])
        files = {path.name: path for path in location.files[split]}
        texts, sentences, labels, scores = read[split] = [], [], [], []
        left[split] = []
        for place, row in of_split:
            where = f"{files[place.file]}, {place.unit} {place.number}"
            if roles.label:
                labels.append(_class_name(row[at], classes, where))
            elif answer:
                scores.append(_score_of(row[at], where))
            for name, column in columns:
                check_filled(row[column], name, where)
            parts = [_texts_in(row[column], language) for _, column in columns]
            sentences.append([sentence for part in parts for sentence in part])
            # A single column of lists holds all texts of a row; of several, each holds one text.
            texts.append(
                [between.join(part) for part in parts] if len(parts) > 1 else sentences[-1]
            )
            left[split].append(len(parts[0]))
            width = len(texts[-1]) if any_width else width or len(texts[-1])
            if not 0 < len(texts[-1]) == width:
                raise other_width(where, len(texts[-1]), width)
    units = any(texts != sentences for texts, sentences, _, _ in read.values())
    label_names = list(classes) or sorted(
        {name for _, _, labels, _ in read.values() for name in labels}, key=_order
    )
    sides = units and len(roles.texts) == 2 and not corpus
    parts_of = {
        split: make_rows(
            *of_split,
            label_names,
            {LEFT_UNITS: left[split]} if sides else {**further.get(split, {})},
            [place for place, _ in rows[split]],
        )
        for split, of_split in read.items()
    }
    if not corpus:
        task = task or task_of(location.folders, width, len(label_names), units)
    of_all = [row for part in parts_of.values() for row in part.texts]
    records = location.records or records_of(task, of_all, units, language)
    known = (location.name, task, corpus, records, location.language, label_names, roles.texts)
    return Target(*known, parts_of, answer, location.layout != "classes")


def check_filled(cell: Cell, column: str, where: str) -> None:
    """Raise an InputError if a cell is empty, or a list with a null."""
    if cell is None or (isinstance(cell, list) and None in cell):
        todo = "fill in the text, or remove the row"
        raise InputError(where, f"text in the column {column}", "null", todo)


def _texts_in(cell: Cell, language: str) -> list[str]:
    """Return the texts of a cell, as natural text if a language of tokenised text is given."""
    texts = cell if isinstance(cell, list) else [cell]
    if not language:
        return texts
    # Line by line, as a line break is a fault that must not vanish.
    lines = [str(text).split("\n") for text in texts]
    return ["\n".join(detokenize(line, language) for line in of_text) for of_text in lines]


def _class_name(value: Cell, classes: Sequence[str], where: str) -> str:
    """Return the name of a class: a string, or a whole number, among ``classes`` if there are."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    if is_name and (not classes or str(value) in classes):
        return str(value)
    expected = f"a label among {', '.join(classes)}" if classes else "a label: text or an integer"
    raise _wrong_answer(value, expected, where)


def _score_of(value: Cell, where: str) -> float:
    """Return a score, given a finite number or the text of one."""
    try:
        score = float(value) if isinstance(value, int | float | str) else math.nan
    except ValueError:
        score = math.nan
    if math.isfinite(score):
        return score
    raise _wrong_answer(value, "a score: a number", where)


def _wrong_answer(value: Cell, expected: str, where: str) -> InputError:
    found = "null" if value is None else repr(value)
    return InputError(where, expected, found, "correct the answer, or remove the row")


def _order(label: str) -> tuple[bool, float, str]:
    """Return what labels are sorted by: numbers by value, then the others by name."""
    is_number = NUMBER.fullmatch(label) is not None
    return not is_number, float(label) if is_number else 0.0, label
