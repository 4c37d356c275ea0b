"""Classes of candidates, exactly balanced among sentences of the same length."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from builders.sampling.candidates import Candidate
from builders.sampling.classes import balanced_classes
from builders.sampling.draw import Draw
from corpora_recipes.records import SPLITS

Cell = tuple[str, str, int]


def balanced(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw, *, by_length: bool = True
) -> list[Candidate]:
    """Leave out candidates until every class is equally frequent in each cell.

    A cell is a split and stratum, and a bin of length if ``by_length``. Which candidates stay is
    decided by keyed hash, so that leaving one out changes one other of each class at most.

    Args:
        candidates: of all splits, with their labels; those of other classes are left out.
        classes: the labels.
        draw: the dataset's.
        by_length: whether length must not tell the class.
    """
    cells: dict[Cell, dict[str, list[Candidate]]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cell = (candidate.split, candidate.stratum, candidate.bin if by_length else 0)
        cells.setdefault(cell, {}).setdefault(candidate.label, []).append(candidate)
    kept = []
    for of_class in cells.values():
        least = min(len(of_class.get(name, ())) for name in classes)
        kept += [candidate for name in classes for candidate in of_class.get(name, ())[:least]]
    return kept


def with_drawn_classes(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw
) -> list[Candidate]:
    """Draw a class for each candidate, equally often in each split and stratum.

    Inside a bin of length the two differ by one at most.

    Args:
        candidates: of all splits.
        classes: the two labels.
        draw: the dataset's.

    Returns:
        The candidates with their labels; of an odd number in a split and stratum, one is left out.
    """
    cells: dict[Cell, list[Candidate]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cell = (candidate.split, candidate.stratum, candidate.bin)
        cells.setdefault(cell, []).append(candidate)
    left: dict[Cell, list[Candidate]] = {}
    for (split, stratum, _), found in cells.items():
        if len(found) % 2:
            left.setdefault((split, stratum, 0), []).append(found.pop())
    for odd in left.values():
        del odd[len(odd) // 2 * 2 :]
    return [
        replace(candidate, label=classes[drawn])
        for found in (*cells.values(), *left.values())
        for candidate, drawn in zip(found, balanced_classes(found, 2, draw), strict=True)
    ]


def worthwhile_classes(candidates: Sequence[Candidate], draw: Draw) -> list[str]:
    """Return the labels worth asking for, the most frequent first.

    A rare class costs many rows, since all classes are made as rare. So there are as many classes,
    two or more, as leave rows in every split, and at least half of the rows that the best number of
    classes leaves.

    Args:
        candidates: of all splits, with their labels.
        draw: the dataset's.
    """
    ranked = [
        name
        for name, _ in sorted(
            Counter(candidate.label for candidate in candidates).items(),
            key=lambda entry: (-entry[1], entry[0]),
        )
    ]
    rows = {}
    for count in range(2, len(ranked) + 1):
        kept = balanced(candidates, ranked[:count], draw)
        whole = len({candidate.split for candidate in kept}) == len(SPLITS)
        rows[count] = len(kept) * whole
    most = max(rows.values(), default=0)
    return ranked[: max((count for count, n in rows.items() if n and 2 * n >= most), default=0)]


def in_drawn_order(candidates: Sequence[Candidate], draw: Draw) -> list[Candidate]:
    """Return the candidates in the order in which they are taken."""
    return sorted(candidates, key=lambda c: (draw.hash(c.id, "select"), c.id))
