"""Tables and JSON Lines: headers, line ends, ranges, errors; natural text, classes and scores."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import refused

from corpora_recipes.formats import tables
from corpora_recipes.formats.tables import (
    Row,
    collect_examples,
    decoded_lines,
    line_ranges,
    locate_lines,
    natural_text,
    parse_class,
    parse_score,
    range_lines,
    table_rows,
)
from corpora_recipes.recipe import CollectionFacts, Corpus, Dropped
from corpora_recipes.records import Example


def rows(data: bytes, columns: list[str], *, header: bool) -> list[Row]:
    return list(table_rows(data, "a.tsv", columns, header=header))


def test_a_table_without_header() -> None:
    data = "1\tHola \"mundo\n2\t'Adiós\n".encode()
    assert rows(data, ["id", "text"], header=False) == [
        Row("a.tsv", 1, {"id": "1", "text": 'Hola "mundo'}),
        Row("a.tsv", 2, {"id": "2", "text": "'Adiós"}),
    ]


def test_a_header_with_blanks_more_columns_and_another_order() -> None:
    data = "\ufefftext \tid\tmore\r\nHola \t1\tx\r\n\r\nAdiós\t2\t\r\n".encode()
    assert rows(data, ["id", "text"], header=True) == [
        Row("a.tsv", 2, {"text": "Hola ", "id": "1", "more": "x"}),
        Row("a.tsv", 4, {"text": "Adiós", "id": "2", "more": ""}),
    ]


def test_only_a_line_feed_ends_a_row() -> None:
    data = "1\tuno\x0bdos\u2028tres\x85cuatro\n".encode()
    assert [row.fields["text"] for row in rows(data, ["id", "text"], header=False)] == [
        "uno\x0bdos\u2028tres\x85cuatro"
    ]


@pytest.mark.parametrize(
    ("data", "where", "found"),
    [
        (b"id\ttexto\n1\ta\n", "a.tsv, line 1", "no text in 'id\\ttexto'"),
        (b"", "a.tsv", "an empty file"),
        (b"id\ttext\tid\n1\ta\t2\n", "a.tsv, line 1", "more than one id"),
        (b"id\ttext\r1\ta\r2\tb\r", "a.tsv, line 1", "a carriage return inside the line"),
        (b"id\ttext\n" + b"a" * 100_001, "a.tsv, line 2", "a line of 100,001 bytes"),
        (b"id\ttext\n1\ta\n2\n", "a.tsv, line 3", "1 in '2'"),
        (b"id\ttext\n1\ta\tb\n", "a.tsv, line 2", "3 in"),
        ("id\ttext\n1\tá\n".encode() + "2\té\n".encode("latin-1"), "a.tsv, line 3", "0xe9"),
    ],
)
def test_what_is_wrong_is_named(data, where, found) -> None:
    with refused(where_is=where, found=found):
        for row in rows(data, ["id", "text"], header=True):
            if row.fault:
                raise row.fault


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\ufeff"), min_size=1))
)
def test_nothing_is_lost(texts) -> None:
    kept = [text for text in texts if text.strip(" ")]
    data = "".join(f"{text}\n" for text in texts).encode()
    if not kept:
        return
    read = decoded_lines(data.split(b"\n"), "a")
    assert [row.fields["line"] for row in read] == kept


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
    assert natural_text("\tCanto\u0301 \u00a0 dos\r\n veces ") == "Cantó dos veces"

    # Invisible characters go, but not those of emoji.
    assert natural_text("\ufeffcan\u00adción\u200b\u200e 👩\u200d🚒") == "canción 👩\u200d🚒"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\t\u00a0\n"])
def test_an_empty_text_is_dropped(text) -> None:
    with pytest.raises(Dropped, match="empty_text"):
        natural_text(text)


@given(st.text())
def test_natural_text_stays_as_it_is(text) -> None:
    try:
        once = natural_text(text)
    except Dropped:
        return
    assert natural_text(once) == once


def test_classes(corpus) -> None:
    assert parse_class(" P ", "one", corpus, ROW) == "positive"
    assert parse_class(" río", "any", corpus, ROW) == "río"


@pytest.mark.parametrize(
    ("raw", "collection"), [("NEU", "one"), ("p", "one"), ("0", "one"), (" ", "any")]
)
def test_an_unknown_class_is_an_error(corpus, raw, collection) -> None:
    with refused(where_is="a.tsv, line 3", found_is=repr(raw)):
        parse_class(raw, collection, corpus, ROW)


@pytest.mark.parametrize("raw", ["", " ", "-1", "?", "null", "NaN"])
def test_a_withheld_label_is_dropped(corpus, raw) -> None:
    with pytest.raises(Dropped, match="withheld_label"):
        parse_class(raw, "one", corpus, ROW)
    if raw.strip():
        assert parse_class(raw, "any", corpus, ROW) == raw


@pytest.mark.parametrize("text", ["", " ", ".", "¿…?", "(", "\u200b*"])
def test_a_text_without_words_is_dropped(text) -> None:
    with pytest.raises(Dropped, match="empty_text"):
        natural_text(text)
    assert natural_text("😀") == "😀"


def test_scores(corpus) -> None:
    assert [parse_score(raw, "one", corpus, ROW) for raw in ("1", " 4.25 ", "5.0")] == [
        1.0,
        4.25,
        5.0,
    ]


@pytest.mark.parametrize("raw", ["0.9", "5.1", "", "nan", "inf", "4,5", "alto", "0_3", "1e0", "٣"])
def test_a_score_that_is_none_is_an_error(corpus, raw) -> None:
    with refused(expected_is="a score from 1 to 5"):
        parse_score(raw, "one", corpus, ROW)


def test_drops_are_counted_by_reason() -> None:
    def make(row: Row) -> Example:
        text = natural_text(row.fields["text"])
        return Example(text, "one", (text,), None, None, text)

    texts = ["uno", " ", "dos", ""]
    result = collect_examples([Row("a.tsv", n, {"text": t}) for n, t in enumerate(texts)], make)
    assert [record.id for record in result.records] == ["uno", "dos"]
    assert result.drops.as_dict() == {
        "examples": {"seen": 4, "kept": 2, "dropped": {"empty_text": 2}}
    }


LINES = st.lists(st.text(st.sampled_from("aé😀 \r"), max_size=12), max_size=12)


@given(lines=LINES, size=st.integers(1, 40), ends=st.booleans())
def test_byte_ranges_cover_each_line_once(tmp_path_factory, lines, size, ends) -> None:
    path = tmp_path_factory.mktemp("ranges") / "d.jsonl"
    data = "\n".join(lines).encode() + (b"\n" if ends else b"")
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", size)
        ranges = line_ranges(path, "d.jsonl")
        found = [line for block in ranges for line in range_lines(block)]
    assert len({block.key for block in ranges}) == len(ranges)
    assert found == [line for line in re.split(rb"(?<=\n)", data) if line]


def test_lines_know_their_place_in_every_range(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_BYTES", 16)
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\xef\xbb\xbf[0]\n\n[1, 2]\n" + b"[3, 4, 5, 6, 7, 8, 9]\n" * 3)
    places = [
        (str(where.error("x", "y").where), len(where.parse(line)))
        for block in line_ranges(path, "d.jsonl")
        for where, line in locate_lines(range_lines(block), path, block.start)
    ]
    sizes = {1: 1, 3: 2, 4: 7, 5: 7, 6: 7}
    assert places == [(f"{path}, line {line}", size) for line, size in sizes.items()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [(b"{", "one JSON object"), (b"\xf1", "UTF-8"), (b"\xef\xbb\xbf1", "one JSON object")],
)
def test_bad_lines(line: bytes, expected: str) -> None:
    (_, (place, data)) = locate_lines([b"1\n", line], Path("d.jsonl"))
    with refused("d.jsonl, line 2", expected=expected):
        place.parse(data)
    todo = "fetch it again"
    (_, (place, data)) = locate_lines([b"1\n", line], Path("d.jsonl"), todo=todo)
    with refused(todo_is=todo):
        place.parse(data)
    assert place.error("x", "y", "write it in UTF-8").todo == todo
