"""Files of results: what they say, both or none, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from result_files import RESULTS

from corpora_recipes.running.errors import InputError
from evaluation.results.scores import (
    PREDICTIONS_SCHEMA,
    Predictions,
    predictions_table,
    read_predictions,
    read_results,
    write_results,
)

ANSWERS = [
    Predictions(
        ids=np.array(["a", "b", "c"]),
        documents=np.array(["d", "d", "e"]),
        gold=np.array([1, 0, 1]),
        predicted=np.array(predicted),
    )
    for predicted in ([[1, 1, 0], [1, 0, 1]], [[0, 0, 1]])
]


def write(folder: Path) -> Path:
    tables = (predictions_table("bso_own", *of) for of in zip(("0", "1"), ANSWERS, strict=True))
    write_results(RESULTS, tables, folder)
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "r")
    assert sorted(path.name for path in folder.iterdir()) == ["predictions.parquet", "scores.json"]
    assert read_results(folder) == RESULTS
    assert [score.layer for score in read_results(folder).main] == ["1"]
    for layer, written in zip(("0", "1"), ANSWERS, strict=True):
        read = read_predictions(folder, "bso_own", layer)
        for name in ("ids", "documents", "gold", "predicted"):
            assert getattr(read, name).tolist() == getattr(written, name).tolist()


def test_the_rows_of_the_predictions(tmp_path: Path) -> None:
    table = pq.read_table(write(tmp_path / "r") / "predictions.parquet")
    assert len(table) == 6
    assert [*table.to_pylist()[1].values()] == ["bso_own", "0", "b", "d", 0.0, [1.0, 0.0]]


def test_a_failure_leaves_the_results_before(tmp_path: Path) -> None:
    def tables() -> Any:
        yield predictions_table("bso_own", "0", ANSWERS[0])
        raise KeyboardInterrupt

    folder = write(tmp_path / "r")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        write_results(RESULTS, tables(), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


@pytest.mark.parametrize(
    ("dataset", "layer", "words"),
    [("bso_own", "7", "layer 7"), ("sp_own", "0", "predictions for sp_own")],
)
def test_predictions_that_are_not_there(
    tmp_path: Path, dataset: str, layer: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_predictions(write(tmp_path / "r"), dataset, layer)


def test_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    with pytest.raises(InputError, match=r"the folder that probe wrote"):
        read_results(tmp_path / "mine.json")


def test_rows_with_unequal_numbers_of_predictions(tmp_path: Path) -> None:
    path = write(tmp_path / "r") / "predictions.parquet"
    rows = pq.ParquetFile(path).read_row_group(0).to_pylist()
    rows[0]["predicted"].pop()
    pq.write_table(pa.Table.from_pylist(rows, schema=PREDICTIONS_SCHEMA), path)
    with pytest.raises(InputError, match="as many predictions in each row"):
        read_predictions(tmp_path / "r", "bso_own", "0")
