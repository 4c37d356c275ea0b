"""Pairs of words: lists of a user, good and bad, and the list that is shipped."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_examples, refused, write_files

from corpora_recipes.fetching import sources
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

CORPUS = corpus_of("word_pairs")
read = partial(read_examples, corpus=CORPUS)


def write(raw: Path, text: str, name: str = "w.tsv") -> Path:
    return write_files(raw, {name: text})


def words(raw: Path) -> list[tuple[str, ...]]:
    return [example.texts for example in read(raw)[0]]


def dropped(raw: Path) -> dict[str, int]:
    drops = read(raw)[1]
    return {reason: count for (_, reason), count in drops.dropped.items()}


def test_each_separator(tmp_path: Path) -> None:
    lines = (
        "# a comment, with\ta tab\n\n"
        "cuarto de baño\taseo\n"
        "a pesar de ; pese a\n"
        "sin embargo, no obstante\n"
        "  coche   automóvil  \r\n"
        "\t\n"
        " # another\n"
    )
    examples, drops = read(write(tmp_path, "\ufeff" + lines))
    assert [(e.id, e.texts) for e in examples] == [
        ("pairs/w.tsv/3", ("cuarto de baño", "aseo")),
        ("pairs/w.tsv/4", ("a pesar de", "pese a")),
        ("pairs/w.tsv/5", ("sin embargo", "no obstante")),
        ("pairs/w.tsv/6", ("coche", "automóvil")),
    ]
    assert drops.seen == {"examples": 4}


def test_scores(tmp_path: Path) -> None:
    examples, _ = read(write(tmp_path, "coche\tauto\t9.5\ncoche,tren,3\ncoche viaje 0\n"))
    assert [example.score for example in examples] == [9.5, 3.0, 0.0]


def test_drops_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "a b 1\nB  A 2\na b 1\nc C 5\nd e -0.5\ne d 0.5\n")
    assert words(tmp_path) == [("a", "b"), ("e", "d")]
    assert dropped(tmp_path) == {"repeated_pair": 2, "same_text": 1, "negative_score": 1}


def test_a_pair_that_another_file_has_is_repeated(tmp_path: Path) -> None:
    write(tmp_path, "coche auto\n", "b.txt")
    write(tmp_path, "auto coche 3\ntren bus 2\n", "a.tsv")
    assert [e.id for e in read(tmp_path)[0]] == ["pairs/a.tsv/1", "pairs/a.tsv/2"]
    assert dropped(tmp_path) == {"repeated_pair": 1}


@pytest.mark.parametrize(("text", "line", "message"), TABLES["no_pairs"])
def test_lines_that_are_no_pairs(tmp_path: Path, text: str, line: int, message: str) -> None:
    with refused(f"w.tsv, line {line}", message):
        read(write(tmp_path, text))


@pytest.mark.parametrize("where", ["sample", "upstream", "some/mirror"])
def test_the_shipped_list_is_the_corpus_wherever_others_come_from(tmp_path, where: str) -> None:
    shipped = replace(CORPUS, options={"path": None})
    sources.fetch(shipped, where, tmp_path / "out")
    assert len(words(tmp_path / "out")) == 1101
    assert not shipped.is_sample(where)


def test_a_users_list_instead_of_the_shipped_one(empty_folder) -> None:
    mine = write(empty_folder / "mine", "coche auto\nsolo\n", "w.txt") / "w.txt"
    with pytest.raises(InputError, match="named"):
        sources.fetch(replace(CORPUS, options={"path": "none.txt"}), "sample", Path("out"))
    sources.fetch(replace(CORPUS, options={"path": "mine"}), "upstream", Path("out"))
    # Messages name the user's file and not the link.
    with refused(f"{mine}, line 2"):
        read(empty_folder / "out")


WORD = st.text(st.characters(categories=("Ll",)), min_size=1, max_size=3)


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=20))
def test_what_is_read_and_what_is_dropped_is_all(tmp_path_factory, table) -> None:
    raw = write(tmp_path_factory.mktemp("raw"), "".join(f"{a}\t{b}\n" for a, b in table))
    examples, drops = read(raw)
    assert len(examples) + sum(drops.dropped.values()) == len(table)
    pairs = [frozenset(example.texts) for example in examples]
    assert len(set(pairs)) == len(pairs)
    assert all(len(pair) == 2 for pair in pairs)


def test_empty_columns_at_the_end_are_none(tmp_path: Path) -> None:
    raw = write(tmp_path, "coche,automóvil,\nİzmir,izmir,,\ncasa,hogar\n", "mine.csv")
    assert words(raw) == [("coche", "automóvil"), ("casa", "hogar")]
    assert dropped(raw) == {"same_text": 1}


def test_the_shipped_list_is_refused_to_another_language(tmp_path: Path) -> None:
    english = replace(CORPUS, language="en", options={"path": None})
    with refused("", "the sample of word_pairs is in es", "set `path:` in `corpus` of this entry"):
        sources.fetch(english, "upstream", tmp_path / "out")
