"""Workplaces: what a killed run has left is cleared, what a live one works on is not."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpora_recipes.running.outputs import clear, finished, whole_file, whole_folder

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


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def start() -> Iterator[Callable[[Path, int], "subprocess.Popen[str]"]]:
    """Return a function that starts a run, and lets it go on up to its n-th move (-1: none)."""
    started: list[subprocess.Popen[str]] = []

    def run(out: Path, moves: int) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(out), str(moves)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
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
def test_a_killed_exchange_of_folders_is_ended_by_the_next_run(
    tmp_path: Path, start, moves: int
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").write_text("old")
    killed(start(out, moves))
    # Under the final name there is never half a folder.
    assert not out.exists() if moves else names(out) == ["old"]
    with whole_folder(tmp_path / "other"):
        assert names(out) == ["a", "b"]
    assert names(tmp_path) == ["other", "out"]


def test_two_runs_at_once_leave_one_whole_folder(tmp_path: Path, start) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").write_text("old")
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


def without_locks(lock: int, *, blocking: bool) -> bool:
    raise OSError(errno.ENOTSUP, "no locks")


def test_without_locks_nothing_is_cleared(
    tmp_path: Path, start, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(start(tmp_path / "out", -1))
    monkeypatch.setattr("filelock.lock_descriptor", without_locks)
    with whole_file(tmp_path / "file") as temporary:
        temporary.write_text("text")
    assert len(names(tmp_path)) == 2
    assert "file" in names(tmp_path)


def test_messages_name_finished_outputs() -> None:
    place = "data/.audit.abcd1234.part"
    assert finished(place) == "data/audit"
    assert finished(f"{place}/new.audit/x.json: no") == "data/audit/x.json: no"
    assert finished(f"[Errno 5] '{place}/old.audit'") == "[Errno 5] 'data/audit'"
    assert finished(f"{place}/new.audit/.b.json.abcd1234.part/new.b.json") == "data/audit/b.json"
    assert finished("data/.cache.part/x") == "data/.cache.part/x"
