"""The folder of EvalRank's results: what was written is read; what does not fit is refused."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from contents import contents
from report_files import RANK, RANKED

from corpora_recipes.running.errors import InputError
from evaluation.results.scores import (
    RANK_MEASURES,
    PairRanks,
    measure_pairs,
    ranks_table,
    read_rankings,
    read_ranks,
    read_tables,
    write_rankings,
)

RESULTS = replace(RANKED, name="mío")
PAIRS = [
    PairRanks(
        dataset="evalrank_es",
        similarity=similarity,
        queries=np.array(["a", "a", "b"]),
        positives=np.array(["b", "ñ", "a"]),
        documents=np.array(["a", "a", "a"], object),
        ranks=np.array(ranks),
    )
    for similarity, ranks in (("cosine", [1.0, 4.0, 2.5]), ("l2", [1.0, 7.0, 3.0]))
]


def write(folder: Path) -> Path:
    write_rankings(RESULTS, map(ranks_table, PAIRS), folder)
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine")
    assert sorted(path.name for path in folder.iterdir()) == ["ranks.parquet", "scores.json"]
    assert read_rankings(folder) == RESULTS
    for pairs in PAIRS:
        read = read_ranks(folder, "evalrank_es", pairs.similarity)
        assert (read.dataset, read.similarity) == (pairs.dataset, pairs.similarity)
        for name in ("queries", "positives", "documents", "ranks"):
            assert getattr(read, name).tolist() == getattr(pairs, name).tolist()


def test_the_rows_of_the_ranks(tmp_path: Path) -> None:
    table = pq.read_table(write(tmp_path / "mine") / "ranks.parquet")
    assert len(table) == 6
    assert [*table.to_pylist()[1].values()] == ["evalrank_es", "cosine", "a", "ñ", "a", 4.0]


def test_the_tables_are_written_again_as_they_were(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine")
    tables = read_tables(folder)
    assert list(tables) == [("evalrank_es", "cosine"), ("evalrank_es", "l2")]
    write_rankings(RESULTS, tables.values(), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder)
    (folder / "ranks.parquet").write_bytes((folder / "ranks.parquet").read_bytes()[:-20])
    assert read_tables(folder) == {}


def test_a_failure_leaves_the_results_before(tmp_path: Path) -> None:
    def ranks() -> Iterator[pa.Table]:
        yield ranks_table(PAIRS[0])
        raise KeyboardInterrupt

    folder = write(tmp_path / "mine")
    before = contents(folder)
    with pytest.raises(KeyboardInterrupt):
        write_rankings(RESULTS, ranks(), folder)
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_what_pairs_reach() -> None:
    found = measure_pairs(np.array([1.0, 2.5, 3.0, 4.0]))
    assert found.tolist() == [[1, 0.4, 1 / 3, 0.25], [1, 0, 0, 0], [1, 1, 1, 0]]
    assert len(found) == len(RANK_MEASURES)


def test_measures_and_what_they_are_called() -> None:
    assert RANK.measures == dict(zip(RANK_MEASURES, (0.4, 0.3, 0.45), strict=True))
    assert RANK.key("Hits@1") == "evalrank_es hits@1 cosine"
    assert replace(RESULTS, scores=(RANK, replace(RANK, layer="1"))).main == (RANK,)


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("format", 1, "format 1"),
        ("scores", [{"dataset": "a"}], "'interval'"),
        ("similarities", None, "results.similarities: tuple[evaluation."),
        ("interval", [1], "results.scores[0].interval: tuple[float, float] expected, [1] found"),
    ],
)
def test_a_file_that_does_not_fit(tmp_path: Path, key: str, value: object, found: str) -> None:
    folder = write(tmp_path / "mine")
    path = folder / "scores.json"
    content = json.loads(path.read_text("utf-8"))
    (content["scores"][0] if key == "interval" else content)[key] = value
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match="run `probeta rank` again") as caught:
        read_rankings(folder)
    assert found in str(caught.value)


def test_ranks_that_are_not_there(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine")
    for dataset, similarity in (("evalrank_en", "l2"), ("evalrank_es", "euclid")):
        with pytest.raises(InputError, match=f"ranks in {dataset} by {similarity}"):
            read_ranks(folder, dataset, similarity)
