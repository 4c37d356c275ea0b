"""Columns: the tables of `pyarrow.Table.from_pylist`, for every kind of record, without pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.parquet import array_of, numbers, strings, to_table
from corpora_recipes.records import KINDS
from corpora_recipes.rows import record_schema

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def values(kind: pa.DataType, *, nested: bool = False) -> st.SearchStrategy:
    """Return what a column of this type may hold; nulls stand in strings and doubles only."""
    if pa.types.is_map(kind):
        return st.lists(st.tuples(TEXT, TEXT), max_size=3)
    if pa.types.is_list(kind):
        return st.lists(values(kind.value_type, nested=True), max_size=3)
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({f.name: values(f.type, nested=True) for f in kind})
    if pa.types.is_int32(kind):
        return st.integers(-(2**31), 2**31 - 1)
    if pa.types.is_boolean(kind):
        return st.booleans()
    plain = st.floats(allow_nan=False) if pa.types.is_float64(kind) else TEXT
    return plain if nested else st.none() | plain


@pytest.mark.parametrize("kind", KINDS)
# The first call of pyarrow's own imports pandas.
@given(data=st.data())
def test_rows_become_the_table_of_pyarrow(kind, data) -> None:
    schema = record_schema(kind)
    row = st.fixed_dictionaries({field.name: values(field.type) for field in schema})
    rows = data.draw(st.lists(row, max_size=10))
    table = to_table(rows, schema)
    table.validate(full=True)
    assert table.schema.equals(schema)
    assert table.equals(pa.Table.from_pylist(rows, schema=schema))


def test_strings_are_counted_in_bytes() -> None:
    assert strings(["añ", None, "", "🌍"]).to_pylist() == ["añ", None, "", "🌍"]
    with pytest.raises(UnicodeEncodeError):
        strings(["\ud800"])


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError):
        to_table([{"n": 2**31}], pa.schema([("n", pa.int32())]))
    with pytest.raises(TypeError, match="a column of type date32"):
        to_table([], pa.schema([("n", pa.date32())]))


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64, np.float32])
def test_numbers_become_a_column_and_an_array_again(kind: type[np.generic]) -> None:
    own = np.arange(6, dtype=kind)[::2]
    column = pa.chunked_array([numbers(own), numbers(own[:0]), numbers(own[1:])])
    assert column.equals(pa.chunked_array([pa.array(own), pa.array(own[1:])]))
    found = array_of(column)
    assert (found.dtype, found.tolist()) == (own.dtype, [0, 2, 4, 2, 4])
    found[0] = 7
    assert column[0].as_py() == 0


def test_a_column_of_strings_is_an_array_of_objects() -> None:
    found = array_of(pa.chunked_array([["a", "ñu"], ["b"]]))
    assert (found.dtype, found.tolist()) == (object, ["a", "ñu", "b"])
    assert len(array_of(pa.chunked_array([], pa.string()))) == 0
    assert len(array_of(pa.chunked_array([], pa.float64()))) == 0


def test_pandas_is_not_imported() -> None:
    code = """if True:
        import sys
        import numpy as np
        import pyarrow as pa
        from corpora_recipes.parquet import array_of, numbers, to_table
        from corpora_recipes.rows import record_schema
        row = dict.fromkeys(("id", "title", "split"), "x") | {"conversations": [["a"]]}
        assert to_table([row], record_schema("dialogues")).num_rows == 1
        assert array_of(pa.chunked_array([numbers(np.arange(3))])).tolist() == [0, 1, 2]
        assert "pandas" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_long_integers_may_be_none_or_missing() -> None:
    schema = pa.schema([("n", pa.int64()), ("text", pa.string())])
    rows = [{"n": 2**40}, {"n": None, "text": "a"}, {"text": ""}, {"n": -1}, {"n": 0}]
    assert to_table(rows, schema).equals(pa.Table.from_pylist(rows, schema=schema))
