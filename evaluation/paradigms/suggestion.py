"""The two tests of ParaLex on clusters of words: suggestion, and neighbourhood coherence.

After Sumbler et al. 2018, on the 30 nearest words by cosine. Shares are of counts: nothing is
rounded before the last division. In both, terms out of the vocabulary are removed first, and a
cluster with fewer than three terms left scores 0; the script published with ParaLex does so only in
the suggestion test, and counts such terms as missed in neighbourhood coherence.
"""

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from builders.tasks.examples import FEWEST_TERMS
from evaluation.paradigms.neighbours import Neighbours

ITERATIONS = 3
"""Number of times that seeds are added after the first suggestions."""
MOST_SUGGESTIONS = 200
"""With more suggestions than these the search has lost its cluster and ends."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The scores of a cluster, all 0 if it has fewer than three terms.

    Attributes:
        suggestion: the mean over all pairs of seeds of the share of targets found.
        deviation: the standard deviation of that share over all pairs (of the population).
        coherence: the share of ordered pairs of terms whose second term is among the neighbours of
            the first.
    """

    suggestion: float
    deviation: float
    coherence: float


def run_tests(
    clusters: Sequence[Sequence[int]], neighbours: Neighbours, threshold: int
) -> list[Outcome]:
    """Run both tests on clusters.

    Args:
        clusters: rows of the terms of each, all different.
        neighbours: of all words.
        threshold: number of seeds that must suggest a word for it to become a seed.
    """
    enough = [terms if len(terms) >= FEWEST_TERMS else [] for terms in clusters]
    coherent = coherent_pairs(enough, neighbours)
    targets = found_targets(enough, neighbours, threshold)
    outcomes = []
    for terms, pairs, found in zip(enough, coherent, targets, strict=True):
        outcome = Outcome(0.0, 0.0, 0.0)
        if terms:
            count = len(terms)
            outcome = Outcome(
                suggestion=sum(found) / (len(found) * (count - 2)),
                deviation=float(np.std(found)) / (count - 2),
                coherence=pairs / (count * (count - 1)),
            )
        outcomes.append(outcome)
    return outcomes


def found_targets(
    clusters: Sequence[Sequence[int]], neighbours: Neighbours, threshold: int
) -> list[list[int]]:
    """Return how many targets each pair of seeds finds.

    Every pair of a cluster's terms are seeds once, and the others are the targets. Suggestions are
    the neighbours of seeds, without the seeds. Then, three times at most, the suggestions that are
    neighbours of ``threshold`` seeds or more, and the targets among them, join the seeds, and there
    are new suggestions. A target that was suggested once is found. The searches of all pairs go on
    side by side, so that neighbours are asked for few times, for many words each.

    Returns:
        For each cluster, one number per pair, in the order of ``itertools.combinations``.
    """
    found: list[list[int]] = []
    searches: list[tuple[int, int, _Search]] = []
    for number, terms in enumerate(clusters):
        pairs = list(combinations(terms, 2))
        found.append([0] * len(pairs))
        searches += [
            (number, place, _search(set(pair), set(terms).difference(pair), neighbours, threshold))
            for place, pair in enumerate(pairs)
        ]
    while searches:
        going_on = []
        asked: set[int] = set()
        for number, place, search in searches:
            try:
                asked |= next(search)
                going_on.append((number, place, search))
            except StopIteration as end:
                found[number][place] = end.value
        neighbours.ask(asked)
        searches = going_on
    return found


_Search = Generator[set[int], None, int]


def _search(pair: set[int], targets: set[int], neighbours: Neighbours, threshold: int) -> _Search:
    """Yield the words whose neighbours it needs next; return the number of targets found."""
    seeds: set[int] = set()
    support: Counter[int] = Counter()
    found: set[int] = set()
    joining = pair
    for _ in range(1 + ITERATIONS):
        seeds |= joining
        unknown = {seed for seed in joining if seed not in neighbours}
        for seed in joining - unknown:
            support.update(neighbours[seed])
        # The known neighbours are often enough to see that there are too many.
        if unknown and len(support.keys() - seeds) <= MOST_SUGGESTIONS:
            yield unknown
            for seed in unknown:
                support.update(neighbours[seed])
        suggestions = support.keys() - seeds
        if len(suggestions) > MOST_SUGGESTIONS:
            break
        found |= suggestions & targets
        joining = {word for word in suggestions if support[word] >= threshold or word in targets}
        if found == targets or not joining:
            break
    return len(found)


def coherent_pairs(clusters: Sequence[Sequence[int]], neighbours: Neighbours) -> list[int]:
    """Return how many ordered pairs of each cluster's terms are a term and a neighbour of it."""
    neighbours.ask(row for terms in clusters for row in terms)
    return [sum(b in neighbours[a] for a, b in permutations(terms, 2)) for terms in clusters]
