"""Vectors of zeros: an encoder knows nothing of these texts."""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders.encoder import Described

# Texts whose vectors are looked at together.
_AT_ONCE = 1 << 14


def check_zeros(
    store: Path, encoder: Described, texts: Mapping[str | None, Collection[str]]
) -> None:
    """Say how many texts have a vector of zeros in the main layer.

    Args:
        store: folder of the embedding store.
        encoder: whose vectors it holds.
        texts: prompt to the texts that get it; all are in the store.

    Raises:
        InputError: all have one.
    """
    zeros: list[str] = []
    for prompt, own in texts.items():
        opened, ordered = EmbeddingStore(store, encoder, prompt), sorted(own)
        for start in range(0, len(ordered), _AT_ONCE):
            some = ordered[start : start + _AT_ONCE]
            vectors = opened.lookup(some, encoder.layer)
            zeros += [some[row] for row in np.flatnonzero(~np.any(vectors, axis=1))]
    if not zeros:
        return
    total = sum(map(len, texts.values()))
    found = f"{len(zeros)} of {total} texts, such as {zeros[0]!r}"
    if len(zeros) == total:
        raise InputError(
            f"encoder {encoder.name}",
            expected="vectors with a number other than 0",
            found=f"a vector of zeros for all {found}",
            todo="correct the encoder; of word vectors, take those of the language of the texts",
        )
    logging.getLogger(__name__).warning(
        "%s: a vector of zeros for %s: the encoder knows nothing of them", encoder.name, found
    )
