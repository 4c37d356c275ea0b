"""The store of an encoder: the vectors of texts in all layers, and the words of its vocabulary.

Each text is encoded once. The folder of an encoder has these files:

    encoder.json                the encoder, its code and libraries, the dimension; of a user's
                                function, the files that it has opened, see ``opened_files``
    datasets.json               what is encoded of each dataset, see ``EncodedDataset``
    CHUNK.keys.npy              the keys of some thousand texts
    CHUNK.vectors.LAYER.npy     their vectors, float32; or float16, see ``_pack``
    CHUNK.digest.LAYER.npy      the digest of these, by which a process checks them before use
    vocabulary/                 of an encoder that is a file of word vectors, a copy that is mapped:
        vectors.npy             float32 [words, dimension], in the order of the file
        norms.npy               float64 [words], their lengths
        words.json              the words
        vocabulary.json         the encoder, and the number of repeated words
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b, sha256
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from struct import unpack
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from corpora_recipes.running.code import code_digest, versions_of
from corpora_recipes.running.errors import OutputError
from corpora_recipes.running.outputs import clear, locked_folder, whole_file, whole_folder
from evaluation.arrays import Counts, Doubles, Flags, Floats, Rows, Values
from evaluation.datasets import Dataset
from evaluation.encoders.callable import FunctionEncoder, digest_opened
from evaluation.encoders.encoder import Described, Encoder, HasWords
from evaluation.features import prompt_of, unique_texts
from evaluation.measures import norms_of

if TYPE_CHECKING:
    from io import BufferedWriter


HEADER, DATASETS = "encoder.json", "datasets.json"
# Of the key of a text, the digest of a vector, and the digest of a chunk's layer.
KEY_BYTES, VECTOR_DIGEST_BYTES, CHUNK_DIGEST_BYTES = 16, 8, 16
# Texts whose vectors are in memory together while they are digested.
_BLOCK_TEXTS = 1 << 14
# Rows whose bytes are compressed together; and the exponent of the largest number of a vector.
_PACKED_ROWS, _HALF_EXPONENT = 16, 15
Keys = np.ndarray[Any, np.dtype[np.bytes_]]
# numpy strips trailing zeros from every bytes string, so that comparisons stay right.
NO_KEYS: Keys = np.empty(0, f"S{KEY_BYTES}")
# A file of a chunk; the encoder names the layers.
_FILE = re.compile(r"(?P<name>[0-9a-f]{16})\.(keys|(?:vectors|digest)\.(?P<layer>.+))\.npy")


def fingerprint(encoder: Described) -> dict[str, Any]:
    """Return the name of an encoder, and all in params.yaml that its vectors depend on."""
    options = encoder.options | encoder.vectors.as_option
    return {"encoder": encoder.name, "revision": encoder.revision, "options": options}


def made_by(encoder: Encoder) -> dict[str, Any]:
    """Return the code and the versions of libraries that an encoder's vectors depend on."""
    code = code_digest(type(encoder).__module__)
    return {"code": code, "versions": versions_of(encoder.packages)}


def read_header(folder: Path) -> dict[str, Any]:
    """Return fingerprint, ``made_by``, ``dimension`` and ``files``; empty without a store."""
    try:
        header = json.loads((folder / HEADER).read_bytes())
    except (OSError, ValueError):
        return {}
    return header if isinstance(header, dict) else {}


def changed_files(header: Mapping[str, Any]) -> list[str]:
    """Return the files of a header that are not as when the encoder opened them."""
    files = header.get("files", {})
    if not isinstance(files, dict):
        return [HEADER]
    return [path for path, digest in files.items() if digest_opened(path) != digest]


def is_current(header: Mapping[str, Any], encoder: Encoder) -> bool:
    """Return whether the vectors of a store are those that an encoder would make now."""
    made = {key: value for key, value in header.items() if key not in ("dimension", "files")}
    wanted = {**fingerprint(encoder), "made_by": made_by(encoder)}
    return made == wanted and not changed_files(header)


def add_files(folder: Path, encoder: Encoder) -> None:
    """Add the files that an encoder has opened to the header of its store, before the vectors."""
    if isinstance(encoder, FunctionEncoder):
        header = read_header(folder)
        stored = header.get("files", {})
        # Of a file that has changed meanwhile, the first digest stays: it is that of other vectors.
        files = dict(sorted({**encoder.opened_files(), **stored}.items()))
        if files != stored:
            _write_whole(folder / HEADER, json.dumps(header | {"files": files}, indent=2).encode())


def text_keys(texts: Sequence[str], prompt: str | None = None) -> Keys:
    """Return the keys of texts with a prompt, of 16 bytes each."""
    key = b"" if prompt is None else blake2b(prompt.encode(), digest_size=32).digest()
    keys = [blake2b(text.encode(), digest_size=KEY_BYTES, key=key).digest() for text in texts]
    return np.array(keys, NO_KEYS.dtype)


def vector_digests(keys: Keys, vectors: Floats) -> Values:
    """Return the digest of each vector, float32 [n, dimension], with its key: uint8 [n, 8]."""
    key_bytes, size = keys.tobytes(), keys.itemsize
    digests = b"".join(
        blake2b(
            vector, digest_size=VECTOR_DIGEST_BYTES, key=key_bytes[row * size : (row + 1) * size]
        ).digest()
        for row, vector in enumerate(np.ascontiguousarray(vectors))
    )
    return np.frombuffer(digests, np.uint8).reshape(-1, VECTOR_DIGEST_BYTES)


class EmbeddingStore:
    """A store opened for reading, with the chunks of that moment.

    Attributes:
        dimension: length of a vector.
        made_by: code and versions that made them.
        prompt: that of the texts which are looked up.
    """

    def __init__(self, folder: Path, encoder: Described, prompt: str | None = None) -> None:
        """Open the store, to look up texts with a prompt."""
        header = read_header(folder)
        # Not from the encoder, which may have to load a model for it.
        self.dimension: int = header.get("dimension", 0)
        self.made_by: dict[str, Any] = header.get("made_by", {})
        expected = fingerprint(encoder)
        stored = {name: header[name] for name in expected if name in header}
        if stored != expected:
            found = f"vectors of {stored}" if stored else "no store"
            todo = "run `probeta embed` with this encoder first"
            raise OutputError(folder, f"vectors of {expected}", found, todo)
        self.folder = folder
        self.layers = encoder.layers
        self.prompt = prompt
        self._index = _read_index(folder.absolute(), encoder.layers, self.dimension, _state(folder))

    def __len__(self) -> int:
        """Return the number of texts, each counted once."""
        return len(np.unique(self._index.keys))

    def has(self, keys: Keys) -> Flags:
        """Return for each key whether its text has a vector in every layer of the encoder."""
        stored = self._index.keys
        positions = np.searchsorted(stored, keys)
        present: Flags = np.zeros(len(keys), np.bool_)
        inside = positions < len(stored)
        present[inside] = stored[positions[inside]] == keys[inside]
        return present

    def lookup(self, texts: Sequence[str], layer: str) -> Floats:
        """Return the vectors of the texts in one layer, float32 [len(texts), dimension]."""
        vectors = self._gather(texts, text_keys(texts, self.prompt), layer)
        damaged = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if damaged.size:
            found = f"NaN or infinite numbers for {texts[damaged[0]]!r}, layer {layer}"
            todo = "remove the folder and run `probeta embed`"
            raise OutputError(self.folder, "vectors of finite numbers", found, todo)
        return vectors

    def digests(self, texts: Sequence[str]) -> tuple[str, dict[str, str]]:
        """Return the SHA-256 of texts in their order, with their prompt, and of vectors by layer.

        These do not depend on how the store is parted into chunks.
        """
        keys = text_keys(texts, self.prompt)
        of_layers = {layer: sha256() for layer in self.layers}
        for start in range(0, len(texts), _BLOCK_TEXTS):
            block = slice(start, start + _BLOCK_TEXTS)
            for layer, digest in of_layers.items():
                vectors = self._gather(texts[block], keys[block], layer)
                digest.update(vector_digests(keys[block], vectors).tobytes())
        by_layer = {layer: digest.hexdigest() for layer, digest in of_layers.items()}
        return sha256(keys.tobytes()).hexdigest(), by_layer

    def _gather(self, texts: Sequence[str], keys: Keys, layer: str) -> Floats:
        """Return the vectors of the texts of some keys, after their chunks have been checked."""
        missing = np.flatnonzero(~self.has(keys))
        if missing.size:
            expected = "a vector for every sentence of the instances"
            todo = "run `probeta embed` on the same instances first"
            raise OutputError(self.folder, expected, f"no vector for {texts[missing[0]]!r}", todo)
        vectors: Floats = np.empty((len(texts), self.dimension), np.float32)
        index = self._index
        positions = np.searchsorted(index.keys, keys)
        chunks, rows = index.chunks[positions], index.rows[positions]
        order = np.argsort(chunks, kind="stable")
        used, starts = np.unique(chunks[order], return_index=True)
        for chunk, here in zip(used, np.split(order, starts[1:]), strict=False):
            stored = index.layers[chunk][layer]
            if not stored.is_sound:
                found = f"other ones in the chunk of {texts[here[0]]!r}, layer {layer}"
                raise OutputError(self.folder, "the vectors that were encoded", found)
            vectors[here] = stored.read(rows[here])
            _release_pages(stored.content)
        return vectors


@dataclass(frozen=True, slots=True)
class EncodedDataset:
    """What a store says of a dataset, in ``datasets.json``.

    Attributes:
        digest: of the dataset's files.
        texts: digest of its texts, with their prompt.
        vectors: layer to the digest of their vectors.
        coverage: of an encoder with a vocabulary of words, the numbers of "tokens" and of those
            "out_of_vocabulary", over all splits, each text once; else None. They are counted when
            the texts are encoded, while the vocabulary is in memory.
    """

    digest: str
    texts: str
    vectors: dict[str, str]
    coverage: dict[str, int] | None


def describe_datasets(
    encoder: Encoder, datasets: Sequence[Dataset], store: Path
) -> dict[str, EncodedDataset]:
    """Write ``datasets.json`` of a store, without any other datasets; return what it says."""
    encoded = {}
    for dataset in datasets:
        texts = sorted(unique_texts(dataset, encoder.form))
        digests = EmbeddingStore(store, encoder, prompt_of(encoder, dataset)).digests(texts)
        coverage = encoder.coverage(texts) if isinstance(encoder, HasWords) else None
        encoded[dataset.name] = EncodedDataset(dataset.digest(), *digests, coverage)
    with whole_file(store / DATASETS) as temporary:
        entries = {name: asdict(entry) for name, entry in encoded.items()}
        temporary.write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
    return encoded


def vector_facts(store: Path, encoder: Described, dataset: Dataset) -> dict[str, Any]:
    """Return what decides the vectors of a dataset, for keys of the cache."""
    if encoder.vectors.keep:
        return asdict(read_described(store, dataset))
    return {"digest": dataset.digest(), "encoder": read_header(store)}


def read_described(store: Path, dataset: Dataset) -> EncodedDataset:
    """Return what a store says of a dataset."""
    try:
        encoded = EncodedDataset(**json.loads((store / DATASETS).read_bytes())[dataset.name])
        if encoded.digest == dataset.digest():
            return encoded
    except (OSError, ValueError, KeyError, TypeError):
        pass
    expected, found = f"what was encoded of {dataset.name}", "nothing, or of other rows"
    todo = "run `probeta embed` on the same datasets first"
    raise OutputError(store / DATASETS, expected, found, todo)


def prepare_store(folder: Path, encoder: Encoder) -> None:
    """Make the folder a store of this encoder, without leftovers and without damaged chunks.

    A store of another encoder, or made by other code, is emptied.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = read_header(folder)
    dimension = header.get("dimension")
    if not is_current(header, encoder) or type(dimension) is not int or dimension < 1:
        for path in folder.glob("*.npy"):
            path.unlink()
        shutil.rmtree(folder / VOCABULARY, ignore_errors=True)
        # Only for a new store: the encoder may have to load a model for it.
        dimension = encoder.dimension
        header = {**fingerprint(encoder), "made_by": made_by(encoder), "dimension": dimension}
        _write_whole(folder / HEADER, json.dumps(header, indent=2).encode())
    sound: dict[str, set[str]] = {}
    for name in _chunk_names(folder):
        if chunk := _read_chunk(folder, name, encoder.layers, dimension):
            sound[name] = {layer for layer, stored in chunk.layers.items() if stored.is_sound}
    clear(folder)
    for path in folder.glob("*.npy"):
        file = _FILE.fullmatch(path.name)
        if (
            file is None
            or file["name"] not in sound
            or file["layer"] in {*encoder.layers} - sound[file["name"]]
        ):
            path.unlink()


def remove_chunks(folder: Path, wanted: Keys = NO_KEYS) -> None:
    """Remove the chunks of a store with a text whose key is not wanted: without any, all."""
    for name in _chunk_names(folder):
        keys = _read_array(_file(folder, name, "keys"), np.uint8)
        if keys is None or not np.isin(np.frombuffer(keys.tobytes(), NO_KEYS.dtype), wanted).all():
            for path in folder.glob(f"{name}.*.npy"):
                path.unlink()


def write_chunk(folder: Path, keys: Keys, encoder: Described, vectors: Floats) -> None:
    """Write a part of the store; it is valid once the keys are there, which come last.

    Args:
        folder: of the store.
        keys: of the texts.
        encoder: which names the layers, and how vectors are stored.
        vectors: float32 [texts, layers, dimension].
    """
    name = _chunk_name(keys)
    for number, layer in enumerate(encoder.layers):
        content: Values = np.ascontiguousarray(vectors[:, number])
        if encoder.vectors.dtype == "float16":
            content = _pack(content)
        _write_whole(_file(folder, name, f"vectors.{layer}"), content)
        _write_whole(_file(folder, name, f"digest.{layer}"), _digest_layer(name, content))
    key_rows = np.frombuffer(keys.tobytes(), np.uint8).reshape(-1, KEY_BYTES)
    _write_whole(_file(folder, name, "keys"), key_rows)


@dataclass(frozen=True)
class _Layer:
    """The vectors of a chunk in a layer, a memory-mapped file, and the digest of its content."""

    chunk: str
    content: Values
    digest: Values

    def read(self, rows: Rows) -> Floats:
        """Return the vectors of some rows, float32 [len(rows), dimension]."""
        is_packed = self.content.dtype == np.uint8
        return _unpack(self.content, rows) if is_packed else self.content[rows]

    @cached_property
    def is_sound(self) -> bool:
        """Whether the vectors are those that were written; all are read, once."""
        sound = np.array_equal(_digest_layer(self.chunk, self.content), self.digest)
        _release_pages(self.content)
        return sound


class _Chunk(NamedTuple):
    """The keys of a chunk, and the requested layers whose files have the right form."""

    keys: Keys
    layers: dict[str, _Layer]


class _Index(NamedTuple):
    """All keys, sorted; number of the chunk and row there of each; and the layers of each chunk."""

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
    candidates = (_read_chunk(folder, name, layers, dimension) for name in _chunk_names(folder))
    chunks = [chunk for chunk in candidates if chunk and chunk.layers.keys() == set(layers)]
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
        stats = [(file.name, file.stat()) for file in files if file.name.endswith(".npy")]
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats))


def _release_pages(content: Values) -> None:
    """Give back the memory that a memory-mapped array has taken for what was read of it."""
    if isinstance(content.base, mmap):
        content.base.madvise(MADV_DONTNEED)


def _read_chunk(folder: Path, name: str, layers: Sequence[str], dimension: int) -> _Chunk | None:
    """Return a chunk, or None if its keys are damaged."""
    keys = _read_array(_file(folder, name, "keys"), np.uint8)
    if keys is None or keys.shape[1:] != (KEY_BYTES,) or _chunk_name(keys) != name:
        return None
    complete = {}
    for layer in layers:
        content = _read_array(_file(folder, name, f"vectors.{layer}"), np.float32, np.uint8)
        digest = _read_array(_file(folder, name, f"digest.{layer}"), np.uint8)
        if content is None or digest is None or _shape_of(content) != (len(keys), dimension):
            continue
        complete[layer] = _Layer(name, content, np.array(digest))
    return _Chunk(np.frombuffer(keys.tobytes(), NO_KEYS.dtype), complete)


def _read_array(path: Path, *kinds: type[np.generic]) -> Values | None:
    """Return a memory-mapped array, or None if the file has no array of such a type."""
    try:
        array: Values = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return array if array.dtype in kinds else None


def _chunk_names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".keys.npy") for path in folder.glob("*.keys.npy"))


def _file(folder: Path, name: str, kind: str) -> Path:
    return folder / f"{name}.{kind}.npy"


def _chunk_name(keys: Values) -> str:
    return blake2b(keys.tobytes(), digest_size=8).hexdigest()


def _digest_layer(chunk: str, content: Values) -> Values:
    """Return the digest of the vectors of a chunk, which also depends on its texts: uint8 [16]."""
    data = np.ascontiguousarray(content).data
    digest = blake2b(data, digest_size=CHUNK_DIGEST_BYTES, key=chunk.encode())
    return np.frombuffer(digest.digest(), np.uint8)


def _pack(vectors: Floats) -> Values:
    """Return vectors, float32 [n, dimension], as float16: the bytes of a file, uint8.

    A vector has an exponent of its own, so that none is beyond the range of float16. The high byte
    of each number is compressed, by blocks of few rows, as a dataset has some rows of many chunks.
    In this order: n and dimension; where each block ends; the exponents; low bytes; blocks.
    """
    exponents = np.frexp(np.abs(vectors).max(axis=1))[1] - _HALF_EXPONENT
    halves = np.ldexp(vectors, -exponents[:, None]).astype("<f2")
    low, high = np.moveaxis(halves.view(np.uint8).reshape(*halves.shape, 2), 2, 0)
    blocks = [
        pa.compress(high[start : start + _PACKED_ROWS].tobytes(), codec="zstd", asbytes=True)
        for start in range(0, len(high), _PACKED_ROWS)
    ]
    head = np.array([*vectors.shape, *np.cumsum([0, *map(len, blocks)])], "<i8")
    parts = [head.tobytes(), exponents.astype("<i2").tobytes(), low.tobytes(), *blocks]
    return np.frombuffer(b"".join(parts), np.uint8)


def _unpack(packed: Values, rows: Rows) -> Floats:
    """Return some rows of what ``_pack`` has packed, float32 [len(rows), dimension]."""
    n, dimension = _shape_of(packed)
    n_blocks = -(-n // _PACKED_ROWS)
    sizes = [16, 8 * (n_blocks + 1), 2 * n, n * dimension]
    _, ends, exponents, low, high = np.split(packed, np.cumsum(sizes))
    ends, of_rows = ends.view("<i8"), rows // _PACKED_ROWS
    halves = np.empty((len(rows), dimension, 2), np.uint8)
    halves[:, :, 0] = low.reshape(n, dimension)[rows]
    for block in np.unique(of_rows):
        size = min(_PACKED_ROWS, n - block * _PACKED_ROWS) * dimension
        content = pa.decompress(high[ends[block] : ends[block + 1]], int(size), "zstd")
        in_block = np.frombuffer(content, np.uint8).reshape(-1, dimension)
        halves[of_rows == block, :, 1] = in_block[rows[of_rows == block] % _PACKED_ROWS]
    numbers = halves.view("<f2")[:, :, 0].astype(np.float32)
    return np.ldexp(numbers, exponents.view("<i2")[rows, None].astype(np.int32))


def _shape_of(content: Values) -> tuple[int, ...]:
    """Return the shape of the vectors in a file's content, [n, dimension]."""
    head = content.ravel()[:16].tobytes().ljust(16, b"\0")
    return unpack("<2q", head) if content.dtype == np.uint8 else content.shape


def _write_whole(path: Path, content: bytes | Values) -> None:
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            np.save(stream, content, allow_pickle=False)


VOCABULARY = "vocabulary"
VOCABULARY_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words and their vectors.

    Attributes:
        words: each once; the more frequent ones come first, if their order says that.
        vectors: float32 [n, dimension], finite; may be memory-mapped.
        norms: their lengths, float64 [n]; a word whose length is 0 is not used.
        n_repeated: number of words that were skipped because they came before.
    """

    words: list[str]
    vectors: Floats
    norms: Doubles
    n_repeated: int = 0

    @property
    def n_directed(self) -> int:
        """The number of words that have a direction."""
        return int((self.norms > 0).sum())

    @property
    def skipped(self) -> dict[str, int]:
        """Reason to the number of words that are not used."""
        return {"no_vector": len(self.words) - self.n_directed, "repeated_word": self.n_repeated}


def write_vocabulary(folder: Path, encoder: Encoder) -> int | None:
    """Copy the encoder's vocabulary into its store, unless a whole copy is there.

    That of another encoder is removed.

    Returns:
        The number of words; None of an encoder without a vocabulary.
    """
    with locked_folder(folder, "embed", wait=True):
        if not isinstance(encoder, HasWords):
            shutil.rmtree(folder / VOCABULARY, ignore_errors=True)
            return None
        vocabulary = read_vocabulary(folder, encoder)
        if vocabulary is None:
            with whole_folder(folder / VOCABULARY) as temporary:
                _write_vocabulary(temporary, encoder, encoder.vocabulary())
            vocabulary = open_vocabulary(folder, encoder)
        return len(vocabulary.words) if vocabulary else None


def open_vocabulary(folder: Path, encoder: Encoder) -> Vocabulary | None:
    """Open what ``write_vocabulary`` wrote into a store; None if the encoder has no vocabulary."""
    if not isinstance(encoder, HasWords):
        return None
    vocabulary = read_vocabulary(folder, encoder)
    if vocabulary is None:
        found, todo = "none, or not whole", "run `probeta embed` with this encoder first"
        raise OutputError(folder / VOCABULARY, f"the words of {fingerprint(encoder)}", found, todo)
    return vocabulary


def _write_vocabulary(
    folder: Path, encoder: Described, blocks: Iterator[tuple[list[str], Floats]]
) -> None:
    rows: dict[str, None] = {}
    norms: list[Doubles] = [np.empty(0)]
    count = dimension = 0
    with (folder / "vectors.npy").open("wb") as stream:
        _write_header(stream, 0, 0)
        start = stream.tell()
        for words, vectors in blocks:
            dimension = vectors.shape[1]
            is_new = np.ones(len(words), np.bool_)
            for row, word in enumerate(words):
                is_new[row] = word not in rows
                rows[word] = None
            block = np.ascontiguousarray(vectors[is_new], "<f4")
            stream.write(block.tobytes())
            norms.append(norms_of(block))
            count += len(words)
        # Only now it is known how many there are; numpy leaves room for the number.
        stream.seek(0)
        _write_header(stream, len(rows), dimension)
        assert stream.tell() == start
    np.save(folder / "norms.npy", np.concatenate(norms))
    (folder / "words.json").write_text(json.dumps(list(rows)), "ascii")
    about = {"format": VOCABULARY_FORMAT, **fingerprint(encoder), "repeated": count - len(rows)}
    (folder / "vocabulary.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")


def _write_header(stream: "BufferedWriter", rows: int, dimension: int) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)}
    np.lib.format.write_array_header_1_0(stream, header)


def read_vocabulary(store: Path, encoder: Described) -> Vocabulary | None:
    """Return the vocabulary in a store, or None if it is not the encoder's, or damaged."""
    folder = store / VOCABULARY
    try:
        about: dict[str, Any] = json.loads((folder / "vocabulary.json").read_bytes())
        n_repeated = about.pop("repeated")
        if about != {"format": VOCABULARY_FORMAT, **fingerprint(encoder)}:
            return None
        words = json.loads((folder / "words.json").read_bytes())
        norms = np.load(folder / "norms.npy")
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        is_whole = len(words) == len(norms) == len(vectors)
    except (OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Vocabulary(words, vectors, norms, n_repeated) if is_whole else None
