"""`probeta score`: a table, the path of what was written, what `report` reads."""

import re
from pathlib import Path

import pytest

from probeta.cli import main


def test_a_table_and_the_path(hub_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("lengths_alone.py").write_text("def encode(texts): return [[len(t), 1.0] for t in texts]")
    command = ["score", "lengths_alone:encode", "--datasets", "sts_own,bso_own", "--workers", "1"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r"  +", line) for line in lines[:3]]
    header = "dataset, group, score, 95 % interval, chance, best trivial, n"
    assert rows[0] == header.split(", ")
    assert rows[1][:2] + rows[1][4:] == ["bso_own", "BSO", "50.0", "70.0 bag of words", "8"]
    assert rows[2][:2] + rows[2][4:] == ["sts_own", "SS", "–", "–", "5"]
    assert lines[3].startswith("Accuracy in per cent; without chance, Pearson")
    assert lines[4:] == ["results: results/lengths_alone-encode"]
    names = sorted(path.name for path in Path("results/lengths_alone-encode").iterdir())
    assert names == ["predictions.parquet", "scores.json"]
    for before, behind in ((["--quiet"], []), ([], ["--quiet"])):
        assert main([*before, *command, *behind]) == 0
        assert capsys.readouterr().out.splitlines() == lines[:4]


def test_groups_name_out_and_the_store(
    hub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["score", "char_hash", "--groups", "SC", "--name", "floor", "--out", "here"]
    assert main([*command, "--data", "dist/hub", "--protocol", "senteval"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["dataset", "tass_own"]
    # The audit is of other rows.
    assert lines[1].endswith("50.0  –             8")
    assert lines[2:] == ["vectors: data/embeddings/floor", "results: here"]
    assert Path("here/scores.json").is_file()


def test_prompts_are_yaml(hub_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("asked_with.py").write_text(
        "def encode(texts, prompt=None): return [[len(text), len(prompt or '')] for text in texts]"
    )
    command = ["score", "asked_with:encode", "--datasets", "sts_own", "--prompts"]
    assert main([*command, 'default: "query: "', "--out", "here"]) == 0
    assert '"default": "query: "' in Path("here/scores.json").read_text()
    capsys.readouterr()
    mapping = "prompts: texts, such as"
    wrong = {
        "query": mapping,
        "7": mapping,
        "a: [": "YAML",
        "2026-99-99": "YAML",
        "[" * 3000: "mappings and lists in at most",
    }
    for given, expected in wrong.items():
        assert main([*command, given]) == 1
        assert re.match(rf"error: (--)?prompts.*\n  expected: {expected}", capsys.readouterr().err)


def test_what_else_a_folder_holds_is_not_replaced(
    hub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "char_hash", "--out", "dist"]) == 1
    assert "a folder with hub" in capsys.readouterr().err
    assert hub_folder.is_dir()
