"""JSON Lines: ranges of bytes that give each line once, and lines with their places."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.formats import tables
from corpora_recipes.formats.tables import line_ranges, parse_lines, range_lines
from corpora_recipes.running.errors import InputError

LINES = st.lists(st.text(st.sampled_from("aé😀 \r"), max_size=12), max_size=12)


@given(lines=LINES, size=st.integers(1, 40), ends=st.booleans())
def test_byte_ranges_cover_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ends: bool
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "d.jsonl"
    data = "\n".join(lines).encode() + (b"\n" if ends else b"")
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", size)
        ranges = line_ranges(path, "d.jsonl")
        found = [line for block in ranges for line in range_lines(block)]
    assert len({block.key for block in ranges}) == len(ranges)
    assert found == [line for line in re.split(rb"(?<=\n)", data) if line]


def test_lines_know_their_place_in_every_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BLOCK_BYTES", 16)
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\xef\xbb\xbf[0]\n\n[1, 2]\n" + b"[3, 4, 5, 6, 7, 8, 9]\n" * 3)
    places = [
        (str(where.error("x", "y").where), len(value))
        for block in line_ranges(path, "d.jsonl")
        for where, value in parse_lines(range_lines(block), path, block.start)
    ]
    sizes = {1: 1, 3: 2, 4: 7, 5: 7, 6: 7}
    assert places == [(f"{path}, line {line}", size) for line, size in sizes.items()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [(b"{", "one JSON object"), (b"\xf1", "UTF-8"), (b"\xef\xbb\xbf1", "one JSON object")],
)
def test_bad_lines(line: bytes, expected: str) -> None:
    with pytest.raises(InputError, match=r"d\.jsonl, line 2\n") as error:
        list(parse_lines([b"1\n", line], Path("d.jsonl")))
    assert expected in error.value.expected
    assert error.value.todo != "fetch it again"
    with pytest.raises(InputError) as error:
        list(parse_lines([b"1\n", line], Path("d.jsonl"), todo="fetch it again"))
    assert error.value.todo == "fetch it again"


def test_the_next_step_of_a_line_is_that_of_its_file() -> None:
    ((plain, _),) = parse_lines([b"1\n"], Path("d.jsonl"))
    ((fetched, _),) = parse_lines([b"1\n"], Path("d.jsonl"), todo="fetch it again")
    assert plain.error("x", "y").todo == "correct the line"
    assert fetched.error("x", "y", "write it in UTF-8").todo == "fetch it again"
