"""Gate 2: the sentences that replace others occur nowhere else."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from builders.auditing.gates.gate import Check, Found, Gate, count_check, share_check, stated
from builders.exchange.target import Place, SplitRows, Target

Marks = np.ndarray[Any, np.dtype[np.uint64]]

SEEN_ELSEWHERE = 0.52


def _measure(target: Target) -> Iterator[Check]:
    """Measure the rule "incoherent if a middle sentence occurs in another row"."""
    parts = target.parts.values()
    rows_with = Counter(m for part in parts for row in part.marks for m in set(row))
    # Per split: a leak in a small test must not vanish in a large train.
    accuracies = []
    known: list[Found] = []
    for part in parts:
        seen = [_known(row, telling, rows_with) for row, telling in _rows(part)]
        right = sum(
            bool(label) != (n is not None) for label, n in zip(part.labels, seen, strict=True)
        )
        accuracies.append((max(right, len(seen) - right) / len(seen), len(seen)))
        known += [(part, row, str(n)) for row, n in enumerate(seen) if n is not None]
    accuracy, rows = max(accuracies)
    what = 'accuracy of the rule "a middle sentence occurs elsewhere", in the worst split'
    found = _with_donors(target, known)
    yield share_check("donors", what, accuracy, SEEN_ELSEWHERE, rows, found)
    if not target.corpus:
        what = "rows with a middle sentence that occurs in another row"
        yield stated("donors", what, len(known))


def _rows(part: SplitRows) -> Iterator[tuple[Sequence[int], Sequence[bool]]]:
    return zip(part.marks, part.telling, strict=True)


def _known(row: Sequence[int], telling: Sequence[bool], rows_with: Mapping[int, int]) -> int | None:
    """Return the number of the first middle sentence of six words that another row has too."""
    middle = range(1, len(row) - 1)
    return next((n for n in middle if telling[n] and rows_with[row[n]] > 1), None)


def _with_donors(target: Target, known: Iterable[Found]) -> Iterator[Found]:
    """Yield rows with the place of another row that has their sentence: a donor, or a copy."""
    places: dict[int, list[tuple[Place, int]]] = {}
    for part in target.parts.values():
        for row, place in zip(part.marks, part.places, strict=True):
            for number, m in enumerate(row):
                places.setdefault(m, []).append((place, number))
    for part, number, text in known:
        own = part.places[number]
        others = places[part.marks[number][int(text)]]
        other, there = next((place, n) for place, n in others if place != own)
        label = target.labels[part.labels[number]]
        yield part, number, f"label {label}: text {int(text) + 1} is text {there + 1} of {other}"


DONORS = Gate(
    "donors",
    _measure,
    applies=lambda target: target.task is not None and target.task.replaces_sentences,
)


def replacements(target: Target) -> Marks | None:
    """Return the marks of the replacing sentences of six words or more; None without any.

    Returns:
        ``mark`` of each, uint64 [sentences].
    """
    replacing = [
        (part.marks[row][place - 1], part.telling[row][place - 1])
        for part in target.parts.values()
        for row, place in enumerate(part.columns.get("replaced_position", ()))
        if place is not None
    ]
    if not replacing:
        return None
    return np.array([m for m, telling in replacing if telling], np.uint64)


def occur_elsewhere(replacing: Marks, texts: Marks, found: Iterable[Found]) -> Check:
    """Check that no replacing sentence occurs in another row.

    Args:
        replacing: the result of ``replacements`` for a dataset.
        texts: uint64 [texts], sorted: the mark of each text of six words or more of all datasets
            audited together, as often as there are rows with it. Examples are left out: a single
            text does not reveal the neighbours of a sentence.
        found: the rows concerned.
    """
    what = "replacement sentences of six words or more that occur in another row of any dataset"
    return count_check("donors", what, int(np.count_nonzero(repeated(replacing, texts))), found)


def repeated(marks: Marks, texts: Marks) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return for each mark whether it is there more than once in the sorted ``texts``."""
    first, end = (np.searchsorted(texts, marks, side) for side in ("left", "right"))
    return np.asarray(end - first > 1)


def rows_of(target: Target, texts: Marks) -> Iterator[Found]:
    """Yield the rows whose replacing sentence occurs in another row; see ``occur_elsewhere``."""
    for part in target.parts.values():
        for row, place in enumerate(part.columns.get("replaced_position", ())):
            if place is not None and part.telling[row][place - 1]:
                mark_of_it = np.array([part.marks[row][place - 1]], np.uint64)
                if repeated(mark_of_it, texts)[0]:
                    yield part, row, f"sentence {place}"
