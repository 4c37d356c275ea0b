"""The most frequent words of a corpus: exact whatever the memory, and what a word is."""

import random
from collections import Counter

import pytest
from neighbour_files import single

from builders import composing
from builders.composing import frequent_words, words_of
from corpora_recipes.records import Dialogue, Document, Section
from corpora_recipes.running.errors import InputError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("El Río, y Á.", ["el", "río", "y", "á"]),
        ("franco-español - l’home d'or 'fin'", ["franco-español", "l'home", "d'or", "fin"]),
        ("a_b 12 3D x2y", ["a", "b", "d", "x", "y"]),
        ("कीमत की का", ["कीमत", "की", "का"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        # Two ways to write one word: NFC stands.
        ("cafe\u0301 café", ["café", "café"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_words_of_documents_and_dialogues(write_records) -> None:
    lead = Section("Nada", 1, [["Un mar azul.", "El mar"], ["un día"]])
    documents = [
        Document("a", "Título", [], [lead], "train", ["Resumen"]),
        Document("b", "", [], [Section("", 1, []), Section("", 2, [["Un faro"]])], "test"),
    ]
    found = frequent_words(write_records(documents), "documents", 3)
    # "azul" and those after it occur once: the first in the alphabet stands.
    assert found == (["un", "mar", "azul"], 9, 6, 1)
    films = [Dialogue("f", "", [["¿Un mar?", "Mar."], ["Sí."]], "train")]
    assert frequent_words(write_records(films), "dialogues", 9) == (["mar", "sí", "un"], 4, 3, 1)


@pytest.mark.parametrize("memory", [1, 40, 1_000_000])
def test_counts_are_exact_whatever_the_memory(write_records, monkeypatch, memory) -> None:
    monkeypatch.setattr(composing, "IN_MEMORY", memory)
    chance = random.Random(7)
    # More films than a batch holds, so that what is counted goes to files in between.
    words = [chance.choice("abcdefg") * chance.randint(1, 9) for _ in range(1200)]
    films = [Dialogue(f"{n}", "", [[word, "fin"]], "train") for n, word in enumerate(words)]
    counted = Counter(words) + Counter(fin=1200)
    expected = sorted(counted, key=lambda word: (-counted[word], word))
    found = frequent_words(write_records(films), "dialogues", 30)
    assert found == (expected[:30], 2400, len(counted), counted[expected[29]])


def test_no_words_and_records_of_another_kind(tmp_path, write_records) -> None:
    films = [Dialogue("f", "", [["1 2 3"]], "train")]
    assert frequent_words(write_records(films), "dialogues", 9) == ([], 0, 0, 0)
    with pytest.raises(InputError, match=r"records \(documents\) with the columns"):
        frequent_words(write_records([single(1, "uno")]), "documents", 3)
    with pytest.raises(InputError, match="records of the corpus"):
        frequent_words(tmp_path / "none.parquet", "documents", 3)
