"""params.yaml: what is wrong in it is said, with what is known instead."""

from dataclasses import replace

import pytest

from builders.dataset import datasets_of
from corpora_recipes.errors import InputError
from corpora_recipes.params import load_corpus, load_params, with_documents
from corpora_recipes.recipes import recipe_names
from corpora_recipes.sources import fetch


def entry(**changes):
    return {"recipe": "jsonl", "language": "es", "datasets": {}} | changes


def test_an_entry_is_joined_with_its_recipes_facts(write_params) -> None:
    path = write_params({"mine": entry(documents=5, path="texts.jsonl")})
    corpus = load_corpus(path, "mine")
    assert (corpus.name, corpus.recipe, corpus.documents, corpus.seed) == ("mine", "jsonl", 5, 1111)
    assert corpus.options["path"] == "texts.jsonl"
    assert corpus.facts["records"] == "documents"


def test_the_projects_own_file_is_right(repository) -> None:
    names = load_params(repository / "params.yaml")["corpora"]
    corpora = [load_corpus(repository / "params.yaml", name) for name in names]
    assert {corpus.recipe for corpus in corpora} <= set(recipe_names())
    assert corpora[0].documents == 200000


@pytest.mark.parametrize(
    ("corpora", "words"),
    [
        ({"mine": entry(recipe="wikpedia")}, ["'wikpedia'", "wikipedia", "jsonl"]),
        ({"mine": entry(documets=5)}, ["documets", "documents"]),
        ({"mine": entry(documents=0)}, ["positive integer", "found:    0"]),
        ({"mine": entry(documents=True)}, ["positive integer", "True"]),
        ({"mine": entry(language=3)}, ["language code"]),
        ({"mine": entry(datasets=["sp"])}, ["dataset names"]),
        ({"other": entry()}, ["one of other", "'mine'"]),
    ],
)
def test_what_is_wrong_in_an_entry_is_said(write_params, corpora, words) -> None:
    with pytest.raises(InputError) as error:
        load_corpus(write_params(corpora), "mine")
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sources: sample\n", ["seed", "nothing"]),
        ("seed: x\nsources: sample\ncorpora: {}\nencoders: {}\n", ["seed", "int", "'x'"]),
        ("seed: 1\naudit: {sp: x}\n", ["audit", "keys among inherited"]),
        ("seed: 1\naudit: {inherited: {sp: leakage}}\n", ["audit.inherited", "each with gates"]),
        (
            "seed: 1\naudit: {inherited: {sp: {leakage: {at_most: 2, because: x}}}}\n",
            ["the share of rows", "'at_most': 2"],
        ),
        (
            "seeds: 1\n",
            [
                "seeds",
                "seed, sources, corpora, rankings, audit, encoders, probing, evalrank, paralex",
            ],
        ),
        ("seed: 1\nrankings: {Mine: {}}\n", ["rankings.Mine", "lower-case"]),
        ("seed: 1\nrankings: {mine: 5}\n", ["rankings.mine", "{task: sentence_ranking"]),
        ("seed: 1\nevalrank: {similarities: [cos]}\n", ["evalrank.similarities", "cosine, l2"]),
        ("seed: 1\nevalrank: {similarities: []}\n", ["evalrank.similarities", "one or more"]),
        ("seed: 1\nevalrank: {similarities: l2}\n", ["evalrank.similarities", "found:    'l2'"]),
        ("seed: 1\nevalrank: {postprocessings: [abtt, abtt]}\n", ["none twice"]),
        ("seed: 1\nparalex: {casing: fold}\n", ["casings, coherence_threshold", "casing"]),
        ("seed: 1\nparalex: {casings: [lower]}\n", ["paralex.casings", "as_is, fold"]),
        ("seed: 1\nparalex: {coherence_threshold: 0}\n", ["coherence_threshold", "from 1"]),
        ("seed: 1\nparalex: {coherence_threshold: true}\n", ["coherence_threshold", "True"]),
        ("seed: 1\nprobing: four_part\n", ["probing", "dict"]),
        ("seed: 1\nprobing: {protocol: sentence}\n", ["probing.protocol", "standard, senteval"]),
        ("seed: 1\nencoders: {a.b: }\n", ["encoders.a.b", "letters, digits"]),
        ("seed: 1\nencoders: {_a: }\n", ["encoders._a", "letters, digits"]),
        ("seed: 1\nprobing: {pairs: four_part}\n", ["probing", "pair_features", "pairs"]),
        (
            "seed: 1\nprobing: {pair_features: 4}\n",
            ["probing.pair_features", "difference_product, four_part", "4"],
        ),
        ("- 1\n", ["keys among"]),
        ("a: [\n", ["YAML"]),
    ],
)
def test_what_is_wrong_at_the_top_is_said(tmp_path, text, words) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_params(path)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("chosen", ["difference_product", "four_part"])
def test_how_pairs_are_probed(tmp_path, chosen) -> None:
    path = tmp_path / "params.yaml"
    others = {"protocol": "standard", "engine": "numpy"}
    path.write_text("seed: 1\n")
    assert load_params(path)["probing"] == {**others, "pair_features": "difference_product"}
    path.write_text(f"seed: 1\nprobing: {{pair_features: {chosen}}}\n")
    assert load_params(path)["probing"] == {**others, "pair_features": chosen}


def test_what_is_said_of_a_shipped_corpus_is_not_said_of_a_users_own(write_params) -> None:
    own = {"recipe": "word_pairs", "path": "words.tsv", "licence": "CC0-1.0"}
    path = write_params({"ours": {"recipe": "word_pairs"}, "mine": own})
    ours, mine = load_corpus(path, "ours"), load_corpus(path, "mine")
    assert (ours.facts["licence"], ours.facts["redistributable"]) == ("Apache-2.0", True)
    assert (mine.facts["name"], mine.facts["licence"]) == ("mine", "CC0-1.0")
    assert not mine.facts["redistributable"]
    assert ours.is_shipped
    assert not ours.is_sample("sample")
    assert not mine.is_shipped
    assert not mine.is_sample("sample")


def test_how_neighbours_are_evaluated(tmp_path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text("seed: 1\n")
    params = load_params(path)
    assert params["evalrank"] == {
        "similarities": ["cosine", "l2"],
        "postprocessings": ["none", "centre", "abtt", "whitening"],
    }
    assert params["paralex"] == {"casings": ["as_is", "fold"], "coherence_threshold": 2}
    path.write_text("seed: 1\nevalrank: {similarities: [l2]}\nparalex: {coherence_threshold: 3}\n")
    params = load_params(path)
    assert params["evalrank"]["similarities"] == ["l2"]
    assert params["paralex"] == {"casings": ["as_is", "fold"], "coherence_threshold": 3}


def test_a_missing_file_says_what_to_do(tmp_path) -> None:
    with pytest.raises(InputError, match="--params"):
        load_params(tmp_path / "params.yaml")


def test_the_quota_of_the_command_line(make_corpus) -> None:
    corpus = make_corpus(documents=7)
    assert with_documents(corpus, None).documents == 7
    assert with_documents(corpus, "all").documents is None
    assert with_documents(corpus, "12").documents == 12


def test_all_documents_and_a_date_that_looks_like_a_number(write_params) -> None:
    wiki = {"recipe": "wikipedia", "language": "es", "documents": "all", "date": 20260101}
    corpus = load_corpus(write_params({"wiki": wiki}), "wiki")
    assert corpus.documents is None
    assert corpus.options["date"] == "20260101"


def test_wrong_quotas_of_the_command_line(make_corpus) -> None:
    corpus = make_corpus(documents=7)
    for wrong in ("0", "many", "-3"):
        with pytest.raises(InputError, match="positive integer, or all"):
            with_documents(corpus, wrong)


def test_examples_are_taken_whole(write_params) -> None:
    path = write_params({"sqc": {"recipe": "sqc"}, "few": {"recipe": "sqc", "documents": 5}})
    corpus = load_corpus(path, "sqc")
    assert with_documents(corpus, "all").documents is None
    for refused in (lambda: load_corpus(path, "few"), lambda: with_documents(corpus, "5")):
        with pytest.raises(InputError, match="taken whole"):
            refused()


def test_a_corpus_may_have_sources_of_its_own(write_params, tmp_path) -> None:
    corpora = {
        "sqc": {"recipe": "sqc", "sources": "sample"},
        "odd": {"recipe": "sqc", "sources": 1},
    }
    path = write_params(corpora, sources="upstream")
    corpus = load_corpus(path, "sqc")
    fetch(corpus, load_params(path)["sources"], tmp_path / "raw")
    assert sorted(p.name for p in (tmp_path / "raw").glob("*.txt")) == ["test.txt", "train.txt"]
    (dataset,) = datasets_of(
        replace(corpus, datasets={"sqc": {"task": "sentence_classification"}}), "upstream"
    )
    assert dataset.sample
    with pytest.raises(InputError, match=r"odd\.sources"):
        load_corpus(path, "odd")
