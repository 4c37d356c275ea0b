"""Downloads of whole files, against a real server that misbehaves."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from loopback import DATA, OTHER, Server, status, whole

from corpora_recipes.facts import Pin
from corpora_recipes.fetching import downloads, patience, session, transfer
from corpora_recipes.running.errors import InputError

SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)


def got(server: Server) -> downloads.Downloaded:
    return downloads.Downloaded(server.url, SHA, len(DATA))


def listing(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_whole_file(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    target = tmp_path / "new" / "corpus.bin"
    assert downloads.download([server.url], target) == got(server)
    assert target.read_bytes() == DATA
    assert listing(tmp_path / "new") == ["corpus.bin"]
    assert server.header("User-Agent") == [session.user_agent()]
    assert server.header("Accept-Encoding") == ["identity"]


def test_right_file_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "corpus.bin"
    target.write_bytes(DATA)
    assert downloads.download([server.url], target, pin=Pin(sha256=SHA)) == got(server)
    assert server.requests == []


def test_damaged_file_is_downloaded_again(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    target = tmp_path / "corpus.bin"
    target.write_bytes(DATA[:-1])
    downloads.download([server.url], target, pin=Pin(sha256=SHA))
    assert target.read_bytes() == DATA


def test_break_is_resumed(server: Server, tmp_path: Path) -> None:
    server.script = [whole(stop=1000), whole(stop=5000), whole()]
    target = tmp_path / "corpus.bin"
    assert downloads.download([server.url], target) == got(server)
    assert server.header("Range") == [None, "bytes=1000-", "bytes=6000-"]
    assert server.header("If-Range") == [None, '"one"', '"one"']
    assert target.read_bytes() == DATA


def test_many_breaks_are_borne_while_bytes_come(server: Server, tmp_path: Path) -> None:
    server.script = [whole(stop=len(DATA) // 10)]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert len(server.requests) == 10 > patience.ATTEMPTS


def test_next_run_resumes(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "corpus.bin"
    server.script = [whole(stop=1000), whole(stop=0)]
    with pytest.raises(InputError, match="1,000 bytes, then"):
        downloads.download([server.url], target)
    assert not target.exists()
    assert (tmp_path / "corpus.bin.part").stat().st_size == 1000
    server.requests.clear()
    server.script = [whole()]
    downloads.download([server.url], target, pin=Pin(sha256=SHA))
    assert server.header("Range") == ["bytes=1000-"]


def test_complete_part_of_a_killed_run_is_used(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    (tmp_path / "corpus.bin.part").write_bytes(DATA)
    (tmp_path / "corpus.bin.part.json").write_text(
        json.dumps({"url": server.url, "size": len(DATA), "validator": '"one"'}), "utf-8"
    )
    assert downloads.download([server.url], tmp_path / "corpus.bin") == got(server)
    assert server.requests == []


def test_part_of_another_url_is_not_used(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    (tmp_path / "corpus.bin.part").write_bytes(b"other")
    (tmp_path / "corpus.bin.part.json").write_text(
        json.dumps({"url": "http://127.0.0.1/other", "size": 9, "validator": '"one"'}), "utf-8"
    )
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert server.header("Range") == [None]


def test_changed_etag_starts_over(server: Server, tmp_path: Path) -> None:
    server.script = [whole(OTHER, stop=1000), whole(DATA, etag='"two"')]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert server.header("Range") == [None, "bytes=1000-"]


def test_ignored_range_starts_over(server: Server, tmp_path: Path) -> None:
    server.script = [whole(stop=1000), whole(ranges=False)]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_no_strong_validator_starts_over(server: Server, tmp_path: Path, etag: str | None) -> None:
    server.script = [whole(stop=1000, etag=etag), whole(etag=etag)]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert server.header("Range") == [None, None]


def test_last_modified_validates_too(server: Server, tmp_path: Path) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"

    def dated(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Last-Modified", date)
        handler.send_header("Content-Length", str(len(DATA)))
        handler.end_headers()
        handler.wfile.write(DATA[:1000])

    server.script = [dated, whole(etag=date)]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert server.header("If-Range") == [None, date]


def test_wrong_range_starts_over(server: Server, tmp_path: Path) -> None:
    def shifted(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 7-{len(DATA) - 1}/{len(DATA)}")
        handler.send_header("Content-Length", str(len(DATA) - 7))
        handler.end_headers()
        handler.wfile.write(DATA[7:])

    server.script = [whole(stop=1000), shifted, whole()]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert server.header("Range") == [None, "bytes=1000-", None]


def test_length_that_lies_is_an_error(server: Server, tmp_path: Path) -> None:
    server.script = [whole(ranges=False, length=len(DATA) + 10)]
    with pytest.raises(InputError, match="attempts without progress"):
        downloads.download([server.url], tmp_path / "corpus.bin")
    assert len(server.requests) == patience.ATTEMPTS
    assert not (tmp_path / "corpus.bin").exists()


def test_404_is_an_error_at_once(server: Server, tmp_path: Path) -> None:
    server.script = [status(404)]
    with pytest.raises(InputError, match="404 Not Found"):
        downloads.download([server.url], tmp_path / "corpus.bin")
    assert len(server.requests) == 1


def test_a_contact_is_named_and_asked_for(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [status(403)]
    monkeypatch.delenv(session.CONTACT, raising=False)
    with pytest.raises(InputError, match=session.CONTACT):
        downloads.download([server.url], tmp_path / "corpus.bin")
    monkeypatch.setenv(session.CONTACT, "ana@example.org")
    with pytest.raises(InputError, match="may refuse programs"):
        downloads.download([server.url], tmp_path / "corpus.bin")
    first, second = server.header("User-Agent")
    assert first is not None
    assert second == first.removesuffix(")") + "; ana@example.org)"


def test_503_then_file(server: Server, tmp_path: Path) -> None:
    server.script = [status(503), status(500), whole()]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert len(server.requests) == 3


def test_503_for_ever(server: Server, tmp_path: Path) -> None:
    server.script = [status(503)]
    with pytest.raises(InputError, match="503 Service Unavailable") as error:
        downloads.download([server.url], tmp_path / "corpus.bin")
    assert "run fetch again later" in error.value.todo
    assert len(server.requests) == patience.ATTEMPTS


def test_retry_after_is_honoured_and_said(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(transfer, "sleep", waits.append)
    server.script = [status(429, Retry_After="7"), status(503, Retry_After="120"), whole()]
    downloads.download([server.url], tmp_path / "corpus.bin", pin=Pin(sha256=SHA))
    assert waits == [7, 120]
    assert (
        "503 Service Unavailable, and asks to wait 120 s; trying again" in capsys.readouterr().err
    )
    server.requests.clear()
    server.script = [status(503, Retry_After="100000")]
    with pytest.raises(InputError, match="asks to wait 100,000 s"):
        downloads.download([server.url], tmp_path / "other.bin")
    assert len(server.requests) == 1
    assert waits == [7, 120]


def test_no_server(server: Server, tmp_path: Path) -> None:
    server.httpd.shutdown()
    server.httpd.server_close()
    with pytest.raises(InputError, match="0 bytes, then: Connection refused"):
        downloads.download([server.url], tmp_path / "corpus.bin")


def test_wrong_bytes(server: Server, tmp_path: Path) -> None:
    server.script = [whole(OTHER)]
    with pytest.raises(InputError) as error:
        downloads.download([server.url], tmp_path / "x" / "corpus.bin", pin=Pin(sha256=SHA))
    assert SHA in error.value.expected
    assert hashlib.sha256(OTHER).hexdigest() in error.value.found
    assert listing(tmp_path / "x") == []


def test_too_large_stops_early(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    with pytest.raises(InputError, match="10 bytes"):
        downloads.download([server.url], tmp_path / "x" / "corpus.bin", pin=Pin(size=10))
    assert listing(tmp_path / "x") == []


def test_other_digests_pin_too(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    blob = hashlib.sha1(b"blob %d\0" % len(DATA) + DATA).hexdigest()
    pins = [Pin(sha1=hashlib.sha1(DATA).hexdigest(), size=len(DATA)), Pin(git_blob=blob)]
    for n, pin in enumerate(pins):
        target = tmp_path / f"{n}.bin"
        downloads.download([server.url], target, pin=pin)
        assert target.read_bytes() == DATA
        # It is not downloaded again, as it is what the pin says.
        downloads.download([server.url], target, pin=pin)
    assert len(server.requests) == 2
    server.script = [whole(OTHER)]
    other = hashlib.sha1(b"blob %d\0" % len(OTHER) + OTHER).hexdigest()
    with pytest.raises(InputError, match=rf"git blob {blob}\n.* git blob {other}"):
        downloads.download([server.url], tmp_path / "x" / "2.bin", pin=pins[1])
    assert listing(tmp_path / "x") == []


def test_failed_check_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]

    def refuse(path: Path) -> None:
        raise InputError(path, expected="x", found="y", todo="z")

    with pytest.raises(InputError):
        downloads.download([server.url], tmp_path / "x" / "corpus.bin", check=refuse)
    assert listing(tmp_path / "x") == []
