"""Stages go on without a dataset that has a fault, and say so; what is no longer asked for goes."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import document, write_as_read
from contents import contents
from stage_lines import untimed

from corpora_recipes.running.outputs import AUDIT, CORPORA, INSTANCES, PACKAGE, RECORDS
from corpora_recipes.running.stage import read_skipped
from probeta.cli import main

STAGES = ("build", "audit", "package")


def entry(*datasets: str) -> dict[str, Any]:
    """Return the entry of a corpus; the names of its datasets begin with those of their tasks."""
    tasks = {"sp": "sentence_position", "dc": "discourse_coherence"}
    corpus = {"recipe": "documents", "path": "mine.jsonl", "language": "es", "licence": "CC0 1.0"}
    return {"corpus": corpus, "datasets": {name: {"task": tasks[name[:2]]} for name in datasets}}


ENTRIES = {
    "good": entry("sp_good"),
    # No file of records.
    "broken": entry("sp_broken"),
    # Coherence needs documents of six sentences.
    "short": entry("sp_short", "dc_short"),
    "leaky": entry("sp_leaky"),
}


@pytest.fixture(autouse=True)
def here(empty_folder, write_params) -> None:
    """Change to a folder with records of these corpora."""
    write_params(ENTRIES)
    RECORDS.mkdir(parents=True)
    for name, sentences in (("good", 8), ("short", 5), ("leaky", 8)):
        write_as_read(RECORDS, [document(n, sentences) for n in range(60)], name)
    (RECORDS / "broken.parquet").write_text("no")


@pytest.fixture
def said(capsys) -> Callable[..., list[str]]:
    """Return a function that runs a stage, and returns the lines that it says on its entries."""

    def run(*command: str) -> list[str]:
        assert main(command) == 0
        lines = untimed(capsys.readouterr().out).splitlines()
        return [line for line in lines if line.startswith((f"{command[0]}: ", "  skipped "))]

    return run


def datasets_in(folder: Path) -> list[str]:
    """Return the names of the folders with rows."""
    return sorted({path.parent.name for path in folder.rglob("*.parquet")})


def test_build_leaves_out_one_dataset_and_one_corpus(said, capsys) -> None:
    skipped = [f"  skipped by build: {name}" for name in ("broken", "short: dc_short")]
    first, *rest = said("build")
    assert re.fullmatch(r"build: 3 of 4 corpora built, 3 datasets, \d+ rows, 2 skipped", first)
    assert rest == skipped
    assert datasets_in(CORPORA) == ["sp_good", "sp_leaky", "sp_short"]
    assert not (CORPORA / "broken").exists()
    reasons = read_skipped("build")
    assert "a row needs six consecutive finished sentences" in reasons["short: dc_short"].why
    assert "broken.parquet" in reasons["broken"].why
    # What has a fault is tried again, what was built is kept.
    assert said("build") == ["build: 3 corpora reused, 2 skipped", *skipped]
    for name, reason in (("broken", "broken.parquet"), ("short", "dc_short")):
        assert main(["build", "--strict", "--only", name]) == 1
        assert reason in capsys.readouterr().err
    for name in ("broken", "short"):
        write_as_read(RECORDS, [document(n) for n in range(120)], name)
    (line,) = said("build", "--only", "short")
    assert line.startswith("build: 1 corpus rebuilt, 2 datasets, ")
    assert read_skipped("build").keys() == {"broken"}
    (line,) = said("build")
    assert line.startswith("build: 1 of 4 corpora built, 4 of 5 datasets reused, ")
    assert read_skipped("build") == {}


def test_a_dataset_that_misses_a_gate_is_not_packaged(said, capsys) -> None:
    assert main(["build"]) == 0
    # As if it had put one document into two splits.
    for path in (CORPORA / "leaky" / "sp_leaky").iterdir():
        table = pq.read_table(path)
        column = table.schema.get_field_index("document_id")
        same = pa.array(["same"] * len(table))
        pq.write_table(table.set_column(column, table.schema.field(column), same), path)
    assert main(["audit", "--strict"]) == 1
    assert "sp_leaky, gate 9" in capsys.readouterr().err
    missed = "  skipped by audit: sp_leaky"
    for options in ([], [], ["--json", "cited.json"]):
        assert said("audit", *options) == ["audit: 2 datasets reused, 1 skipped", missed]
    assert Path("cited.json").is_file()
    assert read_skipped("audit").keys() == {"sp_leaky"}
    assert "documents in two splits" in read_skipped("audit")["sp_leaky"].why
    assert said("package") == ["package: 2 datasets packaged"]
    assert datasets_in(PACKAGE) == ["sp_good", "sp_short"]
    audit = json.loads((PACKAGE / "audit.json").read_bytes())
    assert (audit["datasets"].keys(), audit["missing"]) == ({"sp_good", "sp_short"}, {})
    assert audit["left_out"].keys() == {"dc_short", "sp_broken", "sp_leaky"}
    assert "documents in two splits" in audit["left_out"]["sp_leaky"]
    card = (PACKAGE / "README.md").read_text("utf-8")
    (incomplete,) = [line for line in card.splitlines() if "Incomplete" in line]
    assert all(name in incomplete for name in audit["left_out"])


def test_nothing_but_faults_is_an_error(write_params, capsys) -> None:
    write_params({"broken": ENTRIES["broken"]})
    assert main(["build"]) == 0
    for stage, todo in {
        "audit": "one fault skips a corpus as a whole",
        "package": "read the messages of the stages before",
    }.items():
        assert main([stage]) == 1
        assert todo in capsys.readouterr().err


def test_a_corpus_that_is_no_longer_asked_for_goes(said, write_params, capsys) -> None:
    """Later runs write what a first run without it writes."""
    one, both = [
        {name: entry(f"sp_{name}") for name in ENTRIES if name in chosen}
        for chosen in (["good"], ["good", "short"])
    ]
    outputs = (CORPORA, AUDIT, PACKAGE)
    write_params(one)
    for stage in STAGES:
        said(stage)
    first = [contents(folder) for folder in outputs]
    # An earlier version of Probeta wrote instances there.
    shutil.copytree(CORPORA / "good", INSTANCES / "good")
    write_params(both)
    assert said("build")[0].startswith("build: 1 of 2 corpora built, 1 of 2 datasets reused, ")
    assert said("audit") == ["audit: 1 of 2 datasets audited again"]
    assert said("package") == ["package: 1 of 2 datasets packaged again"]
    assert [datasets_in(folder) for folder in (CORPORA, PACKAGE)] == [["sp_good", "sp_short"]] * 2
    write_params(one)
    for stage in STAGES:
        (line,) = said(stage)
        assert re.search(": 1 (corpus|dataset) reused$", line)
    assert [contents(folder) for folder in outputs] == first
    assert (
        main(
            ["publish", "--repo", "a/b", "--version", "1.0.0", "--dry-run", "--include-restricted"]
        )
        == 0
    )
    published = capsys.readouterr().out
    assert "sp_good/test-00000-of-00001.parquet" in published
    assert "short" not in published
