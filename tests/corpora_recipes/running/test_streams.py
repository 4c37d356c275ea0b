"""Closed and full standard streams, and terminals without our characters."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from imports import REPOSITORY

from evaluation.commands import VERBS

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
PROBETA = f"{sys.executable} -m evaluation.commands"
POSIX = "LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (f"{PROBETA} code --out code >&-", 0, ""),
        (f"{PROBETA} code --out code <&- >&- 2>&-", 0, ""),
        (f"{PROBETA} code --out params.yaml >&- 2>&-", 1, ""),
        (f"{PROBETA} code --out code >/dev/full", 1, "expected: space for the output"),
        (f"{POSIX} {PROBETA} --help", 0, ""),
        (f"{POSIX} {PROBETA} code --out año", 0, ""),
        (f"{PROBETA} code --out params.yaml/code", 1, "found:    File exists"),
        (f"{PROBETA} list --params .", 1, "found:    Is a directory"),
    ],
)
def test_a_verb_ends_in_words(tmp_path: Path, command: str, code: int, said: str) -> None:
    (tmp_path / "params.yaml").touch()
    done = shell(command, tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    written = [path for path in tmp_path.iterdir() if path.is_dir()]
    if "--out code" in command or "año" in command:
        (folder,) = written
        assert len([path for path in folder.iterdir() if path.is_file()]) == len(VERBS)
    else:
        assert written == []


def test_a_file_does_not_become_the_closed_standard_output(tmp_path: Path) -> None:
    code = (
        "import os; from corpora_recipes.running.streams import open_streams; open_streams(); "
        "file = open('rows', 'wb'); os.write(1, b'said by a library'); file.write(b'rows')"
    )
    assert shell(f'{sys.executable} -c "{code}" >&- 2>&-', tmp_path).returncode == 0
    assert (tmp_path / "rows").read_bytes() == b"rows"
