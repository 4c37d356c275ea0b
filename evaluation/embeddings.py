"""The embedding store: each text is encoded once, over all datasets and all runs.

A store is a folder: ``encoder.json`` says which encoder its vectors are from, and every part is a
pair of files that are written once and never changed:

    <digest>.vectors.npy   float32 [n, dimension]
    <digest>.keys.npy      uint8 [n, 16], the BLAKE2b of each text

Both appear whole (temporary name, then rename), the keys last, and a part without its keys does not
count: a run killed at any moment loses the parts it had not finished, a reader never sees half a
part, and two runs at once do no harm. A vector depends on its text alone (see ``Encoder.encode``),
so it does not matter which run, or which process, computed it.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from corpora_recipes.errors import InputError
from corpora_recipes.executors import open_executor
from evaluation.encoders import Encoder

Vectors = np.ndarray[Any, np.dtype[np.float32]]

KEY_BYTES = 16
# A killed run loses at most this many texts a worker.
PART_TEXTS = 2048


def text_key(text: str) -> bytes:
    """Return the key of a text, 16 bytes."""
    return blake2b(text.encode(), digest_size=KEY_BYTES).digest()


def fingerprint(encoder: Encoder) -> dict[str, Any]:
    """Return all that a vector depends on besides its text."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "options": encoder.options,
        "dimension": encoder.dimension,
    }


class EmbeddingStore:
    """A store opened for reading; parts that are added while it is open are not seen."""

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        """Open the store.

        Raises:
            InputError: there is none, or it was made with another encoder, revision or options.
        """
        found = _read_header(folder)
        if found != fingerprint(encoder):
            raise InputError(
                folder,
                expected=f"vectors of {fingerprint(encoder)}",
                found="no store" if found is None else f"vectors of {found}",
                todo="run `python -m evaluation embed` with this encoder first",
            )
        self.folder = folder
        self.dimension = encoder.dimension
        self._parts: list[Vectors] = []
        self._place: dict[bytes, tuple[int, int]] = {}
        for keys, vectors in _read_parts(folder, encoder.dimension):
            number = len(self._parts)
            self._parts.append(vectors)
            self._place.update(
                (keys[row : row + KEY_BYTES], (number, row // KEY_BYTES))
                for row in range(0, len(keys), KEY_BYTES)
            )

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._place)

    def __contains__(self, text: str) -> bool:
        """Return whether the text has a vector."""
        return text_key(text) in self._place

    def lookup(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of the texts, float32 [len(texts), dimension].

        Raises:
            InputError: a text was never encoded.
        """
        try:
            places = [self._place[text_key(text)] for text in texts]
        except KeyError:
            text = next(text for text in texts if text not in self)
            raise InputError(
                self.folder,
                expected="a vector for every sentence of the instances",
                found=f"none for {text!r}",
                todo="run `python -m evaluation embed` on the same instances first",
            ) from None
        vectors: Vectors = np.empty((len(texts), self.dimension), np.float32)
        place = np.array(places, np.int64).reshape(-1, 2)
        for number in np.unique(place[:, 0]):
            here = np.flatnonzero(place[:, 0] == number)
            vectors[here] = self._parts[number][place[here, 1]]
        return vectors


def embed(folder: Path, encoder: Encoder, texts: Iterable[str], workers: int = 1) -> int:
    """Bring the store up to date: encode the texts that it does not have.

    A store of another encoder, revision or options is emptied first, damaged parts are removed.

    Args:
        folder: of the store; made if need be.
        encoder: what encodes.
        texts: with repetitions, in any order.
        workers: number of processes; the vectors do not depend on it.

    Returns:
        The number of texts encoded.

    Raises:
        InputError: the encoder gave something else than one finite vector a text. What was
            encoded before stays.
    """
    from tqdm import tqdm

    _prepare(folder, encoder)
    store = EmbeddingStore(folder, encoder)
    missing = {key: text for text in texts if (key := text_key(text)) not in store._place}
    order = sorted(missing)
    parts = [order[start : start + PART_TEXTS] for start in range(0, len(order), PART_TEXTS)]
    with (
        open_executor("local", min(workers, max(1, len(parts)))) as executor,
        tqdm(total=len(order), desc=f"embed {encoder.name}", unit="text", disable=None) as bar,
    ):
        batches = ([missing[key] for key in part] for part in parts)
        results: Iterator[Vectors]
        if executor is None:
            results = (encode_checked(encoder, batch) for batch in batches)
        else:
            results = executor.map(encode_checked, [encoder] * len(parts), batches)
        for part, vectors in zip(parts, results, strict=True):
            _write_part(folder, b"".join(part), vectors)
            bar.update(len(part))
    return len(order)


def encode_checked(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return ``encoder.encode(texts)`` once it is known to be what it should be.

    Raises:
        InputError: another number of rows, another dimension, or a number that is not finite.
    """
    vectors = np.asarray(encoder.encode(texts))
    where = f"encoder {encoder.name} {encoder.revision}"
    todo = "correct the encoder; the vectors encoded before are kept"
    if vectors.shape != (len(texts), encoder.dimension):
        raise InputError(
            where,
            expected=f"{len(texts)} vectors of dimension {encoder.dimension}",
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
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise InputError(
            where,
            expected="finite numbers",
            found=f"NaN or an infinite number for {texts[bad[0]]!r}",
            todo=todo,
        )
    return vectors


def _prepare(folder: Path, encoder: Encoder) -> None:
    """Make the folder a store of this encoder, without leftovers of runs that were killed."""
    folder.mkdir(parents=True, exist_ok=True)
    if _read_header(folder) != fingerprint(encoder):
        for path in folder.glob("*.npy"):
            path.unlink()
        _write_whole(folder / "encoder.json", json.dumps(fingerprint(encoder), indent=2).encode())
    whole = {
        f"{part}.{kind}.npy"
        for part in _part_names(folder)
        if _read_part(folder, part, encoder.dimension) is not None
        for kind in ("vectors", "keys")
    }
    for path in [*folder.glob("*.npy"), *folder.glob("*.tmp")]:
        if path.name not in whole:
            path.unlink()


def _read_header(folder: Path) -> Any:
    try:
        return json.loads((folder / "encoder.json").read_bytes())
    except (OSError, ValueError):
        return None


def _part_names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".keys.npy") for path in folder.glob("*.keys.npy"))


def _read_parts(folder: Path, dimension: int) -> Iterator[tuple[bytes, Vectors]]:
    for name in _part_names(folder):
        if (part := _read_part(folder, name, dimension)) is not None:
            yield part


def _read_part(folder: Path, name: str, dimension: int) -> tuple[bytes, Vectors] | None:
    """Return keys and memory-mapped vectors of a part, or None if it is damaged."""
    try:
        keys = np.load(folder / f"{name}.keys.npy")
        vectors = np.load(folder / f"{name}.vectors.npy", mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    whole = (
        keys.dtype == np.uint8
        and vectors.dtype == np.float32
        and keys.shape == (len(vectors), KEY_BYTES)
        and vectors.shape == (len(keys), dimension)
        and _part_digest(keys.tobytes()) == name
    )
    return (keys.tobytes(), vectors) if whole else None


def _part_digest(keys: bytes) -> str:
    return blake2b(keys, digest_size=8).hexdigest()


def _write_part(folder: Path, keys: bytes, vectors: Vectors) -> None:
    name = _part_digest(keys)
    rows = np.frombuffer(keys, np.uint8).reshape(-1, KEY_BYTES)
    _write_whole(folder / f"{name}.vectors.npy", vectors)
    _write_whole(folder / f"{name}.keys.npy", rows)


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
