"""Results in files, and the cache of their parts."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from contents import contents, flip_bit, forge_cache
from report_files import CLUSTERED, PARADIGM, RANK, RANKED
from result_files import RESULTS, SCORE

from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from evaluation.results.scores import (
    PREDICTIONS_SCHEMA,
    PROBES_FORMAT,
    RANK_MEASURES,
    Controls,
    CurvePoint,
    PairRanks,
    Predictions,
    Results,
    Score,
    measure_pairs,
    predictions_digest,
    predictions_table,
    ranks_table,
    read_paradigms,
    read_predictions,
    read_rankings,
    read_ranks,
    read_results,
    write_rankings,
    write_results,
)
from evaluation.results.stored import Part, library_versions, parse_json, score_parts, write_stored

TABLES = read_tables(__file__)

# --- stored --------------------------------------------------------------------------------------

BARE = replace(RESULTS, scores=())
INPUTS = {"a": {"digest": "1"}, "b": {"digest": "2"}, "c": {"digest": "3"}}
MEMORY = Path("data/memory/probed")


def make_part(name: str) -> Part:
    """Return a score, and rows unless the part is c, as of a stage with and one without."""
    column = np.array(["x", "y"])
    rows = predictions_table(name, "0", Predictions(column, column, np.zeros(2), np.ones((1, 2))))
    return Part([replace(SCORE, dataset=name)], [rows] if name != "c" else [])


def parts_of(
    results: Results = BARE, inputs: Any = INPUTS, cache: bool = True, fails: str = ""
) -> list[str]:
    """Return which parts are computed, in the reverse order; all have to be right."""

    def compute(names: list[str]) -> Iterator[tuple[str, Part]]:
        for name in reversed(names):
            if name == fails:
                raise KeyboardInterrupt
            yield name, make_part(name)

    parts, new = score_parts(results, inputs, Score, compute, Cache("probed") if cache else None)
    assert parts.keys() == inputs.keys()
    for name in inputs:
        part, expected = parts[name], make_part(name)
        assert (part.scores, [*part.tables]) == (expected.scores, expected.tables)
    return new


@pytest.fixture
def cached(empty_folder: Path) -> None:
    """Compute all parts in a new current folder."""
    assert parts_of() == ["a", "b", "c"]


@pytest.mark.usefixtures("cached")
def test_unchanged_parts_are_reused() -> None:
    assert parts_of() == []
    assert parts_of(cache=False) == ["a", "b", "c"]
    assert parts_of(inputs=INPUTS | {"b": {"digest": "9"}}) == ["b"]
    assert parts_of() == ["b"]
    # A part that is gone is pruned, and computed if it comes back.
    assert parts_of(inputs={"a": INPUTS["a"], "d": {}}) == ["d"]
    assert sorted(path.name for path in MEMORY.iterdir()) == ["a", "d"]
    assert parts_of() == ["b", "c"]


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 4},
        {"code": "fedcba9876543210"},
        {"versions": {"python": "4"}},
        {"encoder": RESULTS.encoder | {"revision": "2"}},
        {"protocol": {"name": "standard", "version": 4}},
    ],
    ids=repr,
)
def test_what_decides_all_parts(changes: dict[str, Any]) -> None:
    assert parts_of(replace(BARE, **changes)) == ["a", "b", "c"]
    assert parts_of(replace(BARE, **changes)) == []


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize(
    ("damage", "new"),
    [
        (lambda: shutil.rmtree("data"), ["a", "b", "c"]),
        (lambda: shutil.rmtree(MEMORY / "b"), ["b"]),
        (lambda: (MEMORY / "a/made.json").write_bytes(b"{"), ["a"]),
        (lambda: flip_bit(MEMORY / "c/made.json"), ["c"]),
        (lambda: forge_cache(MEMORY / "b", "value", 0.9), ["b"]),
        (lambda: flip_bit(MEMORY / "a/rows.parquet"), ["a"]),
        (lambda: (MEMORY / "b/rows.parquet").unlink(), ["b"]),
        (lambda: shutil.copy(MEMORY / "a/rows.parquet", MEMORY / "b"), ["b"]),
    ],
)
def test_damaged_parts_are_computed_again(damage: Any, new: list[str]) -> None:
    damage()
    assert parts_of() == new
    assert parts_of() == []


def test_an_interrupted_run_loses_only_the_parts_in_flight(empty_folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        parts_of(fails="a")
    assert parts_of() == ["a"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": "0.5"}, "score.value: Input should be a valid number"),
        ({"value": float("nan")}, "score.value: Input should be a finite number"),
        ({"interval": [1]}, "score.interval.1: Field required"),
        ({"rows": {"test": 1.5}}, "score.rows.test: Input should be a valid integer"),
        ({"other": 1}, "score.other: Unexpected keyword argument"),
        ({"value": None, "metric": "recall"}, "score.metric: Input should be 'accuracy' or"),
    ],
    ids=repr,
)
def test_the_first_fault_of_a_value_is_one_line(changes: dict[str, Any], message: str) -> None:
    stored = asdict(SCORE) | {"interval": [0, 0.5]}
    assert parse_json(Score, stored) == replace(SCORE, interval=(0.0, 0.5))
    with pytest.raises(ValueError, match=f"^{message}.*$"):
        parse_json(Score, stored | changes, "score")


def test_the_versions_of_encoding_and_of_scoring() -> None:
    """An encoder may have run in another environment; the scores are of this one."""
    found = library_versions("probe", {"versions": {"torch": "0.1", "numpy": "0.2"}})
    assert list(found) == ["numpy", "platform", "probeta", "pyarrow", "python", "scipy", "torch"]
    assert (found["torch"], found["numpy"]) == ("0.1", version("numpy"))


# --- result files --------------------------------------------------------------------------------

PREDICTIONS = {
    layer: Predictions(
        ids=np.array(["a", "b", "c"]),
        documents=np.array(["d", "d", "e"]),
        gold=np.array([1, 0, 1]),
        predicted=np.array(predicted),
    )
    for layer, predicted in {"0": [[1, 1, 0], [1, 0, 1]], "1": [[0, 0, 1]]}.items()
}
RANKS = {
    similarity: PairRanks(
        dataset="evalrank_es",
        similarity=similarity,
        queries=np.array(["a", "a", "b"]),
        positives=np.array(["b", "ñ", "a"]),
        documents=np.array(["a", "a", "a"], object),
        ranks=np.array(ranks),
    )
    for similarity, ranks in {"cosine": [1.0, 4.0, 2.5], "l2": [1.0, 7.0, 3.0]}.items()
}


class Kind(NamedTuple):
    """Results in a folder: how they are written and read, and the rows of which dataset and key."""

    results: Any
    write: Callable[..., None]
    read: Callable[[Path], Any]
    read_rows: Callable[[Path, str, str], Any]
    dataset: str
    rows: dict[str, Any]
    tables: list[pa.Table]
    files: list[str]
    second_row: list[Any]


KINDS = {
    "probe": Kind(
        RESULTS,
        write_results,
        read_results,
        read_predictions,
        "bso_own",
        PREDICTIONS,
        [predictions_table("bso_own", *rows) for rows in PREDICTIONS.items()],
        ["predictions.parquet", "scores.json"],
        ["bso_own", "0", "b", "d", 0.0, [1.0, 0.0], None],
    ),
    "rank": Kind(
        replace(RANKED, name="other"),
        write_rankings,
        read_rankings,
        read_ranks,
        "evalrank_es",
        RANKS,
        [*map(ranks_table, RANKS.values())],
        ["ranks.parquet", "scores.json"],
        ["evalrank_es", "cosine", "a", "ñ", "a", 4.0],
    ),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@each_kind
def test_what_is_written_is_read(tmp_path: Path, kind: Kind) -> None:
    folder = tmp_path / "r"
    kind.write(kind.results, kind.tables, folder)
    assert sorted(path.name for path in folder.iterdir()) == kind.files
    assert kind.read(folder) == kind.results
    for key, written in kind.rows.items():
        read = kind.read_rows(folder, kind.dataset, key)
        for field in fields(written):
            value, expected = (np.asarray(getattr(x, field.name)) for x in (read, written))
            assert value.tolist() == expected.tolist()
    table = pq.read_table(folder / kind.files[0])
    assert len(table) == 6
    assert [*table.to_pylist()[1].values()] == kind.second_row


def test_controls_are_read_and_what_lacks_them(tmp_path: Path) -> None:
    """Results of the last format have none, and no column of information."""
    controls = Controls(
        {"information": (0.1, 0.3)}, {"selectivity": "few"}, curve=(CurvePoint(8, 0.5),)
    )
    results = replace(RESULTS, controls="full", scores=(replace(SCORE, controls=controls),))
    bits = np.array([0.5, -1.25, 1])
    predictions = replace(PREDICTIONS["0"], information=bits)
    write_results(results, [predictions_table("bso_own", "0", predictions)], tmp_path / "r")
    assert read_results(tmp_path / "r") == results
    read = read_predictions(tmp_path / "r", "bso_own", "0")
    assert read.information is not None
    assert read.information.tolist() == bits.tolist()
    assert predictions_digest(read) != predictions_digest(PREDICTIONS["0"])

    KINDS["probe"].write(RESULTS, KINDS["probe"].tables, tmp_path / "old")
    path = tmp_path / "old" / "scores.json"
    content = json.loads(path.read_text())
    del content["controls"]
    for score in content["scores"]:
        del score["controls"]
    path.write_text(json.dumps(content | {"format": PROBES_FORMAT - 1}))
    path = tmp_path / "old" / "predictions.parquet"
    with pq.ParquetFile(path) as file:
        tables = [file.read_row_group(n).drop_columns("information") for n in range(2)]
    with pq.ParquetWriter(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    assert read_results(tmp_path / "old") == RESULTS
    for layer, written in PREDICTIONS.items():
        read = read_predictions(tmp_path / "old", "bso_own", layer)
        assert read.information is None
        assert predictions_digest(read) == predictions_digest(written)


@each_kind
def test_a_failure_leaves_the_results_before(tmp_path: Path, kind: Kind) -> None:
    def tables() -> Iterator[pa.Table]:
        yield kind.tables[0]
        raise KeyboardInterrupt

    folder = tmp_path / "r"
    kind.write(kind.results, kind.tables, folder)
    before = contents(folder)
    with pytest.raises(KeyboardInterrupt):
        kind.write(kind.results, tables(), folder)
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


@each_kind
def test_rows_that_are_missing(tmp_path: Path, kind: Kind) -> None:
    kind.write(kind.results, kind.tables, tmp_path / "r")
    for dataset, key in ((kind.dataset, "other"), ("other", next(iter(kind.rows)))):
        with pytest.raises(InputError, match=f" {dataset} (from layer|by) {key}"):
            kind.read_rows(tmp_path / "r", dataset, key)


def test_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    with pytest.raises(InputError, match=r"the folder that probe wrote"):
        read_results(tmp_path / "mine.json")


def test_rows_with_unequal_numbers_of_predictions(tmp_path: Path) -> None:
    KINDS["probe"].write(RESULTS, KINDS["probe"].tables, tmp_path / "r")
    path = tmp_path / "r" / "predictions.parquet"
    rows = pq.ParquetFile(path).read_row_group(0).to_pylist()
    rows[0]["predicted"].pop()
    pq.write_table(pa.Table.from_pylist(rows, schema=PREDICTIONS_SCHEMA), path)
    with pytest.raises(InputError, match="as many predictions in each row"):
        read_predictions(tmp_path / "r", "bso_own", "0")


def test_paradigms_are_one_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run `probeta paradigms` again"):
        read_paradigms(tmp_path / "mine.json")
    write_stored(CLUSTERED, tmp_path / "mine.json")
    assert read_paradigms(tmp_path / "mine.json") == CLUSTERED
    assert CLUSTERED.main == CLUSTERED.scores
    assert [cluster.left for cluster in PARADIGM.clusters] == [7, 2]
    assert PARADIGM.skipped == 1


@pytest.mark.parametrize(("kind", "changes", "found"), TABLES["unfitting"])
def test_a_file_that_does_not_fit(
    tmp_path: Path, kind: str, changes: dict[str, Any], found: str
) -> None:
    path, read = tmp_path / "r" / "scores.json", read_paradigms
    if kind == "paradigms":
        write_stored(CLUSTERED, path)
    else:
        KINDS[kind].write(KINDS[kind].results, [], tmp_path / "r")
        read = KINDS[kind].read
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), "utf-8")
    with pytest.raises(InputError, match=f"run `probeta {kind}` again") as caught:
        read(path if kind == "paradigms" else path.parent)
    assert found in caught.value.found
    assert "\n" not in caught.value.found


def test_measures_of_ranks_and_their_keys() -> None:
    found = measure_pairs(np.array([1.0, 2.5, 3.0, 4.0]))
    assert found.tolist() == [[1, 0.4, 1 / 3, 0.25], [1, 0, 0, 0], [1, 1, 1, 0]]
    assert RANK.measures == dict(zip(RANK_MEASURES, (0.4, 0.3, 0.45), strict=True))
    assert RANK.key("Hits@1") == "evalrank_es hits@1 cosine"
    assert replace(RANKED, scores=(RANK, replace(RANK, layer="1"))).main == (RANK,)
