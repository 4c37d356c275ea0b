"""Downloads from servers that misbehave in every way: the right file or a clear error."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from misbehaving import CASES, FILE, HALF, MisbehavingServer, always, good, head
from no_waiting import no_waiting as no_waiting

from corpora_recipes.fetching import downloads
from corpora_recipes.fetching.ranges import NoRanges, RangeFetcher, part_name, parts_folder
from corpora_recipes.fetching.transfer import look_at, read_document
from corpora_recipes.recipe import Source
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

SHA = hashlib.sha256(FILE).hexdigest()
# The size of a document is not known, nor what kind of file it is.
UNCHECKED = ("200_with_the_wrong_file", "longbody", "html_called_zip")
# Pins that corpus.yaml may have; without a digest, the file goes to sources.lock.
PINS = {"unpinned": {}, "sized": {"size": len(FILE)}, "pinned": {"sha256": SHA}}


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


@pytest.fixture
def server(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[MisbehavingServer]:
    """Return a server of a case, for which the limits of transfers are scaled."""
    for limit, value in CASES[name].limits.items():
        monkeypatch.setattr(patience, limit, value)
    server = MisbehavingServer(CASES[name].way)
    yield server
    server.close()


@pytest.mark.parametrize("pin", PINS)
@pytest.mark.parametrize("name", CASES)
def test_the_right_file_or_a_clear_error(name: str, pin: str, tmp_path, server) -> None:
    case = CASES[name]
    error = case.error if pin != "pinned" or case.pinned is None else case.pinned
    target = tmp_path / "out" / "corpus.zip"
    source = Source("corpus.zip", (f"{server.url}/corpus.zip",), **PINS[pin])
    begin = time.monotonic()
    if error:
        with pytest.raises(InputError) as raised:
            downloads.download_locked(source, target)
        message = f"{raised.value.expected} {raised.value.found}"
        words = (error, *{"sized": ["bytes"], "pinned": ["SHA-256"]}.get(pin, []))
        assert any(word in message for word in words), message
        assert len(message) < 1000
        assert files(tmp_path / "out") <= {"corpus.zip.part", "corpus.zip.part.json"}
        assert not (tmp_path / "sources.lock").exists()
    else:
        downloads.download_locked(source, target)
    assert time.monotonic() - begin < 20
    # Whatever was left, a server that behaves gives the right file in the end.
    server.way = good
    downloads.download_locked(source, target)
    assert target.read_bytes() == FILE
    assert files(tmp_path / "out") == {"corpus.zip"}
    if pin != "pinned":
        (entry,) = json.loads((tmp_path / "sources.lock").read_text("utf-8")).values()
        assert entry["sha256"] == SHA


@pytest.mark.parametrize("name", CASES)
def test_ranges_are_right_or_none(tmp_path: Path, server: MisbehavingServer) -> None:
    file = tmp_path / "corpus.zip"
    part = parts_folder(file) / part_name(HALF, len(FILE))
    try:
        with RangeFetcher([f"{server.url}/corpus.zip"], file, len(FILE)) as fetcher:
            fetcher.fetch(HALF, len(FILE))
    except (InputError, NoRanges):
        assert files(parts_folder(file)) <= {"manifest.json"}
    else:
        assert files(parts_folder(file)) == {"manifest.json", part.name}
        assert part.read_bytes() == FILE[HALF:]


@pytest.mark.parametrize("name", CASES)
def test_documents_and_looks(name: str, server: MisbehavingServer) -> None:
    url = f"{server.url}/corpus.zip"
    remote = look_at(url, patience=0.1)
    assert remote.fault or remote.status in (200, 206)
    server.requests.clear()
    with suppress(InputError):
        # Documents have no magic bytes: what is said to be the whole is the whole.
        assert read_document([url], max_size=1 << 16) == FILE or name in UNCHECKED


def test_a_body_longer_than_it_says_ends_where_it_says(tmp_path: Path) -> None:
    # Without digest and magic bytes, nothing else tells where a file ends.
    server = MisbehavingServer(always(head("200 OK", length=HALF) + FILE))
    got = downloads.download([f"{server.url}/a.bin"], tmp_path / "a.bin")
    server.close()
    assert got.size == HALF
