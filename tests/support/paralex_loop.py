"""ParaLex as a plain loop that asks the neighbours of every seed anew: what ours is measured by."""

from collections.abc import Callable, Sequence
from itertools import combinations


def suggestion_loop(
    clusters: Sequence[Sequence[int]], nearest: Callable[[int], list[int]], threshold: int
) -> list[list[float]]:
    """Return the share of targets that every pair of seeds finds, by cluster.

    Args:
        clusters: rows of the terms of each, three or more.
        nearest: gives the 30 nearest words of a word.
        threshold: how many seeds must suggest a word for it to become a seed.
    """
    return [
        [_suggest(set(pair), set(terms) - set(pair), nearest, threshold) for pair in pairs]
        for terms in clusters
        for pairs in [combinations(terms, 2)]
    ]


def _suggest(
    seeds: set[int], targets: set[int], nearest: Callable[[int], list[int]], threshold: int
) -> float:
    supporters = _supporters(seeds, nearest)
    found = targets & set(supporters)
    for _ in range(3):
        if found == targets:
            break
        coherent = {word for word, by in supporters.items() if len(by) >= threshold}
        seeds = seeds | coherent | found
        supporters = _supporters(seeds, nearest)
        if len(supporters) > 200:
            break
        found = found | (targets & set(supporters))
    return len(found) / len(targets)


def _supporters(seeds: set[int], nearest: Callable[[int], list[int]]) -> dict[int, set[int]]:
    """Return the suggestions, and by which seeds they are suggested."""
    supporters: dict[int, set[int]] = {}
    for seed in seeds:
        for word in nearest(seed):
            if word not in seeds:
                supporters.setdefault(word, set()).add(seed)
    return supporters
