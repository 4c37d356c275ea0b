"""The stage `embed`: every text of all datasets to vectors, once."""

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from corpora_recipes.running.errors import InputError, OutputError
from corpora_recipes.running.executors import CPUS, open_executor
from corpora_recipes.running.outputs import locked_folder
from corpora_recipes.running.telling import progress
from evaluation.data.instances import Dataset
from evaluation.data.texts import prompted_texts
from evaluation.embedding.remote import encode_batches
from evaluation.embedding.store import (
    NO_KEYS,
    EmbeddingStore,
    EncodedDataset,
    describe_datasets,
    prepare,
    text_keys,
    write_chunk,
)
from evaluation.encoders.encoder import Described, Encoder, HasWords

# A killed run loses at most twice this many texts per worker.
CHUNK_TEXTS = 2048
# Texts whose vectors are looked at together.
_AT_ONCE = 1 << 14


def embed_datasets(
    folder: Path,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    workers: int | None = 1,
    executor: str = "local",
    known: Mapping[str, str] | None = None,
) -> tuple[dict[str, EncodedDataset], int]:
    """Bring a store up to date for some datasets, see ``embed``, and describe them in it.

    Args:
        folder: of the store; made if need be.
        encoder: what encodes.
        datasets: whose texts are encoded.
        workers: see ``embed``.
        executor: see ``embed``.
        known: see ``prepare``.

    Returns:
        What the store says of each dataset, and the number of texts encoded.

    Raises:
        InputError: see ``embed`` and ``check_zeros``.
    """
    texts = prompted_texts(encoder, datasets)
    with locked_folder(folder, "embed", wait=True):
        prepare(folder, encoder, known)
        new = sum(
            embed(folder, encoder, of_prompt, workers, prompt, executor)
            for prompt, of_prompt in texts.items()
        )
        check_zeros(folder, encoder, texts)
        return describe_datasets(encoder, datasets, folder), new


def embed(
    folder: Path,
    encoder: Encoder,
    texts: Collection[str],
    workers: int | None = 1,
    prompt: str | None = None,
    executor: str = "local",
) -> int:
    """Encode the texts that a store does not have; ``prepare`` has made it one of the encoder.

    Args:
        folder: of the store.
        encoder: what encodes.
        texts: with repetitions, in any order.
        workers: number of processes at most, of an encoder that may run in several, or of calls to
            a cluster at once; None for one per CPU, or one per thread of the cluster. The vectors
            do not depend on it.
        prompt: that of all these texts, for an encoder that takes prompts.
        executor: "local" or the address of a Dask scheduler. An encoder with a vocabulary always
            runs here, where the vocabulary is in memory to be counted; it takes seconds.

    Returns:
        The number of texts encoded.

    Raises:
        InputError: the encoder gave something else than finite vectors for each text, or the
            cluster cannot be used. What was encoded before stays.
    """
    store = EmbeddingStore(folder, encoder)
    texts = list(texts)
    # In the order of the keys, so that the chunks do not depend on the order of the texts.
    keyed = dict(sorted(zip(text_keys(texts, prompt).tolist(), texts, strict=True)))
    keys = np.array(list(keyed), NO_KEYS.dtype)
    order = keys[~store.has(keys)]
    if not len(order):
        return 0
    chunks = [order[start : start + CHUNK_TEXTS] for start in range(0, len(order), CHUNK_TEXTS)]
    if isinstance(encoder, HasWords):
        executor = "local"
    if executor == "local":
        workers = min(workers or CPUS, len(chunks)) if encoder.parallel else 1
    with (
        open_executor(executor, workers) as pool,
        progress(len(order), f"embed {encoder.name}", "text") as bar,
    ):
        batches = ([keyed[key] for key in chunk.tolist()] for chunk in chunks)
        for number, vectors in encode_batches(pool, encoder, batches, prompt):
            if vectors.shape[2] != store.dimension:
                raise OutputError(
                    folder,
                    f"vectors of dimension {store.dimension}, as in encoder.json",
                    f"dimension {vectors.shape[2]} of encoder {encoder.name} {encoder.revision}",
                    "remove the folder; an encoder of other vectors has another revision",
                )
            write_chunk(folder, chunks[number], encoder.layers, vectors)
            bar.update(len(chunks[number]))
    return len(order)


def check_zeros(
    folder: Path, encoder: Described, texts: Mapping[str | None, Collection[str]]
) -> None:
    """Say how many texts have a vector of zeros in the main layer: the encoder knows none of them.

    The texts, given by the prompts that they get, are in the store.

    Raises:
        InputError: all have one.
    """
    zeros: list[str] = []
    for prompt, of_prompt in texts.items():
        store, ordered = EmbeddingStore(folder, encoder, prompt), sorted(of_prompt)
        for start in range(0, len(ordered), _AT_ONCE):
            some = ordered[start : start + _AT_ONCE]
            vectors = store.lookup(some, encoder.layer)
            zeros += [some[row] for row in np.flatnonzero(~np.any(vectors, axis=1))]
    if not zeros:
        return
    total = sum(map(len, texts.values()))
    found = f"{len(zeros)} of {total} texts, such as {zeros[0]!r}"
    if len(zeros) == total:
        raise InputError(
            f"encoder {encoder.name}",
            "vectors with a number other than 0",
            f"a vector of zeros for all {found}",
            "correct the encoder; of word vectors, take those of the language of the texts",
        )
    message = "%s: a vector of zeros for %s: the encoder knows nothing of them"
    logging.getLogger(__name__).warning(message, encoder.name, found)
