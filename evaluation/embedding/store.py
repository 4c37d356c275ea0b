"""The store of vectors: each text is encoded once, in all layers.

A chunk NAME, of some thousand texts, has the files NAME.keys.npy, with the key of each text, and
for each layer NAME.vectors.LAYER.npy and NAME.sums.LAYER.npy: the sum of a row is a digest of the
text's key and its vector, which is checked whenever the vector is used.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.memo import digest_of
from corpora_recipes.running.outputs import clear, whole_file
from evaluation.arrays import Counts, Flags, Floats, Rows, Values
from evaluation.embedding.header import HEADER, fingerprint, made_by, read_header
from evaluation.encoders.encoder import Described, Encoder

KEY_BYTES, SUM_BYTES = 16, 8
Keys = np.ndarray[Any, np.dtype[np.bytes_]]
# numpy strips trailing zeros from every bytes string, so that comparisons stay right.
NO_KEYS: Keys = np.empty(0, f"S{KEY_BYTES}")
# The files of a chunk; the encoder names the layers.
_FILE = re.compile(r"(?P<name>[0-9a-f]{16})\.(keys|(?:vectors|sums)\.(?P<layer>.+))\.npy")


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
        made_by: code and versions that made them.
        layers: of the encoder.
        prompt: that of the texts which are looked up.
    """

    def __init__(self, folder: Path, encoder: Described, prompt: str | None = None) -> None:
        """Open the store, to look up texts with a prompt.

        Raises:
            InputError: there is no store, or it was made with another encoder, revision or options.
        """
        header = read_header(folder)
        # Not from the encoder, which may have to load a model for it.
        self.dimension: int = header.get("dimension", 0)
        self.made_by: dict[str, Any] = header.get("made_by", {})
        found = {name: header[name] for name in fingerprint(encoder) if name in header}
        if found != fingerprint(encoder):
            raise InputError(
                folder,
                expected=f"vectors of {fingerprint(encoder)}",
                found=f"vectors of {found}" if found else "no store",
                todo="run `probeta embed` with this encoder first",
            )
        self.folder = folder
        self.layers = encoder.layers
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
        vectors: Floats = np.empty((len(texts), self.dimension), np.float32)
        for here, layers, rows in self._places(texts, keys):
            vectors[here] = layers[layer].vectors[rows]
            _forget(layers[layer].vectors)
            wrong = sums_of(keys[here], vectors[here]) != layers[layer].sums[rows]
            if wrong.any():
                raise InputError(
                    self.folder,
                    expected="the vectors that were encoded",
                    found=f"another one for {texts[here[wrong.any(axis=1).argmax()]]!r}, "
                    f"layer {layer}",
                    todo="run `probeta embed`, which encodes what is damaged again",
                )
        damaged = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if damaged.size:
            raise InputError(
                self.folder,
                expected="vectors of finite numbers",
                found=f"NaN or infinite numbers for {texts[damaged[0]]!r}, layer {layer}",
                todo="remove the folder and run `probeta embed`",
            )
        return vectors

    def digests(self, texts: Sequence[str]) -> tuple[str, dict[str, str]]:
        """Return the SHA-256 of texts with their prompt, and of their vectors in each layer.

        These do not depend on how the store is parted into chunks.

        Args:
            texts: in the order in which they count.

        Raises:
            InputError: a text was never encoded.
        """
        keys = text_keys(texts, self.prompt)
        sums = {layer: np.empty((len(texts), SUM_BYTES), np.uint8) for layer in self.layers}
        for here, layers, rows in self._places(texts, keys):
            for layer, of_layer in layers.items():
                sums[layer][here] = of_layer.sums[rows]
        return (
            sha256(keys.tobytes()).hexdigest(),
            {layer: sha256(own.tobytes()).hexdigest() for layer, own in sums.items()},
        )

    def _places(
        self, texts: Sequence[str], keys: Keys
    ) -> Iterator[tuple[Rows, dict[str, "_Layer"], Rows]]:
        """Yield which of some texts are in a chunk, its layers, and their rows there."""
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
        order = np.argsort(chunks, kind="stable")
        own, starts = np.unique(chunks[order], return_index=True)
        for chunk, here in zip(own, np.split(order, starts[1:]), strict=False):
            yield here, index.layers[chunk], rows[here]


def sums_of(keys: Keys, vectors: Floats) -> Values:
    """Return the digests of keys with their vectors, uint8 [n, SUM_BYTES]."""
    whole, size = keys.tobytes(), keys.itemsize
    rows = np.ascontiguousarray(vectors)
    sums = b"".join(
        blake2b(row, digest_size=SUM_BYTES, key=whole[place * size : (place + 1) * size]).digest()
        for place, row in enumerate(rows)
    )
    return np.frombuffer(sums, np.uint8).reshape(-1, SUM_BYTES)


def prepare(folder: Path, encoder: Encoder, known: Mapping[str, str] | None = None) -> None:
    """Make the folder a store of this encoder, without leftovers, and with sound chunks alone.

    Args:
        folder: of the store; one of another encoder, or made by other code, is emptied.
        encoder: the encoder.
        known: path to the SHA-256 that files had at the end of an earlier run. Of a file that is
            the same, nothing is checked; a chunk with another one is removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = read_header(folder)
    dimension = header.pop("dimension", None)
    wanted = {**fingerprint(encoder), "made_by": made_by(encoder)}
    if header != wanted or type(dimension) is not int or dimension < 1:
        for path in folder.glob("*.npy"):
            path.unlink()
        # Only for a new store: the encoder may have to load a model for it.
        dimension = encoder.dimension
        header = {**wanted, "dimension": dimension}
        _write_whole(folder / HEADER, json.dumps(header, indent=2).encode())
    layers = encoder.layers
    chunks = {
        name: chunk
        for name in _chunk_names(folder)
        if (chunk := _read_chunk(folder, name, layers, dimension))
        and _is_sound(folder, name, chunk, known or {})
    }
    clear(folder)
    for path in folder.glob("*.npy"):
        of = _FILE.fullmatch(path.name)
        chunk = chunks.get(of["name"]) if of else None
        if of is None or chunk is None or of["layer"] in {*layers} - chunk.layers.keys():
            path.unlink()


def _is_sound(folder: Path, name: str, chunk: "_Chunk", known: Mapping[str, str]) -> bool:
    """Return whether the vectors of a chunk are those that were encoded."""
    files = [folder / _keys_file(name)]
    for layer in chunk.layers:
        files += [folder / _layer_file(name, kind, layer) for kind in ("vectors", "sums")]
    before = [known.get(file.as_posix()) for file in files]
    if any(before):
        return before == [digest_of(file) for file in files]
    return all(
        (sums_of(chunk.keys, of_layer.vectors) == of_layer.sums).all()
        for of_layer in chunk.layers.values()
    )


class _Layer(NamedTuple):
    """The vectors of a chunk in a layer, memory-mapped, and their sums."""

    vectors: Floats
    sums: Values


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The keys of a chunk, and the requested layers that are complete."""

    keys: Keys
    layers: dict[str, _Layer]


@dataclass(frozen=True, slots=True)
class _Index:
    """Where the vector of each key is.

    Attributes:
        keys: of all chunks, sorted.
        chunks: number of the chunk of each key.
        rows: its row in that chunk.
        layers: for each chunk all layers.
    """

    keys: Keys
    chunks: Counts
    rows: Counts
    layers: list[dict[str, _Layer]]


# A run looks up the texts of one dataset after the other, in the same store.
@lru_cache(maxsize=1)
def _read_index(
    folder: Path, layers: tuple[str, ...], dimension: int, state: tuple[object, ...]
) -> _Index:
    """Return the index of the chunks that are complete, as long as the folder is in a state."""
    del state
    found = (_read_chunk(folder, name, layers, dimension) for name in _chunk_names(folder))
    chunks = [chunk for chunk in found if chunk and chunk.layers.keys() == set(layers)]
    # A run of `embed` writes its chunks in the order of the keys, which is sorted at once.
    chunks.sort(key=lambda chunk: chunk.keys[:1].tobytes())
    keys = np.concatenate([chunk.keys for chunk in chunks] or [NO_KEYS])
    order = np.argsort(keys, kind="stable")
    sizes = [len(chunk.keys) for chunk in chunks]
    rows = np.concatenate([np.arange(size) for size in sizes] or [order])
    numbers = np.repeat(np.arange(len(chunks)), sizes)
    return _Index(keys[order], numbers[order], rows[order], [chunk.layers for chunk in chunks])


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
    there = {}
    for layer in layers:
        vectors = _read_array(folder / _layer_file(name, "vectors", layer), np.float32)
        sums = _read_array(folder / _layer_file(name, "sums", layer), np.uint8)
        shapes = [found.shape for found in (vectors, sums) if found is not None]
        if vectors is not None and shapes == [(len(keys), dimension), (len(keys), SUM_BYTES)]:
            there[layer] = _Layer(vectors, np.array(sums))
    return _Chunk(np.frombuffer(keys.tobytes(), NO_KEYS.dtype), there)


def _read_array(path: Path, kind: type[np.generic]) -> Values | None:
    """Return a memory-mapped array, or None if the file has no array of this type."""
    try:
        found: Values = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return found if found.dtype == kind else None


def _keys_file(name: str) -> str:
    return f"{name}.keys.npy"


def _layer_file(name: str, kind: str, layer: str) -> str:
    return f"{name}.{kind}.{layer}.npy"


def _chunk_digest(keys: Values) -> str:
    return blake2b(keys.tobytes(), digest_size=8).hexdigest()


def write_chunk(folder: Path, keys: Keys, layers: Sequence[str], vectors: Floats) -> None:
    """Write a part of the store; it is valid once the keys are there, which come last."""
    name = _chunk_digest(keys)
    for number, layer in enumerate(layers):
        of_layer = np.ascontiguousarray(vectors[:, number])
        _write_whole(folder / _layer_file(name, "vectors", layer), of_layer)
        _write_whole(folder / _layer_file(name, "sums", layer), sums_of(keys, of_layer))
    rows = np.frombuffer(keys.tobytes(), np.uint8).reshape(-1, KEY_BYTES)
    _write_whole(folder / _keys_file(name), rows)


def _write_whole(path: Path, content: bytes | Values) -> None:
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            np.save(stream, content, allow_pickle=False)
