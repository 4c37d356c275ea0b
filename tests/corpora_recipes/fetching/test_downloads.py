"""Downloads of whole files, against a real server that misbehaves."""

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from loopback import DATA, OTHER, RangeServer, Server, status, whole
from no_waiting import no_waiting as no_waiting

from corpora_recipes.fetching import downloads, transfer
from corpora_recipes.fetching.downloads import (
    announce_time_left,
    fetch_whole,
    format_size,
    format_sizes,
    free_at,
)
from corpora_recipes.recipe import Pin, Source
from corpora_recipes.running.errors import InputError

SHA = hashlib.sha256(DATA).hexdigest()


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
    assert server.header("User-Agent") == [transfer.user_agent()]
    assert server.header("Accept-Encoding") == ["identity"]


def test_break_is_resumed(server: Server, tmp_path: Path) -> None:
    server.script = [whole(stop=1000), whole(stop=5000), whole()]
    target = tmp_path / "corpus.bin"
    assert downloads.download([server.url], target) == got(server)
    assert server.header("Range") == [None, "bytes=1000-", "bytes=6000-"]
    assert server.header("If-Range") == [None, '"one"', '"one"']
    assert target.read_bytes() == DATA


def test_next_run_resumes(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "corpus.bin"
    server.script = [whole(stop=1000), whole(stop=0)]
    with pytest.raises(InputError, match="1,000 bytes after"):
        downloads.download([server.url], target)
    assert not target.exists()
    assert (tmp_path / "corpus.bin.part").stat().st_size == 1000
    server.requests.clear()
    server.script = [whole()]
    downloads.download([server.url], target, pin=Pin(sha256=SHA))
    assert server.header("Range") == ["bytes=1000-"]


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


def test_a_contact_is_named_and_asked_for(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [status(403)]
    monkeypatch.delenv(transfer.CONTACT, raising=False)
    with pytest.raises(InputError, match=transfer.CONTACT):
        downloads.download([server.url], tmp_path / "corpus.bin")
    monkeypatch.setenv(transfer.CONTACT, "ana@example.org")
    with pytest.raises(InputError, match="may refuse programs"):
        downloads.download([server.url], tmp_path / "corpus.bin")
    first, second = server.header("User-Agent")
    assert first is not None
    assert second == first.removesuffix(")") + "; ana@example.org)"


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
    assert "and asks to wait 120 s; trying again" in capsys.readouterr().err
    server.requests.clear()
    server.script = [status(503, Retry_After="100000")]
    with pytest.raises(InputError, match="asks to wait 100,000 s"):
        downloads.download([server.url], tmp_path / "other.bin")
    assert len(server.requests) == 1
    assert waits == [7, 120]


def test_other_digests_pin_too(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    blob = hashlib.sha1(b"blob %d\0" % len(DATA) + DATA).hexdigest()
    sha1 = hashlib.sha1(DATA).hexdigest()
    pins = [Pin(sha256=SHA), Pin(sha1=sha1, size=len(DATA)), Pin(git_blob=blob)]
    for n, pin in enumerate(pins):
        target = tmp_path / f"{n}.bin"
        downloads.download([server.url], target, pin=pin)
        assert target.read_bytes() == DATA
        # It is not downloaded again, as it is what the pin says.
        downloads.download([server.url], target, pin=pin)
    assert len(server.requests) == 3
    server.script = [whole(OTHER)]
    other = hashlib.sha1(b"blob %d\0" % len(OTHER) + OTHER).hexdigest()
    with pytest.raises(InputError, match=rf"git blob {blob}\n.* git blob {other}"):
        downloads.download([server.url], tmp_path / "x.bin", pin=pins[2])


@pytest.mark.parametrize("is_same", [True, False])
def test_a_complete_part_of_the_same_url_is_used(
    server: Server, tmp_path: Path, *, is_same: bool
) -> None:
    server.script = [whole()]
    (tmp_path / "corpus.bin.part").write_bytes(DATA)
    url = server.url if is_same else "http://127.0.0.1/other"
    state = json.dumps({"url": url, "size": len(DATA), "validator": '"one"'})
    (tmp_path / "corpus.bin.part.json").write_text(state, "utf-8")
    assert downloads.download([server.url], tmp_path / "corpus.bin") == got(server)
    assert server.header("Range") == ([] if is_same else [None])


def refuse(path: Path) -> None:
    raise InputError(path, "x", "refused")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"pin": Pin(sha256=SHA)}, hashlib.sha256(OTHER).hexdigest()),
        ({"pin": Pin(size=10)}, "one of 256,000 bytes"),
        ({"max_size": 10}, "one of 256,000 bytes"),
        ({"check": refuse}, "refused"),
    ],
)
def test_another_file_leaves_nothing(server: Server, tmp_path: Path, options, found: str) -> None:
    server.script = [whole(OTHER)]
    with pytest.raises(InputError, match=found):
        downloads.download([server.url], tmp_path / "x" / "corpus.bin", **options)
    assert listing(tmp_path / "x") == []


@pytest.fixture
def served() -> Iterator[RangeServer]:
    server = RangeServer({"/a.bin": b"a" * 1500, "/b.bin": b"b" * 2_000_000})
    yield server
    server.close()


def sources(server: RangeServer) -> list[Source]:
    pinned = Source("a.bin", urls=(f"{server.url}/a.bin",), size=1500)
    return [pinned, Source("b.bin", urls=(f"{server.url}/b.bin",))]


def test_the_cost_is_said_before(
    served: RangeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch_whole(sources(served), tmp_path / "out")
    first = capsys.readouterr().err.splitlines()[0]
    host = served.url.removeprefix("http://")
    assert first.startswith(f"{tmp_path / 'out'}: 2 files from {host}, 2.0 MB; ")
    assert first.endswith(" free on the disk")
    fetch_whole(sources(served)[1:], tmp_path / "out")
    assert "files from" not in capsys.readouterr().err


def test_a_small_disk_is_an_error_before_the_download(
    served: RangeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "free_at", lambda folder: 1_000_000)
    with pytest.raises(InputError) as error:
        fetch_whole(sources(served), tmp_path / "out")
    assert "2,001,500 free bytes (2.0 MB)" in error.value.expected
    assert error.value.found == "1,000,000 (1.0 MB)"
    assert not served.requests
    assert not (tmp_path / "out").exists()


def test_the_time_left_follows_from_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    announce_time_left(600_000_000, 1_800_000_000, 1.0)  # too short to tell
    assert capsys.readouterr().err == ""
    announce_time_left(1_200_000_000, 1_200_000_000, 20.0)
    assert capsys.readouterr().err == "1.2 GB left, at 60.0 MB a second: 20 s\n"
    announce_time_left(1_800_000_000, 600_000_000, 600.0)
    assert capsys.readouterr().err == "600.0 MB left, at 3.0 MB a second: 3 min\n"


def test_sizes_in_words(tmp_path: Path) -> None:
    words = [format_size(size) for size in (0, 999, 1500, 7_038_263_862, 2_000_000_000_000)]
    assert words == ["0 bytes", "999 bytes", "1.5 kB", "7.0 GB", "2,000.0 GB"]
    assert format_sizes([]) == "0 bytes"
    assert format_sizes([None]) == "1 file of unknown size"
    assert format_sizes([5, None, None]) == "5 bytes and 2 files of unknown size"
    assert free_at(tmp_path / "not" / "there") > 0
