"""Encoding in the workers of a cluster, which must give the same vectors."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from socket import gethostname
from typing import Any

from corpora_recipes.running.cluster import Cluster, call_alike, releases_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import NoWorkers
from corpora_recipes.running.executors import as_completed
from evaluation.arrays import Floats
from evaluation.embedding.checked import encode_checked
from evaluation.embedding.header import fingerprint
from evaluation.encoders.encoder import Encoder

# Of a worker: the sample that it encoded last, and the digest of the vectors.
_sampled: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class _Encoded:
    """What a worker returns.

    Attributes:
        vectors: of the batch, float32 [texts, layers, dimension].
        sample: the digest of its vectors of the sample.
        machine: the name of the worker's machine.
    """

    vectors: Floats
    sample: str
    machine: str


def encode_remotely(
    cluster: Cluster,
    encoder: Encoder,
    batches: Iterable[Sequence[str]],
    prompt: str | None,
    sample: Sequence[str],
) -> Iterator[tuple[int, Floats]]:
    """Encode batches of texts in the workers of a cluster.

    A worker loads the encoder itself, once, with its first batch. It must have the driver's code,
    encoder and packages, and the vectors that other workers have for the sample.

    Args:
        cluster: has the workers.
        encoder: what encodes.
        batches: of texts; one for each worker, and another one that waits, are under way.
        prompt: that of the texts, for an encoder that takes prompts.
        sample: texts by which workers are compared.

    Yields:
        The number of a batch, and its vectors, float32 [texts, layers, dimension]: what is done
        first comes first.

    Raises:
        InputError: see ``encode_checked``; or a worker is not like the driver or the others.
    """
    find = partial(_facts, encoder)
    wanted = find()
    calls = ((wanted, find, _encode, encoder, batch, prompt, sample) for batch in batches)
    first = None
    for number, found in as_completed(cluster, call_alike, calls):
        first = first or found
        if found.sample != first.sample:
            raise NoWorkers(
                f"encoder {encoder.name}, on {found.machine} and {first.machine}",
                expected="the same vectors of the same texts from all workers",
                found="other ones, if only by rounding",
                todo="use workers of one kind: the same processor or GPU, number of threads and "
                "versions of packages; what was encoded before is kept",
            )
        yield number, found.vectors


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
