"""Which datasets a run has left out, by what its stages have written."""

import pytest
from neighbour_files import corpus_of_pairs

from builders.plan.groups import BuildGroup, groups_of, left_out_datasets, without
from corpora_recipes.running.outputs import CORPORA, INSTANCES
from corpora_recipes.running.stage import Skipped, write_skipped


@pytest.fixture
def groups(tmp_path, monkeypatch, make_corpus) -> list[BuildGroup]:
    """Return a corpus of two datasets, one of pairs without any, and a ranking of these."""
    monkeypatch.chdir(tmp_path)
    datasets = {"sp": {"task": "sentence_position"}, "dc": {"task": "discourse_coherence"}}
    corpora = [make_corpus(datasets=datasets), corpus_of_pairs(make_corpus())]
    rank = {"task": "sentence_ranking", "language": "es", "pairs": ["pairs/plain"]}
    found = groups_of(corpora, {"rank": rank}, "upstream")
    for group in found:
        for dataset in group.datasets:
            (INSTANCES / group.folder / dataset.name).mkdir(parents=True)
    return found


@pytest.mark.parametrize(
    ("stage", "name", "expected"),
    [
        ("read", "mine", ["dc", "sp"]),
        ("read", "pairs", ["rank"]),
        ("build", "mine", ["dc", "sp"]),
        ("build", "mine: dc", ["dc"]),
        ("build", "rank", []),
        ("compose", "rank", ["rank"]),
        ("compose", "mine", []),
        ("audit", "sp", ["sp"]),
        ("audit", "rank", ["rank"]),
        ("read", "gone", []),
    ],
)
def test_a_dataset_is_left_out_with_what_it_is_made_from(
    groups, stage: str, name: str, expected: list[str]
) -> None:
    reason = Skipped("It is so.", asked_for=stage == "read")
    write_skipped(stage, {name: reason})
    found = left_out_datasets(groups, "read", "build", "compose", "audit")
    assert found == dict.fromkeys(expected, reason)
    others = [stage_ for stage_ in ("read", "build", "compose", "audit") if stage_ != stage]
    assert left_out_datasets(groups, *others) == {}
    left = [dataset.name for group in without(groups, found) for dataset in group.datasets]
    assert left == [name for name in ("dc", "sp", "rank") if name not in expected]


def test_the_reason_of_the_first_stage_is_given(groups) -> None:
    for stage, name in (("audit", "sp"), ("read", "mine"), ("build", "mine: sp")):
        write_skipped(stage, {name: Skipped(stage)})
    assert left_out_datasets(groups, "audit", "build", "read")["sp"] == Skipped("read")


def test_what_was_not_built_is_left_out(groups) -> None:
    (CORPORA / "mine" / "sp").rmdir()
    assert "`probeta build`" in left_out_datasets(groups)["sp"].why
