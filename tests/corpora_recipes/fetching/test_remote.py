"""What an address says, small documents, and who we say we are."""

import socket
import ssl
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version

import pytest
import requests
from loopback import RangeServer
from misbehaving import MisbehavingServer, always, head
from no_waiting import no_waiting as no_waiting

from corpora_recipes.fetching import patience, transfer
from corpora_recipes.fetching.transfer import NotFound, Remote, look_at, read_document, read_json
from corpora_recipes.running.errors import InputError

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.fixture
def server() -> Iterator[RangeServer]:
    server = RangeServer({"/a.zip": bytes(1000), "/status.json": b'{"done": [1]}'})
    server.modified = DATE
    yield server
    server.close()


class TestLook:
    def test_a_server_with_ranges(self, server: RangeServer) -> None:
        url = f"{server.url}/a.zip"
        assert look_at(url) == Remote(url, "", 206, 1000, has_ranges=True, modified=DATE)
        assert server.asked("/a.zip") == ["bytes=0-0"]
        server.ranges = False
        assert look_at(url) == Remote(url, "", 200, 1000, modified=DATE)
        fault = "the server answers 404 Not Found"
        assert look_at(url + "x") == Remote(url + "x", fault, 404, modified=DATE)

    def test_head_is_refused(self, server: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(handler: BaseHTTPRequestHandler, *args: object) -> None:
            handler.send_response(405)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        head_of = server._head
        monkeypatch.setattr(
            server, "_head", lambda h, *a: (refuse if h.command == "HEAD" else head_of)(h, *a)
        )
        seen = look_at(f"{server.url}/a.zip")
        assert (seen.fault, seen.size) == ("", 1000)

    def test_a_redirect_and_a_type(self, server: RangeServer) -> None:
        lines = ("Content-Type: Text/HTML; charset=x", "Accept-Ranges: bytes")
        html = head("200 OK", *lines, length=9)
        last = MisbehavingServer(always(html))
        moved = MisbehavingServer(always(head("301 X", f"Location: {last.url}/b", length=0)))
        seen = look_at(f"{moved.url}/a")
        assert (seen.kind, seen.size) == ("text/html", 9)
        assert [request.split()[0] for request in last.requests] == ["HEAD"]
        last.close()
        moved.close()

    @pytest.mark.parametrize(
        ("url", "fault"),
        [
            ("http://127.0.0.1:1/a", "Connection refused"),
            ("http://no.such.host.invalid/a", "the name of the server is not known"),
            ("ftp://example.org/a", "No connection adapters"),
            ("address", "Invalid URL"),
        ],
    )
    def test_no_answer(self, url: str, fault: str) -> None:
        seen = look_at(url)
        assert fault in seen.fault
        assert seen.status is None

    def test_a_name_that_is_not_known_is_waited_for_only_if_it_was(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_a_certificate_that_is_not_trusted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        inner = ssl.SSLCertVerificationError("x")
        inner.verify_message = "certificate has expired"

        def refuse(*args: object, **more: object) -> None:
            raise requests.exceptions.SSLError(inner)

        monkeypatch.setattr(requests.Session, "request", refuse)
        assert look_at("https://example.org/a").fault == "TLS: certificate has expired"
        with pytest.raises(InputError) as error:
            read_document(["https://example.org/a"])
        assert "REQUESTS_CA_BUNDLE" in error.value.todo


class TestDocuments:
    def test_json(self, server: RangeServer) -> None:
        dead = "http://127.0.0.1:1/status.json"
        assert read_json([dead, f"{server.url}/status.json"]) == {"done": [1]}
        with pytest.raises(InputError, match="JSON"):
            read_json([f"{server.url}/a.zip"])

    def test_limits(self, server: RangeServer) -> None:
        assert read_document([f"{server.url}/a.zip"], max_size=1000) == bytes(1000)
        with pytest.raises(InputError, match="at most 999 bytes"):
            read_document([f"{server.url}/a.zip"], max_size=999)
        with pytest.raises(NotFound):
            read_document([f"{server.url}/b"])

    def test_a_page_only_where_one_is_asked_for(self) -> None:
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
