"""Several addresses of a file: the next one if one fails, and what is said of it."""

import json
import re
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from loopback import DATA, OTHER, RangeServer, Server, status, whole
from no_waiting import no_waiting as no_waiting

from corpora_recipes.fetching import downloads, patience, transfer
from corpora_recipes.fetching.ranges import RangeFetcher
from corpora_recipes.fetching.transfer import NotFound
from corpora_recipes.recipe import Pin, Source
from corpora_recipes.running.errors import InputError

PIN = Pin(sha256=sha256(DATA).hexdigest())
DEAD = "http://127.0.0.1:1/corpus.bin"


@pytest.mark.parametrize("first", [status(404), status(403), status(503), whole(OTHER)])
def test_the_second_address_is_tried(
    server: Server, tmp_path: Path, first, capsys: pytest.CaptureFixture[str]
) -> None:
    second = server.url.replace("corpus", "mirror")

    def answer(handler) -> None:
        (whole() if "mirror" in handler.path else first)(handler)

    server.script = [answer]
    got = downloads.download([server.url, second], tmp_path / "a.bin", pin=PIN)
    assert (got.url, got.sha256) == (second, PIN.sha256)
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert f"; trying {second}" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.part*"))


def test_if_none_works_each_is_named(server: Server, tmp_path: Path) -> None:
    server.script = [status(403)]
    with pytest.raises(InputError) as error:
        downloads.download([server.url, DEAD], tmp_path / "a.bin", pin=PIN)
    assert error.value.where == server.url
    assert f"{server.url}: the server answers 403" in error.value.found
    assert f"{DEAD}: " in error.value.found
    assert transfer.CONTACT in error.value.todo
    assert not isinstance(error.value, NotFound)
    server.script = [status(404), status(410)]
    with pytest.raises(NotFound):
        downloads.download([server.url, server.url + "2"], tmp_path / "b.bin")


def slowly(handler: BaseHTTPRequestHandler) -> None:
    whole(stop=0)(handler)
    for start in range(0, len(DATA), 4000):
        handler.wfile.write(DATA[start : start + 4000])
        time.sleep(0.005)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # Below the rate at which another address is tried, above the one at which all is given up.
    for limit, value in {"WINDOW": 0.1, "SLOW_RATE": 1e12, "LOWEST_RATE": 1}.items():
        monkeypatch.setattr(patience, limit, value)
    server = Server()
    server.script = [slowly]
    yield server
    server.httpd.shutdown()
    server.httpd.server_close()


def test_a_slow_address_is_left_for_another(
    slow: Server, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = [whole()]
    got = downloads.download([slow.url, server.url], tmp_path / "a.bin")
    assert got.url == server.url
    assert re.search(rf"only [\d,]+ bytes per second; trying {server.url}", capsys.readouterr().err)
    # It is better than none.
    for number, urls in enumerate(([slow.url], [slow.url, DEAD])):
        assert downloads.download(urls, tmp_path / f"{number}.bin").sha256 == got.sha256


def test_a_server_that_asks_to_wait_is_left_for_another(server: Server, tmp_path: Path) -> None:
    server.script = [status(503, Retry_After="500"), whole()]
    got = downloads.download([server.url, server.url + "2"], tmp_path / "a.bin")
    assert (got.url, len(server.requests)) == (server.url + "2", 2)


def test_the_address_of_a_partial_download_comes_first(server: Server, tmp_path: Path) -> None:
    server.script = [status(404), whole(stop=1000), *[whole(stop=0)] * patience.ATTEMPTS]
    urls = [server.url, server.url + "2"]
    with pytest.raises(InputError, match="1,000 bytes after"):
        downloads.download(urls, tmp_path / "a.bin")
    server.requests.clear()
    server.script = [whole()]
    assert downloads.download(urls, tmp_path / "a.bin").url == urls[1]
    assert server.header("Range") == ["bytes=1000-"]


def test_the_lock_says_which_address_gave_the_file(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    source = Source("a.bin", (DEAD, server.url))
    downloads.download_locked(source, tmp_path / "out" / "a.bin")
    ((url, entry),) = json.loads((tmp_path / "sources.lock").read_text("utf-8")).items()
    assert (url, entry["came_from"]) == (DEAD, server.url)
    # In another order, or with another first address, the file is still the locked one.
    server.script = [whole(OTHER)]
    with pytest.raises(InputError, match="remove its entry"):
        downloads.download_locked(Source("a.bin", (server.url, DEAD)), tmp_path / "b" / "a.bin")


def test_ranges_go_on_at_another_address_of_the_same_version(tmp_path: Path) -> None:
    servers = [RangeServer({"/a": DATA}) for _ in range(3)]
    first, second, other = servers
    other.etag = '"two"'
    urls = [f"{server.url}/a" for server in servers]
    with RangeFetcher(urls, tmp_path / "a") as fetcher:
        fetcher.fetch(0, 10)
        first.close()
        first.ranges = False
        first.files.clear()
        fetcher.fetch(10, 30)
        fetcher.fetch(30, 40)
        second.files.clear()
        with pytest.raises(InputError, match=f"{other.url}/a: another version") as error:
            fetcher.fetch(40, 50)
    assert len(second.requests) == 3
    assert f"{second.url}/a: the server answers 404" in error.value.found
    with pytest.raises(InputError, match="7 bytes"), RangeFetcher(urls[2:], tmp_path / "b", 7) as f:
        f.fetch(0, 5)
    second.close()
    other.close()
