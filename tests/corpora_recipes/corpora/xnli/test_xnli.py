"""Tests of the recipe of XNLI and esXNLI: three tables of nineteen columns, of many languages."""

import io
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of, read_by_id
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.xnli.recipe import blocks, read_block
from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "xnli" / "sample"
COLUMNS = [
    *("language", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse"),
    *("sentence1_parse", "sentence2_parse", "sentence1", "sentence2", "promptID", "pairID"),
    *("genre", "label1", "label2", "label3", "label4", "label5"),
    *("sentence1_tokenized", "sentence2_tokenized", "match"),
]


def read_all(raw: Path, language: str = "es") -> tuple[dict[str, Example], Drops]:
    return read_by_id(raw, corpus_of("xnli", language))


def line(**values: str) -> str:
    fields = {"language": "es", "gold_label": "neutral", "promptID": "1", "pairID": "1"}
    fields |= {"sentence1": "Llueve.", "sentence2": "Es lunes.", "genre": "travel"}
    return "\t".join((fields | values).get(column, "") for column in COLUMNS)


def table(*lines: str, columns: list[str] = COLUMNS) -> bytes:
    return ("\n".join(["\t".join(columns), *lines]) + "\n").encode()


def zipped(**files: bytes) -> bytes:
    """Return a zip of XNLI-1.0/xnli.<name>.tsv."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"XNLI-1.0/xnli.{name}.tsv", data)
    return buffer.getvalue()


# The sample


@pytest.fixture(scope="module")
def sample() -> tuple[dict[str, Example], Drops]:
    return read_all(SAMPLE)


def test_sample_counts(sample):
    examples, drops = sample
    assert drops.as_dict() == {
        "examples": {"seen": 157, "kept": 156, "dropped": {"no_gold_label": 1}}
    }
    counts = Counter((e.split, e.label) for e in examples.values())
    assert sorted(counts.values()) == [14] * 6 + [24] * 3
    assert counts["train", "neutral"] == 24


def test_sample_rows(sample):
    examples, _ = sample
    premise = "Yo tenía seis años cuando mi papá trajo la primera radio a la casa."
    key, texts = "pairs/xnli.dev/1", (premise, "La radio era de segunda mano.")
    document, columns = "pairs/premise/7af132857c8bdc1e", {"genre": "facetoface"}
    first = Example(key, "pairs", texts, "neutral", None, document, columns, "validation")
    assert examples[key] == first
    last = examples["pairs/esxnli/42"]
    assert (last.label, last.columns, last.split) == ("neutral", {"genre": "celebrity"}, "test")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", {("xnli.test", "train"): 3, ("xnli.dev", "validation"): 3, ("esxnli", "test"): 6}),
        ("fr", {("xnli.dev", "train"): 3, ("xnli.test", "test"): 3}),
        ("de", {("xnli.dev", "train"): 3, ("xnli.test", "test"): 3}),
    ],
)
def test_sample_in_other_languages(language, expected):
    examples, _ = read_all(SAMPLE, language)
    found = Counter((e.id.split("/")[1], e.split) for e in examples.values())
    assert found == expected


# Oddities


def read(raw: Path, data: bytes, language: str = "es"):
    (raw / "esxnli.tsv").write_bytes(data)
    corpus = corpus_of("xnli", language)
    (block,) = blocks(raw, corpus)
    return read_block(block, corpus)


def test_a_table_that_is_missing_is_no_error(tmp_path: Path):
    (tmp_path / "XNLI-1.0.zip").write_bytes(zipped(dev=table(line())))
    examples, _ = read_all(tmp_path)
    assert {e.split for e in examples.values()} == {"validation"}


def test_esxnli_is_not_read_in_a_language_that_it_does_not_have(tmp_path: Path):
    (tmp_path / "esxnli.tsv").write_bytes(table(line(language="fr")))
    with pytest.raises(InputError) as raised:
        blocks(tmp_path, corpus_of("xnli", "fr"))
    assert "xnli.dev.tsv, xnli.test.tsv" in raised.value.expected


def test_a_premise_with_two_prompts_is_one_document(tmp_path: Path):
    rows = [line(pairID="1"), line(pairID="2", promptID="9"), line(pairID="3", sentence1="Nieva.")]
    found = read(tmp_path, table(*rows)).records
    assert found[0].document_id == found[1].document_id != found[2].document_id


def test_drops_are_counted(tmp_path: Path):
    result = read(
        tmp_path,
        table(
            line(gold_label="-"),
            line(sentence1=" "),
            line(sentence2="\xa0"),
            line(pairID="4"),
            line(language="en", gold_label="nonsense"),
        ),
    )
    assert [record.id for record in result.records] == ["pairs/esxnli/4"]
    assert result.drops.as_dict() == {
        "examples": {"seen": 4, "kept": 1, "dropped": {"empty_text": 2, "no_gold_label": 1}}
    }


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" \"'\\"),
    min_size=1,
).filter(str.strip)


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_no_text_swallows_another(tmp_path_factory, pairs):
    rows = [line(sentence1=a, sentence2=b, pairID=str(i)) for i, (a, b) in enumerate(pairs)]
    found = read(tmp_path_factory.getbasetemp(), table(*rows)).records
    assert [record.id for record in found] == [f"pairs/esxnli/{i}" for i in range(len(pairs))]


# Bad input


@pytest.mark.parametrize(
    ("data", "where", "expected"),
    [
        # a renamed column
        (table(line()).replace(b"gold_label", b"label"), "esxnli.tsv, line 1", "gold_label"),
        # an unknown label
        (table(line(gold_label="maybe")), "esxnli.tsv, line 2", "entailment, neutral, contradict"),
        # no such row
        (table(line(language="en")), "esxnli.tsv", "rows in the language es"),
        # an empty pairID
        (table(line(), line(pairID=" ")), "esxnli.tsv, line 3", "pairID"),
    ],
)
def test_bad_tables(tmp_path: Path, data: bytes, where: str, expected: str):
    with pytest.raises(InputError) as raised:
        read(tmp_path, data)
    assert raised.value.where.endswith(where)
    assert expected in raised.value.expected
