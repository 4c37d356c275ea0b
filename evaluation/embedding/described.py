"""What a store says of each dataset: ``datasets.json``.

Dataset to the digest of its files, the digest of its texts, layer to the digest of their vectors,
and, of an encoder with a vocabulary of words, the numbers of "tokens" and of those
"out_of_vocabulary". These are counted when the texts are encoded, while the vocabulary is in
memory: over all splits, and each different text once.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from evaluation.data.instances import Dataset
from evaluation.data.prompts import prompt_of
from evaluation.data.texts import unique_texts
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders.encoder import Encoder

FILE = "datasets.json"


@runtime_checkable
class HasVocabulary(Protocol):
    """An encoder with a vocabulary of words."""

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the numbers of "tokens" and of those "out_of_vocabulary"."""


@dataclass(frozen=True, slots=True)
class Described:
    """What a store says of a dataset.

    Attributes:
        digest: of the dataset's files.
        texts: digest of its texts, with their prompt.
        vectors: layer to the digest of their vectors.
        coverage: the counts of an encoder with a vocabulary; else None.
    """

    digest: str
    texts: str
    vectors: dict[str, str]
    coverage: dict[str, int] | None


def describe_datasets(
    encoder: Encoder, datasets: Sequence[Dataset], store: Path
) -> dict[str, Described]:
    """Write ``datasets.json``; what it said of other datasets goes.

    Args:
        encoder: whose vectors the store holds.
        datasets: whose texts are encoded.
        store: its folder.
    """
    found = {}
    for dataset in datasets:
        texts = sorted(unique_texts(dataset, encoder.form))
        opened = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
        found[dataset.name] = Described(
            dataset.digest(),
            *opened.digests(texts),
            encoder.coverage(texts) if isinstance(encoder, HasVocabulary) else None,
        )
    with whole_file(store / FILE) as temporary:
        entries = {name: asdict(own) for name, own in found.items()}
        temporary.write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
    return found


def read_described(store: Path, dataset: Dataset) -> Described:
    """Return what a store says of a dataset.

    Raises:
        InputError: nothing, or of other files.
    """
    try:
        found = Described(**json.loads((store / FILE).read_bytes())[dataset.name])
        if found.digest == dataset.digest():
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise InputError(
        store / FILE,
        expected=f"what was encoded of {dataset.name}",
        found="nothing, or of other rows",
        todo="run `probeta embed` on the same datasets first",
    )
