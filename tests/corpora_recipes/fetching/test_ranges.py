"""Tests of corpora_recipes/ranges.py: ranges of one version of a file, from a bad server."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import DATA, OTHER, RangeServer, break_off
from no_waiting import no_waiting as no_waiting
from recipe_reading import serve

from corpora_recipes.fetching import transfer
from corpora_recipes.fetching.ranges import (
    NoRanges,
    PartialFile,
    RangeFetcher,
    part_name,
    parts_folder,
    read_manifest,
)
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

NAME = "/dump.bz2"
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.fixture
def server() -> Iterator[RangeServer]:
    yield from serve({NAME: DATA})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dump.bz2"


def fetch(server: RangeServer, file: Path, *ranges: tuple[int, int]) -> int:
    with RangeFetcher([server.url + NAME], file) as fetcher:
        for start, stop in ranges:
            fetcher.fetch(start, stop)
    return fetcher.fetched


def parts(file: Path) -> dict[str, bytes]:
    folder = parts_folder(file)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_ranges_lie_in_files_of_their_own_with_a_manifest(server: RangeServer, file: Path) -> None:
    assert fetch(server, file, (0, 10), (500, 1000), (255_000, 256_000)) == 1510
    manifest = {"size": len(DATA), "validator": '"one"', "url": server.url + NAME}
    assert parts(file) == {
        "000000000000000-000000000000010": DATA[:10],
        "000000000000500-000000000001000": DATA[500:1000],
        "000000000255000-000000000256000": DATA[-1000:],
        "manifest.json": json.dumps(manifest).encode() + b"\n",
    }
    assert not file.exists()
    assert server.asked(NAME) == ["bytes=0-9", "bytes=500-999", "bytes=255000-255999"]
    headers = [headers for _, headers in server.requests]
    assert [h.get("If-Range") for h in headers] == [None, '"one"', '"one"']
    assert {h["User-Agent"] for h in headers} == {transfer.user_agent()}
    # What is here is not fetched again.
    assert fetch(server, file, (0, 10), (1000, 1500), (500, 1000)) == 500


def test_only_the_rest_of_a_range_that_broke_off_is_asked_for(server, file) -> None:
    server.faults[NAME] = [break_off(100), break_off(0), break_off(50)]
    fetch(server, file, (1000, 3000))
    assert parts(file)[part_name(1000, 3000)] == DATA[1000:3000]
    asked = ["bytes=1000-2999", "bytes=1100-2999", "bytes=1100-2999", "bytes=1150-2999"]
    assert server.asked(NAME) == asked
    assert server.sent[NAME] == 2000


@pytest.mark.parametrize("validator", ["etag", "modified"])
def test_a_file_that_changes_between_two_ranges_is_an_error(server, file, validator: str) -> None:
    server.etag, server.modified = (None, DATE) if validator == "modified" else ('"one"', None)

    def change(handler: BaseHTTPRequestHandler) -> bool:
        server.files[NAME] = OTHER
        setattr(server, validator, DATE.replace("21", "22") if validator == "modified" else '"2"')
        return False

    server.faults[NAME] = [lambda handler: False, change]
    with pytest.raises(InputError, match="parts of one version") as error:
        fetch(server, file, (0, 10), (500, 1000))
    assert f"remove {parts_folder(file)}" in error.value.todo
    assert "`date:`" in error.value.todo
    # Nor in the next run.
    with pytest.raises(InputError, match="parts of one version"):
        fetch(server, file, (500, 1000))
    assert list(parts(file)) == [part_name(0, 10), "manifest.json"]


def partial_answer(
    content_range: str, data: bytes, etag: str = '"one"'
) -> Callable[[BaseHTTPRequestHandler], bool]:
    """Return a fault: an answer 206 that says what the arguments say."""

    def fault(handler: BaseHTTPRequestHandler) -> bool:
        handler.send_response(206)
        handler.send_header("Content-Range", content_range)
        handler.send_header("Content-Length", str(len(data)))
        if etag:
            handler.send_header("ETag", etag)
        handler.end_headers()
        handler.wfile.write(data)
        return True

    return fault


def test_a_server_that_ignores_if_range_is_found_out(server: RangeServer, file: Path) -> None:
    fetch(server, file, (0, 10))
    for size, etag in ((256_000, '"two"'), (256_001, '"one"')):
        server.faults[NAME] = [partial_answer(f"bytes 500-999/{size}", OTHER[500:1000], etag)]
        with pytest.raises(InputError, match="another version"):
            fetch(server, file, (500, 1000))
    # To If-Range the version need not be named again.
    server.faults[NAME] = [partial_answer("bytes 500-999/256000", DATA[500:1000], "")]
    fetch(server, file, (500, 1000))


def test_a_range_beyond_the_end_is_an_error(server: RangeServer, file: Path) -> None:
    for start, stop in ((255_990, 256_010), (256_000, 256_010), (300_000, 300_010)):
        with pytest.raises(InputError, match=r"256,000 bytes\n.*index belongs to another dump"):
            fetch(server, file, (start, stop))
    assert parts(file) == {}


def test_no_ranges(server: RangeServer, file: Path) -> None:
    server.ranges = False
    with pytest.raises(NoRanges, match="does not support ranges"):
        fetch(server, file, (0, 10))
    server.ranges = True
    for etag in (None, 'W/"weak"'):
        server.etag = etag
        with pytest.raises(NoRanges, match="state the file's version"):
            fetch(server, file, (0, 10))
    server.faults[NAME] = [partial_answer("bytes 0-9/*", DATA[:10])]
    with pytest.raises(NoRanges, match="state the size"):
        fetch(server, file, (0, 10))
    # An answer without a range and with the version that is here is no change.
    server.etag = '"one"'
    fetch(server, file, (0, 10))
    server.ranges = False
    with pytest.raises(NoRanges, match="does not support ranges"):
        fetch(server, file, (10, 20))
    assert list(parts(file)) == [part_name(0, 10), "manifest.json"]


def test_threads_share_two_connections(server: RangeServer, file: Path) -> None:
    server.delay = 0.02
    with RangeFetcher([server.url + NAME], file) as fetcher, ThreadPoolExecutor(8) as threads:
        fetcher.fetch(0, 1000)
        list(threads.map(lambda n: fetcher.fetch(n * 1000, n * 1000 + 1000), range(30)))
    assert server.most == patience.CONNECTIONS == 2
    assert len(parts(file)) == 31
    assert fetcher.fetched == 30_000
    assert b"".join(list(parts(file).values())[:-1]) == DATA[:30_000]


def test_two_first_ranges_at_once_are_of_one_version(server: RangeServer, file: Path) -> None:
    asked, answered = Event(), Event()

    def change_first(handler: BaseHTTPRequestHandler) -> bool:
        asked.set()
        answered.wait(5)
        server.etag = '"two"'
        return False

    server.faults[NAME] = [change_first]
    with RangeFetcher([server.url + NAME], file) as fetcher, ThreadPoolExecutor(1) as thread:
        first = thread.submit(fetcher.fetch, 0, 10)
        assert asked.wait(5)
        fetcher.fetch(500, 1000)
        answered.set()
        with pytest.raises(InputError, match="another version"):
            first.result()
    assert list(parts(file)) == [part_name(500, 1000), "manifest.json"]


def test_a_manifest_that_is_damaged_or_of_another_address(server: RangeServer, file: Path) -> None:
    assert read_manifest(file) is None
    fetch(server, file, (0, 10))
    with pytest.raises(InputError, match="parts of http"):
        RangeFetcher(["http://127.0.0.1/other"], file)
    for text in ("{", '{"url": "x"}', "[]"):
        (parts_folder(file) / "manifest.json").write_text(text, "utf-8")
        with pytest.raises(InputError, match="the JSON that fetch wrote"):
            read_manifest(file)


BYTES = bytes(range(256)) * 4
RANGES = st.lists(st.tuples(st.integers(0, len(BYTES)), st.integers(0, 300)), max_size=12)


@pytest.fixture(scope="module")
def archive() -> Iterator[RangeServer]:
    yield from serve({"/all.zip": BYTES})


@given(ranges=RANGES)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_reads(archive, tmp_path_factory, ranges) -> None:
    file = tmp_path_factory.mktemp("some") / "all.zip"
    wanted = {0}
    with RangeFetcher([f"{archive.url}/all.zip"], file) as fetcher:
        fetcher.fetch(0, 1)
        remote = PartialFile(file, fetcher)
        for start, size in ranges:
            assert remote.seek(start) == start
            assert remote.read(size) == BYTES[start : start + size]
            wanted |= set(range(start, min(start + size, len(BYTES))))
        assert fetcher.fetched == len(wanted)
    # What was fetched can be read later; anything else is an error.
    here = PartialFile(file)
    for start, size in ranges:
        here.seek(start - len(BYTES), 2)
        assert here.read(size) == BYTES[start : start + size]
    if len(wanted) < len(BYTES):
        here.seek(min(set(range(len(BYTES))) - wanted))
        with pytest.raises(InputError, match="only other parts of the file"):
            here.read(1)


def test_all_the_rest(archive: RangeServer, file: Path) -> None:
    with RangeFetcher([f"{archive.url}/all.zip"], file) as fetcher:
        fetcher.fetch(5, 9)
        remote = PartialFile(file, fetcher)
        remote.seek(7)
        assert remote.read() == BYTES[7:]
        assert (remote.read(), remote.seek(-3, 1)) == (b"", len(BYTES) - 3)


def test_parts_that_come_and_go_meanwhile(archive: RangeServer, file: Path) -> None:
    url = f"{archive.url}/all.zip"
    with RangeFetcher([url], file) as fetcher:
        fetcher.fetch(0, 9)
        here = PartialFile(file)
        fetcher.fetch(9, 20)
        assert here.read(15) == BYTES[:15]
        remote = PartialFile(file, fetcher)
        remote.discard(8, 9)
        assert [p.name for p in parts_folder(file).glob("0*")] == [
            "000000000000009-000000000000020"
        ]
        here.seek(3)
        with pytest.raises(InputError, match="bytes 3 to 4 of"):
            here.read(2)
        remote.seek(3)
        assert remote.read(2) == BYTES[3:5]
