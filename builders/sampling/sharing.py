"""Shares the documents of a corpus among its datasets."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from corpora_recipes.hashing import keyed_uniform

# Rounds of fitting; the shares change by less than a thousandth after some twenty.
ROUNDS = 50


def share_out(
    eligible: Mapping[str, Sequence[str]], need: Mapping[str, float], seed: int, corpus: str
) -> dict[str, str]:
    """Assign each document to one of the datasets that could use it (``eligible``).

    Weighted rendezvous hashing: a document goes to the dataset with the smallest ``-ln(u) / w``,
    where u is a keyed uniform number for the pair (Efraimidis & Spirakis 2006, "Weighted random
    sampling with a reservoir"). The weights w are fitted so that every dataset can expect the same
    share of its need of documents, as far as its eligible documents allow: documents that only one
    dataset can use go to it, the others go where documents are scarce. Adding or removing one
    document changes the weights so little that hardly any other one is assigned differently.
    """
    patterns = Counter(tuple(datasets) for datasets in eligible.values())
    weights = _fit(patterns, need)
    return {
        document: min(
            datasets,
            key=lambda d: (
                -math.log1p(-keyed_uniform(seed, corpus, document, d, "share")) / weights[d],
                d,
            ),
        )
        for document, datasets in eligible.items()
    }


def _fit(patterns: Mapping[tuple[str, ...], int], need: Mapping[str, float]) -> dict[str, float]:
    """Fit weights so that the expected numbers of documents are proportional to the needs."""
    weights = dict.fromkeys(need, 1.0)
    for _ in range(ROUNDS):
        expected = dict.fromkeys(need, 0.0)
        for datasets, count in patterns.items():
            total = sum(weights[d] for d in datasets)
            for d in datasets:
                expected[d] += count * weights[d] / total
        raw = {d: weights[d] * need[d] / expected[d] if expected[d] else 1.0 for d in need}
        scale = max(raw.values())
        # The floor keeps datasets that share all their documents with a scarcer one.
        weights = {d: max(weight / scale, 1e-6) for d, weight in raw.items()}
    return weights
