"""Gate 2: the sentences that replace others occur nowhere else."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from builders.auditing.gates.gate import Check, FlaggedRow, Gate, count_check, share_check, stated
from builders.auditing.target import Booleans, Location, Marks, Place, SplitRows, Target

SEEN_ELSEWHERE = 0.52


def _measure(target: Target) -> Iterator[Check]:
    """Measure the rule "incoherent if a middle sentence occurs in another row"."""
    parts = target.parts.values()
    rows_with = Counter(mark for part in parts for row in part.marks for mark in set(row))
    # Per split: a leak in a small test must not vanish in a large train.
    accuracies = []
    seen_sentences: list[tuple[SplitRows, int, int]] = []
    for part in parts:
        positions = [_known(part, row, rows_with) for row in range(len(part.texts))]
        right = sum(
            bool(label) != (n is not None) for label, n in zip(part.labels, positions, strict=True)
        )
        accuracies.append((max(right, len(positions) - right) / len(positions), len(positions)))
        seen_sentences += [(part, row, n) for row, n in enumerate(positions) if n is not None]
    accuracy, rows = max(accuracies)
    what = 'accuracy of the rule "a middle sentence occurs elsewhere", in the worst split'
    flagged = _with_donors(target, seen_sentences)
    yield share_check("donors", what, accuracy, SEEN_ELSEWHERE, rows, flagged)
    if not target.corpus:
        what = "rows with a middle sentence that occurs in another row"
        yield stated("donors", what, len(seen_sentences))


def _known(part: SplitRows, row: int, rows_with: Mapping[int, int]) -> int | None:
    """Return the number of the first middle sentence of six words that another row has too."""
    marks, telling = part.marks[row], part.telling[row]
    middle = range(1, len(marks) - 1)
    return next((n for n in middle if telling[n] and rows_with[marks[n]] > 1), None)


def _with_donors(
    target: Target, seen_sentences: Iterable[tuple[SplitRows, int, int]]
) -> Iterator[FlaggedRow]:
    """Yield rows with the place of another row that has their sentence: a donor, or a copy."""
    places: defaultdict[int, list[tuple[Place, int]]] = defaultdict(list)
    for part, row in target.rows():
        for number, mark in enumerate(part.marks[row]):
            places[mark].append((part.places[row], number))
    for part, row, number in seen_sentences:
        others = places[part.marks[row][number]]
        place, position = next((place, n) for place, n in others if place != part.places[row])
        label = target.labels[part.labels[row]]
        yield part, row, f"label {label}: text {number + 1} is text {position + 1} of {place}"


DONORS = Gate(
    "donors",
    _measure,
    applies=lambda target: target.task is not None and target.task.replaces_sentences,
)


def replacements(target: Target) -> Marks | None:
    """Return the ``mark`` of each replacing sentence of six words or more; None without any."""
    replaced = list(_replaced(target))
    marks = [part.marks[row][at] for part, row, at in replaced if part.telling[row][at]]
    return np.array(marks, np.uint64) if replaced else None


def _replaced(target: Target) -> Iterator[tuple[SplitRows, int, int]]:
    """Yield each row with a replacing sentence, and the number of that, from 0."""
    for part in target.parts.values():
        for row, place in enumerate(part.columns.get("replaced_position", ())):
            if place is not None:
                yield part, row, place - 1


def donor_check(replacing: Marks, texts: Marks, flagged: Iterable[FlaggedRow]) -> Check:
    """Check that no replacing sentence occurs in another row.

    ``texts``, sorted, has the mark of each text of six words or more of all datasets audited
    together, as often as there are rows with it. Examples are left out: a single text does not
    reveal the neighbours of a sentence.
    """
    what = "replacement sentences of six words or more that occur in another row of any dataset"
    return count_check("donors", what, int(np.count_nonzero(_repeated(replacing, texts))), flagged)


def _repeated(marks: Marks, texts: Marks) -> Booleans:
    """Return for each mark whether it is there more than once in the sorted ``texts``."""
    first, end = (np.searchsorted(texts, marks, side) for side in ("left", "right"))
    return np.asarray(end - first > 1)


def rows_with_repeated_donors(location: Location, texts: Marks) -> Iterator[FlaggedRow]:
    """Read a dataset again for its rows whose replacing sentence occurs in another row."""
    for part, row, at in _replaced(location.load()):
        mark = np.array([part.marks[row][at]], np.uint64)
        if part.telling[row][at] and _repeated(mark, texts)[0]:
            yield part, row, f"sentence {at + 1}"
