"""The stage `embed`: every text of all datasets to vectors, once."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from corpora_recipes.running.cluster import Cluster
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import CPUS, as_completed, open_executor
from corpora_recipes.running.outputs import locked_folder
from corpora_recipes.running.telling import progress
from evaluation.data.instances import Dataset
from evaluation.data.prompts import prompted_texts
from evaluation.embedding.checked import encode_checked
from evaluation.embedding.described import Described, HasVocabulary, describe_datasets
from evaluation.embedding.remote import encode_remotely
from evaluation.embedding.store import NO_KEYS, EmbeddingStore, prepare, text_keys, write_chunk
from evaluation.embedding.zeros import check_zeros
from evaluation.encoders.encoder import Encoder

# A killed run loses at most twice this many texts per worker.
CHUNK_TEXTS = 2048
# The texts by which the workers of a cluster are compared.
SAMPLE_TEXTS = 16


def embed_datasets(
    folder: Path,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    workers: int | None = 1,
    executor: str = "local",
    known: Mapping[str, str] | None = None,
) -> tuple[dict[str, Described], int]:
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
            embed(folder, encoder, own, workers, prompt, executor) for prompt, own in texts.items()
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
    if isinstance(encoder, HasVocabulary):
        executor = "local"
    if executor == "local":
        workers = min(workers or CPUS, len(chunks)) if encoder.parallel else 1
    with (
        open_executor(executor, workers) as pool,
        progress(len(order), f"embed {encoder.name}", "text") as bar,
    ):
        batches = ([keyed[key] for key in chunk.tolist()] for chunk in chunks)
        if isinstance(pool, Cluster):
            sample = [keyed[key] for key in order[:SAMPLE_TEXTS].tolist()]
            results = encode_remotely(pool, encoder, batches, prompt, sample)
        else:
            calls = ((encoder, batch, prompt) for batch in batches)
            results = as_completed(pool, encode_checked, calls)
        for number, vectors in results:
            if vectors.shape[2] != store.dimension:
                raise InputError(
                    folder,
                    expected=f"vectors of dimension {store.dimension}, as in encoder.json",
                    found=f"dimension {vectors.shape[2]} of encoder {encoder.name} "
                    f"{encoder.revision}",
                    todo="remove the folder; an encoder of other vectors has another revision",
                )
            write_chunk(folder, chunks[number], encoder.layers, vectors)
            bar.update(len(chunks[number]))
    return len(order)
