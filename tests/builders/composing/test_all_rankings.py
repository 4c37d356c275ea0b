"""All rankings in one folder: which are composed, which are kept, what is removed."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neighbour_files import corpus_of_pairs, pair

from builders.composing import rankings as module
from builders.composing.rankings import compose_rankings
from builders.plan.datasets import datasets_of
from builders.plan.rankings import rankings_of
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

ENTRIES = {
    name: {"task": "sentence_ranking", "language": "es", "pairs": [f"{name}_pairs/plain"]}
    for name in ("one", "two")
}


@pytest.fixture
def corpora(make_corpus, write_records) -> list[Corpus]:
    for name in ENTRIES:
        write_records([pair(1, ("El faro.", "La luz."), collection="plain")], f"{name}_pairs")
    return [corpus_of_pairs(make_corpus(), f"{name}_pairs") for name in ENTRIES]


@pytest.fixture
def composed(tmp_path, corpora) -> Callable[..., int]:
    """Return a function that composes rankings and returns the number of those that it kept."""

    def make(*chosen: str, entries: Any = ENTRIES, own: Any = corpora, out: str = "out") -> int:
        rankings = rankings_of(entries, own, "upstream")
        folder = tmp_path / "instances" / out
        reports, kept = compose_rankings(rankings, chosen or entries, tmp_path, folder, "upstream")
        for name, report in reports.items():
            written = json.loads((folder / name / "build.json").read_text("utf-8"))
            assert written == {name: report}
        return kept

    return make


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_kept_rankings_are_those_that_would_be_composed(tmp_path, composed, write_records) -> None:
    out = tmp_path / "instances" / "out"
    assert composed() == 0
    first = files(out)
    assert len(first) == 4
    assert composed() == 2
    assert files(out) == first
    write_records([pair(1, ("El bote.", "La barca."), collection="plain")], "two_pairs")
    assert composed() == 1
    assert composed(out="fresh") == 0
    assert files(out) == files(tmp_path / "instances" / "fresh") != first


def test_rankings_that_are_not_named_stay(tmp_path, composed) -> None:
    out = tmp_path / "instances" / "out"
    composed("one")
    assert [path.name for path in out.iterdir()] == ["one"]
    composed("two")
    assert composed() == 2
    composed(entries={"two": ENTRIES["two"]})
    assert [path.name for path in out.iterdir()] == ["two"]


def test_what_decides_the_rows_decides_what_is_kept(
    tmp_path, composed, corpora, monkeypatch
) -> None:
    composed()
    # A dataset of similarity takes nothing from a ranking.
    more = {"sim": {"task": "similarity", "collection": "scored"}}
    assert composed(own=[replace(corpora[0], datasets=more), corpora[1]]) == 2
    assert [d.name for d in datasets_of(replace(corpora[0], datasets=more), "upstream")] == ["sim"]
    facts = replace(corpora[0].facts, licence="CC BY 4.0")
    assert composed(own=[replace(corpora[0], facts=facts), corpora[1]]) == 1
    assert composed(own=[replace(corpus, seed=2) for corpus in corpora]) == 0
    assert composed() == 0
    monkeypatch.setattr(module, "code_digest", lambda name: "0" * 16)
    assert composed() == 0


def damage(ranking: Path) -> None:
    shard = ranking / "one" / "test-00000-of-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-1])


def lose_the_rows(ranking: Path) -> None:
    shutil.rmtree(ranking / "one")


def lose_the_report(ranking: Path) -> None:
    (ranking / "build.json").unlink()


def earlier_report(ranking: Path) -> None:
    report = json.loads((ranking / "build.json").read_text("utf-8"))
    del report["one"]["made_from"]
    (ranking / "build.json").write_text(json.dumps(report), "utf-8")


@pytest.mark.parametrize("change", [damage, lose_the_rows, lose_the_report, earlier_report])
def test_damaged_rankings_are_composed_again(tmp_path, composed, change) -> None:
    out = tmp_path / "instances" / "out"
    composed()
    first = files(out)
    change(out / "one")
    assert composed() == 1
    assert files(out) == first


def test_a_ranking_of_an_earlier_version_is_said(tmp_path, composed) -> None:
    composed()
    first = files(tmp_path / "instances" / "out")
    shutil.copytree(tmp_path / "instances" / "out" / "one", tmp_path / "instances" / "one")
    with pytest.raises(InputError, match=r"`rm -r .*one`"):
        composed()
    assert files(tmp_path / "instances" / "out") == first


def test_a_corpus_named_as_the_folder_of_rankings_is_refused(make_corpus) -> None:
    with pytest.raises(InputError, match=r"corpora\.rankings(.|\n)*rename the corpus"):
        datasets_of(make_corpus(name="rankings"), "upstream")
