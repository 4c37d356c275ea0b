"""The version that decides bytes; arrays of columns: types, empty ones, that they are copies."""

import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from corpora_recipes.parquet import PYARROW, array_of


def test_the_version_that_decides_bytes_is_the_locked_one(repository: Path) -> None:
    locked = tomllib.loads((repository / "uv.lock").read_text("utf-8"))["package"]
    assert [entry["version"] for entry in locked if entry["name"] == "pyarrow"] == [PYARROW]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64, np.float32])
def test_a_column_of_numbers_becomes_an_array_of_its_own(kind: type[np.generic]) -> None:
    numbers = np.arange(6, dtype=kind)[::2]
    column = pa.chunked_array([pa.array(numbers), pa.array(numbers[:0]), pa.array(numbers[1:])])
    found = array_of(column)
    assert (found.dtype, found.tolist()) == (numbers.dtype, [0, 2, 4, 2, 4])
    found[0] = 7
    assert column[0].as_py() == 0
    assert len(array_of(pa.chunked_array([], column.type))) == 0


def test_a_column_of_strings_becomes_an_array_of_objects() -> None:
    found = array_of(pa.chunked_array([["a", "ñu"], ["b"]]))
    assert (found.dtype, found.tolist()) == (object, ["a", "ñu", "b"])
    assert len(array_of(pa.chunked_array([], pa.string()))) == 0
