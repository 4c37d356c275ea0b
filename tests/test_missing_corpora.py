"""A corpus that must be asked for and is not there: all stages go on without it, and say so."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from projects import copy_of_project, run, stages_run

from corpora_recipes.recipe import RECIPES, load_facts, recipe_names
from corpora_recipes.running.outputs import records_of
from corpora_recipes.running.stage import read_skipped
from probeta.cli import main

SAMPLE = RECIPES / "tass" / "sample"
HOW = "TASS 2020 cannot be fetched automatically. Register at http://tass.sepln.org/2020/"


def params(**entry: Any) -> dict[str, Any]:
    documents = RECIPES / "documents" / "sample" / "documents.jsonl"
    return {
        "corpora": {
            "mine": {
                "corpus": {"recipe": "documents", "path": str(documents), "language": "es"},
                "datasets": {"bso_mine": {"task": "sentence_ordering"}},
            },
            "tass": {
                "corpus": {"recipe": "tass", "sources": "upstream"} | entry,
                "datasets": {"tass1": {"task": "sentence_classification", "collection": "task1"}},
            },
        },
        "encoders": {"char_hash": {"dimension": 64}},
    }


def write_params(asked: dict[str, Any]) -> None:
    Path("params.yaml").write_text(yaml.safe_dump(asked), "utf-8")


@pytest.fixture
def here(empty_folder: Path) -> Path:
    write_params(params())
    return empty_folder


def read(*options: str) -> int:
    return main(["read", "--workers", "1", *options])


def is_missing(name: str = "tass") -> bool:
    """Return whether a corpus has no records, because it must be asked for."""
    left_out = read_skipped("read").get(name)
    assert left_out is None or left_out.asked_for
    assert records_of(name).exists() == (left_out is None)
    return left_out is not None


def put_there(folder: Path) -> None:
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)


def test_all_stages_go_on_without_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert "tass (recipe tass): missing, must be asked for: tass1" in listed
    assert HOW in listed
    assert main(["repro"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"read: 1 of 2 corpora read, .*, 1 skipped ", said)
    assert "build: 1 corpus built, 1 dataset, " in said
    # At the end, by the stage `check`.
    assert f"\nmissing, must be asked for: tass\n  {HOW}" in said
    assert is_missing()
    audit = json.loads(Path("dist/hub/audit.json").read_bytes())
    assert audit["missing"].keys() == {"tass1"}
    assert audit["missing"]["tass1"].startswith(HOW)
    assert audit["left_out"] == {}
    assert not Path("dist/hub/tass1").exists()
    card = Path("dist/hub/README.md").read_text("utf-8")
    assert "**Incomplete: not in this package, because people must ask for" in card
    assert ": tass1.**" in card
    for name in ("report.md", "tables.tex", "index.html"):
        page = Path("reports", name).read_text("utf-8")
        assert "issing are tass1, whose corpora must be asked for" in page, name
        assert "http://tass.sepln.org/2020/" in page, name


def test_files_that_are_put_there_later_are_taken(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["repro"]) == 0
    put_there(Path("data/raw/tass"))
    capsys.readouterr()
    assert main(["list"]) == 0
    assert main(["repro"]) == 0
    said = capsys.readouterr()
    assert "missing" not in said.out + said.err
    assert "build: 1 of 2 corpora built, 1 of 2 datasets reused, " in said.out
    assert Path("dist/hub/tass1").is_dir()
    assert json.loads(Path("dist/hub/audit.json").read_bytes())["missing"] == {}
    assert "Incomplete: not in" not in Path("dist/hub/README.md").read_text("utf-8")
    assert "Incomplete" not in Path("reports/report.md").read_text("utf-8")
    # They stay the user's: no other origin removes them.
    write_params(params(sources="sample"))
    assert read("--strict") == 1
    assert "move the file away" in capsys.readouterr().err
    assert (Path("data/raw/tass") / "Task1-train-dev.zip").is_file()


def test_strict_fails(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read("--only", "tass", "--strict") == 1
    assert main(["repro", "--strict"]) == 1
    errors = capsys.readouterr().err
    assert errors.count(HOW) == 2
    assert "put the files into data/raw/tass, and run" in errors
    assert not Path("data/instances").exists()


def test_a_mirror_that_lacks_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mirror").mkdir()
    write_params(params(sources="mirror"))
    assert main(["list"]) == 0
    assert "missing, must be asked for: tass1" in capsys.readouterr().out
    assert read() == 0
    assert is_missing()
    put_there(Path("mirror/tass"))
    assert read() == 0
    assert not is_missing()


def test_the_sample_of_an_earlier_run_is_not_taken_for_it(here: Path) -> None:
    write_params(params(sources="sample"))
    assert read() == 0
    assert not is_missing()
    write_params(params())
    assert read() == 0
    assert is_missing()
    assert [path.name for path in Path("data/raw/tass").iterdir()] == [".fetched.json"]


def test_part_of_it_is_not_enough(here: Path) -> None:
    write_params(params(recipe="rst_spanish_treebank"))
    treebank = RECIPES / "rst_spanish_treebank" / "sample"
    for part in ("train", "test"):
        assert read() == 0
        assert is_missing()
        shutil.copytree(treebank / part, f"data/raw/tass/{part}")
    assert read() == 0
    assert not is_missing()


ASKED_FOR = [
    name
    for name in recipe_names()
    if (facts := load_facts(name)).manual and "path" not in facts.options
]


@pytest.mark.parametrize("name", ASKED_FOR)
def test_every_such_corpus_is_taken_where_its_files_are(here: Path, name: str) -> None:
    facts = load_facts(name)
    entry = {"recipe": name, "sources": "upstream"}
    entry["language"] = next(iter(facts.sample_languages), facts.language)
    write_params({"corpora": {"mine": {"corpus": entry}}})
    assert read() == 0
    assert is_missing("mine")
    shutil.copytree(RECIPES / name / "sample", "data/raw/mine", dirs_exist_ok=True)
    assert read() == 0
    assert not is_missing("mine")


def test_a_ranking_of_it_is_missing_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = ["evalrank/positive_words"]
    ranking = {"task": "word_ranking", "language": "en", "pairs": pairs}
    corpora = {
        "evalrank": {"corpus": {"recipe": "evalrank"}},
        "arxiv": {"corpus": {"recipe": "arxiv", "sources": "upstream"}},
    }
    rankings = {
        "whole": ranking | {"background": ["evalrank/basic_words"]},
        "part": ranking | {"vocabulary": "arxiv"},
    }
    write_params({"corpora": corpora, "rankings": rankings})

    def composed() -> list[str]:
        assert [read(), main(["compose"])] == [0, 0]
        return sorted(path.name for path in Path("data/instances/rankings").iterdir())

    assert composed() == ["whole"]
    shutil.copytree(RECIPES / "arxiv" / "sample", "data/raw/arxiv", dirs_exist_ok=True)
    assert composed() == ["part", "whole"]
    assert "compose: 1 of 2 rankings composed" in capsys.readouterr().out
    shutil.rmtree("data/raw/arxiv")
    assert composed() == ["whole"]


def test_what_is_left_out_for_a_fault_is_told_from_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = params()
    asked["corpora"]["other"] = {
        "corpus": {"recipe": "documents", "path": "nowhere", "language": "es"},
        "datasets": {"sp_other": {"task": "sentence_position"}},
    }
    write_params(asked)
    assert main(["repro"]) == 1
    said = capsys.readouterr()
    assert "missing, must be asked for: tass\n" in said.out
    assert said.out.count("skipped by read: other\n  nowhere\n") == 1
    assert "1 skipped for a fault" in said.err
    audit = json.loads(Path("dist/hub/audit.json").read_bytes())
    assert (list(audit["missing"]), list(audit["left_out"])) == (["tass1"], ["sp_other"])
    page = Path("reports/report.md").read_text("utf-8")
    assert "\n- read other: " in page


@pytest.mark.slow
def test_dvc_runs_its_stages_again_when_the_files_are_there(tmp_path: Path) -> None:
    folder = copy_of_project(tmp_path / "probeta")
    (folder / "params.yaml").write_text(yaml.safe_dump(params()), "utf-8")
    assert run("dvc config --local core.no_scm true", folder).returncode == 0
    done = run("dvc repro build", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert HOW in done.stdout
    assert stages_run(run("dvc repro build", folder).stdout) == {"read"}
    put_there(folder / "data/raw/tass")
    done = run("dvc repro build", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert stages_run(done.stdout) == {"read", "build"}
