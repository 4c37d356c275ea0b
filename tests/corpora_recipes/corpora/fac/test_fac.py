"""Tests of the recipe of FAC: lower-cased, tokenised lines become natural text."""

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_examples, refused, write_files

from corpora_recipes.corpora.fac.recipe import blocks, natural_line
from corpora_recipes.recipe import Dropped

TABLES = read_tables(__file__)

CORPUS = corpus_of("fac")


@pytest.mark.parametrize(("line", "text"), TABLES["lines"])
def test_natural_line(line, text):
    assert natural_line(line, "es") == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\t")))
def test_natural_line_has_no_stray_marks(line):
    try:
        text = natural_line(line, "es")
    except Dropped:
        return
    assert text.count("'") in (0, 2)
    assert text == " ".join(text.split())
    assert "<div>" not in text


def test_empty_and_damaged_texts_are_counted_drops(tmp_path):
    number = "9" * 5000  # which Python does not read
    lines = ["<div> </div>", "ma\ufffda .", "\uf0b7 mala .", "espaÃ±ola .", f"mala &#{number} ; ."]
    files = {"fac.subjective": "\n".join(lines), "fac.objective": "un viaje .\n"}
    drops = read_examples(write_files(tmp_path, files), CORPUS)[1].as_dict()["examples"]
    assert drops["dropped"] == {
        "empty_text": 1,
        "mojibake": 1,
        "private_use_character": 1,
        "replacement_character": 2,
    }
    assert {f"examples.{reason}" for reason in drops["dropped"]} < set(CORPUS.facts.drop_limits)


def test_each_class_is_needed(tmp_path):
    with refused("fac.objective"):
        blocks(write_files(tmp_path, {"fac.subjective": "buena .\n"}), CORPUS)
