"""Fills stores of vectors, with the encoders of tests too."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from evaluation.datasets import Dataset
from evaluation.embedding.embedding import embed
from evaluation.embedding.store import describe_datasets, prepare
from evaluation.encoders.char_hash import CharHash
from evaluation.features import unique_texts

Kind = TypeVar("Kind", bound=type)


def in_project(encoder: Kind) -> Kind:
    """Let an encoder's code be that of a shipped one: a store asks for its digest."""
    encoder.__module__ = CharHash.__module__
    return encoder


def fill_store(folder: Path, encoder: Any, texts: Collection[str], *arguments: Any) -> int:
    """Prepare a store, and encode the texts that it lacks, as ``embed`` does with arguments.

    Returns:
        Their number.
    """
    prepare(folder, encoder)
    return embed(folder, encoder, texts, *arguments)


def fill_for(folder: Path, encoder: Any, datasets: Sequence[Dataset]) -> None:
    """Fill a store with the texts of datasets, and describe them; all vectors may be zeros."""
    fill_store(folder, encoder, set().union(*(unique_texts(d, encoder.form) for d in datasets)))
    describe_datasets(encoder, datasets, folder)
