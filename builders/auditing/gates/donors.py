"""Gate 2: the sentences that replace others occur nowhere else."""

import operator
from collections import Counter
from collections.abc import Iterator, Mapping

from builders.auditing.gates.gate import Check, Gate, count_check, share_check
from builders.auditing.targets.target import Target
from builders.sampling.same_text import is_telling, mark
from corpora_recipes.records import SPLITS

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


def replacements(target: Target) -> list[int] | None:
    """Return the marks of the replacing sentences of six words or more; None without any."""
    replacing = [
        row[place - 1]
        for part in target.parts.values()
        for row, place in zip(part.texts, part.columns.get("replaced_position", ()), strict=False)
        if place is not None
    ]
    return [mark(s) for s in replacing if is_telling(s)] if replacing else None


def count_sentences(target: Target) -> Counter[int]:
    """Return in how many rows each sentence occurs, by its mark.

    Examples are left out: a single text does not reveal the neighbours of a sentence.
    """
    if target.records == "examples":
        return Counter()
    return Counter(
        m
        for split in SPLITS
        if split in target.parts
        for row in target.parts[split].sentences
        for m in set(map(mark, row))
    )


def occur_elsewhere(replacing: list[int], sentences: Mapping[int, int]) -> Check:
    """Check that no replacing sentence occurs in another row.

    Args:
        replacing: the result of ``replacements`` for a dataset.
        sentences: the results of ``count_sentences``, summed over all datasets audited together.
    """
    what = "replacement sentences of six words or more that occur in another row of any dataset"
    return count_check("donors", what, sum(sentences[m] > 1 for m in replacing))
