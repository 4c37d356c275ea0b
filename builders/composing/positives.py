"""Which pairs of a collection are paraphrases, and what can become of a pair."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from statistics import mean
from typing import Literal, NamedTuple, get_args

from builders.sampling.same_text import has_words
from corpora_recipes.records import Example
from corpora_recipes.running.errors import RawError

# "Top 25 %": one scored pair in so many is a paraphrase (Wang et al. 2022).
ONE_IN = 4

Outcome = Literal[
    "of_a_test_part",
    "no_words",
    "missing_score",
    "negative_score",
    "out_of_scale",
    "repeated",
    "below_top_quarter",
    "same_text",
    "not_in_background",
    "used",
]
"""In the order in which they are decided."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Positives(NamedTuple):
    """The paraphrases of a collection, each once, and counts of the pairs.

    ``dropped`` has the reasons, ``different`` is the number of pairs that they were chosen from.
    """

    examples: list[Example]
    dropped: Counter[Outcome]
    different: int
    lowest_score: float | None


def positive_pairs(
    examples: Sequence[Example],
    same: Callable[[str], Hashable],
    scale: Sequence[float] | None,
    where: str,
) -> Positives:
    """Return the pairs of a collection that are paraphrases.

    If the collection has a scale, or any example a score, these are the quarter with the highest
    scores, ties included (so of n pairs ceil(n/4) or more); otherwise all. A pair that occurs
    several times, in either order of its texts, is one pair with the mean of its scores. Of the
    pairs that are dropped, only those below the top quarter count among the n.

    Args:
        examples: pairs of one collection.
        same: returns the key by which texts count as the same.
        scale: the lowest and the highest possible score; None if unknown.
        where: the collection, for messages.
    """
    scored = scale is not None or any(example.score is not None for example in examples)
    dropped: Counter[Outcome] = Counter()
    copies: dict[frozenset[Hashable], list[Example]] = {}
    for example in examples:
        if reason := _fault(example, scored, scale):
            dropped[reason] += 1
        else:
            copies.setdefault(frozenset(map(same, example.texts)), []).append(example)
    pairs = [same_pair[0] for same_pair in copies.values()]
    dropped["repeated"] = sum(map(len, copies.values())) - len(pairs)
    if not scored or not pairs:
        return Positives(pairs, dropped, len(pairs), None)
    scores = [
        mean(example.score for example in same_pair if example.score is not None)
        for same_pair in copies.values()
    ]
    limit = sorted(scores, reverse=True)[math.ceil(len(scores) / ONE_IN) - 1]
    if limit == min(scores):
        above = sum(score > limit for score in scores)
        expected = "a top quarter of pairs whose scores are all above the lowest score"
        found = f"{len(scores):,} different pairs, {above:,} of them above the lowest, {limit:g}"
        todo = "name other pairs, or leave the scores out and keep only the paraphrases"
        raise RawError(where, expected, found, todo)
    chosen = [pair for pair, score in zip(pairs, scores, strict=True) if score >= limit]
    dropped["below_top_quarter"] = len(pairs) - len(chosen)
    return Positives(chosen, dropped, len(pairs), limit)


def _fault(example: Example, scored: bool, scale: Sequence[float] | None) -> Outcome | None:
    """Return the reason why a pair cannot be used; None if it can."""
    if not all(map(has_words, example.texts)):
        return "no_words"
    if not scored:
        return None
    if example.score is None or not math.isfinite(example.score):
        return "missing_score"
    if example.score < 0:
        return "negative_score"
    if scale is not None and not scale[0] <= example.score <= scale[1]:
        return "out_of_scale"
    return None
