"""A remote file read as if it were here: the same bytes, each fetched once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import RangeServer

from corpora_recipes.fetching.ranges import PartialFile, RangeFetcher, parts_folder
from corpora_recipes.running.errors import InputError

DATA = bytes(range(256)) * 4
RANGES = st.lists(st.tuples(st.integers(0, len(DATA)), st.integers(0, 300)), max_size=12)


@pytest.fixture(scope="module")
def server() -> Iterator[RangeServer]:
    server = RangeServer({"/all.zip": DATA})
    yield server
    server.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "all.zip"


@given(ranges=RANGES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_reads(
    server: RangeServer, tmp_path_factory: pytest.TempPathFactory, ranges: list[tuple[int, int]]
) -> None:
    file = tmp_path_factory.mktemp("some") / "all.zip"
    wanted = {0}
    with RangeFetcher([f"{server.url}/all.zip"], file) as fetcher:
        fetcher.fetch(0, 1)
        remote = PartialFile(file, fetcher)
        for start, size in ranges:
            assert remote.seek(start) == start
            assert remote.read(size) == DATA[start : start + size]
            wanted |= set(range(start, min(start + size, len(DATA))))
        assert fetcher.fetched == len(wanted)
    # What was fetched can be read later; anything else is an error.
    here = PartialFile(file)
    for start, size in ranges:
        here.seek(start - len(DATA), 2)
        assert here.read(size) == DATA[start : start + size]
    if len(wanted) < len(DATA):
        here.seek(min(set(range(len(DATA))) - wanted))
        with pytest.raises(InputError, match="only other parts of the file"):
            here.read(1)


def test_all_the_rest(server: RangeServer, file: Path) -> None:
    with RangeFetcher([f"{server.url}/all.zip"], file) as fetcher:
        fetcher.fetch(5, 9)
        remote = PartialFile(file, fetcher)
        remote.seek(7)
        assert remote.read() == DATA[7:]
        assert (remote.read(), remote.seek(-3, 1)) == (b"", len(DATA) - 3)


def test_parts_that_come_and_go_meanwhile(server: RangeServer, file: Path) -> None:
    url = f"{server.url}/all.zip"
    with RangeFetcher([url], file) as fetcher:
        fetcher.fetch(0, 9)
        here = PartialFile(file)
        fetcher.fetch(9, 20)
        assert here.read(15) == DATA[:15]
        remote = PartialFile(file, fetcher)
        remote.discard(8, 9)
        assert [p.name for p in parts_folder(file).glob("0*")] == [
            "000000000000009-000000000000020"
        ]
        here.seek(3)
        with pytest.raises(InputError, match="bytes 3 to 4 of"):
            here.read(2)
        remote.seek(3)
        assert remote.read(2) == DATA[3:5]
