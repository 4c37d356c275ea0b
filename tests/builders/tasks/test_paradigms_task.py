"""Clusters of terms: their rows, the language each is in, and what is refused."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from neighbour_files import cluster, corpus_of_pairs
from recipe_reading import refused

from builders.building import build
from builders.plan.datasets import datasets_of
from builders.store import about_of
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError


@pytest.fixture
def corpus(make_corpus) -> Corpus:
    entry = {"task": "paradigms"}
    datasets = {"paralex_es": entry, "paralex_sw": {**entry, "collection": "sw"}}
    return replace(corpus_of_pairs(make_corpus()), datasets=datasets)


def test_a_row_is_a_cluster(tmp_path, corpus, write_records) -> None:
    terms = ["pleamar", "bajamar", "Marea alta"]
    clusters = [cluster("es", "tides", *terms), cluster("es", "boats", "barca", "bote")]
    clusters += [cluster("sw", "days", "leo", "kesho"), cluster("en", "tides", "ebb")]
    report = build(corpus, write_records(clusters), tmp_path / "out", "upstream")
    assert [entry["rows"] for entry in report.values()] == [{"test": 2}, {"test": 1}]
    assert report["paralex_es"]["source_parts"] == {"all": 2}
    rows = pq.read_table(tmp_path / "out" / "paralex_es").to_pylist()
    (row,) = (row for row in rows if row["cluster"] == "tides")
    names = {"id": "es/tides", "document_id": "es/tides", "cluster": "tides", "terms": terms}
    stated = {"source_split": "", "also_in": [], "split": "test", "licence": "CC0 1.0"}
    assert row == names | stated
    schema = pq.read_schema(tmp_path / "out" / "paralex_sw" / "test-00000-of-00001.parquet")
    assert (about_of(schema)["language"], about_of(schema)["collection"]) == ("sw", "sw")


def test_the_collection_is_that_of_the_corpus_s_language_unless_named(corpus) -> None:
    spanish, swahili = datasets_of(corpus, "upstream")
    assert (spanish.language, spanish.collection) == ("es", "es")
    assert (swahili.language, swahili.facts.sizes) == ("sw", {"all": 2})
    english, _ = datasets_of(replace(corpus, language="en"), "upstream")
    assert (english.language, english.facts.sizes) == ("en", {"all": 2})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"collection": "qu"}, "one of en, es, sw, for a cluster of texts.*\n.*'qu'"),
        ({"collection": "scored"}, "one of en, es, sw, for a cluster of texts"),
        ({"task": "similarity", "collection": "es"}, "one of scored, for a pair of texts"),
        ({"task": "sentence_ranking"}, "one of explicit_relations, .*, paradigms, "),
    ],
)
def test_what_is_no_cluster_is_refused(corpus, entry, message) -> None:
    wrong = replace(corpus, datasets={"para": {"task": "paradigms"} | entry})
    with pytest.raises(InputError, match=message):
        datasets_of(wrong, "upstream")


def test_a_language_without_clusters_is_refused(tmp_path, corpus, write_records) -> None:
    with pytest.raises(InputError, match=r"one of en, es, sw, .*\n.*'fr'"):
        datasets_of(replace(corpus, language="fr"), "upstream")
    records = write_records([cluster("es", "tides", "pleamar"), cluster("en", "tides", "ebb")])
    with refused(match=r"examples of sw(.|\n)*en, es", where_is=str(records)):
        build(corpus, records, tmp_path / "out", "upstream")
