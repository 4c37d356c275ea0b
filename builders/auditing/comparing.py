"""Compares the datasets of an audit with each other: which texts, rows and answers they share."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from builders.auditing.gates.gate import Check, share_check
from builders.auditing.target import Labels, Marks, Target

Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

# A text in more rows than this, of one dataset, tells nothing about where a row comes from.
_MOST_ROWS = 20
# Of rows that are looked up in another dataset: the share of labels found there that is chance.
LOOKED_UP = 0.52
# Pairs of rows that are named.
_FIRST = 5
_SENTENCE_POSITION = "sentence_position"


@dataclass(frozen=True, slots=True)
class Index:
    """The texts of a dataset, as far as other datasets are compared with them.

    Attributes:
        marks: uint64 [texts]: the mark of each text of six words or more, once for each row.
        rows: int32 [texts]: the number of its row, counted over all splits.
        places: int16 [texts]: which text of the passage it is, from 0; where a task moves a
            sentence, its place before.
        instances: uint64 [rows]: the sum of the marks of all texts of a row, which does not depend
            on their order.
        labels: int64 [rows]: class numbers, 0 or 1, where some rows hold a sentence of another
            passage; otherwise [0].
    """

    marks: Marks
    rows: Integers
    places: Integers
    instances: Marks
    labels: Labels

    @classmethod
    def of(cls, target: Target) -> "Index":
        """Return the index of a dataset."""
        moved = target.task is not None and target.task.name == _SENTENCE_POSITION
        marks: list[int] = []
        rows: list[int] = []
        places: list[int] = []
        instances: list[int] = []
        for number, (part, row) in enumerate(target.rows()):
            instances.append(sum(part.marks[row]) % 2**64)
            first = int(part.labels[row]) if moved else 0
            for m, place in {m: at for at, m in reversed([*enumerate(part.marks[row])])}.items():
                if part.telling[row][place]:
                    marks.append(m)
                    rows.append(number)
                    places.append(_before(place, first) if moved else place)
        replaces = target.task is not None and target.task.replaces_sentences
        labels = [part.labels for part in target.parts.values() if replaces]
        return cls(
            np.array(marks, np.uint64),
            np.array(rows, np.int32),
            np.array(places, np.int16),
            np.array(instances, np.uint64),
            np.concatenate(labels) if labels else np.zeros(0, np.int64),
        )


@dataclass(frozen=True, slots=True)
class Shared:
    """What a dataset shares with another one.

    Attributes:
        texts: different texts of six words or more that are in both.
        rows: its rows with such a text.
        whole: those of them that have all such texts of one row of the other, or that have all
            theirs there.
        same_number: those of them whose row there has the same number in the same split.
        places: for those of them with several such texts, the places in the passage of the other
            row ("1, 2") to the number of rows; the commonest four.
        in_train: its test rows that are, as a whole, rows of the other one's train.
        looked_up: of ``rows``, those whose label says whether they are whole there; None where no
            rows hold a sentence of another passage.
        first: the first rows, each with one of the other: split, number from 0, split, number.
    """

    dataset: str
    other: str
    texts: int
    rows: int
    whole: int
    same_number: int
    places: dict[str, int]
    in_train: int
    looked_up: int | None
    first: list[tuple[str, int, str, int]]


def compare(indices: Mapping[str, Index], splits: Mapping[str, Mapping[str, int]]) -> list[Shared]:
    """Compare each dataset with each other one.

    ``splits`` has the number of rows of each split of a dataset, in the order of its index.
    """
    texts: Counter[tuple[str, str]] = Counter()
    # (dataset, other) to row to the (row, place there) of each of its texts.
    rows_of: dict[tuple[str, str], dict[int, list[tuple[int, int]]]] = {}
    for group in _in_several(indices):
        for pair in permutations(group, 2):
            texts[pair] += 1
            rows = rows_of.setdefault(pair, {})
            for row, _ in group[pair[0]]:
                rows.setdefault(row, []).extend(group[pair[1]])
    return [
        _shared(pair, indices, splits, texts[pair], rows_of[pair])
        for pair in permutations(indices, 2)
        if pair in rows_of
    ]


def lookup_check(shared: Shared) -> Check:
    """Return whether another dataset gives away which rows hold a sentence of another passage."""
    right = shared.looked_up or 0
    share = max(right, shared.rows - right) / shared.rows
    what = f"labels of rows with texts of {shared.other} that follow from the rows there"
    return share_check("leakage", what, share, LOOKED_UP, shared.rows)


def _in_several(indices: Mapping[str, Index]) -> Iterator[dict[str, list[tuple[int, int]]]]:
    """Yield for each text that several datasets hold: dataset to (row, place) of its rows there."""
    names, each = list(indices), indices.values()
    marks = np.concatenate([index.marks for index in each])
    owners = np.repeat(np.arange(len(names)), [len(index.marks) for index in each])
    rows = np.concatenate([index.rows for index in each])
    places = np.concatenate([index.places for index in each])
    order = np.argsort(marks, kind="stable")
    marks, owners, rows, places = (array[order] for array in (marks, owners, rows, places))
    limits = [0, *(np.flatnonzero(marks[1:] != marks[:-1]) + 1).tolist(), len(marks)]
    for start, end in pairwise(limits if len(marks) else []):
        # The owners of a text are in ascending order, as the sort is stable.
        if owners[start] != owners[end - 1]:
            group: dict[str, list[tuple[int, int]]] = {}
            for n in range(start, end):
                group.setdefault(names[owners[n]], []).append((int(rows[n]), int(places[n])))
            kept = {name: of_one for name, of_one in group.items() if len(of_one) <= _MOST_ROWS}
            if len(kept) > 1:
                yield kept


def _shared(
    pair: tuple[str, str],
    indices: Mapping[str, Index],
    splits: Mapping[str, Mapping[str, int]],
    texts: int,
    rows: Mapping[int, list[tuple[int, int]]],
) -> Shared:
    index, other = (indices[name] for name in pair)
    splits_of, splits_of_other = (splits[name] for name in pair)
    telling, telling_there = (
        np.bincount(each.rows, minlength=len(each.instances)).tolist() for each in (index, other)
    )
    whole = same = looked_up = 0
    places: Counter[str] = Counter()
    first: list[tuple[str, int, str, int]] = []
    for row in sorted(rows):
        partner, count = Counter(r for r, _ in dict.fromkeys(rows[row])).most_common(1)[0]
        is_whole = count == min(telling[row], telling_there[partner])
        mine, theirs = _place(row, splits_of), _place(partner, splits_of_other)
        if is_whole:
            whole += 1
            same += mine == theirs
            if count > 1:
                at = sorted(place for r, place in set(rows[row]) if r == partner)
                places[", ".join(str(place + 1) for place in at)] += 1
        looked_up += len(index.labels) > 0 and bool(index.labels[row]) == is_whole
        if len(first) < _FIRST:
            first.append((*mine, *theirs))
    tested = _of_split(index, splits_of, "test")
    train = _of_split(other, splits_of_other, "train")
    return Shared(
        *pair,
        texts,
        len(rows),
        whole,
        same,
        dict(places.most_common(4)),
        int(np.isin(tested, train).sum()),
        looked_up if len(index.labels) else None,
        first,
    )


def _before(place: int, label: int) -> int:
    """Return the place of a sentence before the one of place ``label`` was moved to the front."""
    return label if place == 0 else place - (place <= label)


def _place(row: int, splits: Mapping[str, int]) -> tuple[str, int]:
    """Return the split and the number there of a row counted over all splits."""
    for split, count in splits.items():
        if row < count:
            return split, row
        row -= count
    raise ValueError(f"row {row} is beyond the splits")


def _of_split(index: Index, splits: Mapping[str, int], split: str) -> Marks:
    start = 0
    for name, count in splits.items():
        if name == split:
            return index.instances[start : start + count]
        start += count
    return index.instances[:0]
