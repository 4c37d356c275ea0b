"""How a command ends: when the disk is full, or it is interrupted; options of stages."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import DATA, RangeServer

from corpora_recipes.fetching.ranges import part_name, parts_folder
from corpora_recipes.running.commands import add_stage, run

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


def test_read_on_a_full_disk_leaves_nothing(
    tmp_path: Path, write_params, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_params({"mine": {"corpus": {"recipe": "jsonl", "path": "d.jsonl"}}})
    lines = [
        json.dumps({"id": str(n), "text": " ".join(f"Frase {n * k * 7919}." for k in range(90))})
        for n in range(600)
    ]
    Path("d.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    code = "from evaluation.commands import main\nsys.exit(main(sys.argv[1:]))"
    for option, status in (("--check", 0), ("--strict", 1)):
        done = limited(code, "read", "--workers", "1", option)
        assert done.returncode == status, done.stderr
        said = done.stderr if status else Path("data/left_out/read.json").read_text("utf-8")
        assert "mine.parquet" in said
        assert "expected: space for the output" in said
        assert "File too large" in said
        assert "free some space" in said
        assert "Traceback" not in done.stderr
        assert not Path("data/records").exists() or list(Path("data/records").iterdir()) == []


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
