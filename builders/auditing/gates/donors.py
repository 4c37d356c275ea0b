"""Gate 2: the sentences that replace others occur nowhere else."""

import operator
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from builders.auditing.gates.gate import Check, Gate, count_check, share_check
from builders.auditing.targets.target import Target
from builders.sampling.same_text import is_telling
from corpora_recipes.text.same_text import mark

Marks = np.ndarray[Any, np.dtype[np.uint64]]

SEEN_ELSEWHERE = 0.52


def _measure(target: Target) -> Iterator[Check]:
    """Measure the rule "incoherent if a middle sentence occurs in another row"."""
    parts = target.parts.values()
    rows_with = Counter(m for part in parts for row in part.texts for m in set(map(mark, row)))
    # Per split: a leak in a small test must not vanish in a large train.
    accuracies = []
    for part in parts:
        seen = [
            any(is_telling(s) and rows_with[mark(s)] > 1 for s in row[1:-1]) for row in part.texts
        ]
        right = sum(map(operator.ne, map(bool, part.labels), seen)) / len(seen)
        accuracies.append((max(right, 1 - right), len(seen)))
    accuracy, rows = max(accuracies)
    what = 'accuracy of the rule "a middle sentence occurs elsewhere", in the worst split'
    yield share_check("donors", what, accuracy, SEEN_ELSEWHERE, rows)


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
        row[place - 1]
        for part in target.parts.values()
        for row, place in zip(part.texts, part.columns.get("replaced_position", ()), strict=False)
        if place is not None
    ]
    if not replacing:
        return None
    return np.array([mark(s) for s in replacing if is_telling(s)], np.uint64)


def sentence_marks(target: Target) -> Marks:
    """Return the mark of each sentence, as often as there are rows with it.

    Examples are left out: a single text does not reveal the neighbours of a sentence.

    Returns:
        uint64 [sentences of all rows], sorted.
    """
    rows = (row for part in target.parts.values() for row in part.sentences)
    marks = (m for row in rows for m in set(map(mark, row)))
    return np.sort(np.fromiter(() if target.records == "examples" else marks, np.uint64))


def occur_elsewhere(replacing: Marks, sentences: Marks) -> Check:
    """Check that no replacing sentence occurs in another row.

    Args:
        replacing: the result of ``replacements`` for a dataset.
        sentences: the results of ``sentence_marks`` for all datasets audited together, sorted.
    """
    first, end = (np.searchsorted(sentences, replacing, side) for side in ("left", "right"))
    what = "replacement sentences of six words or more that occur in another row of any dataset"
    return count_check("donors", what, int(np.count_nonzero(end - first > 1)))
