"""Reads the files of `probeta read` in batches, checked."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpora_recipes.records import Example, Record, record_unit
from corpora_recipes.rows import WINDOW, from_row, record_schema
from corpora_recipes.running.errors import OutputError

_TODO = "write them with `probeta read`"


def window_of(path: Path) -> dict[str, Any] | None:
    """Return between which days the documents of a file were made, if it says so."""
    window = (pq.read_schema(path).metadata or {}).get(WINDOW)
    return None if window is None else dict(json.loads(window))


def record_batches(
    path: Path, kind: str, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file of records of a kind in batches, of all columns if none is named."""
    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise OutputError(path, "the records of the corpus", str(error), _TODO) from None
    names = record_schema(kind).names
    with file:
        if file.schema_arrow.names != names:
            expected = f"records ({kind}) with the columns {', '.join(names)}"
            raise OutputError(path, expected, ", ".join(file.schema_arrow.names), _TODO)
        # A document or a dialogue may be a whole book.
        size = 500 if record_unit(kind) != "documents" else 20
        yield from file.iter_batches(batch_size=size, columns=columns)


def read_records(path: Path, kind: str, collection: str = "") -> Iterator[Record]:
    """Yield the records of a file; of examples, only those of one collection if it is named."""
    for batch in record_batches(path, kind):
        if collection:
            batch = batch.filter(pc.equal(batch["collection"], collection))
        for row in batch.to_pylist():
            yield from_row(kind, row)


def read_examples(path: Path, collection: str) -> list[Example]:
    """Return the examples of a collection, in the order of the file; it may be empty."""
    records = read_records(path, "examples", collection)
    return [record for record in records if isinstance(record, Example)]


def no_examples(path: Path, collections: Sequence[str]) -> OutputError:
    """Return the error of a file without examples of some collections."""
    batches = record_batches(path, "examples", ["collection"])
    others = sorted({name for batch in batches for name in batch["collection"].to_pylist()})
    found = f"only those of {', '.join(others)}" if others else "no examples"
    todo = "name a collection of the file, or add the missing source files: a sample has only some"
    return OutputError(path, f"examples of {' or '.join(collections)}", found, todo)
