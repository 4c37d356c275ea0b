"""Encoding in processes of this machine, or in workers of a cluster, which must encode alike."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain
from socket import gethostname
from typing import Any, NamedTuple

from corpora_recipes.running.cluster import Cluster, call_alike, releases_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import NoWorkers
from corpora_recipes.running.executors import Processes, as_completed
from evaluation.arrays import Floats
from evaluation.embedding.store import fingerprint
from evaluation.encoders.encoder import Encoder, encode_checked

# The first texts, by which the workers of a cluster are compared.
SAMPLE_TEXTS = 16
# Of a worker: the sample that it encoded last, and the digest of the vectors.
_sampled: dict[str, str] = {}


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

    Yields:
        The number of a batch, and its vectors, float32 [texts, layers, dimension]: what is done
        first comes first.

    Raises:
        InputError: see ``encode_checked``; or a worker is not like the driver or the others.
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
            raise NoWorkers(
                f"encoder {encoder.name}, on {encoded.machine} and {first.machine}",
                "the same vectors of the same texts from all workers",
                "other ones, if only by rounding",
                "use workers of one kind: the same processor or GPU, number of threads and "
                "versions of packages; what was encoded before is kept",
            )
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
