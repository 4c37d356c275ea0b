"""The embedding store: each text is encoded once, over all datasets and all runs.

A store is a folder: ``encoder.json`` says which encoder its vectors are from, and every part is a
set of files that are written once and never changed:

    <digest>.vectors.<layer>.npy   float32 [n, dimension], one for each layer
    <digest>.keys.npy              uint8 [n, 16], the BLAKE2b of each text

All appear whole (temporary name, then rename), the keys last, and a part without its keys, or
without a layer that is asked for, does not count: a run killed at any moment loses the parts it had
not finished, and a reader never sees half a part. A run holds the folder for itself, so that no
other one takes its unfinished parts for leftovers, or empties the store for another encoder while
this one writes into it; where folders cannot be locked (Windows, some network folders) there may be
one run at a time. A vector depends on its text alone (see ``Encoder.encode``), so it does not
matter which run, or which process, computed it; nor which other layers were asked for then.

Keys that are damaged are noticed, and vectors whose file is cut off, or not of the shape and type
it should have. There is no checksum of vectors: numbers that changed on the disk are served as they
are.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from corpora_recipes.errors import InputError
from corpora_recipes.executors import open_executor
from corpora_recipes.outputs import locked_folder
from evaluation.encoders import Described, Encoder

Vectors = np.ndarray[Any, np.dtype[np.float32]]

KEY_BYTES = 16
Keys = np.ndarray[Any, np.dtype[np.bytes_]]
# numpy takes trailing zeros off a bytes string, from all of them alike: they still compare right.
_NO_KEYS: Keys = np.empty(0, f"S{KEY_BYTES}")
# Of a part's files; layers have names of their encoder's.
_FILE = re.compile(r"(?P<name>[0-9a-f]{16})\.(keys|vectors\.(?P<layer>.+))\.npy")
# A killed run loses at most this many texts a worker.
PART_TEXTS = 2048


def text_keys(texts: Sequence[str]) -> Keys:
    """Return the keys of texts, of 16 bytes each."""
    keys = [blake2b(text.encode(), digest_size=KEY_BYTES).digest() for text in texts]
    return np.array(keys, _NO_KEYS.dtype)


def fingerprint(encoder: Described) -> dict[str, Any]:
    """Return all that a vector depends on besides its text."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "options": encoder.options,
    }


class EmbeddingStore:
    """A store opened for reading; parts that are added while it is open are not seen.

    Attributes:
        folder: of the store.
        dimension: length of a vector.
    """

    def __init__(self, folder: Path, encoder: Described) -> None:
        """Open the store.

        Raises:
            InputError: there is none, or it was made with another encoder, revision or options.
        """
        found = _read_header(folder)
        # Not asked of the encoder, which may have to load a model to know it.
        self.dimension: int = found.pop("dimension", 0)
        if found != fingerprint(encoder):
            raise InputError(
                folder,
                expected=f"vectors of {fingerprint(encoder)}",
                found=f"vectors of {found}" if found else "no store",
                todo="run `python -m evaluation embed` with this encoder first",
            )
        self.folder = folder
        parts = [
            part
            for name in _part_names(folder)
            if (part := _read_part(folder, name, encoder.layers, self.dimension))
            and part.vectors.keys() == set(encoder.layers)
        ]
        self._vectors = [part.vectors for part in parts]
        keys = np.concatenate([part.keys for part in parts] or [_NO_KEYS])
        order = np.argsort(keys, kind="stable")
        sizes = [len(part.keys) for part in parts]
        self._keys = keys[order]
        self._part = np.repeat(np.arange(len(parts)), sizes)[order]
        self._row = np.concatenate([np.arange(size) for size in sizes] or [order])[order]

    def __len__(self) -> int:
        """Return the number of texts, each counted once."""
        return len(np.unique(self._keys))

    def has(self, keys: Keys) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tell of each key whether its text has a vector in every layer of the encoder."""
        place = np.searchsorted(self._keys, keys)
        found: np.ndarray[Any, np.dtype[np.bool_]] = np.zeros(len(keys), np.bool_)
        inside = place < len(self._keys)
        found[inside] = self._keys[place[inside]] == keys[inside]
        return found

    def lookup(self, texts: Sequence[str], layer: str) -> Vectors:
        """Return the vectors of the texts in one layer, float32 [len(texts), dimension].

        Raises:
            InputError: a text was never encoded, or its vector is damaged.
        """
        keys = text_keys(texts)
        missing = np.flatnonzero(~self.has(keys))
        if missing.size:
            raise InputError(
                self.folder,
                expected="a vector for every sentence of the instances",
                found=f"none for {texts[missing[0]]!r}",
                todo="run `python -m evaluation embed` on the same instances first",
            )
        place = np.searchsorted(self._keys, keys)
        parts, rows = self._part[place], self._row[place]
        vectors: Vectors = np.empty((len(texts), self.dimension), np.float32)
        for part in np.unique(parts):
            here = np.flatnonzero(parts == part)
            vectors[here] = self._vectors[part][layer][rows[here]]
        damaged = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if damaged.size:
            raise InputError(
                self.folder,
                expected="vectors of finite numbers",
                found=f"NaN or infinite numbers for {texts[damaged[0]]!r}, layer {layer}",
                todo="remove the folder and run `python -m evaluation embed`",
            )
        return vectors


def embed(folder: Path, encoder: Encoder, texts: Iterable[str], workers: int = 1) -> int:
    """Bring the store up to date: encode the texts that it does not have.

    A store of another encoder, revision or options is emptied first, damaged parts are removed.
    Waits until no other run is at work on the store.

    Args:
        folder: of the store; made if need be.
        encoder: what encodes.
        texts: with repetitions, in any order.
        workers: number of processes at most, of an encoder that may run in several; the vectors do
            not depend on it.

    Returns:
        The number of texts encoded.

    Raises:
        InputError: the encoder gave something else than finite vectors for each text. What was
            encoded before stays.
    """
    with locked_folder(folder, "embed", wait=True):
        return _embed(folder, encoder, texts, workers)


def _embed(folder: Path, encoder: Encoder, texts: Iterable[str], workers: int) -> int:
    from tqdm import tqdm

    _prepare(folder, encoder)
    store = EmbeddingStore(folder, encoder)
    # In the order of the keys, so that the parts do not depend on the order of the texts.
    keyed = dict(sorted(zip(text_keys(given := list(texts)).tolist(), given, strict=True)))
    keys = np.array(list(keyed), _NO_KEYS.dtype)
    order = keys[~store.has(keys)]
    parts = [order[start : start + PART_TEXTS] for start in range(0, len(order), PART_TEXTS)]
    processes = min(workers, max(1, len(parts))) if encoder.parallel else 1
    with (
        open_executor("local", processes) as executor,
        tqdm(total=len(order), desc=f"embed {encoder.name}", unit="text", disable=None) as bar,
    ):
        batches = ([keyed[key] for key in part.tolist()] for part in parts)
        results: Iterator[Vectors]
        if executor is None:
            results = (encode_checked(encoder, batch) for batch in batches)
        else:
            results = executor.map(encode_checked, [encoder] * len(parts), batches)
        for part, vectors in zip(parts, results, strict=True):
            if vectors.shape[2] != store.dimension:
                raise InputError(
                    folder,
                    expected=f"vectors of dimension {store.dimension}, as in encoder.json",
                    found=f"dimension {vectors.shape[2]} of encoder {encoder.name} "
                    f"{encoder.revision}",
                    todo="remove the folder; an encoder of other vectors has another revision",
                )
            _write_part(folder, part, encoder.layers, vectors)
            bar.update(len(part))
    return len(order)


def encode_checked(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return ``encoder.encode(texts)`` once it is known to be what it should be.

    Raises:
        InputError: another number of rows, another dimension, or a number that is not finite.
    """
    vectors = np.asarray(encoder.encode(texts))
    said = "".join(f", {key} {value}" for key, value in encoder.options.items())
    where = f"encoder {encoder.name}, revision {encoder.revision}{said}"
    todo = "correct the encoder; the vectors encoded before are kept"
    if vectors.shape != (len(texts), len(encoder.layers), encoder.dimension):
        raise InputError(
            where,
            expected=f"{len(texts)} times {len(encoder.layers)} vectors of dimension "
            f"{encoder.dimension}",
            found=f"an array of shape {vectors.shape}, in the batch that begins with {texts[0]!r}",
            todo=todo,
        )
    if not np.issubdtype(vectors.dtype, np.floating):
        raise InputError(
            where,
            expected="vectors of float32",
            found=f"{vectors.dtype}, in the batch that begins with {texts[0]!r}",
            todo=todo,
        )
    # Through float32 first: a float64 beyond its range becomes infinite.
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=(1, 2)))
    if bad.size:
        raise InputError(
            where,
            expected="finite numbers, in the range of float32",
            found=f"NaN, or an infinite or too large number, for {texts[bad[0]]!r}",
            todo=todo,
        )
    return vectors


def _prepare(folder: Path, encoder: Encoder) -> None:
    """Make the folder a store of this encoder, without leftovers of killed and of older runs."""
    folder.mkdir(parents=True, exist_ok=True)
    header = _read_header(folder)
    dimension = header.pop("dimension", None)
    if header != fingerprint(encoder) or type(dimension) is not int or dimension < 1:
        for path in folder.glob("*.npy"):
            path.unlink()
        # Not asked of the encoder of a store that is there: it may have to load a model to know it.
        dimension = encoder.dimension
        header = {**fingerprint(encoder), "dimension": dimension}
        _write_whole(folder / "encoder.json", json.dumps(header, indent=2).encode())
    layers = encoder.layers
    parts = {name: _read_part(folder, name, layers, dimension) for name in _part_names(folder)}
    for path in [*folder.glob("*.npy"), *folder.glob("*.tmp")]:
        known = _FILE.fullmatch(path.name)
        part = parts.get(known["name"]) if known else None
        if known is None or part is None or known["layer"] in {*layers} - part.vectors.keys():
            path.unlink()


def _read_header(folder: Path) -> dict[str, Any]:
    """Return what a store says of its encoder, or nothing if there is no store."""
    try:
        found = json.loads((folder / "encoder.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Part:
    """The keys of a part, and the layers that were asked for and are whole, memory-mapped."""

    keys: Keys
    vectors: dict[str, Vectors]


def _part_names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".keys.npy") for path in folder.glob("*.keys.npy"))


def _read_part(folder: Path, name: str, layers: Sequence[str], dimension: int) -> _Part | None:
    """Return a part, or None if its keys are damaged."""
    keys = _read_array(folder / _keys_file(name), np.uint8)
    if keys is None or keys.shape[1:] != (KEY_BYTES,) or _part_digest(keys) != name:
        return None
    vectors = {}
    for layer in layers:
        found = _read_array(folder / _vectors_file(name, layer), np.float32)
        if found is not None and found.shape == (len(keys), dimension):
            vectors[layer] = found
    return _Part(np.frombuffer(keys.tobytes(), _NO_KEYS.dtype), vectors)


def _read_array(path: Path, kind: type[np.generic]) -> np.ndarray[Any, Any] | None:
    """Return a memory-mapped array, or None if the file is not one of this kind."""
    try:
        found: np.ndarray[Any, Any] = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return found if found.dtype == kind else None


def _keys_file(name: str) -> str:
    return f"{name}.keys.npy"


def _vectors_file(name: str, layer: str) -> str:
    return f"{name}.vectors.{layer}.npy"


def _part_digest(keys: np.ndarray[Any, Any]) -> str:
    return blake2b(keys.tobytes(), digest_size=8).hexdigest()


def _write_part(folder: Path, keys: Keys, layers: Sequence[str], vectors: Vectors) -> None:
    name = _part_digest(keys)
    for number, layer in enumerate(layers):
        _write_whole(folder / _vectors_file(name, layer), vectors[:, number])
    rows = np.frombuffer(keys.tobytes(), np.uint8).reshape(-1, KEY_BYTES)
    _write_whole(folder / _keys_file(name), rows)


def _write_whole(path: Path, content: bytes | np.ndarray[Any, Any]) -> None:
    """Write a file under a temporary name, wait until it is on disk, and rename it."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            np.save(stream, content, allow_pickle=False)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
