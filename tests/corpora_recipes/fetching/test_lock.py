"""sources.lock, written by several fetches at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from corpora_recipes.fetching.pins import read_lock

WRITER = """
import sys
from corpora_recipes.fetching.pins import Locked, add_to_lock

name = sys.argv[1]
print("ready", flush=True)
input()
for number in range(20):
    add_to_lock(f"http://{name}/{number}", Locked("2026-01-01", "a", 1, sha256="0a"))
"""


def test_no_entry_of_two_processes_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert len(read_lock()) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["sources.lock"]
