"""The stage `compose`: which rankings are composed, kept, left out or removed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import write_as_read
from contents import contents
from neighbour_files import pair

from builders import verbs
from corpora_recipes.recipe import RECIPES
from corpora_recipes.running.outputs import RANKINGS, RECORDS
from corpora_recipes.running.stage import read_skipped
from probeta.cli import main

NAMES = ("one", "two")
STS = {"recipe": "sts", "language": "es", "sources": "mirror"}
CORPORA: dict[str, Any] = {f"{name}_pairs": {"corpus": STS} for name in NAMES}
RANKING = {"task": "sentence_ranking", "language": "es"}
ENTRIES = {name: RANKING | {"pairs": [f"{name}_pairs"]} for name in NAMES}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, write_params) -> None:
    """Change to a folder with the records of two corpora, and a ranking of each."""
    monkeypatch.chdir(tmp_path)
    write_params(CORPORA, rankings=ENTRIES)
    RECORDS.mkdir(parents=True)
    for name in NAMES:
        write_pairs(name, "La luz.")


def write_pairs(name: str, text: str) -> None:
    pairs = [("El faro.", text), ("El mar.", "Un bote.")]
    examples = [pair(n, texts, 4 - n, "test", "2017") for n, texts in enumerate(pairs)]
    write_as_read(RECORDS, examples, f"{name}_pairs")


@pytest.fixture
def outcome(capsys) -> Callable[..., str]:
    """Return a function that runs the stage, and returns what it says on its entries."""

    def run(*options: str) -> str:
        assert main(["compose", *options]) == 0
        lines = capsys.readouterr().out.splitlines()
        (line,) = (line for line in lines if line.startswith("compose: "))
        return line.removeprefix("compose: ")

    return run


def test_kept_rankings_are_those_that_would_be_composed(outcome, write_params) -> None:
    assert outcome("--only", "one") == "1 ranking: 1 new"
    assert outcome() == "2 rankings: 1 kept, 1 new"
    write_pairs("two", "La barca.")
    assert outcome() == "2 rankings: 1 kept, 1 new"
    now = contents(RANKINGS)
    assert len(now) == 4
    for folder in (RANKINGS, Path("data/memory")):
        shutil.rmtree(folder)
    assert outcome() == "2 rankings: 2 new"
    assert contents(RANKINGS) == now
    write_params(CORPORA, rankings={"two": ENTRIES["two"]})
    assert outcome() == "1 ranking: 1 kept, 0 new"
    assert [path.name for path in RANKINGS.iterdir()] == ["two"]


def test_what_is_said_of_a_ranking(capsys) -> None:
    assert main(["compose", "--only", "one"]) == 0
    lines = ["one: test 4", "pairs: read 2, below_top_quarter 1, used 1"]
    assert capsys.readouterr().out.splitlines()[:2] == lines
    assert main(["compose", "--only", "other"]) == 1
    assert "rankings among one, two" in capsys.readouterr().err


def test_what_decides_the_rows_decides_what_is_kept(outcome, write_params, monkeypatch) -> None:
    def changed(entry: Any) -> str:
        write_params(CORPORA | {"one_pairs": {"corpus": STS} | entry}, rankings=ENTRIES)
        return outcome()

    outcome()
    # A dataset of similarity takes nothing from a ranking.
    similarity = {"task": "similarity", "collection": "2017"}
    assert changed({"datasets": {"sim": similarity}}) == "2 rankings: 2 kept, 0 new"
    assert changed({"corpus": STS | {"sources": "sample"}}) == "2 rankings: 1 kept, 1 new"
    write_params(CORPORA, rankings=ENTRIES, seed=2)
    assert outcome() == "2 rankings: 2 new"
    for decides in ("code_digest", "stage_versions"):
        monkeypatch.setattr(verbs, decides, lambda _: "another")
        assert outcome() == "2 rankings: 2 new"


def test_a_ranking_whose_corpus_is_missing_is_left_out(outcome, capsys) -> None:
    outcome()
    # The mirror has none of the files.
    assert main(["read", "--workers", "1"]) == 0
    assert read_skipped("read").keys() == CORPORA.keys()
    assert outcome() == "0 rankings: 0 new"
    assert contents(RANKINGS) == {}
    shutil.copytree(RECIPES / "sts" / "sample", "mirror/sts")
    assert main(["read", "--workers", "1", "--only", "two_pairs"]) == 0
    assert outcome() == "1 ranking: 1 new"
    assert {path.split("/")[0] for path in contents(RANKINGS)} == {"two"}
    # Of one that is there but is faulty, the others stay.
    (RECORDS / "two_pairs.parquet").write_text("no")
    assert main(["read", "--workers", "1", "--only", "one_pairs"]) == 0
    capsys.readouterr()
    assert outcome() == "2 rankings: 1 new, 1 left out"
    assert "probeta read" in read_skipped("compose")["two"].why
    assert {path.split("/")[0] for path in contents(RANKINGS)} == {"one"}
