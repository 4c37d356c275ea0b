"""What the last whole run of `embed` did, so that one with nothing to do ends at once.

The file ``done.json`` of a store, written last, has a digest of all that the run depended on, a
digest of what it left in the store, and what it counted. If the first two are as they were, so is
the third. No package is imported to find that out.
"""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.outputs import whole_file
from evaluation.data.files import parquet_files
from evaluation.embedding.header import fingerprint, read_header
from evaluation.encoders.encoder import Encoder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FILE = "done.json"
# In bytes: an .npy file of vectors is read up to here, which has its type and shape.
_HEAD = 128


@dataclass(frozen=True, slots=True)
class Done:
    """What a run counted.

    Attributes:
        texts: all different texts.
        datasets: those that have them.
        words: of the encoder's vocabulary; None if it has none, or no dataset asks for it.
        tokens: of the datasets, counted by an encoder with a vocabulary; None without one.
        out_of_vocabulary: how many of these are not in the vocabulary.
    """

    texts: int
    datasets: int
    words: int | None = None
    tokens: int | None = None
    out_of_vocabulary: int = 0


def inputs_digest(instances: Path, encoder: Encoder) -> str:
    """Return a digest of all that a run of `embed` depends on.

    These are the names and contents of all Parquet files, the encoder's options and fingerprint,
    and the code. Sizes and times of the files would not do: a rebuilt file may have the same.

    Args:
        instances: see ``find_datasets``.
        encoder: with its options.

    Raises:
        InputError: there is no such model, file or function.
    """
    inputs = {
        "files": {
            file.relative_to(instances).as_posix(): sha256_of(file)
            for file in parquet_files(instances)
        },
        "asked": asdict(cast("DataclassInstance", encoder)),
        **fingerprint(encoder),
        "code": code_digest("evaluation.embedding.command"),
    }
    return sha256(json.dumps(inputs).encode()).hexdigest()


def read_done(store: Path, inputs: str, encoder: Encoder) -> Done | None:
    """Return what the last run counted, if another one would change nothing.

    Args:
        store: the folder.
        inputs: see ``inputs_digest``.
        encoder: of the run.
    """
    try:
        found: dict[str, Any] = json.loads((store / FILE).read_bytes())
        done = Done(**found["counted"])
        same = (found["inputs"], found["store"]) == (inputs, _content_digest(store))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    header = read_header(store)
    header.pop("dimension", None)
    return done if same and header == fingerprint(encoder) else None


def write_done(store: Path, inputs: str, done: Done) -> None:
    """Write ``done.json``, after all other files of the store."""
    report = {"inputs": inputs, "store": _content_digest(store), "counted": asdict(done)}
    with whole_file(store / FILE) as temporary:
        temporary.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def _content_digest(store: Path) -> str:
    """Return a digest of the files of a store: names, sizes, contents; of vectors, the head."""
    digest = sha256()
    for file in sorted(store.rglob("*")):
        if file.is_file() and file != store / FILE:
            with file.open("rb") as stream:
                start = stream.read(_HEAD if "vectors" in file.name else -1)
            digest.update(f"{file.relative_to(store)} {file.stat().st_size}\n".encode() + start)
    return digest.hexdigest()
