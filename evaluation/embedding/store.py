"""The store of vectors, and of the words of encoders that have a vocabulary.

The store of vectors: each text is encoded once, in all layers.

The folder of an encoder has these files:

    encoder.json                the encoder, its code and libraries, the dimension
    datasets.json               what is encoded of each dataset, see ``EncodedDataset``
    CHUNK.keys.npy              the keys of some thousand texts
    CHUNK.vectors.LAYER.npy     their vectors
    CHUNK.sums.LAYER.npy        a digest of each key and its vector, checked whenever it is used

The vocabulary of an encoder that is a file of word vectors, copied into its store.

`embed` copies it once into the folder ``vocabulary``, from where it is memory-mapped:

    vectors.npy      float32 [n, dimension], in the order of the file
    norms.npy        float64 [n], their lengths
    words.json       the words
    vocabulary.json  the encoder, and the number of repeated words
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from corpora_recipes.running.cache import digest_file, digest_files
from corpora_recipes.running.code import code_digest, versions_of
from corpora_recipes.running.errors import OutputError
from corpora_recipes.running.outputs import clear, locked_folder, whole_file, whole_folder
from evaluation.arrays import Counts, Doubles, Flags, Floats, Rows, Values
from evaluation.datasets import Dataset
from evaluation.encoders.encoder import Described, Encoder, HasWords
from evaluation.features import prompt_of, unique_texts
from evaluation.measures import norms_of

if TYPE_CHECKING:
    from io import BufferedWriter


HEADER, DATASETS = "encoder.json", "datasets.json"
KEY_BYTES, SUM_BYTES = 16, 8
Keys = np.ndarray[Any, np.dtype[np.bytes_]]
# numpy strips trailing zeros from every bytes string, so that comparisons stay right.
NO_KEYS: Keys = np.empty(0, f"S{KEY_BYTES}")
# The files of a chunk; the encoder names the layers.
_FILE = re.compile(r"(?P<name>[0-9a-f]{16})\.(keys|(?:vectors|sums)\.(?P<layer>.+))\.npy")


def fingerprint(encoder: Described) -> dict[str, Any]:
    """Return what names an encoder, and everything in params.yaml that its vectors depend on."""
    return {"encoder": encoder.name, "revision": encoder.revision, "options": encoder.options}


def made_by(encoder: Encoder) -> dict[str, Any]:
    """Return the code and the versions of libraries that an encoder's vectors depend on."""
    code = code_digest(type(encoder).__module__)
    return {"code": code, "versions": versions_of(encoder.packages)}


def read_header(folder: Path) -> dict[str, Any]:
    """Return fingerprint, ``made_by`` and ``dimension`` of a store; empty without a store."""
    try:
        header = json.loads((folder / HEADER).read_bytes())
    except (OSError, ValueError):
        return {}
    return header if isinstance(header, dict) else {}


def text_keys(texts: Sequence[str], prompt: str | None = None) -> Keys:
    """Return the keys of texts with a prompt, of 16 bytes each."""
    key = b"" if prompt is None else blake2b(prompt.encode(), digest_size=32).digest()
    keys = [blake2b(text.encode(), digest_size=KEY_BYTES, key=key).digest() for text in texts]
    return np.array(keys, NO_KEYS.dtype)


def sums_of(keys: Keys, vectors: Floats) -> Values:
    """Return the digests of keys with their vectors, uint8 [n, SUM_BYTES]."""
    whole, size = keys.tobytes(), keys.itemsize
    sums = b"".join(
        blake2b(row, digest_size=SUM_BYTES, key=whole[at * size : (at + 1) * size]).digest()
        for at, row in enumerate(np.ascontiguousarray(vectors))
    )
    return np.frombuffer(sums, np.uint8).reshape(-1, SUM_BYTES)


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
        known = self._index.keys
        at = np.searchsorted(known, keys)
        is_known: Flags = np.zeros(len(keys), np.bool_)
        inside = at < len(known)
        is_known[inside] = known[at[inside]] == keys[inside]
        return is_known

    def lookup(self, texts: Sequence[str], layer: str) -> Floats:
        """Return the vectors of the texts in one layer, float32 [len(texts), dimension]."""
        keys = text_keys(texts, self.prompt)
        vectors: Floats = np.empty((len(texts), self.dimension), np.float32)
        for here, layers, rows in self._places(texts, keys):
            vectors[here] = layers[layer].vectors[rows]
            _forget(layers[layer].vectors)
            wrong = (sums_of(keys[here], vectors[here]) != layers[layer].sums[rows]).any(axis=1)
            if wrong.any():
                found = f"another one for {texts[here[wrong.argmax()]]!r}, layer {layer}"
                raise OutputError(self.folder, "the vectors that were encoded", found)
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
        sums = {layer: np.empty((len(texts), SUM_BYTES), np.uint8) for layer in self.layers}
        for here, layers, rows in self._places(texts, keys):
            for layer, of_layer in layers.items():
                sums[layer][here] = of_layer.sums[rows]
        of_layers = {layer: sha256(rows.tobytes()).hexdigest() for layer, rows in sums.items()}
        return sha256(keys.tobytes()).hexdigest(), of_layers

    def _places(
        self, texts: Sequence[str], keys: Keys
    ) -> Iterator[tuple[Rows, dict[str, "_Layer"], Rows]]:
        """Yield which of some texts are in a chunk, its layers, and their rows there."""
        missing = np.flatnonzero(~self.has(keys))
        if missing.size:
            expected = "a vector for every sentence of the instances"
            todo = "run `probeta embed` on the same instances first"
            raise OutputError(self.folder, expected, f"no vector for {texts[missing[0]]!r}", todo)
        index = self._index
        at = np.searchsorted(index.keys, keys)
        chunks, rows = index.chunks[at], index.rows[at]
        order = np.argsort(chunks, kind="stable")
        used, starts = np.unique(chunks[order], return_index=True)
        for chunk, here in zip(used, np.split(order, starts[1:]), strict=False):
            yield here, index.layers[chunk], rows[here]


@dataclass(frozen=True, slots=True)
class EncodedDataset:
    """What a store says of a dataset, in ``datasets.json``.

    Attributes:
        digest: of the dataset's files.
        texts: digest of its texts, with their prompt.
        vectors: layer to the digest of their vectors.
        coverage: of an encoder with a vocabulary of words, the numbers of "tokens" and of those
            "out_of_vocabulary", over all splits, and each different text once; else None. They are
            counted when the texts are encoded, while the vocabulary is in memory.
    """

    digest: str
    texts: str
    vectors: dict[str, str]
    coverage: dict[str, int] | None


def describe_datasets(
    encoder: Encoder, datasets: Sequence[Dataset], store: Path
) -> dict[str, EncodedDataset]:
    """Write ``datasets.json``; what it said of other datasets goes."""
    described = {}
    for dataset in datasets:
        texts = sorted(unique_texts(dataset, encoder.form))
        opened = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
        coverage = encoder.coverage(texts) if isinstance(encoder, HasWords) else None
        described[dataset.name] = EncodedDataset(dataset.digest(), *opened.digests(texts), coverage)
    with whole_file(store / DATASETS) as temporary:
        entries = {name: asdict(of_dataset) for name, of_dataset in described.items()}
        temporary.write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
    return described


def read_described(store: Path, dataset: Dataset) -> EncodedDataset:
    """Return what a store says of a dataset."""
    try:
        described = EncodedDataset(**json.loads((store / DATASETS).read_bytes())[dataset.name])
        if described.digest == dataset.digest():
            return described
    except (OSError, ValueError, KeyError, TypeError):
        pass
    expected, found = f"what was encoded of {dataset.name}", "nothing, or of other rows"
    todo = "run `probeta embed` on the same datasets first"
    raise OutputError(store / DATASETS, expected, found, todo)


def prepare(folder: Path, encoder: Encoder, known: Mapping[str, str] | None = None) -> None:
    """Make the folder a store of this encoder, without leftovers, and with sound chunks alone.

    A store of another encoder, or made by other code, is emptied. ``known`` has the SHA-256 of
    paths at the end of an earlier run: of a file that is the same, nothing is checked; a chunk with
    another one is removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = read_header(folder)
    dimension = header.pop("dimension", None)
    expected = {**fingerprint(encoder), "made_by": made_by(encoder)}
    if header != expected or type(dimension) is not int or dimension < 1:
        for path in folder.glob("*.npy"):
            path.unlink()
        # Only for a new store: the encoder may have to load a model for it.
        dimension = encoder.dimension
        header = {**expected, "dimension": dimension}
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


def write_chunk(folder: Path, keys: Keys, layers: Sequence[str], vectors: Floats) -> None:
    """Write a part of the store; it is valid once the keys are there, which come last."""
    name = _chunk_digest(keys)
    for number, layer in enumerate(layers):
        of_layer = np.ascontiguousarray(vectors[:, number])
        _write_whole(_file(folder, name, f"vectors.{layer}"), of_layer)
        _write_whole(_file(folder, name, f"sums.{layer}"), sums_of(keys, of_layer))
    rows = np.frombuffer(keys.tobytes(), np.uint8).reshape(-1, KEY_BYTES)
    _write_whole(_file(folder, name, "keys"), rows)


class _Layer(NamedTuple):
    """The vectors of a chunk in a layer, memory-mapped, and their sums."""

    vectors: Floats
    sums: Values


class _Chunk(NamedTuple):
    """The keys of a chunk, and the requested layers that are complete."""

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
    read = (_read_chunk(folder, name, layers, dimension) for name in _chunk_names(folder))
    chunks = [chunk for chunk in read if chunk and chunk.layers.keys() == set(layers)]
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


def _read_chunk(folder: Path, name: str, layers: Sequence[str], dimension: int) -> _Chunk | None:
    """Return a chunk, or None if its keys are damaged."""
    keys = _read_array(_file(folder, name, "keys"), np.uint8)
    if keys is None or keys.shape[1:] != (KEY_BYTES,) or _chunk_digest(keys) != name:
        return None
    whole = {}
    for layer in layers:
        vectors = _read_array(_file(folder, name, f"vectors.{layer}"), np.float32)
        sums = _read_array(_file(folder, name, f"sums.{layer}"), np.uint8)
        if vectors is None or sums is None or vectors.shape != (len(keys), dimension):
            continue
        if sums.shape == (len(keys), SUM_BYTES):
            whole[layer] = _Layer(vectors, np.array(sums))
    return _Chunk(np.frombuffer(keys.tobytes(), NO_KEYS.dtype), whole)


def _is_sound(folder: Path, name: str, chunk: _Chunk, known: Mapping[str, str]) -> bool:
    """Return whether the vectors of a chunk are those that were encoded."""
    kinds = ["keys", *(f"{kind}.{layer}" for layer in chunk.layers for kind in ("vectors", "sums"))]
    files = [_file(folder, name, kind) for kind in kinds]
    before = [known.get(file.as_posix()) for file in files]
    if any(before):
        return before == [digest_file(file) for file in files]
    return all(
        (sums_of(chunk.keys, of_layer.vectors) == of_layer.sums).all()
        for of_layer in chunk.layers.values()
    )


def _read_array(path: Path, kind: type[np.generic]) -> Values | None:
    """Return a memory-mapped array, or None if the file has no array of this type."""
    try:
        array: Values = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return array if array.dtype == kind else None


def _chunk_names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".keys.npy") for path in folder.glob("*.keys.npy"))


def _file(folder: Path, name: str, kind: str) -> Path:
    return folder / f"{name}.{kind}.npy"


def _chunk_digest(keys: Values) -> str:
    return blake2b(keys.tobytes(), digest_size=8).hexdigest()


def _write_whole(path: Path, content: bytes | Values) -> None:
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            np.save(stream, content, allow_pickle=False)


FOLDER = "vocabulary"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words and their vectors.

    Attributes:
        words: each once; the more frequent ones come first, if their order says that.
        vectors: float32 [n, dimension], finite; may be memory-mapped.
        norms: their lengths, float64 [n]; a word whose length is 0 is not used.
        repeated: number of words that were left out because they came before.
    """

    words: list[str]
    vectors: Floats
    norms: Doubles
    repeated: int = 0

    @property
    def directed(self) -> int:
        """The number of words that have a direction."""
        return int((self.norms > 0).sum())

    @property
    def left_out(self) -> dict[str, int]:
        """Reason to the number of words that are not used."""
        return {"no_vector": len(self.words) - self.directed, "repeated_word": self.repeated}


def write_vocabulary(
    folder: Path, encoder: Encoder, known: Mapping[str, str] | None = None
) -> int | None:
    """Copy the encoder's vocabulary into its store, and return its number of words; None without.

    The copy is made again unless it and the store's header are among the files ``known``, path to
    SHA-256 at the end of an earlier run. That of another encoder is removed.
    """
    with locked_folder(folder, "embed", wait=True):
        if not isinstance(encoder, HasWords):
            shutil.rmtree(folder / FOLDER, ignore_errors=True)
            return None
        now = digest_files([folder / HEADER, folder / FOLDER])
        is_same = now.items() <= (known or {}).items()
        vocabulary = _read(folder / FOLDER, encoder) if is_same else None
        if vocabulary is None:
            with whole_folder(folder / FOLDER) as temporary:
                _write(temporary, encoder, encoder.vocabulary())
            vocabulary = open_vocabulary(folder, encoder)
        return len(vocabulary.words) if vocabulary else None


def open_vocabulary(folder: Path, encoder: Encoder) -> Vocabulary | None:
    """Open what ``write_vocabulary`` wrote into a store; None if the encoder has no vocabulary."""
    if not isinstance(encoder, HasWords):
        return None
    vocabulary = _read(folder / FOLDER, encoder)
    if vocabulary is None:
        found, todo = "none, or not whole", "run `probeta embed` with this encoder first"
        raise OutputError(folder / FOLDER, f"the words of {fingerprint(encoder)}", found, todo)
    return vocabulary


def _write(folder: Path, encoder: Described, blocks: Iterator[tuple[list[str], Floats]]) -> None:
    rows: dict[str, None] = {}
    norms: list[Doubles] = [np.empty(0)]
    count = dimension = 0
    with (folder / "vectors.npy").open("wb") as stream:
        _write_header(stream, 0, 0)
        start = stream.tell()
        for words, vectors in blocks:
            dimension = vectors.shape[1]
            new = np.ones(len(words), np.bool_)
            for row, word in enumerate(words):
                new[row] = word not in rows
                rows[word] = None
            block = np.ascontiguousarray(vectors[new], "<f4")
            stream.write(block.tobytes())
            norms.append(norms_of(block))
            count += len(words)
        # Only now it is known how many there are; numpy leaves room for the number.
        stream.seek(0)
        _write_header(stream, len(rows), dimension)
        assert stream.tell() == start
    np.save(folder / "norms.npy", np.concatenate(norms))
    (folder / "words.json").write_text(json.dumps(list(rows)), "ascii")
    about = {"format": FORMAT, **fingerprint(encoder), "repeated": count - len(rows)}
    (folder / "vocabulary.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")


def _write_header(stream: "BufferedWriter", rows: int, dimension: int) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)}
    np.lib.format.write_array_header_1_0(stream, header)


def _read(folder: Path, encoder: Described) -> Vocabulary | None:
    """Return the vocabulary in a folder, or None if it is not the encoder's, or damaged."""
    try:
        about: dict[str, Any] = json.loads((folder / "vocabulary.json").read_bytes())
        repeated = about.pop("repeated")
        if about != {"format": FORMAT, **fingerprint(encoder)}:
            return None
        words = json.loads((folder / "words.json").read_bytes())
        norms = np.load(folder / "norms.npy")
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        is_whole = len(words) == len(norms) == len(vectors)
    except (OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Vocabulary(words, vectors, norms, repeated) if is_whole else None
