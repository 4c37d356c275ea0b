"""ParaLex: the oddities of the real file, and tables that are another."""

from functools import partial
from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_examples, refused, write_files

from corpora_recipes.text.tokens import is_blank

TABLES = read_tables(__file__)

CORPUS = corpus_of("paralex")
FACTS = CORPUS.facts
HEADER = "Language,Comment,Test label,Term 1,Term 2,Term 3,Term 4\r\n"
read = partial(read_examples, corpus=CORPUS)


def write(raw: Path, text: str | bytes) -> Path:
    return write_files(raw, {"ParaLex.csv": text})


def test_facts_name_46_languages() -> None:
    collections = FACTS.collections
    assert (len(collections), sum(f.sizes["all"] or 0 for f in collections.values())) == (46, 595)
    # Without quotation marks YAML takes the code of Norwegian for false.
    assert collections["no"].about.startswith("clusters of Norwegian words")


def test_blanks_gaps_quoting_and_a_bom(tmp_path: Path) -> None:
    rows = 'ES ,x, fruit ," pera ",,"uva, blanca","higo\r\n"\r\n,,,,,,\r\n\r\nNO,,fruit,eple,,,\r\n'
    examples, drops = read(write(tmp_path, "\ufeff" + HEADER + rows))
    assert [(e.id, e.texts) for e in examples] == [
        ("es/fruit", ("pera", "uva, blanca", "higo")),
        ("no/fruit", ("eple",)),
    ]
    assert drops.as_dict()["texts"] == {"seen": 4, "kept": 4, "dropped": {}}


@pytest.mark.parametrize(("row", "terms"), TABLES["terms"])
def test_terms_differ_in_case_but_not_in_coding(tmp_path: Path, row: str, terms: list[str]) -> None:
    (example,), drops = read(write(tmp_path, f"{HEADER}{row}\r\n"))
    assert [*example.texts] == terms
    assert drops.dropped["texts", "repeated_term"] == drops.seen["texts"] - len(example.texts)


def test_empty_clusters_are_counted(tmp_path: Path) -> None:
    rows = "FA,Farsi,abbrevmonths,,,,\r\nUR,Urdu,abbrevmonths, ,\u200e,,\r\nUR,Urdu,fruit,a,,,\r\n"
    examples, drops = read(write(tmp_path, HEADER + rows))
    assert [example.id for example in examples] == ["ur/fruit"]
    assert drops.as_dict() == {
        "examples": {"seen": 3, "kept": 1, "dropped": {"empty_cluster": 2}},
        "texts": {"seen": 1, "kept": 1, "dropped": {}},
    }


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEADER.replace("Test label", "Label"), 1, "found:    Language, Comment, Label, Term 1"),
        ("ES,Spanish,weekdays,lunes,martes,,\r\n", 1, "the columns Language, Comment, Test label"),
        *((HEADER + text, line, message) for text, line, message in TABLES["bad_lines"]),
    ],
)
def test_tables_that_are_not_paralex(tmp_path: Path, text: str, line: int, message: str) -> None:
    with refused(f"ParaLex.csv, line {line}", message):
        read(write(tmp_path, text))


def test_another_encoding(tmp_path: Path) -> None:
    with refused("ParaLex.csv, line 2", "expected: UTF-8"):
        read(write(tmp_path, (HEADER + "ES,,a,limón,,,\r\n").encode("latin-1")))


CELL = st.text(st.sampled_from('aábn, "\r\n'), max_size=4)


@given(st.lists(CELL, min_size=4, max_size=4))
def test_terms_are_what_stands_in_the_cells(tmp_path_factory, cells) -> None:
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    raw = write(tmp_path_factory.mktemp("raw"), f"{HEADER}ES,,a,{quoted}\r\n")
    filled = [" ".join(cell.split()) for cell in cells if cell.strip()]
    terms = [term for term in filled if not is_blank(term)]
    found, drops = read(raw)
    assert [example.texts for example in found] == [tuple(dict.fromkeys(terms))] * bool(terms)
    assert drops.dropped["texts", "repeated_term"] == len(terms) - len(set(terms))
    assert drops.dropped["texts", "empty_text"] == len(filled) - len(terms)
    assert drops.dropped["examples", "empty_cluster"] == (not terms)
