"""Outputs: whole or not at all; what a killed run has left is cleared, a live one's work is not."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from corpora_recipes.parquet import parquet_writer
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import (
    clear,
    finished,
    format_size,
    free_at,
    whole_file,
    whole_folder,
    whole_outputs,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_and_fail(path: Path, *, folder: bool = False) -> None:
    with (whole_folder if folder else whole_file)(path) as temporary:
        (temporary / "a" if folder else temporary).write_text("half")
        raise RuntimeError("in the middle")


def test_a_file_appears_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.txt"
    with whole_file(target) as temporary:
        temporary.write_text("text")
        assert not target.exists()
    # A failure leaves the old one.
    with pytest.raises(RuntimeError):
        write_and_fail(target)
    assert target.read_text() == "text"
    assert names(target.parent) == ["out.txt"]


def test_a_folder_replaces_the_old_one_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "out" / "old").mkdir(parents=True)
    with pytest.raises(RuntimeError):
        write_and_fail(tmp_path / "out", folder=True)
    assert names(tmp_path / "out") == ["old"]
    with whole_folder(tmp_path / "out") as temporary:
        (temporary / "new").write_text("new")
    assert names(tmp_path / "out") == ["new"]
    assert names(tmp_path) == ["out"]


def test_a_file_and_a_folder_are_not_put_in_place_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    for name, wanted in (("file", "folder"), ("folder", "file")):
        with pytest.raises(InputError, match=f"a {wanted} to write\n  found:    a {name}"):
            write_and_fail(tmp_path / name, folder=wanted == "folder")
    assert names(tmp_path) == ["file", "folder"]


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    (tmp_path / "disk" / "out").mkdir(parents=True)
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "out")
    with whole_folder(tmp_path / "out") as temporary:
        (temporary / "new").write_text("new")
    assert (tmp_path / "out").is_symlink()
    assert names(tmp_path / "disk" / "out") == ["new"]
    assert names(tmp_path / "disk") == ["out"]


def test_several_outputs_come_together(tmp_path: Path) -> None:
    (tmp_path / "folder" / "old").mkdir(parents=True)
    (tmp_path / "a").write_text("old")
    (tmp_path / "other").write_text("mine")
    with whole_outputs([tmp_path / "a", tmp_path / "b"], [tmp_path / "folder"]) as (a, b, folder):
        a.write_text("new")
        b.write_text("new")
        (folder / "new").write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a", "b", "folder", "other"]
    assert (tmp_path / "a").read_text() == "new"
    assert names(tmp_path / "folder") == ["new"]


@pytest.mark.parametrize("moves", range(1, 6))
def test_an_error_while_they_come_puts_the_old_ones_back(tmp_path, monkeypatch, moves: int) -> None:
    """Of two old and three new outputs, whichever move fails."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")
    replace = Path.replace
    done: list[Path] = []

    def failing(path: Path, target: Path) -> Path:
        done.append(path)
        if len(done) == moves:
            raise OSError(errno.EIO, "Input/output error", str(path))
        return replace(path, target)

    def write() -> None:
        with whole_outputs([tmp_path / name for name in "abc"]) as new:
            for path in new:
                path.write_text("new")
            monkeypatch.setattr(Path, "replace", failing)

    with pytest.raises(OSError, match="Input/output error"):
        write()
    assert names(tmp_path) == ["a", "b"]
    assert {(tmp_path / name).read_text() for name in "ab"} == {"old"}


def test_what_an_output_inside_could_not_remove_is_not_put_in_place(tmp_path, monkeypatch) -> None:
    with whole_folder(tmp_path / "out") as outer:
        monkeypatch.setattr("shutil.rmtree", lambda path, ignore_errors=False: None)
        with whole_folder(outer / "inner") as inner:
            (inner / "a").write_text("a")
        assert len(names(outer)) == 2
        monkeypatch.undo()
    assert names(tmp_path / "out") == ["inner"]
    assert names(tmp_path) == ["out"]


def test_parquet_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    table = pa.table({"id": [f"d{n}" for n in range(500)], "label": [n % 3 for n in range(500)]})
    for name in ("a", "b"):
        with parquet_writer(tmp_path / name, table.schema, dictionary=["label"]) as writer:
            writer.write_table(table)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# Writes two files of a folder, and says how far it is; a kill follows where it waits for a line.
RUN = """\
import os, sys
from pathlib import Path
from corpora_recipes.running.outputs import whole_folder
moves, replace = int(sys.argv[2]), Path.replace
def wait():
    print("here", flush=True)
    sys.stdin.readline()
def counted(path, target):
    global moves
    if moves == 0:
        wait()
    moves -= 1
    return replace(path, target)
with whole_folder(Path(sys.argv[1])) as folder:
    for name in "ab":
        (folder / name).write_text("new")
    if moves < 0:
        wait()
    Path.replace = counted
"""


@pytest.fixture
def start() -> Iterator[Callable[[Path, int], "subprocess.Popen[str]"]]:
    """Return a function that starts a run, and lets it go on up to its n-th move (-1: none)."""
    started: list[subprocess.Popen[str]] = []
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def run(out: Path, moves: int) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", RUN, str(out), str(moves)]
        process = subprocess.Popen(command, env=environment, **pipes)
        started.append(process)
        assert process.stdout
        assert process.stdout.readline() == "here\n"
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def killed(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_what_a_killed_run_left_goes_and_that_of_a_live_one_stays(tmp_path: Path, start) -> None:
    killed(start(tmp_path / "out", -1))
    live = start(tmp_path / "out", -1)
    assert len(names(tmp_path)) == 1  # the second run has cleared the place of the first
    with whole_file(tmp_path / "file") as temporary:
        temporary.write_text("text")
    assert len(names(tmp_path)) == 2
    live.communicate("go on\n")
    assert names(tmp_path) == ["file", "out"]
    assert names(tmp_path / "out") == ["a", "b"]


@pytest.mark.parametrize("moves", [0, 1])
def test_a_killed_exchange_of_folders_is_ended_by_the_next_run(tmp_path, start, moves: int) -> None:
    out = tmp_path / "out"
    (out / "old").mkdir(parents=True)
    killed(start(out, moves))
    # Under the final name there is never half a folder.
    assert not out.exists() if moves else names(out) == ["old"]
    with whole_folder(tmp_path / "other"):
        assert names(out) == ["a", "b"]
    assert names(tmp_path) == ["other", "out"]


def test_two_runs_at_once_leave_one_whole_folder(tmp_path: Path, start) -> None:
    out = tmp_path / "out"
    (out / "old").mkdir(parents=True)
    first = start(out, 1)
    with whole_folder(out) as folder:
        (folder / "second").write_text("second")
    assert names(out) == ["second"]
    first.communicate("go on\n")
    assert first.returncode == 0
    assert names(out) == ["a", "b"]
    assert names(tmp_path) == ["out"]


def test_a_folder_of_the_user_that_looks_alike_stays(tmp_path: Path) -> None:
    for name in (".mine.part", ".mine.old.part", "mine.part"):
        (tmp_path / name).mkdir()
    (tmp_path / ".abc.12345678.part").write_text("a file")
    clear(tmp_path)
    assert len(names(tmp_path)) == 4


def test_without_locks_nothing_is_cleared(tmp_path, start, monkeypatch) -> None:
    def without_locks(lock: int, *, blocking: bool) -> bool:
        raise OSError(errno.ENOTSUP, "no locks")

    killed(start(tmp_path / "out", -1))
    monkeypatch.setattr("filelock.lock_descriptor", without_locks)
    with whole_file(tmp_path / "file") as temporary:
        temporary.write_text("text")
    assert len(names(tmp_path)) == 2


def test_messages_name_finished_outputs() -> None:
    place = "data/.audit.abcd1234.part"
    assert finished(place) == "data/audit"
    assert finished(f"{place}/new.audit/x.json: no") == "data/audit/x.json: no"
    assert finished(f"[Errno 5] '{place}/old.audit'") == "[Errno 5] 'data/audit'"
    assert finished(f"{place}/new.audit/.b.json.abcd1234.part/new.b.json") == "data/audit/b.json"
    assert finished("data/.cache.part/x") == "data/.cache.part/x"


def test_sizes_in_words(tmp_path: Path) -> None:
    words = [format_size(size) for size in (0, 999, 1500, 7_038_263_862, 2_000_000_000_000)]
    assert words == ["0 bytes", "999 bytes", "1.5 kB", "7.0 GB", "2,000.0 GB"]
    assert free_at(tmp_path / "not" / "there") > 0
