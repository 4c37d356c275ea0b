"""Gate 9: no document is in two splits, and trees are complete; see also rankings."""

from collections import Counter
from collections.abc import Iterator

from builders.auditing.gates.gate import Check, Gate, count_check
from builders.auditing.target import LEFT_UNITS, Target


def _measure(target: Target) -> Iterator[Check]:
    """Count the documents that are in two splits or folds."""
    parts_with: dict[str, set[str]] = {}
    for name, part in target.apart().items():
        for document in part.documents or ():
            parts_with.setdefault(document, set()).add(name)
    repeated = {document: names for document, names in parts_with.items() if len(names) > 1}
    folds = "folds" if target.folds else "splits"
    flagged = (
        (part, row, f"document {document} is in {', '.join(sorted(repeated[document]))}")
        for part in target.apart().values()
        for row, document in enumerate(part.documents or ())
        if document in repeated
    )
    yield count_check("documents", f"documents in two {folds}", len(repeated), flagged)


DOCUMENTS = Gate("documents", _measure, lambda target: target.has_documents)


def _trees(target: Target) -> Iterator[Check]:
    """Check that a tree of n units has n - 1 rows, and that labels are sorted."""
    rows: Counter[str] = Counter()
    units: Counter[str] = Counter()
    for part in target.parts.values():
        lasts = (part.columns["left_last"], part.columns["right_last"])
        for document, left, right in zip(part.documents or (), *lasts, strict=True):
            rows[document] += 1
            units[document] = max(units[document], left + 1, right + 1)
    broken = {document for document, count in units.items() if rows[document] != count - 1}
    flagged = (
        (part, row, f"tree {document}")
        for part in target.parts.values()
        for row, document in enumerate(part.documents or ())
        if document in broken
    )
    what = "trees of n units that do not have n - 1 rows"
    yield count_check("documents", what, len(broken), flagged)
    unsorted = int(target.labels != sorted(target.labels))
    yield count_check("documents", "unsorted label maps", unsorted)


def _sides(target: Target) -> Iterator[Check]:
    """Count the sides of several units that no row divides: nodes that were left out."""
    for split, part in target.parts.items():
        divided = set(part.instances())
        flagged = [
            (part, row, f"no row divides its {name} {len(side)} units")
            for row, (marks, left) in enumerate(
                zip(part.marks, part.columns[LEFT_UNITS], strict=True)
            )
            for name, side in (("first", marks[:left]), ("last", marks[left:]))
            if len(side) > 1 and tuple(sorted(side)) not in divided
        ]
        what = f"sides of several units that no row divides, in {split}"
        yield count_check("documents", what, len(flagged), flagged)


def _of_trees(target: Target) -> bool:
    return target.task is not None and target.task.records == ("trees",)


# People annotated the relations, but the binary trees and the label map are made here.
TREES = Gate(
    "documents",
    _trees,
    applies=lambda target: target.has_documents and _of_trees(target),
    our_fault="every",
)
# Trees of others, whose rows do not say where their units are.
SIDES = Gate(
    "documents",
    _sides,
    applies=lambda target: (
        _of_trees(target) and all(LEFT_UNITS in part.columns for part in target.parts.values())
    ),
)
