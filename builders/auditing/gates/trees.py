"""Gate 9, for discourse trees: complete trees and a sorted label map."""

from collections import Counter
from collections.abc import Iterator

from builders.auditing.gates.gate import Check, Gate, count_check
from builders.auditing.targets.target import Target


def _measure(target: Target) -> Iterator[Check]:
    """Check that a tree of n units has n - 1 rows, and that labels are sorted."""
    what = "trees of n units that do not have n - 1 rows"
    yield count_check("documents", what, _broken_trees(target))
    unsorted = int(target.labels != sorted(target.labels))
    yield count_check("documents", "unsorted label maps", unsorted)


def _broken_trees(target: Target) -> int:
    rows: Counter[str] = Counter()
    units: dict[str, int] = {}
    for part in target.parts.values():
        lasts = zip(
            part.documents or (), part.columns["left_last"], part.columns["right_last"], strict=True
        )
        for document, left, right in lasts:
            rows[document] += 1
            units[document] = max(units.get(document, 0), left + 1, right + 1)
    return sum(rows[document] != count - 1 for document, count in units.items())


# People annotated the relations, but the binary trees and the label map are made here.
TREES = Gate(
    "documents",
    _measure,
    applies=lambda target: target.has_documents and target.of_trees,
    our_fault="every",
)
