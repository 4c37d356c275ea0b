"""Everything that decides the bytes of a Parquet file: its options and its writer."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# The version of uv.lock: published files, and those that tests/samples.tsv pins, have its bytes.
PYARROW = "26.0.1"
# Options for equal bytes with one version of pyarrow.
PARQUET_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "version": "2.6",
    "data_page_version": "1.0",
    "write_page_index": True,
}


def convert_without_pandas() -> None:
    """Let pyarrow convert values without pandas, whose import takes longer than all others.

    To know a Series, pyarrow imports pandas before it first makes an array, unless that fails. To
    make or read a data frame, it still imports it. For processes that are ours alone: in others an
    array of a Series would have NaN for null.
    """
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = None  # type: ignore[assignment]
        with suppress(ImportError, AttributeError):
            pa.array([])
        del sys.modules["pandas"]


@contextmanager
def parquet_writer(
    path: Path, schema: pa.Schema, dictionary: list[str] | None = None
) -> Iterator[pq.ParquetWriter]:
    """Yield a writer of a Parquet file.

    Args:
        path: the file to write, part of a whole output; its folder is made if need be.
        schema: the schema of its rows.
        dictionary: the columns to store by dictionary.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(
        path, schema, use_dictionary=dictionary or False, **PARQUET_OPTIONS
    ) as writer:
        yield writer


def array_of(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[Any]]:
    """Return a column without nulls as an array, [rows]: of numbers, or of objects of str."""
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), np.object_)
    # A copy, which can be written to.
    return np.from_dlpack(column.combine_chunks()).copy()
