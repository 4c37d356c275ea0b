"""Tests of corpora_recipes/wikipedia/plan.py: bz2 streams from any byte on."""

import bz2
import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.wikipedia import plan
from corpora_recipes.corpora.wikipedia.plan import check_end, read_blocks
from corpora_recipes.running.errors import InputError

# Level 1 makes blocks of 100 kB.
DATA = b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() * 2 for n in range(8_000))
PACKED = bz2.compress(DATA, 1)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bz2") / "data.bz2"
    path.write_bytes(PACKED)
    return path


@pytest.mark.parametrize("chunk", [11, 1_000, 1 << 18])
def test_all_blocks_are_the_file(packed: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CHUNK", chunk)
    blocks = list(read_blocks(packed, 0))
    assert len(blocks) == 11
    assert b"".join(content for _, content in blocks) == DATA
    assert blocks[0][0] == 4


def test_read_blocks_any_byte_are_those_that_begin_there_or_later(packed: Path) -> None:
    blocks = list(read_blocks(packed, 0))
    for n, (start, _) in enumerate(blocks):
        assert list(read_blocks(packed, start)) == blocks[n:]
        assert list(read_blocks(packed, start + 1)) == blocks[n + 1 :]
    # They begin at different bits of a byte, as nothing aligns them.
    assert len({len(content) for _, content in blocks[:-1]}) > 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=400), min_size=1, max_size=6), st.integers(1, 9))
def test_what_is_compressed_comes_back(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], level: int
) -> None:
    path = tmp_path_factory.mktemp("bz2") / "any.bz2"
    path.write_bytes(b"".join(bz2.compress(part, level) for part in parts))
    check_end(path)
    assert b"".join(content for _, content in read_blocks(path, 0)) == b"".join(parts)


def test_a_mark_by_chance_in_a_block_is_no_block(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = list(read_blocks(packed, 0))
    real = plan._marks

    def marks(file: object, offset: int) -> object:
        for bit, mark in real(file, offset):  # type: ignore[arg-type]
            yield bit, mark
            if mark == plan._BLOCK:
                yield bit + 5_003, plan._BLOCK if bit % 2 else plan._END

    monkeypatch.setattr(plan, "_marks", marks)
    assert list(read_blocks(packed, 0)) == blocks


def test_damage(tmp_path: Path, packed: Path) -> None:
    path = tmp_path / "bad.bz2"
    starts = [start for start, _ in read_blocks(packed, 0)]
    for place, sound in ((starts[3] + 700, 3), (starts[4] + 3, 3), (starts[-1] + 700, 10)):
        data = bytearray(PACKED)
        data[place] ^= 0xFF
        path.write_bytes(data)
        found = []
        with pytest.raises(InputError, match=f"byte {starts[sound]:,}"):
            found.extend(read_blocks(path, 0))
        assert len(found) <= sound
    for wrong in (PACKED[:-1], PACKED[:-200], PACKED + b"x", b"", b"BZh9", DATA[:500]):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match="the file is cut, or no bz2 file"):
            check_end(path)
    path.write_bytes(PACKED[:-200])
    with pytest.raises(InputError, match="a damaged block, or a cut file"):
        list(read_blocks(path, 0))
