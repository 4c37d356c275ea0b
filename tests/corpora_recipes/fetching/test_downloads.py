"""Downloads of whole files from bad servers, sources.lock, manifests, kinds of files."""

import bz2
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import DATA, OTHER, RangeServer, Server, status, whole
from no_waiting import no_waiting as no_waiting
from recipe_reading import refused, serve

from corpora_recipes.fetching import downloads, transfer
from corpora_recipes.fetching import sources as fetch_sources
from corpora_recipes.fetching.downloads import (
    MANIFEST,
    Fetched,
    Locked,
    add_to_lock,
    check_complete,
    fetch_whole,
    format_sizes,
    read_fetched,
    read_lock,
    write_fetched,
    wrong_kind,
)
from corpora_recipes.reading import read
from corpora_recipes.recipe import Pin, Source
from corpora_recipes.running.errors import InputError

SHA = hashlib.sha256(DATA).hexdigest()


def got(server: Server) -> downloads.Downloaded:
    return downloads.Downloaded(server.url, SHA, len(DATA))


def listing(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_download_that_breaks_off_is_resumed(server: Server, tmp_path: Path) -> None:
    server.script = [whole(stop=1000), whole(stop=5000), whole()]
    target = tmp_path / "new" / "corpus.bin"
    assert downloads.download([server.url], target) == got(server)
    assert server.header("Range") == [None, "bytes=1000-", "bytes=6000-"]
    assert server.header("If-Range") == [None, '"one"', '"one"']
    assert set(server.header("User-Agent")) == {transfer.user_agent()}
    assert set(server.header("Accept-Encoding")) == {"identity"}
    assert target.read_bytes() == DATA
    assert listing(tmp_path / "new") == ["corpus.bin"]


def test_a_contact_is_named_and_asked_for(server, tmp_path, monkeypatch) -> None:
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


def test_retry_after_is_honoured_and_said(server, tmp_path, monkeypatch, capsys) -> None:
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
def test_a_complete_part_of_the_same_url_is_used(server, tmp_path, *, is_same: bool) -> None:
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
    yield from serve({"/a.bin": b"a" * 1500, "/b.bin": b"b" * 2_000_000})


def sources(server: RangeServer) -> list[Source]:
    pinned = Source("a.bin", urls=(f"{server.url}/a.bin",), size=1500)
    return [pinned, Source("b.bin", urls=(f"{server.url}/b.bin",))]


def test_the_cost_is_said_before(served, tmp_path, capsys) -> None:
    fetch_whole(sources(served), tmp_path / "out")
    first = capsys.readouterr().err.splitlines()[0]
    host = served.url.removeprefix("http://")
    assert first.startswith(f"{tmp_path / 'out'}: 2 files from {host}, 2.0 MB; ")
    assert first.endswith(" free on the disk")
    fetch_whole(sources(served)[1:], tmp_path / "out")
    assert "files from" not in capsys.readouterr().err


def test_a_small_disk_is_an_error_before_the_download(served, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(downloads, "free_at", lambda folder: 1_000_000)
    with refused(expected="2,001,500 free bytes (2.0 MB)", found_is="1,000,000 (1.0 MB)"):
        fetch_whole(sources(served), tmp_path / "out")
    assert not served.requests
    assert not (tmp_path / "out").exists()


def test_sizes_in_words() -> None:
    assert format_sizes([]) == "0 bytes"
    assert format_sizes([None]) == "1 file of unknown size"
    assert format_sizes([5, None, None]) == "5 bytes and 2 files of unknown size"


def test_what_a_killed_fetch_left_is_not_read(tmp_path: Path, make_corpus, monkeypatch) -> None:
    raw, mirror = tmp_path / "raw", tmp_path / "mirror"
    mirror.mkdir()
    for name in "abc":
        line = {"id": name, "paragraphs": [f"Esta es la frase de {name}, y no hay otra."]}
        (mirror / f"{name}.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    corpus = make_corpus(options={"path": str(mirror)})
    link = fetch_sources._link

    def killed_at_b(path: Path, target: Path) -> None:
        if target.name == "b.jsonl":
            raise KeyboardInterrupt
        link(path, target)

    monkeypatch.setattr(fetch_sources, "_link", killed_at_b)
    with pytest.raises(KeyboardInterrupt):
        fetch_sources.fetch(corpus, "sample", raw)
    with pytest.raises(InputError) as caught:
        read(corpus, raw, tmp_path / "out.parquet", workers=1, executor="local")
    assert caught.value.found == "a fetch that has not ended; missing: b.jsonl, c.jsonl"
    assert "run `probeta fetch --only mine`" in caught.value.todo
    assert not (tmp_path / "out.parquet").exists()
    monkeypatch.undo()
    fetch_sources.fetch(corpus, "sample", raw)
    drops = read(corpus, raw, tmp_path / "out.parquet", workers=1, executor="local")
    assert drops.as_dict()["documents"]["kept"] == 3
    names = ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert read_fetched(raw) == Fetched(f"path {mirror}", names, complete=True)


def test_patterns_that_no_file_fits_are_missing(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "page-0.xml").touch()
    wanted = ["here/page-*.xml", "there/page-*.xml", *(f"{n}.zip" for n in range(12))]
    write_fetched(tmp_path, Fetched("upstream", wanted, complete=False))
    with pytest.raises(InputError, match=r"missing: there/page-\*\.xml, 0.zip, .* and 3 more"):
        check_complete(tmp_path, "mine")
    # Without a note of its end, the fetch may have been killed.
    (tmp_path / MANIFEST).write_text('{"source": "sample", "files": ["a"]}', "utf-8")
    with pytest.raises(InputError, match="missing: a\n"):
        check_complete(tmp_path, "mine")
    # A folder of the user is read.
    assert read_fetched(tmp_path / "here") is None
    check_complete(tmp_path / "here", "mine")


DAMAGED = ["", "[1]", '{"source": "sample"}', '{"other": 1}', "null", "[" * 100_000]
DAMAGED += ['{"source": "a", "files": 3}', r'{"source": "\ud800", "files": []}']


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(InputError, match="JSON that fetch wrote"):
        read_fetched(tmp_path)


@pytest.mark.parametrize("size", ["many", None, [1], 1.5])
def test_an_edited_lock_is_named(empty_folder, size: object) -> None:
    entry = {"date": "2026-01-01", "file": "a", "size": size}
    Path("sources.lock").write_text(json.dumps({"http://a": entry}), "utf-8")
    with pytest.raises(InputError, match=r"JSON that fetch wrote\n.*size"):
        read_lock()


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", Random(1).randbytes(500))
    return data.getvalue()


RIGHT = {
    "a.zip": zipped(),
    "a.bz2": bz2.compress(b"text"),
    "a.gz": gzip.compress(b"text"),
    "a.tar.gz": gzip.compress(b"text"),
    "a.txt": b"<name> is not a tag here",
    "a.xml": b'<?xml version="1.0"?><review>text</review>',
    "a.html": b"<!DOCTYPE html>",
    "a": b"\x00",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_and_wrong(name: str, tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_bytes(RIGHT[name])
    assert wrong_kind(path, name) == ""
    path.write_bytes(b"")
    assert wrong_kind(path, name) == "an empty file"
    path.write_bytes(b'\xef\xbb\xbf\r\n<?xml version="1.0"?>\n<!-- x -->\n<HTML lang="en">')
    assert wrong_kind(path, name).startswith("" if name == "a.html" else "a web page, which begins")
    if Path(name).suffix in (".zip", ".bz2", ".gz"):
        path.write_bytes(b"plain text")
        assert wrong_kind(path, name).startswith(f"no {Path(name).suffix} file")
    if Path(name).suffix in (".zip", ".bz2"):
        path.write_bytes(RIGHT[name][:-1])
        assert "without its end" in wrong_kind(path, name)


@given(st.binary(max_size=300))
def test_every_bz2_stream_has_its_end_at_some_bit(tmp_path_factory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "part"
    path.write_bytes(bz2.compress(data) + bz2.compress(b"another stream"))
    assert wrong_kind(path, "a.bz2") == ""
    path.write_bytes(bz2.compress(data)[:-1])
    assert wrong_kind(path, "a.bz2") == "a .bz2 file without its end"


def test_no_entry_of_two_fetches_is_lost(empty_folder: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        for number in range(40):
            entry = Locked("2026-01-01", "a", 1, sha256="0a")
            threads.submit(add_to_lock, f"http://a/{number}", entry)
    assert len(read_lock()) == 40
    assert [path.name for path in empty_folder.iterdir()] == ["sources.lock"]
