"""The stage `embed`: every text of all datasets to vectors, once."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.locks import locked_folder
from evaluation.arrays import Floats
from evaluation.embedding.checked import encode_checked
from evaluation.embedding.store import NO_KEYS, EmbeddingStore, prepare, text_keys, write_chunk
from evaluation.encoders.encoder import Encoder

# A killed run loses at most this many texts per worker.
CHUNK_TEXTS = 2048


def embed(
    folder: Path,
    encoder: Encoder,
    texts: Iterable[str],
    workers: int = 1,
    prompt: str | None = None,
) -> int:
    """Bring the store up to date: encode the texts that it does not have.

    A store of another encoder, revision or options is emptied first, damaged chunks are removed.
    Waits until no other run is at work on the store.

    Args:
        folder: of the store; made if need be.
        encoder: what encodes.
        texts: with repetitions, in any order.
        workers: number of processes at most, of an encoder that may run in several; the vectors do
            not depend on it.
        prompt: that of all these texts, for an encoder that takes prompts.

    Returns:
        The number of texts encoded.

    Raises:
        InputError: the encoder gave something else than finite vectors for each text. What was
            encoded before stays.
    """
    with locked_folder(folder, "embed", wait=True):
        return _embed(folder, encoder, list(texts), workers, prompt)


def _embed(
    folder: Path, encoder: Encoder, texts: list[str], workers: int, prompt: str | None
) -> int:
    from tqdm import tqdm

    prepare(folder, encoder)
    store = EmbeddingStore(folder, encoder)
    # In the order of the keys, so that the chunks do not depend on the order of the texts.
    keyed = dict(sorted(zip(text_keys(texts, prompt).tolist(), texts, strict=True)))
    keys = np.array(list(keyed), NO_KEYS.dtype)
    order = keys[~store.has(keys)]
    chunks = [order[start : start + CHUNK_TEXTS] for start in range(0, len(order), CHUNK_TEXTS)]
    processes = min(workers, max(1, len(chunks))) if encoder.parallel else 1
    with (
        open_executor("local", processes) as executor,
        tqdm(total=len(order), desc=f"embed {encoder.name}", unit="text", disable=None) as bar,
    ):
        batches = ([keyed[key] for key in chunk.tolist()] for chunk in chunks)
        results: Iterator[Floats]
        if executor is None:
            results = (encode_checked(encoder, batch, prompt) for batch in batches)
        else:
            call = partial(encode_checked, encoder, prompt=prompt)
            results = executor.map(call, batches)
        for chunk, vectors in zip(chunks, results, strict=True):
            if vectors.shape[2] != store.dimension:
                raise InputError(
                    folder,
                    expected=f"vectors of dimension {store.dimension}, as in encoder.json",
                    found=f"dimension {vectors.shape[2]} of encoder {encoder.name} "
                    f"{encoder.revision}",
                    todo="remove the folder; an encoder of other vectors has another revision",
                )
            write_chunk(folder, chunk, encoder.layers, vectors)
            bar.update(len(chunk))
    return len(order)
