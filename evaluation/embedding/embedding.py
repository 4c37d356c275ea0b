"""The stage `embed`: every text of all datasets to vectors, once, here or in a cluster."""

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from socket import gethostname
from typing import Any, NamedTuple

import numpy as np

from corpora_recipes.running.cluster import Cluster, call_alike, releases_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError, NoWorkers, OutputError
from corpora_recipes.running.executors import CPUS, Processes, as_completed, open_executor
from corpora_recipes.running.outputs import locked_folder
from corpora_recipes.running.telling import progress
from evaluation.arrays import Floats
from evaluation.data.instances import Dataset
from evaluation.data.texts import prompted_texts
from evaluation.embedding.store import (
    NO_KEYS,
    EmbeddingStore,
    EncodedDataset,
    describe_datasets,
    fingerprint,
    prepare,
    text_keys,
    write_chunk,
)
from evaluation.encoders.encoder import Described, Encoder, HasWords, encode_checked

# A killed run loses at most twice this many texts per worker.
CHUNK_TEXTS = 2048
# Texts whose vectors are looked at together.
_AT_ONCE = 1 << 14
# The first texts, by which the workers of a cluster are compared.
SAMPLE_TEXTS = 16
# Of a worker: the sample that it encoded last, and the digest of the vectors.
_sampled: dict[str, str] = {}


def embed_datasets(
    folder: Path,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    workers: int | None = 1,
    executor: str = "local",
    known: Mapping[str, str] | None = None,
) -> tuple[dict[str, EncodedDataset], int]:
    """Bring a store up to date for some datasets, and describe them in it.

    Args:
        folder: of the store; made if need be.
        encoder: what encodes.
        datasets: whose texts are encoded.
        workers: number of processes at most, of an encoder that may run in several, or of calls to
            a cluster at once; None for one per CPU, or one per thread of the cluster. The vectors
            do not depend on it.
        executor: "local" or the address of a Dask scheduler. An encoder with a vocabulary always
            runs here, where the vocabulary is in memory to be counted; it takes seconds.
        known: see ``prepare``.

    Returns:
        What the store says of each dataset, and the number of texts encoded.
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
    """Encode the texts of a prompt that a store does not have, and return how many these are.

    The rest is as of ``embed_datasets``; ``prepare`` has made the store one of the encoder.
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
                expected = f"vectors of dimension {store.dimension}, as in encoder.json"
                found = f"dimension {vectors.shape[2]} of {encoder.name} {encoder.revision}"
                todo = "remove the folder; an encoder of other vectors has another revision"
                raise OutputError(folder, expected, found, todo)
            write_chunk(folder, chunks[number], encoder.layers, vectors)
            bar.update(len(chunks[number]))
    return len(order)


def check_zeros(
    folder: Path, encoder: Described, texts: Mapping[str | None, Collection[str]]
) -> None:
    """Say how many texts, by the prompts that they get, have a vector of zeros in the main layer.

    The encoder knows none of them. If all have one, they are refused.
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
        expected, found = "vectors with a number other than 0", f"a vector of zeros for all {found}"
        todo = "correct the encoder; of word vectors, take those of the language of the texts"
        raise InputError(f"encoder {encoder.name}", expected, found, todo)
    message = "%s: a vector of zeros for %s: the encoder knows nothing of them"
    logging.getLogger(__name__).warning(message, encoder.name, found)


class _Encoded(NamedTuple):
    """Vectors of a batch, digest of the vectors of the sample, and name of the worker's machine."""

    vectors: Floats
    sample: str
    machine: str


def encode_batches(
    pool: Processes | Cluster | None,
    encoder: Encoder,
    batches: Iterator[Sequence[str]],
    prompt: str | None,
) -> Iterator[tuple[int, Floats]]:
    """Encode batches of texts in workers.

    A worker of a cluster loads the encoder itself, once, with its first batch. It must have the
    driver's code, encoder and packages, and the vectors that other workers have for the first
    texts. Of each worker two batches are under way, one of which waits.

    Yields the number of a batch, and its vectors, float32 [texts, layers, dimension]: what is done
    first comes first.
    """
    if not isinstance(pool, Cluster):
        yield from as_completed(pool, encode_checked, ((encoder, b, prompt) for b in batches))
        return
    head = next(batches)
    sample = head[:SAMPLE_TEXTS]
    find = partial(_facts, encoder)
    facts = find()
    calls = (
        (facts, find, _encode, encoder, batch, prompt, sample) for batch in chain([head], batches)
    )
    first = None
    for number, encoded in as_completed(pool, call_alike, calls):
        first = first or encoded
        if encoded.sample != first.sample:
            where = f"encoder {encoder.name}, on {encoded.machine} and {first.machine}"
            expected = "the same vectors of the same texts from all workers"
            todo = "use workers with the same processor or GPU, number of threads and packages"
            raise NoWorkers(where, expected, "other ones, if only by rounding", todo)
        yield number, encoded.vectors


def _facts(encoder: Encoder) -> dict[str, Any]:
    """Return what a worker must have in common with the driver."""
    return {
        **fingerprint(encoder),
        "layers": encoder.layers,
        "code": code_digest(__name__, "evaluation.encoders"),
        **releases_of(["numpy", *encoder.packages]),
    }


def _encode(
    encoder: Encoder, texts: Sequence[str], prompt: str | None, sample: Sequence[str]
) -> _Encoded:
    """Encode a batch, and the sample unless it was the last one; in a worker."""
    key = json.dumps([fingerprint(encoder), encoder.layers, prompt, sample])
    if key not in _sampled:
        digest = sha256(encode_checked(encoder, sample, prompt).tobytes()).hexdigest()
        _sampled.clear()
        _sampled[key] = digest
    return _Encoded(encode_checked(encoder, texts, prompt), _sampled[key], gethostname())
