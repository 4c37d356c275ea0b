"""Measurements are kept while nothing that they depend on changes; the audit is the same."""

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import document, write_as_read
from contents import contents
from test_audit import quick as quick

from builders.audit_report import failures_of
from builders.auditing import auditing
from builders.auditing.instances import instances_in
from builders.building import build
from corpora_recipes.running.cache import Cache

INSTANCES, OUT = Path("instances"), Path("audit")
TASKS = {"sp_a": {"task": "sentence_position"}, "dc_a": {"task": "discourse_coherence"}}


@pytest.fixture(autouse=True)
def instances(tmp_path, monkeypatch, make_corpus) -> None:
    """Change to a folder with two datasets."""
    monkeypatch.chdir(tmp_path)
    records = write_as_read(tmp_path, [document(n) for n in range(1000, 1080)])
    build(make_corpus(datasets=TASKS), records, INSTANCES, "upstream")


def measure_all(out: Path, **options: Any) -> dict[str, Any]:
    locations = [instances_in(INSTANCES / name) for name in sorted(TASKS)]
    return auditing.audit(locations, out, target=str(INSTANCES), **options)


def new(**options: Any) -> int:
    """Audit the datasets, and return how many were measured."""
    cache = Cache("measured")
    measure_all(OUT, cache=cache, **options)
    return cache.written


def test_nothing_is_measured_twice(monkeypatch) -> None:
    assert new() == 2
    first = contents(OUT)
    monkeypatch.setattr("builders.auditing.auditing.measure", None)
    assert new() == 0
    assert contents(OUT) == first
    # What the declarations say of it is judged anew.
    declared = {"at_most": 0.1, "because": "the source is so"}
    assert new(inherited={"sp_a": {"leakage": declared}}) == 0
    assert contents(OUT) != first


def test_a_changed_dataset_alone_is_measured() -> None:
    """The other is compared with it all the same."""
    assert new() == 2
    (row, *_) = (
        row for row in pq.read_table(INSTANCES / "dc_a").to_pylist() if row["donor_id"] is not None
    )
    stolen = row["sentences"][row["replaced_position"] - 1]
    path = INSTANCES / "sp_a" / "train-00000-of-00001.parquet"
    table = pq.ParquetFile(path).read()
    rows = table.to_pylist()
    rows[0]["sentences"][0] = stolen
    pq.write_table(type(table).from_pylist(rows, table.schema), path)
    assert new() == 1
    report = measure_all(Path("fresh"))
    assert contents(OUT) == contents(Path("fresh"))
    assert any("dc_a" in miss and "replacement sentences" in miss for miss in failures_of(report))


@pytest.mark.parametrize("decides", ["code_digest", "stage_versions"])
def test_other_code_or_libraries_measure_anew(monkeypatch, decides: str) -> None:
    assert new() == 2
    monkeypatch.setattr(auditing, decides, lambda *_: "another")
    assert new() == 2
    assert new() == 0


def test_boilerplate_is_part_of_the_key() -> None:
    location = instances_in(INSTANCES / "dc_a")
    patterns = [[], [re.compile("Véase")], [re.compile("Véase", re.IGNORECASE)]]
    keys = [auditing.cache_key(location, each) for each in patterns]
    assert all(keys.count(key) == 1 for key in keys)
