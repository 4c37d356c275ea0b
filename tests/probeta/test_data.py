"""Where datasets are found: samples are built when they are needed, and what verbs do with them."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from imports import REPOSITORY

from builders.store import digests
from corpora_recipes.running.errors import InputError
from evaluation.datasets import find_datasets
from probeta import data, load, score
from probeta.cli import main
from probeta.data import locate_data

Output = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the corpora that are built from here on."""
    corpora: list[str] = []
    build = data._build_corpus

    def noting(name: str, *arguments: Path) -> None:
        corpora.append(name)
        build(name, *arguments)

    monkeypatch.setattr(data, "_build_corpus", noting)
    return corpora


def test_samples_are_built_once_and_only_those_needed(built: list[str], capsys: Output) -> None:
    options = ["--datasets", "fac", "--cache", "own"]
    assert main(["score", "char_hash", *options]) == 0
    printed = capsys.readouterr()
    assert "no dist/hub here: these are the samples" in printed.err
    assert "building samples, once, in own/samples/" in printed.err
    assert printed.out.startswith("dataset  group  score")
    assert "All built from the shipped samples: do not report these scores." in printed.out
    assert sorted(path.name for path in Path().iterdir()) == ["own", "results"]
    assert main(["--quiet", "score", "char_hash", *options, "--data", "samples"]) == 0
    assert not capsys.readouterr().err
    score("char_hash", "samples", groups=["NUC"], cache="own")
    assert built == ["fac", "rst_spanish_treebank", "rst_discourse_treebank"]
    # The same rows as those of a run, and what its audit says.
    folder = Path(locate_data(None, "fac", cache="own"))
    with (REPOSITORY / "tests/samples.tsv").open() as file:
        pinned = [row for row in csv.DictReader(file, delimiter="\t") if row["config"] == "fac"]
    assert [{k: str(v) for k, v in row.items()} for row in digests(folder / "fac")] == pinned
    names = {"fac", "dr_rst", "nuclearity_es", "rst", "nuclearity_en"}
    assert {dataset.name for dataset in find_datasets(folder)} == names
    assert json.loads((folder / "audit.json").read_bytes())["datasets"].keys() == names


def test_samples_are_of_the_code_as_it_is(
    built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = locate_data("samples", "fac")
    monkeypatch.setattr("corpora_recipes.running.code.code_digest", lambda *_: "other")
    second = Path(locate_data("samples", "fac"))
    assert first != second
    assert built[-1] == "fac"
    # A run that was killed before it had ended.
    (second / "audit.json").unlink()
    built.clear()
    assert locate_data("samples", ["fac"]) == second
    assert (second / "audit.json").exists()
    assert not built


def test_what_samples_need_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"the samples\n(.|\n)*(extra |\[)build"):
        score("char_hash", datasets="fac", cache=tmp_path)
    with pytest.raises(
        InputError, match=r"did you mean fac\? Or choose from ap, battig, bishift, .* in all\)"
    ):
        score("char_hash", datasets="facc")


def test_verbs_find_results_and_the_samples_that_they_are_of(capsys: Output) -> None:
    for name in ("one", "v.two"):
        assert main(["score", "char_hash", "--name", name, "--datasets", "fac"]) == 0
    assert capsys.readouterr().out.endswith("next: probeta compare v.two one\n")
    # Neither a file of vectors of this name, nor scores of other datasets, are compared.
    Path("one").touch()
    assert main(["score", "char_hash", "--name", "a", "--datasets", "sqc"]) == 0
    assert "`probeta compare a OTHER`" in capsys.readouterr().out
    assert main(["score", "char_hash", "--name", "a", "--datasets", "fac"]) == 0
    said = capsys.readouterr().out
    assert "results: results/a, in place of those of 1 dataset (--out keeps both)\n" in said
    assert said.endswith("next: probeta compare a one\n")
    assert main(["compare", "one", "v.two"]) == 0
    Path("one").unlink()
    assert main(["compare", "one", "v-two"]) == 1
    assert "did you mean v.two?" in capsys.readouterr().err
    assert main(["verify", "one"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("nothing differs: 1 score recomputed\n")
    assert "not proved: probes: " in said
    assert "rankings" not in said
    assert main(["export", "v.two", "--repo", "org/name", "--out", "exported"]) == 0
    Path("data").mkdir()
    shutil.move("results", "data/results")
    assert main(["report", "one", "v.two", "--data", "samples", "--out", "board"]) == 0
    assert "v.two" in Path("board/report.md").read_text("utf-8")
    assert main(["sheet", "fac", "--rows", "4"]) == 0
    assert len(load("fac")["train"]) == len(load("fac", "samples")["train"]) > 4
