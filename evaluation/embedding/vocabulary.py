"""The vocabulary of an encoder that is a file of word vectors, copied into its store.

`embed` copies it once into the folder ``vocabulary``, from where it is memory-mapped:

    vectors.npy      float32 [n, dimension], in the order of the file
    norms.npy        float64 [n], their lengths
    words.json       the words
    vocabulary.json  the encoder, and the number of repeated words
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from corpora_recipes.running.errors import OutputError
from corpora_recipes.running.memo import digest_files
from corpora_recipes.running.outputs import locked_folder, whole_folder
from evaluation.arrays import Doubles, Floats
from evaluation.embedding.store import HEADER, fingerprint
from evaluation.encoders.encoder import Described, Encoder, HasWords
from evaluation.measures.similarity import norms_of

if TYPE_CHECKING:
    from io import BufferedWriter

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
