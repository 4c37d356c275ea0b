"""The stage `embed`: the vectors of all texts; and the post-processing of vectors before use.

A post-processing is fitted on vectors of the same encoder. It is a map x -> (x - centre) A with a
symmetric matrix A that does not depend on the signs of eigenvectors, nor on their choice where some
are equal, unless the last that is taken out and the first that stays are. A is diagonal in the
eigenvectors of a second moment of the vectors:

    centre             A is the identity.
    abtt               "all but the top" (Mu and Viswanath 2018, algorithm 1): centred, and
                       the D principal components of the largest variance taken out, D = d / 100 of
                       dimension d, rounded, and 1 at least.
    component_removal  the first singular direction taken out, not centred (Arora, Liang and Ma
                       2017, "A simple but tough-to-beat baseline for sentence embeddings",
                       algorithm 1).
    whitening          centred, and all components brought to variance 1 (Su et al. 2021, "Whitening
                       sentence representations for better semantics and faster retrieval"). Their
                       map ends in a rotation more, which changes neither cosine nor distance.
                       Components that vary by no more than rounding, as many do where there are
                       fewer texts than dimensions, are taken out: nothing is known of them.

A vector of zeros, which an encoder gives to an unknown text, is not fitted on and stays zero.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.console import plural, progress
from corpora_recipes.running.errors import InputError, NoWorkers, OutputError
from corpora_recipes.running.executors import CPUS, Processes, as_completed, open_executor
from corpora_recipes.running.outputs import format_size, free_at, locked_folder
from evaluation.arrays import Doubles, Floats, Rows
from evaluation.datasets import Dataset
from evaluation.embedding.store import (
    NO_KEYS,
    EmbeddingStore,
    EncodedDataset,
    add_files,
    describe_datasets,
    fingerprint,
    prepare_store,
    read_header,
    remove_chunks,
    text_keys,
    write_chunk,
)
from evaluation.encoders import release
from evaluation.encoders.encoder import (
    Described,
    Description,
    Encoder,
    HasWords,
    Postprocess,
    encode_checked,
)
from evaluation.encoders.endpoint import Endpoint
from evaluation.features import Lookup, prompt_of, prompted_texts, unique_texts
from evaluation.measures import all_threads

if TYPE_CHECKING:
    from corpora_recipes.running.cluster import Cluster

_BLOCK_TEXTS = 4096
# What is shorter than this share of the vectors is their rounding (float32: 2 ** -24, and less of
# a mean of many), or that of float64 (2 ** -53) in what is taken from them.
_ROUNDING = 2.0**-40


def fitted_on(encoder: Description, dataset: Dataset) -> str:
    """Return on which texts of a dataset an encoder's post-processing is fitted.

    "train": those of this split; "own": all, where there are folds or no such split; "": it has no
    post-processing.
    """
    if encoder.postprocessing == "none":
        return ""
    return "train" if "train" in dataset.files and not dataset.folds else "own"


def open_lookup(encoder: Description, store: Path, dataset: Dataset, layer: str) -> Lookup:
    """Return a function from texts of a dataset to their vectors in a layer.

    The vectors are post-processed, if the encoder asks for it; call it within ``one_thread``.
    """
    embedding_store = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
    lookup = partial(embedding_store.lookup, layer=layer)
    if not (basis := fitted_on(encoder, dataset)):
        return lookup
    texts = sorted(unique_texts(dataset, encoder.form, ["train"] if basis == "train" else ()))
    fitted = Fitting(lookup(texts)).fit(encoder.postprocessing)
    return lambda texts: fitted.apply(lookup(texts))


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """A fitted map.

    Attributes:
        centre: is subtracted first, float64 [dimension].
        matrix: multiplies the rest, float64 [dimension, dimension]; None for the identity.
        gain: the most that it can lengthen a vector.
    """

    centre: Doubles
    matrix: Doubles | None
    gain: float

    def apply(self, vectors: Floats) -> Floats:
        """Return the vectors' images, float32 of the same shape.

        An image that is rounding alone is 0, so that it has no direction: that of a vector which is
        the mean, or all of whose components were removed. One beyond the range of float32 is
        infinite.
        """
        images = np.empty(vectors.shape, np.float32)
        centre_length = np.linalg.norm(self.centre)
        for start in range(0, len(vectors), _BLOCK_TEXTS):
            wide = vectors[start : start + _BLOCK_TEXTS].astype(np.float64)
            lengths = np.linalg.norm(wide, axis=1)
            wide -= self.centre
            if self.matrix is not None:
                wide = wide @ self.matrix
            rounding = _ROUNDING * self.gain * (lengths + centre_length)
            wide[(np.linalg.norm(wide, axis=1) <= rounding) | (lengths == 0)] = 0
            with np.errstate(over="ignore"):
                images[start : start + _BLOCK_TEXTS] = wide
        return images


class Fitting:
    """Post-processings fitted on the same vectors: mean and covariance are computed once."""

    def __init__(self, vectors: Floats) -> None:
        """Fit nothing yet; all that follows within ``one_thread``.

        Args:
            vectors: float32 [texts, dimension], one text or more; may be memory-mapped.
        """
        self._vectors = vectors

    def postprocess(self, name: Postprocess) -> Floats:
        """Return the vectors after a post-processing that is fitted on all of them."""
        return self._vectors if name == "none" else self.fit(name).apply(self._vectors)

    def fit(self, name: Postprocess) -> Postprocessing:
        """Return a post-processing other than "none"."""
        dimension = self._vectors.shape[1]
        if name == "centre":
            return Postprocessing(self._mean, None, 1.0)
        if name == "component_removal":
            centre = np.zeros(dimension)
            variances, components = self._moment(centre)
        else:
            centre = self._mean
            variances, components = self._covariance
        if name == "whitening":
            squared_lengths = variances.sum() + centre @ centre
            varies = variances > _ROUNDING * squared_lengths
            scales = np.zeros(dimension)
            scales[varies] = variances[varies] ** -0.5
        else:
            removed = 1 if name == "component_removal" else max(1, round(dimension / 100))
            scales = np.ones(dimension)
            scales[dimension - removed :] = 0
        return Postprocessing(centre, (components * scales) @ components.T, float(scales.max()))

    @cached_property
    def _count(self) -> int:
        return max(1, sum(map(len, _blocks(self._vectors))))

    @cached_property
    def _mean(self) -> Doubles:
        centre = np.zeros(self._vectors.shape[1])
        for block in _blocks(self._vectors):
            centre += block.sum(axis=0)
        return centre / self._count

    @cached_property
    def _covariance(self) -> tuple[Doubles, Doubles]:
        return self._moment(self._mean)

    def _moment(self, centre: Doubles) -> tuple[Doubles, Doubles]:
        """Return the second moment about a centre: its eigenvalues, ascending, and eigenvectors."""
        moment = np.zeros((len(centre), len(centre)))
        for block in _blocks(self._vectors):
            block -= centre
            moment += block.T @ block
        variances, components = np.linalg.eigh(moment / self._count)
        return variances, components


def _blocks(vectors: Floats) -> Iterator[Doubles]:
    """Yield the vectors that are not 0."""
    for start in range(0, len(vectors), _BLOCK_TEXTS):
        block = vectors[start : start + _BLOCK_TEXTS]
        yield block[block.any(axis=1)].astype(np.float64)


# A killed run loses at most twice this many texts per worker.
CHUNK_TEXTS = 2048
# Texts whose vectors are searched for zeros together.
_ZERO_TEXTS = 1 << 14
_SHOWN_WORDS = 5
# The first texts, by which the workers of a cluster are compared.
SAMPLE_TEXTS = 16
# In a worker of a cluster: the sample that it encoded last, and the digest of its vectors.
_sample_digests: dict[str, str] = {}


def embed_datasets(
    folder: Path,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    workers: int | None = 1,
    executor: str = "local",
) -> tuple[dict[str, EncodedDataset], int, int]:
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

    Returns:
        What the store says of each dataset, the number of texts encoded now, and that of all.
    """
    texts_by_prompt = prompted_texts(encoder, datasets)
    with locked_folder(folder, "embed", wait=True):
        prepare_store(folder, encoder)
        _make_room(folder, encoder, texts_by_prompt)
        n_encoded = sum(
            embed_texts(folder, encoder, texts, workers, prompt, executor)
            for prompt, texts in texts_by_prompt.items()
        )
        check_zeros(folder, encoder, texts_by_prompt)
        n_texts = sum(map(len, texts_by_prompt.values()))
        return describe_datasets(encoder, datasets, folder), n_encoded, n_texts


def _make_room(
    folder: Path, encoder: Encoder, texts_by_prompt: Mapping[str | None, Collection[str]]
) -> None:
    """Check that the vectors of texts fit the disk, before they are encoded.

    Of an encoder whose vectors are not kept, those that a killed run has left of other texts go.
    """
    dimension, n_layers = int(read_header(folder)["dimension"]), len(encoder.layers)
    text_size = n_layers * encoder.vectors.bytes_of(dimension)
    # Mostly there is room for all of them, stored or not.
    n_texts = sum(map(len, texts_by_prompt.values()))
    if encoder.vectors.keep and n_texts * text_size <= free_at(folder):
        return
    of_prompts = [text_keys([*texts], prompt) for prompt, texts in texts_by_prompt.items()]
    keys = np.concatenate([NO_KEYS, *of_prompts])
    if not encoder.vectors.keep:
        remove_chunks(folder, keys)
    n_texts = int((~EmbeddingStore(folder, encoder).has(np.unique(keys))).sum())
    size = n_texts * text_size
    if size <= (free := free_at(folder)):
        return
    expected = f"room for {format_size(size)}: {plural(n_texts, 'texts')}, "
    expected += f"{plural(n_layers, 'layers')} of {dimension} dimensions"
    smaller = ["fewer layers"] if n_layers > 1 else []
    smaller += ["`vectors: {dtype: float16}`"] if encoder.vectors.dtype == "float32" else []
    smaller += ["`vectors: {keep: false}`"] if encoder.vectors.keep else []
    todo = "make room, or ask for less: " + ", or ".join([*smaller, "fewer datasets"])
    raise InputError(f"the disk of {folder}", expected, f"{format_size(free)} free", todo)


Compute = Callable[[list[str]], Iterable[tuple[str, Any]]]
"""Yields the parts of some names, see ``evaluation.results.stored.score_parts``."""


def encode_when_needed(
    encoder: Encoder,
    store: Path,
    needed: Mapping[str, Sequence[Dataset]],
    compute: Compute,
    workers: int | None = 1,
    executor: str = "local",
) -> Compute:
    """Return a function that computes parts as another does, when their vectors are there.

    They are in the store of an encoder that keeps them. Otherwise it encodes what the parts of the
    same datasets need, beginning with the most texts, yields these parts, and removes the vectors:
    the store, which ``prepare_store`` has made, holds no more than the vectors of the datasets of a
    part. ``needed`` is part to these; for the other arguments see ``embed_datasets``.
    """
    if encoder.vectors.keep:
        return compute

    def compute_encoded(new: list[str]) -> Iterator[tuple[str, Any]]:
        parts: dict[tuple[str, ...], list[str]] = {}
        for part in new:
            parts.setdefault(tuple(dataset.name for dataset in needed[part]), []).append(part)

        def count_texts(alike: list[str]) -> int:
            return sum(dataset.n_texts for dataset in needed[alike[0]])

        try:
            for alike in sorted(parts.values(), key=count_texts, reverse=True):
                with all_threads():
                    embed_datasets(store, encoder, needed[alike[0]], workers, executor)
                yield from compute(alike)
                remove_chunks(store)
        finally:
            release()

    return compute_encoded


def embed_texts(
    folder: Path,
    encoder: Encoder,
    texts: Collection[str],
    workers: int | None = 1,
    prompt: str | None = None,
    executor: str = "local",
) -> int:
    """Encode the texts of a prompt that a store lacks, and return their number.

    ``prepare_store`` has made the folder a store of the encoder. For the other arguments see
    ``embed_datasets``.
    """
    store = EmbeddingStore(folder, encoder)
    texts = list(texts)
    # In the order of the keys, so that the chunks do not depend on the order of the texts.
    text_by_key = dict(sorted(zip(text_keys(texts, prompt).tolist(), texts, strict=True)))
    keys = np.array(list(text_by_key), NO_KEYS.dtype)
    missing = keys[~store.has(keys)]
    if not len(missing):
        return 0
    chunks = [slice(start, start + CHUNK_TEXTS) for start in range(0, len(missing), CHUNK_TEXTS)]
    if isinstance(encoder, HasWords | Endpoint):
        executor = "local"
    if executor == "local":
        workers = min(workers or CPUS, len(chunks)) if encoder.parallel else 1
    with (
        open_executor(executor, workers) as pool,
        progress(len(missing), f"embed {encoder.name}", "text") as bar,
    ):
        encoded: Iterator[tuple[Rows | slice, Floats]]
        if isinstance(encoder, Endpoint):
            ordered = [text_by_key[key] for key in missing.tolist()]
            encoded = encoder.stream(ordered, prompt, store.dimension, bar.update)
        else:
            batches = ([text_by_key[key] for key in missing[chunk].tolist()] for chunk in chunks)
            update = bar.update if pool is None else None
            by_number = encode_batches(pool, encoder, batches, prompt, update)
            encoded = ((chunks[number], vectors) for number, vectors in by_number)
        for rows, vectors in encoded:
            if vectors.shape[2] != store.dimension:
                expected = f"vectors of dimension {store.dimension}, as in encoder.json"
                found = f"dimension {vectors.shape[2]} of {encoder.name} {encoder.revision}"
                todo = "remove the folder; an encoder of other vectors has another revision"
                raise OutputError(folder, expected, found, todo)
            add_files(folder, encoder)
            write_chunk(folder, missing[rows], encoder, vectors)
            if pool is not None:
                bar.update(len(vectors))
    return len(missing)


def check_zeros(
    folder: Path, encoder: Described, texts_by_prompt: Mapping[str | None, Collection[str]]
) -> None:
    """Warn of texts with a vector of zeros in the main layer; refuse an encoder without another."""
    zeros: list[str] = []
    for prompt, texts in texts_by_prompt.items():
        store, ordered = EmbeddingStore(folder, encoder, prompt), sorted(texts)
        for start in range(0, len(ordered), _ZERO_TEXTS):
            block = ordered[start : start + _ZERO_TEXTS]
            vectors = store.lookup(block, encoder.layer)
            zeros += [block[row] for row in np.flatnonzero(~np.any(vectors, axis=1))]
    if not zeros:
        return
    total = sum(map(len, texts_by_prompt.values()))
    found = f"{len(zeros)} of {total} texts, such as {zeros[0]!r}"
    if len(zeros) == total:
        expected, found = "vectors with a number other than 0", f"a vector of zeros for all {found}"
        todo = "correct the encoder"
        if isinstance(encoder, HasWords):
            words = ", ".join(map(repr, next(encoder.vocabulary())[0][:_SHOWN_WORDS]))
            todo = "take vectors whose words are of the language of the texts, and written as in "
            todo += f"them; those of the file begin with {words}"
        raise InputError(f"encoder {encoder.name}", expected, found, todo)
    message = "%s: a vector of zeros for %s: the encoder knows nothing of them"
    logging.getLogger(__name__).warning(message, encoder.name, found)


class _Encoded(NamedTuple):
    """Vectors of a batch, digest of the vectors of the sample, and name of the worker's machine."""

    vectors: Floats
    sample: str
    machine: str


def encode_batches(
    pool: "Processes | Cluster | None",
    encoder: Encoder,
    batches: Iterator[Sequence[str]],
    prompt: str | None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[tuple[int, Floats]]:
    """Encode batches of texts in workers.

    A worker of a cluster loads the encoder itself, once, with its first batch. It must have the
    driver's code, encoder and packages, and the vectors that other workers have for the first
    texts. Each worker has two batches in flight, one of them queued.

    Yields the number of a batch, and its vectors, float32 [texts, layers, dimension], in the order
    of completion. ``progress``, only without a pool, is called with a number of texts done.
    """
    if pool is None or isinstance(pool, Processes):
        yield from as_completed(
            pool, encode_checked, ((encoder, batch, prompt, progress) for batch in batches)
        )
        return
    from corpora_recipes.running.cluster import call_alike

    first_batch = next(batches)
    sample = first_batch[:SAMPLE_TEXTS]
    find_facts = partial(_facts, encoder)
    driver_facts = find_facts()
    calls = (
        (driver_facts, find_facts, _encode, encoder, batch, prompt, sample)
        for batch in chain([first_batch], batches)
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
    from corpora_recipes.running.cluster import releases_of

    return {
        **fingerprint(encoder),
        "layers": encoder.layers,
        "code": code_digest(__name__, "evaluation.encoders"),
        **releases_of(["numpy", *encoder.packages]),
    }


def _encode(
    encoder: Encoder, texts: Sequence[str], prompt: str | None, sample: Sequence[str]
) -> _Encoded:
    """Encode a batch, and the sample unless it is cached; in a worker."""
    key = json.dumps([fingerprint(encoder), encoder.layers, prompt, sample])
    if key not in _sample_digests:
        digest = sha256(encode_checked(encoder, sample, prompt).tobytes()).hexdigest()
        _sample_digests.clear()
        _sample_digests[key] = digest
    return _Encoded(encode_checked(encoder, texts, prompt), _sample_digests[key], gethostname())
