"""`probeta check`: the averages, what was left out, and the exit code."""

import json
from pathlib import Path

import pytest

from corpora_recipes.running.stage import Skipped, write_skipped
from probeta.cli import main
from probeta.cli.runs import averages

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("sources: upstream\n")
    Path("reports").mkdir()
    Path("reports/metrics.json").write_text(json.dumps({"spanish_discoeval": {"use": 0.5}}))
    return tmp_path


def test_the_best_encoder_comes_first_and_lines_fit_a_terminal() -> None:
    long = "a" * 100
    means = {"char_hash": -0.25, long: 0.5123, "use": 0.5123}
    lines = averages({"discoeval": means, "own datasets": {"x": 0.1234}, "evalrank": {}})
    assert max(map(len, lines)) == 80
    assert [line.split() for line in lines if line] == [
        ["discoeval", "average"],
        ["a" * 70 + "…", "51.2"],
        ["use", "51.2"],
        ["char_hash", "-25.0"],
        ["own", "datasets", "average"],
        ["x", "12.3"],
        ["evalrank", "average"],
        [
            "none:",
            "tests",
            "too",
            "small",
            "to",
            "tell",
            "encoders",
            "apart,",
            "or",
            "no",
            "encoder",
            "on",
            "all",
        ],
    ]
    # The numbers stand below each other.
    for table in (lines[1:5], lines[6:8]):
        assert len({len(line) for line in table}) == 1


def test_a_whole_run(here: Path, capsys: Capsys) -> None:
    assert main(["check"]) == 0
    said = capsys.readouterr().out
    assert "  use                 50.0\n" in said
    assert said.endswith("report: reports/index.html\n")
    Path("params.yaml").write_text(
        "corpora: {sqc: {corpus: {recipe: sqc}, datasets: {sqc: {task: sentence_classification}}}}"
    )
    assert main(["check"]) == 0
    assert "from the small samples of the project: do not report" in capsys.readouterr().out


def test_a_corpus_that_must_be_asked_for_is_no_fault(here: Path, capsys: Capsys) -> None:
    write_skipped("read", {"pdtb": Skipped("Ask the LDC.", asked_for=True)})
    assert main(["check"]) == 0
    assert "missing, must be asked for: pdtb\n  Ask the LDC.\n" in capsys.readouterr().out
    write_skipped("audit", {"sqc": Skipped("leakage 0.3, limit 0\nsee audit.md")})
    write_skipped("embed", {"beto": Skipped("no such model")})
    assert main(["check"]) == 1
    said = capsys.readouterr()
    assert "left out by audit: sqc\n  leakage 0.3, limit 0\n  see audit.md\n" in said.out
    assert said.out.endswith("left out by embed: beto\n  no such model\n")
    assert "2 left out for a fault, named above" in said.err
    Path("reports/metrics.json").unlink()
    assert main(["check"]) == 1
    assert "no such file" in capsys.readouterr().err
