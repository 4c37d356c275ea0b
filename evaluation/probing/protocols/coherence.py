"""Features for discourse coherence: how well the six sentences of a passage go together."""

from itertools import combinations

import numpy as np

from builders.tasks.discourse_coherence import COUNT as SENTENCES
from evaluation.arrays import Floats
from evaluation.probing.protocols.scaling import CHUNK, standardised


def coherence_features(train: Floats, *others: Floats) -> list[Floats]:
    """Return the cosines of each passage's sentences, and how well the inner ones fit, in order.

    Embeddings are standardised with the mean and deviation of all sentences of train. Features
    are the cosines of the 15 pairs of sentences (0 where an embedding is 0), and for the second to
    the fifth sentence, one of which may have been replaced, the mean cosine with the other five,
    smallest first.

    Args:
        train: embeddings side by side, float32 [n, 6 * d].
        others: float32 [m, 6 * d] each.

    Returns:
        For train and the others, float32 [rows, 19].
    """
    parts = (x.reshape(SENTENCES * len(x), -1) for x in (train, *others))
    return [_fit(x.reshape(-1, SENTENCES, x.shape[1])) for x in standardised(*parts)]


def _fit(x: Floats) -> Floats:
    """Return the features of standardised embeddings [rows, 6, d]."""
    one, other = np.array(list(combinations(range(SENTENCES), 2))).T
    features: Floats = np.empty((len(x), len(one) + SENTENCES - 2), np.float32)
    for start in range(0, len(x), CHUNK):
        rows = x[start : start + CHUNK]
        lengths = np.linalg.norm(rows, axis=2, keepdims=True)
        units = rows / np.where(lengths > 0, lengths, 1)
        cosines = units @ units.transpose(0, 2, 1)
        own = features[start : start + CHUNK]
        own[:, : len(one)] = cosines[:, one, other]
        cosines[:, range(SENTENCES), range(SENTENCES)] = 0
        own[:, len(one) :] = np.sort(cosines.sum(axis=2)[:, 1:-1], axis=1) / (SENTENCES - 1)
    return features
