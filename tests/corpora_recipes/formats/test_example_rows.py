"""What recipes of examples share: natural text, classes, scores, counted drops."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.facts import CollectionFacts
from corpora_recipes.formats.tables import (
    Row,
    class_of,
    collect,
    natural,
    score_of,
)
from corpora_recipes.recipe import Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

ROW = Row("a.tsv", 3, {"text": "x"})


@pytest.fixture
def corpus(make_corpus) -> Corpus:
    collections = {
        "one": CollectionFacts("", 1, labels={"N": "negative", "P": "positive"}, scale=(1, 5)),
        "any": CollectionFacts("", 1, labels={}),
    }
    made: Corpus = make_corpus()
    return replace(made, facts=replace(made.facts, collections=collections))


def test_natural_text_is_one_line_in_nfc() -> None:
    assert natural("\tCanto\u0301 \u00a0 dos\r\n veces ") == "Cantó dos veces"


def test_invisible_characters_go_but_not_those_of_emoji() -> None:
    assert natural("\ufeffcan\u00adción\u200b\u200e 👩\u200d🚒") == "canción 👩\u200d🚒"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\t\u00a0\n"])
def test_an_empty_text_is_dropped(text) -> None:
    with pytest.raises(Dropped, match="empty_text"):
        natural(text)


@given(st.text())
def test_natural_text_stays_as_it_is(text) -> None:
    try:
        once = natural(text)
    except Dropped:
        return
    assert natural(once) == once


def test_classes(corpus) -> None:
    assert class_of(" P ", "one", corpus, ROW) == "positive"
    assert class_of(" río", "any", corpus, ROW) == "río"


@pytest.mark.parametrize(
    ("raw", "collection"), [("NEU", "one"), ("p", "one"), ("", "one"), (" ", "any")]
)
def test_an_unknown_class_is_an_error(corpus, raw, collection) -> None:
    with pytest.raises(InputError) as error:
        class_of(raw, collection, corpus, ROW)
    assert error.value.where == "a.tsv, line 3"
    assert error.value.found == repr(raw)


def test_scores(corpus) -> None:
    assert [score_of(raw, "one", corpus, ROW) for raw in ("1", " 4.25 ", "5.0")] == [1.0, 4.25, 5.0]


@pytest.mark.parametrize("raw", ["0.9", "5.1", "", "nan", "inf", "4,5", "alto", "0_3", "1e0", "٣"])
def test_a_score_that_is_none_is_an_error(corpus, raw) -> None:
    with pytest.raises(InputError) as error:
        score_of(raw, "one", corpus, ROW)
    assert error.value.expected == "a score from 1 to 5"


def test_drops_are_counted_by_reason() -> None:
    def make(row: Row) -> Example:
        text = natural(row.fields["text"])
        return Example(text, "one", (text,), None, None, text)

    texts = ["uno", " ", "dos", ""]
    result = collect([Row("a.tsv", n, {"text": t}) for n, t in enumerate(texts)], make)
    assert [record.id for record in result.records] == ["uno", "dos"]
    assert result.drops.as_dict() == {
        "examples": {"seen": 4, "kept": 2, "dropped": {"empty_text": 2}}
    }
