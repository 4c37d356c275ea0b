"""The facts of recipes, and the corpora by language."""

import re
import types
from pathlib import Path

import pytest
from case_tables import read_tables
from recipe_reading import refused

from corpora_recipes import recipe
from corpora_recipes.corpora.wikipedia.templates import load_wiki
from corpora_recipes.fetching.downloads import Fetched, write_fetched
from corpora_recipes.languages import corpora_by_language, corpora_in, languages_listing, title_of
from corpora_recipes.params import corpus_of
from corpora_recipes.recipe import (
    CollectionFacts,
    Source,
    load_facts,
    load_recipe,
    read_facts,
    recipe_names,
)
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import InputError
from probeta.cli.listing import corpora_listing, recipes_listing

TABLES = read_tables(__file__)

# --- recipe --------------------------------------------------------------------------------------

LEAST = "{name: Mine, records: examples, language: es, licence: CC0, description: Mine.}"
COLLECTION = "collections: {pairs: {about: Pairs., texts: 2, %s}}"


def written(folder: Path, text: str) -> Path:
    path = folder / "corpus.yaml"
    path.write_text(text, "utf-8")
    return path


def with_least(more: str) -> str:
    return LEAST.removesuffix("}") + f", {more}}}"


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_has_facts_and_code(name) -> None:
    facts = load_facts(name)
    assert bool(facts.collections) == (facts.records == "examples")
    # Of several treebanks, each has its own classes.
    assert bool(facts.labels or facts.treebanks) >= (facts.records == "trees")
    assert not facts.labels or facts.records == "trees"
    assert bool(facts.treebanks) == ("treebank" in facts.options)
    assert facts.description.endswith("."), "corpus.yaml: `description` ends with a full stop"
    # Of their own documents only the users know.
    if name != "documents":
        assert facts.people, "corpus.yaml: add `people` with `texts` (whose data) and `removal`"
    assert load_recipe(name).read_block.__module__.startswith(f"corpora_recipes.corpora.{name}.")


def test_a_domain_that_mteb_lacks(tmp_path) -> None:
    provenance = "provenance: {domains: [Poetri], annotations: derived, creation: found}"
    with refused("domains[0]", "a domain of mteb", "Poetri", "did you mean Poetry?"):
        read_facts(written(tmp_path, with_least(provenance)))


def test_a_recipe_without_its_functions_says_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(recipe, "RECIPES", tmp_path)
    with pytest.raises(InputError, match=r"read_block(.|\n)*no such file"):
        load_recipe("sqc")
    (tmp_path / "sqc").mkdir()
    (tmp_path / "sqc" / "recipe.py").write_text("")
    module = types.SimpleNamespace(blocks=None)
    monkeypatch.setattr(recipe.importlib, "import_module", lambda name: module)
    with pytest.raises(InputError, match="no read_block"):
        load_recipe("sqc")


def test_values_are_as_they_are_written_and_one_address_is_a_list(tmp_path) -> None:
    collection = COLLECTION % "scale: [0, 5], labels: {}, sizes: {train: null, test: 7}"
    files = "{file: a, url: x, sha256: f0}, {file: b, urls: [x, y], git_blob: c1}, {file: c}"
    facts = read_facts(written(tmp_path, with_least(f"{collection}, sources: [{files}]")))
    pairs = CollectionFacts("Pairs.", 2, scale=(0, 5), labels={}, sizes={"train": None, "test": 7})
    assert facts.collections == {"pairs": pairs}
    assert repr(facts.collections["pairs"].scale) == "(0, 5)"
    one, two = Source("a", ("x",), sha256="f0"), Source("b", ("x", "y"), git_blob="c1")
    assert facts.sources == (one, two, Source("c"))


@pytest.mark.parametrize(
    ("text", "where", "word"),
    [
        *((with_least(text), where, word) for text, where, word in TABLES["added"]),
        *((LEAST.replace(*old_and_new), *words) for old_and_new, *words in TABLES["replaced"]),
        *((with_least(COLLECTION % text), *words) for text, *words in TABLES["collections"]),
        ("{name: Mine}", ": records", "one of documents, dialogues"),
        ("[a]", "corpus.yaml", "keys among name"),
        ("a: [", "corpus.yaml", "YAML"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(tmp_path, text, where, word) -> None:
    path = written(tmp_path, text)
    with refused(where, word, match=f"^{re.escape(str(path))}"):
        read_facts(path)


def test_a_broken_corpus_yaml_does_not_hide_the_others(tmp_path, monkeypatch, write_params) -> None:
    for name, text in (("good", LEAST), ("bad", "{name: Bad}")):
        (tmp_path / "corpora" / name).mkdir(parents=True)
        written(tmp_path / "corpora" / name, text)
    (tmp_path / "corpora" / "good" / "sample").mkdir()
    (tmp_path / "corpora" / "good" / "sample" / "texts.txt").write_text("Uno.", "utf-8")
    monkeypatch.setattr(recipe, "RECIPES", tmp_path / "corpora")
    monkeypatch.setattr("corpora_recipes.fetching.sources.RECIPES", tmp_path / "corpora")
    monkeypatch.setattr("corpora_recipes.fetching.sources.list_sources", lambda corpus: [])
    fine = {"corpus": {"recipe": "good"}}
    lines = "\n".join(corpora_listing(write_params({"mine": fine})))
    assert "mine (recipe good): no datasets" in lines
    recipes = "\n".join(recipes_listing())
    assert "bad/corpus.yaml: records" in recipes
    assert "good: Mine." in recipes
    shown = []
    lines = corpora_listing(write_params({"broken": {"corpus": {"recipe": "bad"}}, "mine": fine}))
    with pytest.raises(InputError, match=r"bad/corpus\.yaml: records"):
        shown.extend(lines)
    assert "  mine (recipe good): no datasets" in shown
    assert "  broken: wrong, see below" in shown


@pytest.mark.parametrize(("name", "language", "shown"), TABLES["costs"])
def test_what_a_download_costs(write_params, empty_folder, name, language, shown) -> None:
    entry = {"corpus": {"recipe": name, "language": language, "sources": "upstream"}}
    lines = list(corpora_listing(write_params({"mine": entry})))
    assert f"    to download: {shown}" in lines
    assert f"To download in all: {shown.removeprefix('about ').partition(',')[0]}" in lines
    folder = empty_folder / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    write_fetched(folder, Fetched("upstream", [], complete=True))
    assert not any("o download" in line for line in corpora_listing(write_params({"mine": entry})))


# --- languages -----------------------------------------------------------------------------------


def test_numbers_of_languages() -> None:
    """Those that the sources state: papers, catalogues and repositories."""
    counts = {"mlsum": 5, "opensubtitles": 59, "paralex": 46, "paws_x": 7, "pdtb": 4}
    counts |= {"xnli": 15, "xprobe": 7}
    assert {name: len(load_facts(name).spoken) for name in counts} == counts
    assert load_facts("paralex").spoken == tuple(load_facts("paralex").collections)
    # Links to other Wikipedias are to more than can be read: closed ones, and those like zh-yue.
    assert len(load_wiki("es").interlanguage) == 363


def test_the_corpora_of_a_language() -> None:
    by_language = corpora_by_language()
    assert by_language["gl"][:1] == ["opensubtitles"]
    assert {"mlsum", "pdtb", "rst_discourse_treebank"} <= set(by_language["de"])
    # The texts of users are in any language.
    assert "documents" not in by_language["es"]
    codes = {**dict.fromkeys(by_language["pt"], "pt"), "opensubtitles": "pt-BR", "xnli": ""}
    assert corpora_in("pt-BR") | {"xnli": ""} == codes


def test_the_listing() -> None:
    *lines, last = languages_listing()
    catalan = next(line for line in lines if line.startswith("ca "))
    assert catalan.split()[:2] == ["ca", "Catalan"]
    assert catalan.endswith("wikipedia")
    assert last.startswith("Wikipedia alone: ")
    assert {"lmo", "oc"} <= set(last.split())
    assert not {"ca", "es"} & set(last.split())


def test_every_language_has_a_name_if_not_only_wikipedia_has_it() -> None:
    by_language = corpora_by_language()
    shown = {code for code, names in by_language.items() if names != ["wikipedia"]}
    assert {code for code in shown if not title_of(code)} == set()


@pytest.mark.parametrize(("asked", "near"), TABLES["unknown_languages"])
def test_unknown_languages(asked: str, near: str | None) -> None:
    with pytest.raises(InputError) as error:
        corpora_in(asked)
    assert asked in error.value.found
    if near is None:
        assert "such as" not in error.value.expected
    else:
        assert near in error.value.expected


@pytest.mark.parametrize(
    ("recipe", "language"), [("xnli", "ca"), ("wikipedia", "ess"), ("mlsum", "it")]
)
def test_an_entry_in_a_language_that_the_corpus_lacks(recipe: str, language: str) -> None:
    params = {"seed": 1, "corpora": {"mine": {"corpus": {"recipe": recipe, "language": language}}}}
    with pytest.raises(InputError) as error:
        corpus_of(params, PARAMS, "mine")
    assert error.value.where == "params.yaml: corpora.mine.corpus.language"
    assert error.value.expected.startswith("a language of ")
