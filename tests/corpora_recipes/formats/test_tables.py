"""Tables of plain text: headers, line ends, byte order marks, quotes that mean nothing, errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.formats.tables import Row, decoded_lines, table_rows
from corpora_recipes.running.errors import InputError


def rows(data: bytes, columns: list[str], *, header: bool) -> list[Row]:
    return list(table_rows(data, "a.tsv", columns, header=header))


def test_a_table_without_header() -> None:
    found = rows(
        b"1\tHola \"mundo\n2\t'Adi\xc3\xb3s\t\n".replace(b"\t\n", b"\n"),
        ["id", "text"],
        header=False,
    )
    assert found == [
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
        (b"\xef\xbb\xbf\r\n \n", "a.tsv", "an empty file"),
        (b"id\ttext\tid\n1\ta\t2\n", "a.tsv, line 1", "more than one id"),
        (b"id\ttext\r1\ta\r2\tb\r", "a.tsv, line 1", "a carriage return inside the line"),
        (b"id\ttext\n\t\t\n", "a.tsv, line 2", "3 in"),
        (b"id\ttext\n1\ta\n2\n", "a.tsv, line 3", "1 in '2'"),
        (b"id\ttext\n1\ta\tb\n", "a.tsv, line 2", "3 in"),
        ("id\ttext\n1\tá\n".encode() + "2\té\n".encode("latin-1"), "a.tsv, line 3", "0xe9"),
    ],
)
def test_what_is_wrong_is_named(data, where, found) -> None:
    with pytest.raises(InputError) as error:
        rows(data, ["id", "text"], header=True)
    assert error.value.where == where
    assert found in error.value.found


def test_a_row_makes_its_error() -> None:
    error = Row("a.tsv", 7, {}).error("a score", "'x'")
    assert str(error).startswith("a.tsv, line 7")
    assert "a score" in str(error)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\ufeff"), min_size=1))
)
def test_nothing_is_lost(texts) -> None:
    kept = [text for text in texts if text.strip(" ")]
    data = "".join(f"{text}\n" for text in texts).encode()
    if not kept:
        return
    assert [text for _, text in decoded_lines(data.split(b"\n"), "a")] == kept
