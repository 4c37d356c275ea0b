"""`probeta repro`, all stages in one process, and `probeta check`, what they gave and skipped."""

import json
import re
from pathlib import Path

import pytest

from corpora_recipes.params import shipped_params
from corpora_recipes.running.stage import Skipped, write_skipped
from probeta.cli import main
from probeta.cli.runs import STAGES, averages

Capsys = pytest.CaptureFixture[str]
# All other sections are missing.
PARAMS = """\
corpora:
  sqc:
    corpus: {recipe: sqc, language: es}
    datasets: {sqc: {task: sentence_classification}}
  %s
encoders: {char_hash: {dimension: 16}}
"""
FAC = """fac:
    corpus: {recipe: fac, language: es}
    datasets: {fac: {task: sentence_classification}}"""
MINE = """mine:
    corpus: {recipe: documents, language: es, path: mine.jsonl}
    datasets: {sp_mine: {task: sentence_position}}"""


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def outcomes(said: str) -> dict[str, str]:
    """Return the stages that a run names, in their order, with what it says of each."""
    found = re.findall(r"^\[\d+:\d\d\] (\d+)/12 (\w+): (.*)$", said, re.MULTILINE)
    assert [int(number) for number, _, _ in found] == [*range(1, len(found) + 1)]
    return {stage: outcome for _, stage, outcome in found}


def test_stages_are_run_once_and_kept(capsys: Capsys) -> None:
    Path("params.yaml").write_text(PARAMS % FAC)
    assert main(["repro"]) == 0
    said = capsys.readouterr().out
    assert list(outcomes(said)) == [stage.name for stage in STAGES[:-1]]
    assert outcomes(said)["read"] == "2 corpora: 2 new"
    means = json.loads(Path("reports/metrics.json").read_bytes())
    assert list(means["spanish_senteval"]) == ["char_hash"]
    table = f"  char_hash{100 * means['spanish_senteval']['char_hash']:14.1f}\n"
    # Besides a line for each stage, only the end.
    rest = [line for line in said.splitlines(keepends=True) if not line.startswith("[")]
    assert rest[1:4] == ["spanish_senteval  average\n", table, "\n"]
    assert rest[4].startswith("from the small samples")
    assert rest[5:] == ["report: reports/index.html\n"]
    times = {path: path.stat().st_mtime_ns for path in Path().rglob("*.parquet")}
    assert main(["repro"]) == 0
    again = outcomes(capsys.readouterr().out)
    assert {name for name, outcome in again.items() if "0 new" not in outcome} == {"report"}
    assert times == {path: path.stat().st_mtime_ns for path in Path().rglob("*.parquet")}

    assert main(["repro", "--only", "sqc,char_hash"]) == 0
    some = outcomes(capsys.readouterr().out)
    assert some["read"] == some["build"] == "1 corpus: 1 kept, 0 new"
    assert some["embed"] == "1 encoder: 1 kept, 0 new"
    assert some["package"] == "2 datasets: 2 kept, 0 new"
    assert main(["repro", "--only", "sqcc"]) == 1
    assert "did you mean sqc?" in capsys.readouterr().err


def test_a_fault_is_local(capsys: Capsys) -> None:
    Path("params.yaml").write_text(PARAMS % MINE)
    Path("mine.jsonl").write_text('{"nothing": 1}\n')
    assert main(["repro", "--strict"]) == 1
    said = capsys.readouterr()
    assert outcomes(said.out) == {}
    assert "mine.jsonl, line 1" in said.err
    for options in ([], ["--only", "mine,char_hash"]):
        assert main(["repro", *options]) == 1
        said = capsys.readouterr()
        assert list(outcomes(said.out)) == [stage.name for stage in STAGES[:-1]]
        assert outcomes(said.out)["package"].startswith("1 dataset: 1 ")
        for named in ("  left out mine:\n", "left out by read: mine\n"):
            assert named in said.out
        assert "1 left out for a fault" in said.err
        assert "What was found: read mine (" in Path("reports/report.md").read_text("utf-8")
    Path("params.yaml").write_text(PARAMS % "")
    assert main(["repro"]) == 0
    assert "mine" not in Path("reports/report.md").read_text("utf-8")


def test_without_params_those_of_the_samples_are_written(capsys: Capsys) -> None:
    # The name is refused before anything is run.
    assert main(["repro", "--only", "nowhere"]) == 1
    assert "corpora, rankings and encoders of params.yaml" in capsys.readouterr().err
    assert Path("params.yaml").read_bytes() == shipped_params().read_bytes()
    assert [path.name for path in Path().iterdir()] == ["params.yaml"]
    assert main(["repro", "--params", "other.yaml"]) == 1
    assert not Path("other.yaml").exists()


@pytest.fixture
def reported() -> None:
    """A run that has a report."""
    Path("params.yaml").write_text("sources: upstream\n")
    Path("reports").mkdir()
    Path("reports/metrics.json").write_text(json.dumps({"spanish_discoeval": {"use": 0.5}}))


def test_the_best_encoder_comes_first_and_lines_fit_a_terminal() -> None:
    long = "a" * 100
    means = {"char_hash": -0.25, long: 0.5123, "use": 0.5123}
    lines = averages({"discoeval": means, "own datasets": {"x": 0.1234}, "evalrank": {}})
    assert max(map(len, lines)) == 80
    assert [" ".join(line.split()) for line in lines if line] == [
        "discoeval average",
        f"{'a' * 70}… 51.2",
        "use 51.2",
        "char_hash -25.0",
        *("own datasets average", "x 12.3"),
        "evalrank average",
        "none: tests too small to tell encoders apart, or no encoder on all",
    ]
    # The numbers stand below each other.
    for table in (lines[1:5], lines[6:8]):
        assert len({len(line) for line in table}) == 1


def test_a_whole_run(reported: None, capsys: Capsys) -> None:
    assert main(["check"]) == 0
    said = capsys.readouterr().out
    assert "  use                 50.0\n" in said
    assert said.endswith("report: reports/index.html\n")
    Path("params.yaml").write_text(
        "corpora: {sqc: {corpus: {recipe: sqc}, datasets: {sqc: {task: sentence_classification}}}}"
    )
    assert main(["check"]) == 0
    assert "from the small samples of the project: do not report" in capsys.readouterr().out


def test_a_corpus_that_must_be_asked_for_is_no_fault(reported: None, capsys: Capsys) -> None:
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
