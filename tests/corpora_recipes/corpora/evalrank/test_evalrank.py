"""EvalRank: lines with texts and scores, and others."""

from functools import partial
from pathlib import Path

import pytest
from conftest import corpus_of
from recipe_reading import read_examples, refused, write_files

CORPUS = corpus_of("evalrank", "en")
FACTS = CORPUS.facts
PAIRS = "sent_evalrank/pos_pair.txt"
SIMILARITY = {name for name, facts in FACTS.collections.items() if facts.scale is not None}
SCORED = "word_similarity/EN-RG-65.txt"
read = partial(read_examples, corpus=CORPUS)


def test_facts_name_the_files() -> None:
    files = [facts.file for facts in FACTS.collections.values()]
    assert len(files) == len(set(files)) == 18
    assert {source.file for source in FACTS.sources} == set(files)
    assert len(SIMILARITY) == 13
    assert all(FACTS.collections[name].file.startswith("word_sim") for name in SIMILARITY)


def test_tabs_blanks_and_carriage_returns(tmp_path: Path) -> None:
    lines = "gem\tjewel\t3.940\r\ncar  bus 2\r\n\r\nnoon \t string\t0.02\r\n"
    write_files(tmp_path, {SCORED: lines})
    assert [(e.id, e.texts, e.score) for e in read(tmp_path)[0]] == [
        ("rg_65/1", ("gem", "jewel"), 3.94),
        ("rg_65/2", ("car", "bus"), 2.0),
        ("rg_65/4", ("noon", "string"), 0.02),
    ]


def test_texts_stay_as_they_are(tmp_path: Path) -> None:
    write_files(tmp_path, {PAIRS: "brazil 's ' hat ' , here .\tIt's  here.\nA b\ta b\n"})
    assert [e.texts for e in read(tmp_path)[0]] == [
        ("brazil 's ' hat ' , here .", "It's here."),
        ("A b", "a b"),
    ]


def test_a_pair_of_one_text_is_counted_but_has_a_score_where_pairs_are_scored(tmp_path) -> None:
    write_files(tmp_path, {PAIRS: "one .\ttwo .\nsame .\tsame . \n\t\n"})
    write_files(tmp_path, {SCORED: "tiger\ttiger\t4\n"})
    examples, drops = read(tmp_path)
    assert [example.id for example in examples] == ["positive_sentences/1", "rg_65/1"]
    assert drops.as_dict()["examples"] == {
        "seen": 4,
        "kept": 2,
        "dropped": {"empty_text": 1, "same_text": 1},
    }


@pytest.mark.parametrize(
    ("name", "good", "line", "message"),
    [
        (PAIRS, "a\tb", "one\ttwo\tthree", "two texts and a tab between them"),
        ("sent_evalrank/background_sent.txt", "a", "one\ttwo", "one text and no tab"),
        (SCORED, "a b 2", "gem\tjewel", "two words and a score"),
        (SCORED, "a b 2", "gem\tjewel\tx", "a score from 0 to 4"),
        (SCORED, "a b 2", "gem\tjewel\t4.01", "a score from 0 to 4"),
        ("word_similarity/EN-MTurk-771.txt", "a b 2", "a b 0.9", "a score from 1 to 5"),
    ],
)
def test_lines_that_are_not_evalranks(tmp_path, name, good, line, message) -> None:
    with refused(f"{tmp_path / name}, line 2", message):
        read(write_files(tmp_path, {name: f"{good}\n{line}\n"}))
