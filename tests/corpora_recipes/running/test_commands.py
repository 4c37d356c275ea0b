"""How a command ends: when the disk is full, or it is interrupted; options of stages."""

import argparse
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from imports import REPOSITORY

from corpora_recipes.running.console import add_stage, run


def test_what_an_interruption_leaves_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    def end_by(error: BaseException) -> None:
        raise error

    interrupted = partial(end_by, KeyboardInterrupt())
    assert (run(interrupted), run(interrupted, "half of it is kept")) == (130, 130)
    first, second = capsys.readouterr().err.splitlines()
    assert "what was there before is unchanged" in first
    assert second == "interrupted: half of it is kept; run it again"
    # Errors of the program are not hidden.
    with pytest.raises(TypeError):
        run(partial(end_by, TypeError()))


@pytest.mark.parametrize(
    ("entries", "given", "only"),
    [("corpora", [], None), ("corpora", ["--only", "b, a,,"], ["b", "a"]), ("", [], None)],
)
def test_the_options_of_a_stage(entries: str, given: list[str], only: list[str] | None) -> None:
    parser = argparse.ArgumentParser()
    add_stage(parser, entries)
    options = vars(parser.parse_args(given))
    assert options.pop("only", None) == only
    assert options == {"params": Path("params.yaml"), "strict": False, "check": False}
    assert ("--only" in parser.format_help()) == bool(entries)


pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
PROBETA = f"{sys.executable} -m probeta"
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
        (f"{PROBETA} read >&-", 0, ""),
        (f"{PROBETA} read <&- >&- 2>&-", 0, ""),
        (f"{PROBETA} read --params folder >&- 2>&-", 1, ""),
        (f"{PROBETA} read >/dev/full", 1, "expected: space for the output"),
        (f"{POSIX} {PROBETA} --help", 0, ""),
        (f"{POSIX} {PROBETA} read --params año.yaml", 0, ""),
        (f"{PROBETA} read --only a", 1, "found:    a\n"),
        (f"cp params.yaml data/records; {PROBETA} read", 1, "found:    File exists"),
        (f"{PROBETA} list --params folder", 1, "found:    Is a directory"),
    ],
)
def test_a_verb_ends_in_words(tmp_path: Path, command: str, code: int, said: str) -> None:
    for name in ("params.yaml", "año.yaml"):
        (tmp_path / name).write_text("corpora: {}\n", "utf-8")
    for name in ("folder", "data"):
        (tmp_path / name).mkdir()
    done = shell(command, tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    written = (tmp_path / "data" / "environment.json").exists()
    assert written == (" read " in f"{command} " and code == 0)


def test_a_file_does_not_become_the_closed_standard_output(tmp_path: Path) -> None:
    code = (
        "import os; from corpora_recipes.running.console import open_streams; open_streams(); "
        "file = open('rows', 'wb'); os.write(1, b'said by a library'); file.write(b'rows')"
    )
    assert shell(f'{sys.executable} -c "{code}" >&- 2>&-', tmp_path).returncode == 0
    assert (tmp_path / "rows").read_bytes() == b"rows"
