"""Parts of results: what is reused from the cache and what is computed; JSON and descriptions."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contents import flip_bit, forge_cache
from result_files import RESULTS, SCORE

from corpora_recipes.running.cache import Cache
from evaluation.results.scores import Predictions, Results, Score, predictions_table
from evaluation.results.stored import Part, library_versions, parse_json, score_parts

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
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute all parts in a new current folder."""
    monkeypatch.chdir(tmp_path)
    assert parts_of() == ["a", "b", "c"]


@pytest.mark.usefixtures("cached")
def test_unchanged_parts_are_reused() -> None:
    assert parts_of() == []
    assert parts_of(cache=False) == ["a", "b", "c"]
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


@pytest.mark.usefixtures("cached")
def test_other_inputs_cost_only_their_part() -> None:
    assert parts_of(inputs=INPUTS | {"b": {"digest": "9"}}) == ["b"]


def test_an_interrupted_run_loses_only_the_parts_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
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
