"""Tests of the recipe of XNLI and esXNLI: three tables of nineteen columns, of many languages."""

from pathlib import Path

import pytest
from conftest import corpus_of, read_by_id
from recipe_reading import checked, pack, refused

from corpora_recipes.corpora.xnli.recipe import blocks, read_block
from corpora_recipes.records import Drops, Example

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


# Oddities


def read(raw: Path, data: bytes, language: str = "es"):
    (raw / "esxnli.tsv").write_bytes(data)
    corpus = corpus_of("xnli", language)
    (block,) = blocks(raw, corpus)
    return checked(read_block(block, corpus))


def test_a_table_that_is_missing_is_no_error(tmp_path: Path):
    pack(tmp_path / "XNLI-1.0.zip", {"XNLI-1.0/xnli.dev.tsv": table(line())})
    examples, _ = read_all(tmp_path)
    assert {e.split for e in examples.values()} == {"validation"}


def test_esxnli_is_not_read_in_a_language_that_it_does_not_have(tmp_path: Path):
    (tmp_path / "esxnli.tsv").write_bytes(table(line(language="fr")))
    with refused("", "xnli.dev.tsv, xnli.test.tsv"):
        blocks(tmp_path, corpus_of("xnli", "fr"))


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
    with refused(where, expected):
        read(tmp_path, data)
