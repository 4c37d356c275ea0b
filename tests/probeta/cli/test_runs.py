"""`probeta repro`, all stages in one process, and `probeta check`, what they gave and skipped."""

import json
import re
import shutil
from pathlib import Path

import pytest
from stage_lines import untimed

from corpora_recipes.params import shipped_params
from corpora_recipes.running.stage import Skipped, read_skipped, write_skipped
from probeta.cli import STAGES, main

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


pytestmark = pytest.mark.usefixtures("empty_folder")


def outcomes(said: str) -> dict[str, str]:
    """Return the stages that a run names, in their order, with what it says of each."""
    found = re.findall(r"^\[(\d+)/12\] (\w+): (.*)$", untimed(said), re.MULTILINE)
    assert [int(number) for number, _, _ in found] == [*range(1, len(found) + 1)]
    return {stage: outcome for _, stage, outcome in found}


def test_stages_are_run_once_and_kept(capsys: Capsys) -> None:
    Path("params.yaml").write_text(PARAMS % FAC)
    assert main(["repro"]) == 0
    said = capsys.readouterr().out
    assert list(outcomes(said)) == [stage.name for stage in STAGES[:-1]]
    assert outcomes(said)["read"] == "2 corpora read, 291 records, 0.0% dropped"
    means = json.loads(Path("reports/metrics/spanish_senteval.json").read_bytes())
    assert list(means) == ["char_hash"]
    # Besides a line for each stage, only the end.
    rest = [line for line in said.splitlines() if not line.startswith("[")]
    assert "".join(rest[:3:2]) == ""
    assert rest[3].split() == ["average", "datasets", "baseline", "char_hash"]
    assert rest[4].startswith("spanish_senteval   2 of 20 ")
    assert f" {100 * means['char_hash']:.1f} [" in rest[4]
    assert rest[6].startswith("from the small samples")
    assert rest[7:] == ["report: reports/index.html", "next:   probeta list"]
    times = {path: path.stat().st_mtime_ns for path in Path().rglob("*.parquet")}
    assert main(["repro"]) == 0
    again = outcomes(capsys.readouterr().out)
    assert {name for name, outcome in again.items() if "reused" not in outcome} == {
        *("compose", "train")
    }
    assert times == {path: path.stat().st_mtime_ns for path in Path().rglob("*.parquet")}

    assert main(["repro", "--only", "sqc,char_hash"]) == 0
    some = outcomes(capsys.readouterr().out)
    assert some["read"] == some["build"] == "1 corpus reused"
    assert some["embed"] == "1 encoder reused"
    assert some["package"] == "2 datasets reused"
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
        assert outcomes(said.out)["package"].startswith("1 dataset ")
        assert said.out.count("skipped by read: mine\n") == 1
        assert "1 skipped for a fault" in said.err
        assert "\n- read mine: " in Path("reports/report.md").read_text("utf-8")
    # Of a run with nothing else, the reason is named.
    Path("params.yaml").write_text(f"corpora:\n  {MINE}\n")
    shutil.rmtree("data/instances")
    assert main(["audit"]) == 1
    assert "mend what was skipped, see data/left_out" in capsys.readouterr().err
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
    Path("reports/summary.txt").write_text("discoeval  50.0\n")


def test_a_sample_that_is_too_small_is_no_fault(capsys: Capsys) -> None:
    """With another seed, few documents may leave a split without rows; real corpora must not."""
    tasks = {"sp_arxiv": {"task": "sentence_position"}, "bso_arxiv": {"task": "sentence_ordering"}}
    entry = {"corpus": {"recipe": "arxiv", "language": "en"}, "datasets": tasks}
    Path("params.yaml").write_text(json.dumps({"seed": 2, "corpora": {"arxiv": entry}}))
    assert main(["read"]) == main(["build"]) == 0
    said = capsys.readouterr().out
    assert "skipped by build, as a sample is too small: arxiv: sp_arxiv\n" in said
    assert [reason.sample for reason in read_skipped("build").values()] == [True]
    Path("reports").mkdir()
    Path("reports/summary.txt").write_text("")
    assert main(["check"]) == 0
    assert main(["publish", "--repo", "a/b", "--version", "1.0.0"]) == 1
    assert "left out" not in capsys.readouterr().err


def test_a_corpus_without_a_sample_is_no_fault(reported: None, capsys: Capsys) -> None:
    """Nor one in another language, another treebank of a language, another part of a corpus."""
    entries = {
        name: {
            "corpus": {"recipe": "disrpt", "language": language, "treebank": treebank},
            "datasets": {f"relations_{name}": {"task": "unit_relations"}},
        }
        for name, language, treebank in (
            ("there", "es", "spa.rst.rststb"),
            ("other", "es", "spa.rst.sctb"),
            ("basque", "eu", "eus.rst.ert"),
        )
    }
    words = {"paralex_da": {"task": "paradigms", "collection": "da"}}
    entries["words"] = {"corpus": {"recipe": "paralex", "language": "es"}, "datasets": words}
    Path("params.yaml").write_text(json.dumps({"corpora": entries}))
    assert main(["read"]) == main(["build"]) == main(["check"]) == 0
    said = capsys.readouterr().out
    assert "skipped by build, as a sample is too small: words: paralex_da\n" in said
    assert "skipped by read, as a sample is too small: other\n" in said
    assert {name: reason.sample for name, reason in read_skipped("read").items()} == {
        "other": True,
        "basque": True,
    }
    assert main(["list"]) == main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert (
        "  other (recipe disrpt): raw files of spa.rst.sctb are not there: relations_other" in said
    )
    assert "  basque (recipe disrpt): raw files in eu are not there: relations_basque" in said
    assert main(["read", "--strict"]) == 1
    assert "write `sources: upstream` or a folder" in capsys.readouterr().err


def test_a_whole_run(reported: None, capsys: Capsys) -> None:
    assert main(["check"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("\ndiscoeval  50.0\n")
    assert said.endswith("report: reports/index.html\nnext:   probeta list\n")
    Path("params.yaml").write_text(
        "corpora: {sqc: {corpus: {recipe: sqc}, datasets: {sqc: {task: sentence_classification}}}}"
    )
    assert main(["check"]) == 0
    assert "from the small samples of the project: do not report" in capsys.readouterr().out
    Path("params.yaml").rename("other.yaml")
    assert main(["check", "--params", "other.yaml"]) == 0
    assert capsys.readouterr().out.endswith("next:   probeta list --params other.yaml\n")


def test_a_corpus_that_must_be_asked_for_is_no_fault(reported: None, capsys: Capsys) -> None:
    write_skipped("read", {"pdtb": Skipped("Ask the LDC.", asked_for=True)})
    assert main(["check"]) == 0
    assert "missing, must be asked for: pdtb\n  Ask the LDC.\n" in capsys.readouterr().out
    write_skipped("audit", {"sqc": Skipped("leakage 0.3, limit 0\nsee audit.md")})
    write_skipped("embed", {"beto": Skipped("no such model")})
    assert main(["check"]) == 1
    said = capsys.readouterr()
    assert "skipped by audit: sqc\n  leakage 0.3, limit 0\n  see audit.md\n" in said.out
    assert "skipped by embed: beto\n  no such model\n" in said.out
    assert "2 skipped for a fault, named above" in said.err
    Path("reports/summary.txt").unlink()
    assert main(["check"]) == 1
    assert "no such file" in capsys.readouterr().err
