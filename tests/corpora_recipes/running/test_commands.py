"""How a command ends: when the disk is full, or it is interrupted; what verbs say alike."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import DATA, RangeServer

from corpora_recipes.fetching.ranges import part_name, parts_folder
from corpora_recipes.running.commands import run, said_kept

# A limit on the size of files is the full disk that a test can have anywhere but on Windows.
LIMIT = """\
import resource, sys
from pathlib import Path
from corpora_recipes.running.commands import run
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
"""


def limited(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("resource")
    command = [sys.executable, "-c", LIMIT + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def server() -> Iterator[RangeServer]:
    server = RangeServer({"/dump.bz2": DATA})
    yield server
    server.close()


def test_read_on_a_full_disk_leaves_nothing(tmp_path: Path, write_params) -> None:
    params = write_params({"mine": {"corpus": {"recipe": "jsonl", "path": "d.jsonl"}}})
    raw = tmp_path / "raw"
    raw.mkdir()
    lines = [
        json.dumps({"id": str(n), "text": " ".join(f"Frase {n * k * 7919}." for k in range(90))})
        for n in range(600)
    ]
    (raw / "d.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    out = tmp_path / "out" / "records.parquet"
    code = "from evaluation.commands import main\nsys.exit(main(sys.argv[1:]))"
    arguments = ["read", "mine", "--params", params, "--raw", raw, "--out", out, "--workers", "1"]
    done = limited(code, *arguments)
    assert done.returncode == 1, done.stderr
    assert f"error: {out}\n  expected: space for the output\n" in done.stderr
    assert "File too large" in done.stderr
    assert "free some space" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_range_on_a_full_disk_is_not_kept(server: RangeServer, tmp_path: Path) -> None:
    code = (
        "from corpora_recipes.fetching.ranges import RangeFetcher\n"
        "def command():\n"
        "    with RangeFetcher([sys.argv[1]], Path(sys.argv[2])) as fetcher:\n"
        "        fetcher.fetch(0, 1000)\n"
        "        fetcher.fetch(1000, 100_000)\n"
        "sys.exit(run(command))"
    )
    file = tmp_path / "dump.bz2"
    done = limited(code, f"{server.url}/dump.bz2", file)
    assert done.returncode == 1, done.stderr
    name = parts_folder(file) / part_name(1000, 100_000)
    assert f"error: {name}\n" in done.stderr
    assert "Traceback" not in done.stderr
    kept = sorted(path.name for path in parts_folder(file).iterdir())
    assert kept == [part_name(0, 1000), "manifest.json"]


def test_errors_of_the_program_are_not_hidden() -> None:
    def fail() -> None:
        raise TypeError("a number and a string")

    with pytest.raises(TypeError):
        run(fail)


def test_what_an_interruption_leaves_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    assert run(interrupted) == 130
    said = "interrupted: what was there before is unchanged; run it again\n"
    assert capsys.readouterr().err == said
    assert run(interrupted, "half of it is kept") == 130
    assert capsys.readouterr().err == "interrupted: half of it is kept; run it again\n"


def test_what_is_kept_is_said() -> None:
    assert said_kept(38, 37) == "38 datasets: 37 kept, 1 new"
    assert said_kept(4, 4, "rankings") == "4 rankings: 4 kept, 0 new"
