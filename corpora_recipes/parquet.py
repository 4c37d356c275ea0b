"""Everything that decides the bytes of a Parquet file: options, writer, Arrow columns.

``to_table``, ``strings`` and ``numbers`` make Arrow columns from their buffers, ``array_of`` an
array from a column. ``pyarrow.array``, ``pyarrow.Table.from_pylist`` and ``to_numpy`` return the
same, but import pandas at their first call, which takes 0.3 s and 40 MB.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

# Options for equal bytes with one version of pyarrow.
PARQUET_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "version": "2.6",
    "data_page_version": "1.0",
    "write_page_index": True,
}


@contextmanager
def parquet_writer(
    path: Path, schema: "pa.Schema", dictionary: list[str] | None = None
) -> Iterator["pq.ParquetWriter"]:
    """Yield a writer of a Parquet file.

    Args:
        path: the file to write, part of a whole output; its folder is made if need be.
        schema: the schema of its rows.
        dictionary: the columns to store by dictionary.
    """
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(
        path, schema, use_dictionary=dictionary or False, **PARQUET_OPTIONS
    ) as writer:
        yield writer


def to_table(rows: Sequence[dict[str, Any]], schema: "pa.Schema") -> "pa.Table":
    """Return the rows as a table of one chunk.

    Args:
        rows: column to value, None if missing; maps are lists of pairs.
        schema: of strings, doubles, integers, booleans, and lists, maps and structs of them.
            Strings, doubles and 64-bit integers may be None.
    """
    import pyarrow as pa

    columns = [_column([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def strings(values: Sequence[str | None]) -> "pa.StringArray":
    """Return the values as a column of strings; None is a null."""
    import pyarrow as pa

    data = [b"" if value is None else value.encode() for value in values]
    offsets = _offsets(map(len, data)).buffers()[1]
    joined = pa.py_buffer(b"".join(data))
    return pa.StringArray.from_buffers(len(data), offsets, joined, _validity(values))


def numbers(values: "np.ndarray[Any, np.dtype[Any]]") -> "pa.Array":
    """Return an array of numbers, [rows], as a column of their type."""
    import numpy as np
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, data])


def array_of(column: "pa.ChunkedArray") -> "np.ndarray[Any, np.dtype[Any]]":
    """Return a column without nulls as an array, [rows]: of numbers, or of objects of str."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), np.object_)
    # A copy, which can be written to.
    return np.from_dlpack(column.combine_chunks()).copy()


def _column(values: Sequence[Any], kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_map(kind):
        keys, items = zip(*chain.from_iterable(values), strict=True) if any(values) else ((), ())
        return pa.MapArray.from_arrays(
            _offsets(map(len, values)), _column(keys, kind.key_type), _column(items, kind.item_type)
        )
    if pa.types.is_list(kind):
        flat = _column(list(chain.from_iterable(values)), kind.value_type)
        return pa.ListArray.from_arrays(_offsets(map(len, values)), flat, type=kind)
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        parts = [_column([value[field.name] for value in values], field.type) for field in fields]
        return pa.StructArray.from_buffers(kind, len(values), [None], children=parts)
    if pa.types.is_string(kind):
        return strings(values)
    if pa.types.is_boolean(kind):
        numbers = _bits(values)
    elif pa.types.is_int32(kind):
        numbers = pa.py_buffer(array("i", values))
    elif pa.types.is_int64(kind):
        numbers = pa.py_buffer(array("q", (value or 0 for value in values)))
    elif pa.types.is_float64(kind):
        numbers = pa.py_buffer(array("d", (0 if value is None else value for value in values)))
    else:
        raise TypeError(f"a column of type {kind}")
    return pa.Array.from_buffers(kind, len(values), [_validity(values), numbers])


def _offsets(lengths: Iterable[int]) -> "pa.Array":
    import pyarrow as pa

    offsets = array("i", accumulate(lengths, initial=0))
    return pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)])


def _validity(values: Sequence[Any]) -> "pa.Buffer | None":
    return _bits(value is not None for value in values) if None in values else None


def _bits(values: Iterable[bool]) -> "pa.Buffer":
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.packbits(np.fromiter(values, bool), bitorder="little"))
