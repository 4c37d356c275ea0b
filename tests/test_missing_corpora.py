"""A corpus that must be asked for and is not there: all stages go on without it, and say so."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from projects import copy_of_project, run, stages_run

from corpora_recipes.recipe import RECIPES, load_facts, recipe_names
from evaluation.commands import main

SAMPLE = RECIPES / "tass" / "sample"
HOW = "Register at http://tass.sepln.org/2020/"
BUILT = ("mine", "tass")


def params(**entry: Any) -> dict[str, Any]:
    documents = RECIPES / "jsonl" / "sample" / "documents.jsonl"
    return {
        "seed": 1,
        "sources": "sample",
        "corpora": {
            "mine": {
                "corpus": {"recipe": "jsonl", "path": str(documents), "language": "es"},
                "datasets": {"bso_mine": {"task": "sentence_ordering"}},
            },
            "tass": {
                "corpus": {"recipe": "tass", "sources": "upstream"} | entry,
                "datasets": {"tass1": {"task": "sentence_classification", "collection": "task1"}},
            },
        },
        "encoders": {"char_hash": {"dimension": 64}},
        "trained": {},
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(yaml.safe_dump(params()), "utf-8")
    return tmp_path


def read(name: str, *options: str) -> int:
    files = f"--raw data/raw/{name} --out data/records/{name}.parquet --workers 1"
    return main(["read", name, "--fetch", *files.split(), *options])


def whole_run() -> None:
    for name in BUILT:
        assert read(name) == 0
        records = f"--records data/records/{name}.parquet"
        assert main(f"build {name} {records} --out data/instances/{name}".split()) == 0
    embedded = "char_hash --instances hub --embeddings vectors"
    for command in (
        "compose --records data/records --out data/instances/rankings",
        "audit data/instances --out audit --workers 1",
        "package --instances data/instances --audit audit/audit.json --out hub",
        "embed char_hash --instances hub --out vectors --workers 1",
        f"probe {embedded} --out results --workers 1",
        f"rank {embedded} --out rankings",
        f"paradigms {embedded} --out paradigms.json",
        "report results --instances hub --audit hub/audit.json --rankings rankings "
        "--paradigms paradigms.json --out reports",
    ):
        assert main(command.split()) == 0, command


def put_there(folder: Path) -> None:
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)


def test_all_stages_go_on_without_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert "tass (recipe tass): missing, must be asked for: tass1" in listed
    assert HOW in listed
    whole_run()
    said = capsys.readouterr().out
    assert said.count("missing: tass1. ") == 3  # build, audit, package
    counts = json.loads(Path("data/records/tass.json").read_text("utf-8"))
    assert list(counts) == ["missing"]
    assert HOW in counts["missing"]
    assert pq.read_table("data/records/tass.parquet").num_rows == 0
    assert json.loads(Path("hub/audit.json").read_bytes())["missing"] == {
        "tass1": counts["missing"]
    }
    assert not Path("hub/tass1").exists()
    card = Path("hub/README.md").read_text("utf-8")
    assert "**Incomplete: not in this package, because people must ask for" in card
    assert ": tass1.**" in card
    for name in ("report.md", "tables.tex", "index.html"):
        page = Path("reports", name).read_text("utf-8")
        assert "Incomplete: missing are tass1, whose corpora must be asked for" in page, name
        assert "http://tass.sepln.org/2020/" in page, name


def test_files_that_are_put_there_later_are_taken(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole_run()
    put_there(Path("data/raw/tass"))
    capsys.readouterr()
    assert main(["list"]) == 0
    whole_run()
    said = capsys.readouterr()
    assert "missing" not in said.out + said.err
    assert Path("hub/tass1").is_dir()
    assert json.loads(Path("hub/audit.json").read_bytes())["missing"] == {}
    assert "Incomplete: not in" not in Path("hub/README.md").read_text("utf-8")
    assert "Incomplete" not in Path("reports/report.md").read_text("utf-8")
    # They stay the user's: no other origin removes them.
    Path("params.yaml").write_text(yaml.safe_dump(params(sources="sample")), "utf-8")
    assert read("tass") == 1
    assert "move the file away" in capsys.readouterr().err
    assert (Path("data/raw/tass") / "Task1-train-dev.zip").is_file()


def test_strict_fails(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read("tass", "--strict") == 1
    assert main(["repro", "--strict"]) == 1
    errors = capsys.readouterr().err
    assert errors.count(HOW) == 2
    assert "put the files into data/raw/tass and run" in errors
    assert not Path("data/records").exists()


def test_a_mirror_that_lacks_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mirror").mkdir()
    Path("params.yaml").write_text(yaml.safe_dump(params(sources="mirror")), "utf-8")
    assert main(["list"]) == 0
    assert "missing, must be asked for: tass1" in capsys.readouterr().out
    assert read("tass") == 0
    assert "missing, which leaves out tass1" in capsys.readouterr().out
    put_there(Path("mirror/tass"))
    assert read("tass") == 0
    assert pq.read_table("data/records/tass.parquet").num_rows > 0


def test_the_sample_of_an_earlier_run_is_not_taken_for_it(here: Path) -> None:
    Path("params.yaml").write_text(yaml.safe_dump(params(sources="sample")), "utf-8")
    assert read("tass") == 0
    Path("params.yaml").write_text(yaml.safe_dump(params()), "utf-8")
    assert read("tass") == 0
    assert pq.read_table("data/records/tass.parquet").num_rows == 0
    assert [path.name for path in Path("data/raw/tass").iterdir()] == [".fetched.json"]


def test_part_of_it_is_not_enough(here: Path) -> None:
    entry = {"recipe": "rst_spanish_treebank", "sources": "upstream"}
    changed = params()
    changed["corpora"]["tass"] = {
        "corpus": entry,
        "datasets": {"dr_rst": {"task": "discourse_relations"}},
    }
    Path("params.yaml").write_text(yaml.safe_dump(changed), "utf-8")
    treebank = RECIPES / "rst_spanish_treebank" / "sample"
    shutil.copytree(treebank / "train", "data/raw/tass/train")
    assert read("tass") == 0
    assert pq.read_table("data/records/tass.parquet").num_rows == 0
    shutil.copytree(treebank / "test", "data/raw/tass/test")
    assert read("tass") == 0
    assert pq.read_table("data/records/tass.parquet").num_rows > 0


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
    changed = params() | {"corpora": {"mine": {"corpus": entry}}}
    Path("params.yaml").write_text(yaml.safe_dump(changed), "utf-8")
    assert read("mine") == 0
    assert pq.read_table("data/records/mine.parquet").num_rows == 0
    shutil.copytree(RECIPES / name / "sample", "data/raw/mine", dirs_exist_ok=True)
    assert read("mine") == 0
    assert pq.read_table("data/records/mine.parquet").num_rows > 0


def test_a_ranking_of_it_is_missing_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = params()
    changed["corpora"]["tass"]["corpus"] = {"recipe": "sts", "sources": "sample"}
    changed["corpora"]["tass"]["datasets"] = {}
    changed["corpora"]["tweets"] = params()["corpora"]["tass"]
    changed["rankings"] = {
        "rank": {"task": "sentence_ranking", "language": "es", "pairs": ["tass"]}
    }
    Path("params.yaml").write_text(yaml.safe_dump(changed), "utf-8")
    assert read("tass") == 0
    compose = "compose --records data/records --out data/instances/rankings"
    assert main(compose.split()) == 0
    assert (here / "data/instances/rankings/rank/rank").is_dir()
    # As if the pairs themselves had to be asked for.
    assert read("tweets") == 0
    empty = pq.read_schema("data/records/tweets.parquet")
    pq.write_table(empty.empty_table(), "data/records/tass.parquet")
    assert main(compose.split()) == 0
    assert "missing: rank. TASS 2020 cannot be fetched" in capsys.readouterr().out
    assert not (here / "data/instances/rankings/rank/rank").exists()


def test_dvc_runs_its_stages_again_when_the_files_are_there(tmp_path: Path) -> None:
    folder = copy_of_project(tmp_path / "probeta")
    (folder / "params.yaml").write_text(yaml.safe_dump(params()), "utf-8")
    done = run("dvc repro build@tass build@mine", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert HOW in done.stdout
    assert stages_run(run("dvc repro build@tass build@mine", folder).stdout) == set()
    put_there(folder / "data/raw/tass")
    done = run("dvc repro build@tass build@mine", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert stages_run(done.stdout) == {"read@tass", "build@tass"}
