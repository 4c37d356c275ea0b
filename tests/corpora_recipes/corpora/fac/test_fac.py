"""Tests of the recipe of FAC: lower-cased, tokenised lines become natural text."""

from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of, read_blocks
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.fac.recipe import blocks, natural_line
from corpora_recipes.recipe import RECIPES, BlockResult, Dropped
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "fac" / "sample"
CORPUS = corpus_of("fac")


def read(raw: Path) -> BlockResult:
    return read_blocks(raw, CORPUS)


@pytest.fixture
def write(tmp_path: Path):
    def write(subjective: bytes, objective: bytes = b"un viaje .\n") -> Path:
        (tmp_path / "fac.subjective").write_bytes(subjective)
        (tmp_path / "fac.objective").write_bytes(objective)
        return tmp_path

    return write


@pytest.fixture(scope="module")
def sample() -> BlockResult:
    return read(SAMPLE)


def test_sample_counts(sample):
    assert sample.drops.as_dict() == {"examples": {"seen": 141, "kept": 141, "dropped": {}}}
    assert Counter(e.label for e in sample.records) == {"subjective": 71, "objective": 70}
    assert {e.split for e in sample.records} == {None}
    assert len({e.id for e in sample.records}) == 141
    assert [(e.id, e.document_id) for e in sample.records if e.document_id != e.id] == [
        ("texts/subjective/71", "texts/subjective/70")
    ]


def test_sample_rows(sample):
    key = "texts/objective/1"
    text = "un panadero de cuenca descubre una carta que su padre nunca llegó a enviar."
    assert sample.records[71] == Example(key, "texts", (text,), "objective", None, key)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("una  historia , ¿ y qué ? .", "una historia, ¿y qué?."),
        ("' meteoro ' cansa .", "'meteoro' cansa."),
        ("en ' el ' faro rojo ' llueve .", "en 'el faro rojo' llueve."),
        ("' a ' b ' y ' c ' d ' .", "a b y c d."),
        ("una ' cita sin fin .", "una cita sin fin."),
        ("sosa . . . sí . .", "sosa. sí."),
        ("sosa ... sí .", "sosa... sí."),
        ("los acusados &amp ;#8203;&amp;#8203;son dos .", "los acusados son dos."),
        ("fin .<br /> sí . </div>", "fin. sí."),
        ("madri\xadd .", "madrid."),
    ],
)
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


# Bad input


def test_empty_and_damaged_texts_are_counted_drops(write):
    number = "9" * 5000  # which Python does not read
    lines = ["<div> </div>", "ma\ufffda .", "\uf0b7 mala .", "espaÃ±ola .", f"mala &#{number} ; ."]
    drops = read(write("\n".join(lines).encode())).drops.as_dict()["examples"]
    assert drops["dropped"] == {
        "empty_text": 1,
        "mojibake": 1,
        "private_use_character": 1,
        "replacement_character": 2,
    }
    assert {f"examples.{reason}" for reason in drops["dropped"]} < set(CORPUS.facts.drop_limits)


def test_each_class_is_needed(write):
    raw = write(b"buena .\n")
    (raw / "fac.objective").unlink()
    with pytest.raises(InputError, match=r"fac\.objective"):
        blocks(raw, CORPUS)
