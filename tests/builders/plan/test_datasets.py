"""What params.yaml says of datasets: the collection that a task gets, and what is refused."""

from dataclasses import replace

import pytest
from conftest import COLLECTIONS

from builders.building import MAKERS
from builders.plan.datasets import Dataset, RankingDataset, datasets_of
from corpora_recipes.running.errors import InputError

SP = {"task": "sentence_position"}
DC = {"task": "discourse_coherence"}


def labelled(task: str, collection: str = "") -> dict[str, str]:
    return {"task": task} | ({"collection": collection} if collection else {})


@pytest.mark.parametrize(
    ("records", "entry", "key", "expected"),
    [
        ("examples", labelled("sentence_classification"), "collection", "opinions, words"),
        ("examples", labelled("sentence_classification", "captions"), "collection", "one text"),
        ("examples", labelled("similarity", "opinions"), "collection", "texts with a score"),
        ("examples", labelled("pair_classification", "none"), "collection", "one of captions"),
        ("examples", labelled("similarity") | {"rows": [2, 2, 2]}, "rows", "task, version, coll"),
        ("examples", SP, "task", "relatedness, sentence_classification"),
        ("documents", {"task": "sentence_positions"}, "task", "sentence_ordering"),
        ("documents", {"task": "discourse_relations"}, "task", "tasks on documents"),
        ("documents", {}, "task", "tasks on documents"),
        ("documents", SP | {"size": 3}, "size", "task, version, rows"),
        ("documents", SP | {"rows": [1, 2]}, "rows", "three integers, 10 or more"),
        ("documents", SP | {"donors": "random"}, "donors", "task, version, rows"),
        ("documents", DC | {"donors": "none"}, "donors", "random, same_topic"),
        ("documents", SP | {"version": "draft"}, "version", "three numbers"),
    ],
)
def test_entries_that_do_not_fit(
    make_corpus, example_corpus, records: str, entry: dict, key: str, expected: str
) -> None:
    corpus = example_corpus if records == "examples" else make_corpus()
    with pytest.raises(InputError) as error:
        datasets_of(replace(corpus, datasets={"sent": entry}), "upstream")
    assert f"datasets.sent.{key}" in error.value.where
    assert expected in error.value.expected
    if key in ("task", "collection"):
        assert entry.get(key, "nothing") in error.value.found


def test_a_single_fitting_collection_need_not_be_named(example_corpus) -> None:
    corpus = replace(example_corpus, datasets={"r": {"task": "relatedness"}})
    (dataset,) = datasets_of(corpus, "upstream")
    assert dataset.collection == "captions"
    facts = replace(corpus.facts, collections={"words": COLLECTIONS["words"]})
    with pytest.raises(InputError, match="linguistic_probing, sentence_classification") as error:
        datasets_of(replace(corpus, facts=facts), "upstream")
    assert error.value.where.endswith("datasets.r.task")


def test_all_kinds_of_datasets_store_the_same_keys_in_the_same_order(
    make_corpus, example_corpus
) -> None:
    facts = replace(make_corpus().facts, records="trees")
    trees = make_corpus(facts=facts, datasets={"dr_mine": {"task": "discourse_relations"}})
    entry = {"task": "discourse_coherence", "donors": "same_topic", "rows": [40, 16, 16]}
    corpora = (make_corpus(datasets={"dc_mine": entry}), example_corpus, trees)
    abouts = [dataset.about() for c in corpora for dataset in datasets_of(c, "upstream")]
    assert {tuple(about) for about in abouts} == {tuple(abouts[0])}
    kinds = [(a["records"], a["rows"], a["options"], a["collection"]) for a in abouts]
    assert kinds == [
        ("documents", [40, 16, 16], {"donors": "same_topic"}, ""),
        ("examples", [10_000, 4_000, 4_000], {}, "opinions"),
        ("trees", [10_000, 4_000, 4_000], {"label": "nucleus_first"}, ""),
    ]
    assert [about["corpus"] for about in abouts] == [c.name for c in corpora]


def test_build_makes_every_kind_of_dataset_but_rankings() -> None:
    kinds = {kind.__name__ for kind in (Dataset, *Dataset.__subclasses__())}
    assert {kind.__name__ for kind in MAKERS} == kinds - {RankingDataset.__name__}
