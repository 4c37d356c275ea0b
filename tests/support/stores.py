"""Fills stores of vectors, with the encoders of tests too."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from evaluation.datasets import Dataset
from evaluation.embedding import store
from evaluation.embedding.embedding import embed_texts
from evaluation.embedding.store import describe_datasets, prepare_store
from evaluation.encoders.char_hash import CharHash
from evaluation.features import unique_texts

Kind = TypeVar("Kind", bound=type)


def in_project(encoder: Kind) -> Kind:
    """Let an encoder's code be that of a shipped one: a store asks for its digest."""
    encoder.__module__ = CharHash.__module__
    return encoder


def fill_store(folder: Path, encoder: Any, texts: Collection[str], *arguments: Any) -> int:
    """Prepare a store, and encode the texts that it lacks, as ``embed_texts`` does with arguments.

    Returns:
        Their number.
    """
    prepare_store(folder, encoder)
    return embed_texts(folder, encoder, texts, *arguments)


def fill_for(folder: Path, encoder: Any, datasets: Sequence[Dataset]) -> None:
    """Fill a store with the texts of datasets, and describe them; all vectors may be zeros."""
    fill_store(folder, encoder, set().union(*(unique_texts(d, encoder.form) for d in datasets)))
    describe_datasets(encoder, datasets, folder)


def forge_vectors(file: Path, change: Callable[[Any], Any]) -> None:
    """Change the vectors in a file of a store, with a digest that fits."""
    vectors = change(np.load(file))
    np.save(file, vectors)
    chunk = file.name.partition(".")[0]
    digest = file.with_name(file.name.replace(".vectors.", ".digest."))
    np.save(digest, store._digest_layer(chunk, vectors))
