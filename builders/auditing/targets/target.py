"""A dataset to audit, and the location of its files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from builders.tasks.task import Task
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError

# The names of split files in SentEval, DiscoEval and their descendants.
SPLIT_NAMES: dict[str, Split] = {
    "train": "train",
    "tr": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "va": "validation",
    "test": "test",
    "te": "test",
}
NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The rows of one split, or of one fold.

    Attributes:
        texts: for each row its texts; their number is constant, except in clusters.
        sentences: for each row the single sentences that its texts consist of.
        labels: class numbers, int64 [rows]; [0] without classes.
        scores: float64 [rows]; [0] without scores.
        documents: for each row the id of its document; None if it is unknown.
        columns: further columns of our instances, by name.
    """

    texts: Sequence[Sequence[str]]
    sentences: Sequence[Sequence[str]]
    labels: "np.ndarray[Any, np.dtype[np.int64]]"
    scores: "np.ndarray[Any, np.dtype[np.float64]]"
    documents: Sequence[str] | None = None
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def where(self, chosen: "np.ndarray[Any, np.dtype[np.bool_]]") -> "SplitRows":
        """Return the rows for which ``chosen``, bool [rows], is true."""
        return SplitRows(
            list(compress(self.texts, chosen)),
            list(compress(self.sentences, chosen)),
            self.labels[chosen] if len(self.labels) else self.labels,
            self.scores[chosen] if len(self.scores) else self.scores,
            None if self.documents is None else list(compress(self.documents, chosen)),
            {name: list(compress(values, chosen)) for name, values in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset to audit.

    Attributes:
        name: its name.
        task: None if it is not a task of Probeta.
        corpus: the entry of params.yaml that it was built from; "" for datasets of others.
        records: the kind of records that it was built from.
        language: BCP 47 code.
        labels: names of the classes, in the order of their numbers; empty without classes.
        texts: the columns that the texts were taken from: one for each text of a row, or a single
            one whose lists hold all of them; "text 1", "text 2", … of text files.
        parts: its splits.
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
    boilerplate: Sequence[re.Pattern[str]] = ()

    @property
    def constructed(self) -> bool:
        """Whether its labels come from how rows are built."""
        return self.task is not None and self.task.constructed

    @property
    def asks_length(self) -> bool:
        """Whether the answer is the length of the text."""
        return self.task is not None and self.task.asks_length

    @property
    def scored(self) -> bool:
        """Whether the answers are scores, not classes."""
        return self.task is not None and self.task.target == "score"

    @property
    def of_neighbours(self) -> bool:
        """Whether the answers are nearest neighbours, neither classes nor scores."""
        return self.task is not None and self.task.target == "neighbours"

    @property
    def of_rankings(self) -> bool:
        """Whether its rows list the rows that mean the same."""
        return self.task is not None and self.task.lists_positives

    @property
    def of_clusters(self) -> bool:
        """Whether its rows are clusters, with any number of texts."""
        return self.of_neighbours and not self.of_rankings

    @property
    def of_trees(self) -> bool:
        """Whether its rows are the inner nodes of discourse trees."""
        return self.task is not None and self.task.records == ("trees",)

    @property
    def of_words(self) -> bool:
        """Whether its texts are words, or terms of a few words."""
        return self.task is not None and self.task.unit == "word"

    def as_in_source(self, part: SplitRows) -> Sequence[Sequence[str]]:
        """Return the sentences of the rows of a part whose text the task does not change."""
        if self.task is None or not self.task.unchanged:
            return part.sentences
        return list(compress(part.sentences, part.labels == self.labels.index(self.task.unchanged)))

    @property
    def has_documents(self) -> bool:
        """Whether the document of every row is known."""
        return all(part.documents is not None for part in self.parts.values())

    @property
    def has_test(self) -> bool:
        """Whether there is a test split, or folds."""
        return self.has_folds or "test" in self.parts

    @property
    def has_folds(self) -> bool:
        """Whether it has folds for cross-validation, instead of splits."""
        alone = list(self.parts) == ["train"]
        return alone and len(set(self.parts["train"].columns.get("fold", ()))) > 1

    def apart(self) -> dict[str, SplitRows]:
        """Return the parts that must be disjoint, by name: its splits, or its folds."""
        if not self.has_folds:
            return {str(split): part for split, part in self.parts.items()}
        part, folds = self._folds()
        return {f"fold {number}": part.where(folds == number) for number in np.unique(folds)}

    def trials(self) -> Iterator[tuple[SplitRows, SplitRows]]:
        """Yield (train, test): its splits, or all other folds and each fold in turn.

        Nothing is yielded without train or without test.
        """
        if self.has_folds:
            part, folds = self._folds()
            for number in np.unique(folds):
                yield part.where(folds != number), part.where(folds == number)
        elif "train" in self.parts and "test" in self.parts:
            yield self.parts["train"], self.parts["test"]

    def tested(self) -> list[SplitRows]:
        """Return the rows for testing: test, or all parts of a dataset without a test."""
        return [self.parts["test"]] if "test" in self.parts else list(self.parts.values())

    def _folds(self) -> "tuple[SplitRows, np.ndarray[Any, np.dtype[np.int64]]]":
        part = self.parts["train"]
        return part, np.array(part.columns["fold"], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Location:
    """The files of a dataset to audit; small and picklable.

    Attributes:
        name: of its folder, or of the one file that holds all its splits.
        files: the files of each split, in order; a file of all splits is listed under each.
        task: the task of files that do not state it; None if it is not a task of Probeta.
        language: the language of files that do not state it.
        records: the kind of records of files that do not state it.
        columns: the texts to take from files that do not state them; None for all.
    """

    name: str
    files: dict[Split, list[Path]]
    task: str | None
    language: str
    records: str
    columns: tuple[str, ...] | None

    @property
    def first(self) -> Path:
        """The first file of the first split."""
        return next(iter(self.files.values()))[0]


def split_of(path: Path) -> Split | None:
    """Return the split in the name of a file, if any."""
    name = re.split("[-.]", path.name)[0] if path.suffix == ".parquet" else path.stem
    return SPLIT_NAMES.get(name)


def make_rows(
    texts: list[list[str]],
    sentences: list[list[str]],
    labels: list[str],
    scores: list[float],
    names: list[str],
    columns: dict[str, list[Any]],
    path: Path,
) -> SplitRows:
    """Return a split with these rows."""
    if not texts:
        raise no_rows(path)
    number = {name: i for i, name in enumerate(names)}
    numbers = np.array([number[label] for label in labels], dtype=np.int64)
    of_scores = np.array(scores, dtype=np.float64)
    documents = columns.pop("document_id", None)
    return SplitRows(texts, sentences, numbers, of_scores, documents, columns)


def sorted_labels(labels: Iterable[str]) -> list[str]:
    """Return each label once: numbers by value, then the others by name."""

    def key(label: str) -> tuple[bool, float, str]:
        is_number = NUMBER.fullmatch(label) is not None
        return not is_number, float(label) if is_number else 0.0, label

    return sorted(set(labels), key=key)


def no_rows(path: Path) -> InputError:
    """Return the error of a file without rows."""
    return InputError(
        path, expected="one row or more", found="none", todo="add rows, or remove the file"
    )


def other_width(where: str, found: int, expected: int) -> InputError:
    """Return the error of a row whose number of texts differs from the first row."""
    return InputError(
        where,
        expected=f"{expected} texts, as in the first row" if expected else "one text or more",
        found=f"{found}",
        todo="correct the row",
    )
