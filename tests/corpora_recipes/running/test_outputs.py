"""Outputs: whole or not at all, and what a killed run left behind goes away."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from corpora_recipes.parquet import parquet_writer
from corpora_recipes.running.outputs import whole_file, whole_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_and_fail(path: Path) -> None:
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("in the middle")


def fill_and_fail(path: Path) -> None:
    with whole_folder(path) as temporary:
        (temporary / "a").write_text("half")
        raise RuntimeError("in the middle")


def test_a_file_appears_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.txt"
    with whole_file(target) as temporary:
        temporary.write_text("text")
        assert not target.exists()
    assert target.read_text() == "text"
    assert names(target.parent) == ["out.txt"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(RuntimeError):
        write_and_fail(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_folder_replaces_the_old_one_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("old")
    with pytest.raises(RuntimeError):
        fill_and_fail(tmp_path / "out")
    assert names(tmp_path / "out") == ["old"]
    with whole_folder(tmp_path / "out") as temporary:
        (temporary / "new").write_text("new")
    assert names(tmp_path / "out") == ["new"]
    assert names(tmp_path) == ["out"]


def test_what_a_killed_process_left_is_removed_and_that_of_a_live_one_is_not(
    tmp_path: Path,
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alive = os.getppid()
    (tmp_path / f".out.{ended.pid}.part").write_text("left over")
    (tmp_path / f".folder.{ended.pid}.part").mkdir()
    (tmp_path / f".out.{alive}.part").write_text("being written")
    with whole_file(tmp_path / "out") as temporary:
        temporary.write_text("text")
    with whole_folder(tmp_path / "folder"):
        pass
    assert names(tmp_path) == [f".out.{alive}.part", "folder", "out"]


def test_parquet_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("label", pa.int64())])
    rows = [{"id": f"d{n}", "label": n % 3} for n in range(500)]
    contents = []
    for name in ("a", "b"):
        with parquet_writer(tmp_path / name, schema, dictionary=["label"]) as writer:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
