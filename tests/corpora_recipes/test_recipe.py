"""corpus.yaml: typed, and what is wrong in one is said with file and key."""

import re
import types
from pathlib import Path

import pytest
from recipe_reading import refused

from corpora_recipes import recipe
from corpora_recipes.fetching.downloads import Fetched, write_fetched
from corpora_recipes.recipe import (
    CollectionFacts,
    Source,
    load_facts,
    load_recipe,
    read_facts,
    recipe_names,
)
from corpora_recipes.running.errors import InputError
from probeta.cli.listing import corpora_listing

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
    assert facts.description.endswith(".")
    # Of their own documents only the users know.
    assert (facts.people is None) == (name == "documents")
    assert load_recipe(name).read_block.__module__.startswith(f"corpora_recipes.corpora.{name}.")


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
        ("{name: Mine}", ": records", "one of documents, dialogues"),
        (with_least("licens: x"), ": licens", "write licence"),
        (LEAST.replace("licence: CC0", "licens: CC0"), ": licens", "write licence"),
        (LEAST.replace("licence: CC0", "licence: 3"), ": licence", "a text"),
        (with_least("licence: CC0"), "corpus.yaml, line 1", "each key once"),
        (with_least("redistributable: 1"), ": redistributable", "true or false"),
        (with_least("homepage: [a]"), ": homepage", "['a']"),
        (LEAST.replace("examples", "example"), ": records", "'example'"),
        (with_least("sources: {file: a}"), ": sources", "a list"),
        (with_least("sources: [{file: a, size: true}]"), ": sources[0].size", "an integer"),
        (with_least("sources: [{file: a, urls: x}]"), ": sources[0].urls", "a list"),
        (with_least("sources: [{file: a, url: x, urls: [y]}]"), ": sources[0].url", "unknown"),
        (with_least("sources: [{file: a, url: [x]}]"), ": sources[0].urls[0]", "a text"),
        (with_least("sources: [{url: a}]"), ": sources[0].file", "nothing"),
        (with_least("drop_limits: {a.b: x}"), ": drop_limits.a.b", "a number"),
        (with_least("drop_limits: {a.b: true}"), ": drop_limits.a.b", "a number"),
        (with_least("drop_limits: {empty: 0.1}"), ": drop_limits.empty", "a unit, a point"),
        (with_least("collections: [pairs]"), ": collections", "keys with values"),
        (with_least(COLLECTION % "unit: tweet"), ".pairs.unit", "one of sentence, word"),
        (with_least(COLLECTION % "scale: [5]"), ".pairs.scale[1]", "nothing"),
        (with_least(COLLECTION % "labels: {no: x}"), ".pairs.labels.False", "bool"),
        (with_least("collections: {pairs: {about: x}}"), ".pairs.texts", "an integer, or null"),
        (with_least("collections: {pairs: {about: x}}"), ".pairs.texts", "add it"),
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
    fine = {"corpus": {"recipe": "good"}}
    lines = "\n".join(corpora_listing(write_params({"mine": fine})))
    assert "mine (recipe good): no datasets" in lines
    assert "bad/corpus.yaml: records" in lines
    assert "good: Mine." in lines
    shown = []
    lines = corpora_listing(write_params({"broken": {"corpus": {"recipe": "bad"}}, "mine": fine}))
    with pytest.raises(InputError, match=r"bad/corpus\.yaml: records"):
        shown.extend(lines)
    assert "  mine (recipe good): no datasets" in shown
    assert "  broken: wrong, see below" in shown


@pytest.mark.parametrize(
    ("name", "language", "shown"),
    [
        ("fac", "es", "823.2 kB"),
        ("theses", "es", "about 400.0 MB, 90 minutes or more"),
        ("theses", "ca", "1 file of unknown size"),
    ],
)
def test_what_a_download_costs(write_params, tmp_path, monkeypatch, name, language, shown) -> None:
    monkeypatch.chdir(tmp_path)
    entry = {"corpus": {"recipe": name, "language": language, "sources": "upstream"}}
    lines = list(corpora_listing(write_params({"mine": entry})))
    assert f"    to download: {shown}" in lines
    assert f"To download in all: {shown.removeprefix('about ').partition(',')[0]}" in lines
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    write_fetched(folder, Fetched("upstream", [], complete=True))
    assert not any("o download" in line for line in corpora_listing(write_params({"mine": entry})))
