"""Reads what `python -m corpora_recipes read` wrote, batch by batch, checked."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.errors import InputError
from corpora_recipes.records import Record, from_row, record_schema

if TYPE_CHECKING:
    import pyarrow as pa


def record_batches(
    path: Path, kind: str, columns: Sequence[str] | None = None
) -> Iterator["pa.RecordBatch"]:
    """Yield the rows of a file of records in batches.

    Args:
        path: the file.
        kind: of the records, as corpus.yaml names it.
        columns: those to read; None for all.

    Raises:
        InputError: the file is missing or damaged, or holds records of another kind.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            path,
            expected="the records of the corpus, as Parquet",
            found=str(error),
            todo="make them with `python -m corpora_recipes read`",
        ) from None
    names = record_schema(kind).names
    with file:
        if file.schema_arrow.names != names:
            raise InputError(
                path,
                expected=f"records ({kind}) with the columns {', '.join(names)}",
                found=", ".join(file.schema_arrow.names),
                todo="name the records of the corpus that is built",
            )
        yield from file.iter_batches(batch_size=500, columns=columns)


def read_records(path: Path, kind: str, collection: str = "") -> Iterator[Record]:
    """Yield the records of a file, of examples those of one collection.

    Raises:
        InputError: see ``record_batches``.
    """
    import pyarrow.compute as pc

    for batch in record_batches(path, kind):
        if collection:
            batch = batch.filter(pc.equal(batch["collection"], collection))
        for row in batch.to_pylist():
            yield from_row(kind, row)
