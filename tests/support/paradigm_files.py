"""Writes small datasets of paradigms and word rankings, and an encoder with words of its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from stores import in_project

from builders.store import instance_schema
from builders.tasks import TASKS
from builders.tasks.task import Column
from evaluation.datasets import Dataset, find_datasets
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import Form, Vectors
from evaluation.encoders.static import StaticVectors


def write_paradigms_dataset(
    folder: Path,
    clusters: Sequence[tuple[str, Sequence[str]]],
    *,
    language: str = "es",
    tokens: Mapping[str, str] | None = None,
) -> Dataset:
    """Write clusters; a term's tokens are the term unless told otherwise."""
    rows = [
        {"id": f"{language}/{name}", "terms": list(terms), "cluster": name}
        | {"tokens": [(tokens or {}).get(term, term) for term in terms]}
        for name, terms in clusters
    ]
    further = {"cluster": Column("string", "its name")}
    return _write(folder, "paradigms", rows, language, further)


def write_words(
    folder: Path,
    words: Sequence[str],
    *,
    language: str = "es",
    tokens: Mapping[str, str] | None = None,
) -> Dataset:
    """Write a word ranking without positives; tokens are the word unless told otherwise."""
    rows = [
        {"id": f"{folder.name}-{number}", "text": word, "tokens": (tokens or {}).get(word, word)}
        | {"positives": [], "source": "wikipedia"}
        for number, word in enumerate(words)
    ]
    return _write(folder, "word_ranking", rows, language, {})


def static(path: Path, vectors: Mapping[str, Sequence[float]]) -> StaticVectors:
    """Write word vectors as text and return their encoder."""
    lines = [" ".join([word, *map(str, numbers)]) for word, numbers in vectors.items()]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    made = make_encoder("static", {"path": str(path)})
    assert isinstance(made, StaticVectors)
    return made


@dataclass
class Words:
    """An encoder's vocabulary, in blocks; only what copying it needs."""

    blocks: Sequence[tuple[list[str], list[list[float]]]]
    revision: str = "1"
    name: str = "words"
    options: Mapping[str, Any] = field(default_factory=dict)
    vectors: ClassVar[Any] = Vectors()

    def vocabulary(self) -> Iterator[tuple[list[str], Any]]:
        for words, vectors in self.blocks:
            yield words, np.array(vectors, np.float32)

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        raise AssertionError


@in_project
@dataclass
class Layered:
    """An encoder of two layers: what is told of a text, and always the same."""

    told: Mapping[str, Sequence[float]]
    name: str = "layered"
    revision: str = "1"
    layers: tuple[str, ...] = ("same", "told")
    layer: str = "told"
    form: Form = "natural"
    options: dict[str, Any] = field(default_factory=dict)
    prompts: ClassVar[dict[str, str]] = {}
    packages: tuple[str, ...] = ()
    postprocessing: ClassVar[Any] = "none"
    vectors: ClassVar[Any] = Vectors()
    dimension: int = 2
    parallel: bool = False

    def check(self) -> None:
        """See ``Encoder.check``."""

    def encode(self, texts: Sequence[str]) -> Any:
        return np.array([[[1, 1], self.told[text]] for text in texts], np.float32)


def _write(
    folder: Path,
    task: str,
    rows: list[dict[str, Any]],
    language: str,
    further: Mapping[str, Column],
) -> Dataset:
    about = {"dataset": folder.name, "task": task, "corpus": "paralex"}
    about |= {"language": language, "version": "1.0.0", "seed": 1111, "sample": False}
    schema = instance_schema(TASKS[task].columns({}, further), [], about)
    whole = [{"document_id": row["id"], "split": "test", "licence": "", **row} for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(whole, schema=schema)
    pq.write_table(table, folder / "test-00000-of-00001.parquet")
    return next(found for found in find_datasets(folder.parent) if found.folder == folder)
