"""What params.yaml says of datasets and rankings: their collections, and what is refused."""

from dataclasses import replace
from typing import Any

import pytest
from case_tables import read_tables
from conftest import COLLECTIONS
from neighbour_files import COLLECTIONS as PAIR_COLLECTIONS
from neighbour_files import corpus_of_pairs
from recipe_reading import refused

from builders.building import ROW_BUILDERS
from builders.plan.datasets import Dataset, RankingDataset, datasets_of, rankings_of
from builders.plan.groups import groups_of
from corpora_recipes.recipe import CollectionFacts, Corpus
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)


@pytest.mark.parametrize(("records", "entry", "key", "expected"), TABLES["entries"])
def test_entries_that_do_not_fit(
    make_corpus, example_corpus, records: str, entry: dict, key: str, expected: str
) -> None:
    corpus = example_corpus if records == "examples" else make_corpus()
    found = entry.get(key, "nothing") if key in ("task", "collection") else ""
    with refused(where=f"datasets.sent.{key}", expected=expected, found=found):
        datasets_of(replace(corpus, datasets={"sent": entry}), "upstream")


def test_a_single_fitting_collection_need_not_be_named(example_corpus) -> None:
    corpus = replace(example_corpus, datasets={"r": {"task": "relatedness"}})
    (dataset,) = datasets_of(corpus, "upstream")
    assert dataset.collection == "captions"
    facts = replace(corpus.facts, collections={"words": COLLECTIONS["words"]})
    with refused("datasets.r.task", match="linguistic_probing, sentence_classification"):
        datasets_of(replace(corpus, facts=facts), "upstream")


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
    assert {kind.__name__ for kind in ROW_BUILDERS} == kinds - {RankingDataset.__name__}


WORDS = {"pairs": ["pairs/plain"]}
ENTRY = {"task": "sentence_ranking", "language": "es", "pairs": ["pairs"]}


@pytest.fixture
def corpora(make_corpus) -> list[Corpus]:
    """Return a corpus of documents and two of pairs; the second is probed with training."""
    made = make_corpus()
    labelled = replace(PAIR_COLLECTIONS["scored"], labels={"NO": "no", "YES": "yes"})
    probed = corpus_of_pairs(
        made,
        "probed",
        collections={"captions": labelled, "others": PAIR_COLLECTIONS["plain"]},
        licence="CC BY 4.0",
        redistributable=False,
    )
    entry = {"task": "pair_classification", "collection": "captions"}
    return [made, corpus_of_pairs(made), replace(probed, datasets={"entails": entry})]


def ranking_of(corpora: list[Corpus], **changes: Any):
    (ranking,) = rankings_of({"rank": ENTRY | changes}, corpora, "upstream")
    return ranking


def test_a_corpus_stands_for_its_collections_of_pairs(corpora) -> None:
    ranking = ranking_of(corpora, pairs=["probed", "pairs"])
    names = [collection.path for collection in ranking.pairs]
    assert names == ["probed/captions", "probed/others", "pairs/scored", "pairs/plain"]
    assert ranking.probed == ["probed/captions"]
    nothing = {"background": [], "vocabulary": ""}
    parts = {"pairs": names, **nothing, "without_test": ["probed/captions"]}
    assert ranking.about()["parts"] == parts
    assert ranking.licence == "CC BY 4.0; CC0 1.0"
    (group,) = (g for g in groups_of(corpora, {"rank": ENTRY}, "upstream") if g.name == "rank")
    assert [origin.title for origin in group.origins] == ["Pairs"]


def test_names_of_collections_backgrounds_and_vocabularies(corpora) -> None:
    words = {"task": "word_ranking", "background": ["pairs"], "vocabulary": "mine"}
    ranking = ranking_of(corpora, **words, version="1.2.0")
    # A corpus stands for its collections of words alone.
    assert ranking.parts["pairs"] == ["pairs/words"]
    assert ranking.parts["background"] == ["pairs/lexicon"]
    assert [corpus.name for corpus in ranking.corpora] == ["pairs", "mine"]
    assert (ranking.version, ranking.task.name) == ("1.2.0", "word_ranking")
    seeded = ranking_of([replace(corpus, seed=77) for corpus in corpora], background=["pairs"])
    assert (seeded.parts["background"], seeded.seed) == (["pairs/single"], 77)


def test_what_is_made_of_a_sample_is_one(corpora) -> None:
    def sampled(**changes: Any) -> tuple[bool, str]:
        (ranking,) = rankings_of({"rank": ENTRY | changes}, corpora, "sample")
        return ranking.sample, ranking.licence

    assert sampled() == (True, "Apache-2.0")
    corpora[1] = corpus_of_pairs(corpora[0], shipped=True)
    assert sampled() == (False, "CC0 1.0")
    assert sampled(task="word_ranking", vocabulary="mine") == (True, "CC0 1.0; Apache-2.0")


def test_a_corpus_needs_no_datasets_if_a_ranking_is_made_of_it(corpora) -> None:
    groups = groups_of(corpora, {"rank": ENTRY}, "upstream")
    assert [(group.name, [d.name for d in group.datasets]) for group in groups] == [
        ("mine", ["sp_mine"]),
        ("pairs", []),
        ("probed", ["entails"]),
        ("rank", ["rank"]),
    ]
    assert [group.redistributable for group in groups] == [True, True, False, True]
    both = groups_of(corpora, {"rank": ENTRY | {"pairs": ["pairs", "probed"]}}, "upstream")
    assert not both[-1].redistributable
    where = r"corpora\.pairs\.datasets(.|\n)*at least one dataset, or a ranking that uses"
    with pytest.raises(InputError, match=where):
        groups_of(corpora, {}, "upstream")
    assert datasets_of(corpora[1], "upstream") == []


@pytest.mark.parametrize(("changes", "where", "word"), TABLES["rankings"])
def test_bad_entries_are_refused(corpora, changes, where, word) -> None:
    with refused(match=word, where_is=f"params.yaml: rankings.rank{where}"):
        ranking_of(corpora, **changes)


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [
        ("mine", 5, r"rankings\.mine"),
        ("pairs", ENTRY, "pairs, which corpora"),
        ("sp_mine", ENTRY, "sp_mine, which corpora"),
        # A label may mean "not a paraphrase".
        ("rank", ENTRY | {"pairs": ["classes"]}, r"one of pairs, probed, .*\n.*'classes'"),
    ],
)
def test_a_name_or_corpora_that_will_not_do_are_refused(corpora, name, entry, words) -> None:
    labelled = CollectionFacts("Pairs.", 2, labels={"NO": "no"})
    corpora.append(corpus_of_pairs(corpora[0], "classes", collections={"classes": labelled}))
    with pytest.raises(InputError, match=words):
        rankings_of({name: entry}, corpora, "upstream")
