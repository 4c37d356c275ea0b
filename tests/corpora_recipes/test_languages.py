"""Which corpora there are in which language, by the facts of all recipes."""

import pytest

from corpora_recipes.corpora.wikipedia.templates import load_wiki
from corpora_recipes.languages import corpora_by_language, corpora_in, languages_listing, title_of
from corpora_recipes.params import corpus_of
from corpora_recipes.recipe import load_facts
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import InputError


def test_numbers_of_languages() -> None:
    """Those that the sources state: papers, catalogues and repositories."""
    counts = {"mlsum": 5, "opensubtitles": 59, "paralex": 46, "paws_x": 7, "pdtb": 4}
    counts |= {"xnli": 15, "xprobe": 7}
    assert {name: len(load_facts(name).spoken) for name in counts} == counts
    assert load_facts("paralex").spoken == tuple(load_facts("paralex").collections)
    # Links to other Wikipedias are to more than can be read: closed ones, and those like zh-yue.
    assert len(load_wiki("es").interlanguage) == 362


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


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("catalan", "ca (Catalan)"),
        ("Galicia", "gl (Galician)"),
        ("eus", "eu (Basque)"),
        ("xq", None),
    ],
)
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
