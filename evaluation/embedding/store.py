"""The store of vectors: each text is encoded once, in all layers."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any

import numpy as np

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from corpora_recipes.running.workplaces import clear
from evaluation.arrays import Counts, Flags, Floats, Values
from evaluation.embedding.header import HEADER, fingerprint, read_header
from evaluation.encoders.encoder import Described, Encoder

KEY_BYTES = 16
Keys = np.ndarray[Any, np.dtype[np.bytes_]]
# numpy strips trailing zeros from every bytes string, so that comparisons stay right.
NO_KEYS: Keys = np.empty(0, f"S{KEY_BYTES}")
# The files of a chunk; the encoder names the layers.
_FILE = re.compile(r"(?P<name>[0-9a-f]{16})\.(keys|vectors\.(?P<layer>.+))\.npy")


def text_keys(texts: Sequence[str], prompt: str | None = None) -> Keys:
    """Return the keys of texts with a prompt, of 16 bytes each."""
    key = b"" if prompt is None else blake2b(prompt.encode(), digest_size=32).digest()
    keys = [blake2b(text.encode(), digest_size=KEY_BYTES, key=key).digest() for text in texts]
    return np.array(keys, NO_KEYS.dtype)


class EmbeddingStore:
    """A store opened for reading, with the chunks of that moment.

    Attributes:
        folder: of the store.
        dimension: length of a vector.
        prompt: that of the texts which are looked up.
    """

    def __init__(self, folder: Path, encoder: Described, prompt: str | None = None) -> None:
        """Open the store, to look up texts with a prompt.

        Raises:
            InputError: there is no store, or it was made with another encoder, revision or options.
        """
        found = read_header(folder)
        # Not from the encoder, which may have to load a model for it.
        self.dimension: int = found.pop("dimension", 0)
        if found != fingerprint(encoder):
            raise InputError(
                folder,
                expected=f"vectors of {fingerprint(encoder)}",
                found=f"vectors of {found}" if found else "no store",
                todo="run `probeta embed` with this encoder first",
            )
        self.folder = folder
        self.prompt = prompt
        self._index = _read_index(folder.absolute(), encoder.layers, self.dimension, _state(folder))

    def __len__(self) -> int:
        """Return the number of texts, each counted once."""
        return len(np.unique(self._index.keys))

    def has(self, keys: Keys) -> Flags:
        """Return for each key whether its text has a vector in every layer of the encoder."""
        known = self._index.keys
        place = np.searchsorted(known, keys)
        found: Flags = np.zeros(len(keys), np.bool_)
        inside = place < len(known)
        found[inside] = known[place[inside]] == keys[inside]
        return found

    def lookup(self, texts: Sequence[str], layer: str) -> Floats:
        """Return the vectors of the texts in one layer, float32 [len(texts), dimension].

        Raises:
            InputError: a text was never encoded, or its vector is damaged.
        """
        keys = text_keys(texts, self.prompt)
        missing = np.flatnonzero(~self.has(keys))
        if missing.size:
            raise InputError(
                self.folder,
                expected="a vector for every sentence of the instances",
                found=f"no vector for {texts[missing[0]]!r}",
                todo="run `probeta embed` on the same instances first",
            )
        index = self._index
        place = np.searchsorted(index.keys, keys)
        chunks, rows = index.chunks[place], index.rows[place]
        vectors: Floats = np.empty((len(texts), self.dimension), np.float32)
        order = np.argsort(chunks, kind="stable")
        own, starts = np.unique(chunks[order], return_index=True)
        for chunk, here in zip(own, np.split(order, starts[1:]), strict=False):
            stored = index.vectors[chunk][layer]
            vectors[here] = stored[rows[here]]
            _forget(stored)
        damaged = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if damaged.size:
            raise InputError(
                self.folder,
                expected="vectors of finite numbers",
                found=f"NaN or infinite numbers for {texts[damaged[0]]!r}, layer {layer}",
                todo="remove the folder and run `probeta embed`",
            )
        return vectors


def prepare(folder: Path, encoder: Encoder) -> None:
    """Make the folder a store of this encoder, without leftovers of killed and of older runs."""
    folder.mkdir(parents=True, exist_ok=True)
    header = read_header(folder)
    dimension = header.pop("dimension", None)
    if header != fingerprint(encoder) or type(dimension) is not int or dimension < 1:
        for path in folder.glob("*.npy"):
            path.unlink()
        # Only for a new store: the encoder may have to load a model for it.
        dimension = encoder.dimension
        header = {**fingerprint(encoder), "dimension": dimension}
        _write_whole(folder / HEADER, json.dumps(header, indent=2).encode())
    layers = encoder.layers
    chunks = {name: _read_chunk(folder, name, layers, dimension) for name in _chunk_names(folder)}
    clear(folder)
    for path in folder.glob("*.npy"):
        known = _FILE.fullmatch(path.name)
        chunk = chunks.get(known["name"]) if known else None
        if known is None or chunk is None or known["layer"] in {*layers} - chunk.vectors.keys():
            path.unlink()


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The keys of a chunk, and the requested layers that are complete, memory-mapped."""

    keys: Keys
    vectors: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class _Index:
    """Where the vector of each key is.

    Attributes:
        keys: of all chunks, sorted.
        chunks: number of the chunk of each key.
        rows: its row in that chunk.
        vectors: for each chunk the vectors of all layers, memory-mapped.
    """

    keys: Keys
    chunks: Counts
    rows: Counts
    vectors: list[dict[str, Floats]]


# A run looks up the texts of one dataset after the other, in the same store.
@lru_cache(maxsize=1)
def _read_index(
    folder: Path, layers: tuple[str, ...], dimension: int, state: tuple[object, ...]
) -> _Index:
    """Return the index of the chunks that are complete, as long as the folder is in a state."""
    del state
    found = (_read_chunk(folder, name, layers, dimension) for name in _chunk_names(folder))
    chunks = [chunk for chunk in found if chunk and chunk.vectors.keys() == set(layers)]
    # A run of `embed` writes its chunks in the order of the keys, which is sorted at once.
    chunks.sort(key=lambda chunk: chunk.keys[:1].tobytes())
    keys = np.concatenate([chunk.keys for chunk in chunks] or [NO_KEYS])
    order = np.argsort(keys, kind="stable")
    sizes = [len(chunk.keys) for chunk in chunks]
    rows = np.concatenate([np.arange(size) for size in sizes] or [order])
    numbers = np.repeat(np.arange(len(chunks)), sizes)
    return _Index(keys[order], numbers[order], rows[order], [chunk.vectors for chunk in chunks])


def _state(folder: Path) -> tuple[object, ...]:
    """Return what changes with the files of a store: their names, sizes and times."""
    with os.scandir(folder) as files:
        known = [(file.name, file.stat()) for file in files if file.name.endswith(".npy")]
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in known))


def _forget(stored: Floats) -> None:
    """Give back the memory that a memory-mapped array has taken for what was read of it."""
    if isinstance(stored.base, mmap):
        stored.base.madvise(MADV_DONTNEED)


def _chunk_names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".keys.npy") for path in folder.glob("*.keys.npy"))


def _read_chunk(folder: Path, name: str, layers: Sequence[str], dimension: int) -> _Chunk | None:
    """Return a chunk, or None if its keys are damaged."""
    keys = _read_array(folder / _keys_file(name), np.uint8)
    if keys is None or keys.shape[1:] != (KEY_BYTES,) or _chunk_digest(keys) != name:
        return None
    vectors = {}
    for layer in layers:
        found = _read_array(folder / _vectors_file(name, layer), np.float32)
        if found is not None and found.shape == (len(keys), dimension):
            vectors[layer] = found
    return _Chunk(np.frombuffer(keys.tobytes(), NO_KEYS.dtype), vectors)


def _read_array(path: Path, kind: type[np.generic]) -> Values | None:
    """Return a memory-mapped array, or None if the file has no array of this type."""
    try:
        found: Values = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return found if found.dtype == kind else None


def _keys_file(name: str) -> str:
    return f"{name}.keys.npy"


def _vectors_file(name: str, layer: str) -> str:
    return f"{name}.vectors.{layer}.npy"


def _chunk_digest(keys: Values) -> str:
    return blake2b(keys.tobytes(), digest_size=8).hexdigest()


def write_chunk(folder: Path, keys: Keys, layers: Sequence[str], vectors: Floats) -> None:
    """Write a part of the store; it is valid once the keys are there, which come last."""
    name = _chunk_digest(keys)
    for number, layer in enumerate(layers):
        _write_whole(folder / _vectors_file(name, layer), vectors[:, number])
    rows = np.frombuffer(keys.tobytes(), np.uint8).reshape(-1, KEY_BYTES)
    _write_whole(folder / _keys_file(name), rows)


def _write_whole(path: Path, content: bytes | Values) -> None:
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            np.save(stream, content, allow_pickle=False)
