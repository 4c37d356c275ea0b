"""Records as rows of Parquet, whose bytes are always the same; keyed hashing."""

import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.hashing import keyed_choice, keyed_hash, keyed_uniform
from corpora_recipes.parquet import PYARROW, array_of
from corpora_recipes.records import (
    Dialogue,
    DiscourseNode,
    DiscourseTree,
    Document,
    Drops,
    Example,
    ParsedSentence,
    Section,
    Token,
    Word,
    from_row,
    record_schema,
    split_at_drops,
    text_of,
    to_row,
)

TABLES = read_tables(__file__)

# --- records -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paragraphs", "sections"), TABLES["sections"])
def test_a_drop_ends_the_section(paragraphs, sections) -> None:
    assert split_at_drops("H", 2, paragraphs) == [Section("H", 2, kept) for kept in sections]


@given(st.lists(st.lists(st.one_of(st.none(), st.text(min_size=1)))))
def test_every_sentence_stays_in_order(paragraphs: list[list[str | None]]) -> None:
    sections = split_at_drops("", 1, paragraphs)
    kept = [s for section in sections for paragraph in section.paragraphs for s in paragraph]
    assert kept == [s for paragraph in paragraphs for s in paragraph if s is not None]


def nodes() -> st.SearchStrategy[DiscourseNode]:
    leaves = st.integers(0, 99).map(lambda edu: DiscourseNode(edu=edu))

    def join(children: st.SearchStrategy[DiscourseNode]) -> st.SearchStrategy[DiscourseNode]:
        return st.lists(children, min_size=2, max_size=4).flatmap(
            lambda parts: st.tuples(
                st.text(min_size=1, max_size=3),
                st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)),
            ).map(lambda pair: DiscourseNode(None, pair[0], tuple(parts), tuple(pair[1])))
        )

    return st.recursive(leaves, join, max_leaves=20)


@given(nodes())
def test_a_tree_comes_back_from_its_row(root: DiscourseNode) -> None:
    tree = DiscourseTree("x", ["uno", "dos"], root, "test")
    assert from_row("trees", to_row(tree)) == tree


def test_counts_add_up() -> None:
    drops, more = Drops(), Drops()
    drops.seen["documents"] = 5
    drops.dropped["documents", "redirect"] = 2
    more.seen["documents"] = 1
    more.dropped["documents", "redirect"] = 1
    more.dropped["sentences", "markup_left"] = 0
    drops.add(more)
    assert drops.as_dict() == {
        "documents": {"seen": 6, "kept": 3, "dropped": {"redirect": 3}},
        "sentences": {"seen": 0, "kept": 0, "dropped": {"markup_left": 0}},
    }


GIVEN = ParsedSentence(
    "es_own/d1-s1",
    "es_own",
    "es_own/d1",
    (
        Word("Vuelve", "volver", "VERB", "Mood=Ind|Number=Sing|VerbForm=Fin", 0, "root"),
        Word("de", "de", "ADP", "", 4, "case"),
        Word("el", "el", "DET", "Gender=Masc|Number=Sing", 4, "det"),
        Word("mar", "mar", "NOUN", "Number=Sing", 1, "obl"),
        Word(".", ".", "PUNCT", "", 1, "punct"),
    ),
    (Token("Vuelve", 1, True), Token("del", 2, True), Token("mar", 1, False), Token(".", 1, False)),
    "CC BY-SA 4.0",
    "test",
)


RECORDS = {
    "documents": [Document("1", "T", ["a"], [Section("", 1, [["Uno.", "Dos."]])], "train", ["D."])],
    "dialogues": [Dialogue("1", "T", [["¿Vas?", "Voy."], ["No."]], "test")],
    "examples": [
        Example("1", "one", ("Uno.", "Dos."), "yes", 2.5, "p", {"genre": "chat"}, "test"),
        Example("2", "two", ("Tres.",), None, None, "2"),
    ],
    "parsed_sentences": [GIVEN],
}


@pytest.mark.parametrize("kind", RECORDS)
def test_records_come_back_from_parquet(tmp_path, kind: str) -> None:
    table = pa.Table.from_pylist(list(map(to_row, RECORDS[kind])), record_schema(kind))
    pq.write_table(table, tmp_path / "x.parquet")
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert [from_row(kind, row) for row in rows] == RECORDS[kind]


def test_words_and_tokens_of_a_parsed_sentence() -> None:
    assert GIVEN.text == "Vuelve del mar."
    assert text_of(GIVEN.tokens[:2]) == "Vuelve del"
    values = [[word.feature(name) for word in GIVEN.words] for name in ("Number", "Mood", "umber")]
    assert values == [["Sing", "", "Sing", "Sing", ""], ["Ind", "", "", "", ""], [""] * 5]


# --- parquet -------------------------------------------------------------------------------------


def test_the_version_that_decides_bytes_is_the_locked_one(repository: Path) -> None:
    locked = tomllib.loads((repository / "uv.lock").read_text("utf-8"))["package"]
    assert [entry["version"] for entry in locked if entry["name"] == "pyarrow"] == [PYARROW]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64, np.float32])
def test_a_column_of_numbers_becomes_an_array_of_its_own(kind: type[np.generic]) -> None:
    numbers = np.arange(6, dtype=kind)[::2]
    column = pa.chunked_array([pa.array(numbers), pa.array(numbers[:0]), pa.array(numbers[1:])])
    found = array_of(column)
    assert (found.dtype, found.tolist()) == (numbers.dtype, [0, 2, 4, 2, 4])
    found[0] = 7
    assert column[0].as_py() == 0
    assert len(array_of(pa.chunked_array([], column.type))) == 0


def test_a_column_of_strings_becomes_an_array_of_objects() -> None:
    found = array_of(pa.chunked_array([["a", "ñu"], ["b"]]))
    assert (found.dtype, found.tolist()) == (object, ["a", "ñu", "b"])
    assert len(array_of(pa.chunked_array([], pa.string()))) == 0


# --- hashing -------------------------------------------------------------------------------------


def test_a_pinned_value_in_every_process() -> None:
    assert keyed_hash(1111, "sp_wiki", "42", "position") == 13157702080280889873
    assert keyed_hash(1112, "sp_wiki", "42", "position") != 13157702080280889873


def test_parts_are_not_run_together() -> None:
    assert keyed_hash(1, "ab", "c") != keyed_hash(1, "a", "bc")


@given(st.integers(1, 1000), st.text(max_size=8))
def test_choice_and_uniform_stay_in_range(count: int, part: str) -> None:
    assert 0 <= keyed_choice(count, 1, part) < count
    assert 0 <= keyed_uniform(1, part) < 1


def test_choice_is_uniform() -> None:
    counts = [0] * 5
    for number in range(5000):
        counts[keyed_choice(5, 1, str(number))] += 1
    # Five binomial counts of mean 1000 and standard deviation 28.
    assert all(880 < count < 1120 for count in counts)
