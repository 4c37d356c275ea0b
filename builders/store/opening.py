"""Opens Parquet files to read them whole; a damaged one gives an error that names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from corpora_recipes.running.errors import InputError


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Yield a Parquet file, for reading alone.

    Raises:
        InputError: what is read of it, also of its metadata, is damaged.
    """
    try:
        # Not read_table, which would take folder names for columns.
        with pq.ParquetFile(path) as file:
            yield file
    # Besides pyarrow's errors: texts that are not UTF-8, metadata that are not JSON or lack a key.
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            path,
            expected="a Parquet file",
            found=f"{type(error).__name__}: {error}",
            todo="download or write the file again",
        ) from error
