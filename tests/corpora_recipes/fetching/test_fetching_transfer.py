"""HTTP transfers: several addresses, what a server states, small documents, the user agent."""

import json
import re
import socket
import ssl
import time
from collections.abc import Iterator
from email.message import Message
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version
from pathlib import Path

import pytest
import requests
from case_tables import read_tables
from loopback import DATA, OTHER, RangeServer, Server, status, whole
from misbehaving import FILE, MisbehavingServer, always, first, head, part
from no_waiting import no_waiting as no_waiting
from recipe_reading import refused

from corpora_recipes.fetching import downloads, transfer
from corpora_recipes.fetching.ranges import RangeFetcher
from corpora_recipes.fetching.transfer import NotFound, Remote, look_at, read_document, read_json
from corpora_recipes.recipe import Pin, Source
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.fixture
def ranges() -> Iterator[RangeServer]:
    server = RangeServer({"/a.zip": bytes(1000), "/status.json": b'{"done": [1]}'})
    server.modified = DATE
    yield server
    server.close()


def test_a_server_with_ranges(ranges: RangeServer) -> None:
    url = f"{ranges.url}/a.zip"
    assert look_at(url) == Remote(url, "", 206, 1000, has_ranges=True, modified=DATE)
    assert ranges.asked("/a.zip") == ["bytes=0-0"]
    ranges.ranges = False
    assert look_at(url) == Remote(url, "", 200, 1000, modified=DATE)
    fault = "the server answers 404 Not Found"
    assert look_at(url + "x") == Remote(url + "x", fault, 404, modified=DATE)


def test_head_is_refused() -> None:
    server = MisbehavingServer(first(head("405 X", length=0), part(0, stop=1)))
    assert look_at(f"{server.url}/a.zip") == Remote(
        f"{server.url}/a.zip", "", 206, len(FILE), has_ranges=True
    )
    server.close()


def test_a_redirect_and_a_type(ranges: RangeServer) -> None:
    lines = ("Content-Type: Text/HTML; charset=x", "Accept-Ranges: bytes")
    html = head("200 OK", *lines, length=9)
    last = MisbehavingServer(always(html))
    moved = MisbehavingServer(always(head("301 X", f"Location: {last.url}/b", length=0)))
    seen = look_at(f"{moved.url}/a")
    assert (seen.kind, seen.size) == ("text/html", 9)
    assert [request.split()[0] for request in last.requests] == ["HEAD"]
    last.close()
    moved.close()


@pytest.mark.parametrize(("url", "fault"), TABLES["no_answer"])
def test_no_answer(url: str, fault: str) -> None:
    seen = look_at(url)
    assert fault in seen.fault
    assert seen.status is None


def test_a_name_that_is_not_known_is_waited_for_only_if_it_was(monkeypatch) -> None:
    monkeypatch.setattr(patience, "ATTEMPTS", 3)
    asked = []

    def unknown(*arguments: object, **more: object) -> None:
        asked.append(arguments)
        raise requests.ConnectionError(socket.gaierror(socket.EAI_AGAIN, "try again"))

    monkeypatch.setattr(requests.Session, "request", unknown)
    with pytest.raises(InputError) as error:
        read_document(["https://no.example/a"])
    assert (len(asked), "are you online?" in error.value.todo) == (1, True)
    monkeypatch.setattr(transfer, "_answered", {"no.example"})
    with pytest.raises(InputError, match="0 bytes after 3 attempts in 0 s: the name"):
        read_document(["https://no.example/a"])
    assert len(asked) == 4


def test_a_certificate_that_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = ssl.SSLCertVerificationError("x")
    inner.verify_message = "certificate has expired"

    def refuse(*args: object, **more: object) -> None:
        raise requests.exceptions.SSLError(inner)

    monkeypatch.setattr(requests.Session, "request", refuse)
    assert look_at("https://example.org/a").fault == "TLS: certificate has expired"
    with refused(todo="REQUESTS_CA_BUNDLE"):
        read_document(["https://example.org/a"])


def test_json(ranges: RangeServer) -> None:
    dead = "http://127.0.0.1:1/status.json"
    assert read_json([dead, f"{ranges.url}/status.json"]) == {"done": [1]}
    with pytest.raises(InputError, match="JSON"):
        read_json([f"{ranges.url}/a.zip"])


def test_limits(ranges: RangeServer) -> None:
    assert read_document([f"{ranges.url}/a.zip"], max_size=1000) == bytes(1000)
    with pytest.raises(InputError, match="at most 999 bytes"):
        read_document([f"{ranges.url}/a.zip"], max_size=999)
    with pytest.raises(NotFound):
        read_document([f"{ranges.url}/b"])


def test_a_page_only_where_one_is_asked_for() -> None:
    page = b"<html>list</html>"
    answer = head("200 OK", "Content-Type: text/html", length=len(page)) + page
    server = MisbehavingServer(always(answer))
    assert read_document([f"{server.url}/eswiki/"]) == page
    with pytest.raises(InputError, match="a web page"):
        read_document([f"{server.url}/SHA256SUMS"])
    server.close()


def test_the_user_agent_names_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    transfer._project.cache_clear()
    monkeypatch.delenv(transfer.CONTACT, raising=False)
    begin = f"Probeta/{version('probeta')} (corpus download for research"
    assert transfer.user_agent().startswith(begin)
    facts = Message()
    facts["Version"] = "7.1"
    facts["Project-URL"] = "Documentation, https://example.org/docs"
    facts["Project-URL"] = "Repository, https://example.org/probeta"
    monkeypatch.setattr(transfer, "metadata", lambda name: facts)
    transfer._project.cache_clear()
    monkeypatch.setenv(transfer.CONTACT, "ana@example.org")
    contact = "https://example.org/probeta; ana@example.org"
    assert transfer.user_agent() == f"Probeta/7.1 (corpus download for research; {contact})"
    transfer._project.cache_clear()


PIN = Pin(sha256=sha256(DATA).hexdigest())
DEAD = "http://127.0.0.1:1/corpus.bin"


@pytest.mark.parametrize("first", [status(404), status(403), status(503), whole(OTHER)])
def test_the_second_address_is_tried(server, tmp_path, first, capsys) -> None:
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


def test_a_slow_address_is_left_for_another(slow, server, tmp_path, capsys) -> None:
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


def test_the_lock_has_a_file_under_its_first_address(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    source = Source("a.bin", (DEAD, server.url))
    downloads.download_locked(source, tmp_path / "out" / "a.bin")
    assert [*json.loads((tmp_path / "sources.lock").read_text("utf-8"))] == [DEAD]
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
