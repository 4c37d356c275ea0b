"""The order in which passages are taken."""

from collections import Counter
from collections.abc import Mapping, Sequence

from builders.sampling.draw import Draw
from builders.sampling.passages import Passage
from corpora_recipes.records import Split


def in_keyed_order(passages: Sequence[Passage], draw: Draw, purpose: str) -> list[Passage]:
    """Return the passages in an order that depends only on their ids and ranks.

    The first passages of all documents come before any second passage.
    """
    return sorted(passages, key=lambda p: (p.rank, draw.hash(p.id, purpose), p.id))


def first_ranks(passages: Sequence[Passage], need: Mapping[Split, float]) -> list[Passage]:
    """Leave out passages whose ranks are so high that a split does not need them.

    A few passages from each of a thousand films are enough; the others need no memory.

    Args:
        passages: in any order.
        need: split to the least number of passages to keep, if there are as many.

    Returns:
        The passages with the lowest ranks of each split, in their order. Repeated calls on growing
        lists keep the same passages as one call on all.
    """
    last: dict[Split, int] = {}
    for split, wanted in need.items():
        ranks = Counter(p.rank for p in passages if p.split == split)
        total = 0
        for rank in sorted(ranks):
            total += ranks[rank]
            last[split] = rank
            if total >= wanted:
                break
    return [p for p in passages if p.rank <= last[p.split]]
