"""A dataset to audit, and the location of its files."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from builders.tasks import TASKS
from builders.tasks.task import Task
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError, join_faults
from corpora_recipes.running.limits import LONGEST_ROW
from corpora_recipes.text.damage import find_faults, group_of
from corpora_recipes.text.language import writing_of
from corpora_recipes.text.tokens import detokenize, is_telling, sentence_hash

# The names of splits in SentEval, DiscoEval and their descendants, and on the Hub.
_NAMES: dict[Split, str] = {
    "train": "train training tr",
    "validation": "validation valid val dev development trial va",
    "test": "test te",
}
SPLIT_NAMES = {name: split for split, names in _NAMES.items() for name in names.split()}
# The column of trees of others with the number of units of a row's first text.
LEFT_UNITS = "left_units"
# Labels of rows without one; and those of rows whose answers their authors keep to themselves.
MISSING = frozenset(("null", "nan"))
WITHHELD = MISSING | {"-1", "?", "none"}
NUMBER = re.compile(r"-?\d+(\.\d+)?")

Booleans = np.ndarray[Any, np.dtype[np.bool_]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Scores = np.ndarray[Any, np.dtype[np.float64]]
Marks = np.ndarray[Any, np.dtype[np.uint64]]

# What the answers of a dataset are; nearest neighbours are clusters or rankings.
Kind = Literal["classes", "scores", "clusters", "rankings", "nothing"]
NEIGHBOURS: tuple[Kind, ...] = ("clusters", "rankings")


class Place(NamedTuple):
    """Where a row stands: the number of its line, from 1, or of its row in Parquet, from 0."""

    file: str
    number: int
    id: str = ""

    @property
    def unit(self) -> str:
        """What is counted."""
        return "row" if self.file.endswith(".parquet") else "line"

    def __str__(self) -> str:
        named = f" ({self.id})" if self.id else ""
        return f"{self.file}, {self.unit} {self.number}{named}"


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The rows of one split, or of one fold.

    Attributes:
        texts: for each row its texts; their number is constant, except in clusters.
        sentences: for each row the single sentences that its texts consist of.
        marks: for each row the ``sentence_hash`` of each of its sentences.
        telling: for each row whether each of its sentences ``is_telling``.
        labels: class numbers, int64 [rows]; [0] without classes.
        scores: float64 [rows]; [0] without scores.
        documents: for each row the id of its document; None if it is unknown.
        columns: further columns of our instances, by name.
    """

    texts: Sequence[Sequence[str]]
    sentences: Sequence[Sequence[str]]
    marks: Sequence[Sequence[int]]
    telling: Sequence[Sequence[bool]]
    labels: Labels
    scores: Scores
    places: Sequence[Place]
    documents: Sequence[str] | None = None
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def text_marks(self) -> Sequence[Sequence[int]]:
        """Return for each row the ``sentence_hash`` of each of its texts."""
        if self.texts == self.sentences:
            return self.marks
        return [[sentence_hash(text) for text in row] for row in self.texts]

    def instances(self) -> list[tuple[int, ...]]:
        """Return for each row the same key as for all rows of its sentences, in any order."""
        return [tuple(sorted(row)) for row in self.marks]

    def where(self, mask: Booleans) -> "SplitRows":
        """Return the chosen rows."""

        def select(values: Sequence[Any]) -> list[Any]:
            return list(compress(values, mask))

        return SplitRows(
            select(self.texts),
            select(self.sentences),
            select(self.marks),
            select(self.telling),
            self.labels[mask] if len(self.labels) else self.labels,
            self.scores[mask] if len(self.scores) else self.scores,
            select(self.places),
            None if self.documents is None else select(self.documents),
            {name: select(values) for name, values in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset to audit.

    Attributes:
        task: None if it is not a task of Probeta.
        corpus: the entry of params.yaml that it was built from; "" for third-party datasets.
        records: the kind of records that it was built from.
        language: BCP 47 code.
        labels: names of the classes, in the order of their numbers; empty without classes.
        texts: the columns that the texts were taken from: one for each text of a row, or a single
            one whose lists hold all of them; "column 1", "column 2", … of files without names.
        answer: the column with the labels or scores; "" if it has neither.
        ordered: whether the order of its rows was published: it was not where each class has a
            file of its own.
        boilerplate: patterns of its corpus that must not occur in its texts.
    """

    name: str
    task: Task | None
    corpus: str
    records: str
    language: str
    labels: list[str]
    texts: tuple[str, ...]
    parts: dict[Split, SplitRows]
    answer: str = ""
    ordered: bool = True
    boilerplate: Sequence[re.Pattern[str]] = ()

    @property
    def kind(self) -> Kind:
        """What its answers are."""
        if self.task is not None and self.task.target == "neighbours":
            return "rankings" if self.task.lists_positives else "clusters"
        if any(len(part.scores) for part in self.parts.values()):
            return "scores"
        return "classes" if self.labels else "nothing"

    @property
    def n_classes(self) -> int:
        """The number of classes that occur, those of train if there are others only elsewhere."""
        parts = [part for part in self.parts.values() if self.has_labels(part)]
        return len({label for part in parts for label in part.labels.tolist()})

    def has_labels(self, part: SplitRows) -> bool:
        """Return whether a part has classes of train; if it has none, its labels are withheld."""
        train = self.parts.get("train", part)
        return not len(part.labels) or bool(np.isin(part.labels, train.labels).any())

    @property
    def constructed(self) -> bool:
        """Whether its labels come from how rows are built."""
        return self.task is not None and self.task.constructed

    def as_in_source(self, part: SplitRows) -> Sequence[int]:
        """Return the numbers of the rows of a part whose text the task does not change."""
        if self.task is None or not self.task.unchanged:
            return range(len(part.texts))
        same = part.labels == self.labels.index(self.task.unchanged)
        return list(compress(range(len(same)), same))

    def rows(self) -> Iterator[tuple[SplitRows, int]]:
        """Yield each row: its part, and its number there."""
        return ((part, row) for part in self.parts.values() for row in range(len(part.texts)))

    @property
    def has_documents(self) -> bool:
        """Whether the document of every row is known."""
        return all(part.documents is not None for part in self.parts.values())

    @property
    def has_test(self) -> bool:
        """Whether there is a test split, or folds."""
        return bool(self.folds) or "test" in self.parts

    @property
    def folds(self) -> dict[str, Booleans]:
        """For each fold which rows of train are in it; empty if it has splits instead."""
        alone = list(self.parts) == ["train"]
        numbers = np.array(self.parts["train"].columns.get("fold", ()) if alone else ())
        folds = {f"fold {number}": numbers == number for number in np.unique(numbers)}
        return folds if len(folds) > 1 else {}

    def apart(self) -> dict[str, SplitRows]:
        """Return the parts that must be disjoint, by name: its splits, or its folds."""
        if folds := self.folds:
            return {name: self.parts["train"].where(rows) for name, rows in folds.items()}
        return {str(split): part for split, part in self.parts.items()}

    @property
    def tested_on(self) -> Split:
        """The split for testing: test, or validation where there is no test."""
        return "validation" if "test" not in self.parts and "validation" in self.parts else "test"

    def trials(self, *, labelled: bool = False) -> Iterator[tuple[SplitRows, SplitRows]]:
        """Yield (train, test): its splits, or all other folds and each fold in turn.

        Nothing is yielded without train, or without test and validation; with ``labelled``, a split
        whose labels are withheld does not count.
        """
        if folds := self.folds:
            part = self.parts["train"]
            yield from ((part.where(~rows), part.where(rows)) for rows in folds.values())
        elif "train" in self.parts:
            tested = [self.parts[s] for s in (self.tested_on, "validation") if s in self.parts]
            tested = [part for part in tested if not labelled or self.has_labels(part)]
            yield from ((self.parts["train"], part) for part in tested[:1])

    def halves(self) -> Iterator[tuple[SplitRows, SplitRows]]:
        """Yield (train, test) of a dataset of one split: the halves of its rows, in both roles.

        Nothing is yielded if there are several splits, or if no class has two rows. Each half has
        half of each class, from the beginning or from the end of the split, so that rows which are
        alike because they stand side by side are in one half.
        """
        part, *others = self.parts.values()
        second = np.zeros(len(part.texts), bool)
        for number in range(len(self.labels)):
            (of_class,) = np.nonzero(part.labels == number)
            second[of_class[len(of_class) // 2 :]] = True
        for tested in (second, ~second) if not second.all() and not others else ():
            yield part.where(~tested), part.where(tested)

    def tested(self) -> list[SplitRows]:
        """Return the rows for testing: test, or all parts of a dataset without a test."""
        return [self.parts["test"]] if "test" in self.parts else list(self.parts.values())


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to take, by name; those that are left out are found by name and content."""

    texts: tuple[str, ...] = ()
    label: str = ""
    score: str = ""


# How the files of a dataset hold its rows; see ``probeta.exchange.third_party``.
Layout = Literal["table", "probing", "parallel", "classes", "similarity"]


@dataclass(frozen=True, slots=True)
class Location:
    """The files of a dataset to audit; small and picklable.

    Attributes:
        name: of its folder, or of the one file that holds all its splits.
        files: the files of each split, in order; a file of all splits is listed under each.
        task: of files that do not state it, one with classes; None if it is not a task of Probeta,
            or to tell it by the names of folders (SP, BSO, DC, SSP, RST).
        language: of files that do not state it.
        records: the kind of records, one of ``KINDS``, of files that do not state it; None to tell
            it by the task and the texts.
        columns: the columns to take from files that do not describe themselves.
        read: the function that reads files of this kind.
        folders: the names of the folders that it is in, which may tell the task.
    """

    name: str
    files: dict[Split, list[Path]]
    task: str | None
    language: str
    records: str | None
    columns: Columns
    read: Callable[["Location"], Target]
    layout: Layout = "table"
    folders: tuple[str, ...] = ()

    def load(self) -> Target:
        """Read the dataset, or raise an InputError: files are damaged, or rows do not fit."""
        return self.read(self)

    @property
    def first(self) -> Path:
        """The first file of the first split."""
        return next(iter(self.files.values()))[0]


def make_rows(
    texts: list[list[str]],
    sentences: list[list[str]],
    labels: list[str],
    scores: list[float],
    names: list[str],
    columns: dict[str, list[Any]],
    places: list[Place],
) -> SplitRows:
    """Return one or more rows; ``columns`` may have the key ``document_id``."""
    number = {name: i for i, name in enumerate(names)}
    return SplitRows(
        texts,
        sentences,
        [[sentence_hash(sentence) for sentence in row] for row in sentences],
        [[is_telling(sentence) for sentence in row] for row in sentences],
        np.array([number[label] for label in labels], dtype=np.int64),
        np.array(scores, dtype=np.float64),
        places,
        columns.pop("document_id", None),
        columns,
    )


def no_rows(path: Path) -> InputError:
    """Return the error of a file without rows."""
    return InputError(path, "one row or more", "none", "add rows, or remove the file")


def other_width(where: str, found: int, expected: int, what: str = "texts") -> InputError:
    """Return the error of a row whose number of texts, or columns, differs from the first row."""
    wanted = f"{expected} {what}, as in the first row" if expected else "one text or more"
    return InputError(where, wanted, str(found), "correct the row")


# Texts that are looked at, and the share that must be single whole sentences: at least 97 of 100
# are in encyclopedias and abstracts.
_LOOKED_AT, _WHOLE = 2000, 0.8
# The share of texts that may ask, exclaim, break off or begin with a dash: fewer than 1 of 100 in
# encyclopedias and abstracts, 40 of 100 in subtitles and in the dialogues of books.
_SPOKEN = 0.15
_SPEECH = re.compile(r"[-–—]|.*(?:[?!…]|\.\.)\W*$", re.DOTALL)


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
    sample = list(islice((text for row in texts for text in row), _LOOKED_AT))
    if sum(_SPEECH.match(text) is not None for text in sample) > _SPOKEN * len(sample):
        return "dialogues"
    n_whole = sum("mis_split" not in map(group_of, find_faults(text, language)) for text in sample)
    return "documents" if n_whole >= _WHOLE * len(sample) else "dialogues"


Cell = Any  # str, int, float, None, or a list of strings
# Where a row stands, and its cells.
Row = tuple[Place, Sequence[Cell]]


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
    between = writing_of(location.language).separator
    answer = roles.label or roles.score
    width, faults = 0, list[InputError]()
    parts_read: dict[Split, tuple[list[list[str]], list[list[str]], list[str], list[float]]] = {}
    n_left: dict[Split, list[int]] = {}
    columns = [(name, names.index(name)) for name in roles.texts]
    answer_column = names.index(answer) if answer else 0
    for split, split_rows in rows.items():
        if not split_rows:
            raise no_rows(location.files[split][0])
        files = {path.name: path for path in location.files[split]}
        texts, sentences, labels, scores = parts_read[split] = [], [], [], []
        n_left[split] = []
        for place, row in split_rows:
            where = f"{files[place.file]}, {place.unit} {place.number}"
            try:
                for cell in row:
                    _check_size(cell, where)
                if roles.label:
                    value = row[answer_column]
                    hidden = "" if corpus else _withheld(value, classes)
                    labels.append(hidden or _class_name(value, classes, where))
                elif answer:
                    scores.append(_score_of(row[answer_column], where))
                for name, column in columns if corpus else ():
                    check_filled(row[column], name, where)
            except InputError as fault:
                faults.append(fault)
                continue
            texts_of_columns = [_texts_in(row[column], language) for _, column in columns]
            sentences.append([sentence for part in texts_of_columns for sentence in part])
            # A single column of lists holds all texts of a row; of several, each holds one text.
            texts.append(
                [between.join(part) for part in texts_of_columns]
                if len(texts_of_columns) > 1
                else sentences[-1]
            )
            n_left[split].append(len(texts_of_columns[0]))
            width = len(texts[-1]) if any_width else width or len(texts[-1])
            if not 0 < len(texts[-1]) == width:
                faults.append(other_width(where, len(texts[-1]), width))
    if faults:
        raise join_faults(faults)
    units = any(texts != sentences for texts, sentences, _, _ in parts_read.values())
    occurring = {name for _, _, labels, _ in parts_read.values() for name in labels}
    label_names = [*classes, *sorted(occurring.difference(classes), key=_order)]
    has_sides = units and len(roles.texts) == 2 and not corpus
    parts_of = {
        split: make_rows(
            *split_rows,
            label_names,
            {LEFT_UNITS: n_left[split]} if has_sides else {**further.get(split, {})},
            [place for place, _ in rows[split]],
        )
        for split, split_rows in parts_read.items()
    }
    if not corpus:
        task = task or task_of(location.folders, width, len(label_names), units)
    all_texts = [row for part in parts_of.values() for row in part.texts]
    records = location.records or records_of(task, all_texts, units, language)
    facts = (location.name, task, corpus, records, location.language, label_names, roles.texts)
    return Target(*facts, parts_of, answer, location.layout != "classes")


def _check_size(cell: Cell, where: str) -> None:
    """Raise an InputError if a text is too long."""
    for text in cell if isinstance(cell, list) else [cell]:
        if isinstance(text, str) and len(text) > LONGEST_ROW:
            found = f"{len(text):,} that begin with {text[:40]!r}"
            raise InputError(where, f"texts of at most {LONGEST_ROW:,} characters", found)


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
    # Line by line, as a line break is a fault that must not vanish; a null is an empty text.
    lines = [("" if text is None else str(text)).split("\n") for text in texts]
    return ["\n".join(detokenize(line, language) for line in of_text) for of_text in lines]


def _withheld(value: Cell, classes: Sequence[str]) -> str:
    """Return the name of a label that is kept back, such as a null; "" of all others."""
    name = "null" if value is None else str(value).strip().lower() or "null"
    is_kept = name in (WITHHELD if classes else MISSING) and str(value) not in classes
    return name if is_kept else ""


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
