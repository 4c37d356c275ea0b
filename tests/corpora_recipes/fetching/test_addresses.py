"""Several addresses of a file: the next one if one fails, and what is said of it."""

from pathlib import Path

import pytest
from loopback import DATA, OTHER, Server, status, whole

from corpora_recipes.facts import Pin
from corpora_recipes.fetching import downloads, patience, session
from corpora_recipes.fetching.addresses import NotFound
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError

DEAD = "http://127.0.0.1:1/corpus.bin"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pin(tmp_path: Path) -> Pin:
    path = tmp_path / "right"
    path.write_bytes(DATA)
    return Pin(sha256=sha256_of(path))


@pytest.mark.parametrize("first", [status(404), status(403), status(503), whole(OTHER)])
def test_the_second_address_is_tried(
    server: Server, tmp_path: Path, pin: Pin, first, capsys: pytest.CaptureFixture[str]
) -> None:
    second = server.url.replace("corpus", "mirror")

    def answer(handler) -> None:
        (whole() if "mirror" in handler.path else first)(handler)

    server.script = [answer]
    got = downloads.download([server.url, second], tmp_path / "a.bin", pin=pin)
    assert (got.url, got.sha256) == (second, pin.sha256)
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert f"; trying {second}" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.part*"))


def test_a_dead_first_address(server: Server, tmp_path: Path) -> None:
    server.script = [whole()]
    assert downloads.download([DEAD, server.url], tmp_path / "a.bin").url == server.url


def test_if_none_works_each_is_named(server: Server, tmp_path: Path, pin: Pin) -> None:
    server.script = [status(403)]
    with pytest.raises(InputError) as error:
        downloads.download([server.url, DEAD], tmp_path / "a.bin", pin=pin)
    assert error.value.where == server.url
    assert f"{server.url}: the server answers 403" in error.value.found
    assert f"{DEAD}: " in error.value.found
    assert session.CONTACT in error.value.todo
    assert not isinstance(error.value, NotFound)


def test_a_file_that_no_server_has(server: Server, tmp_path: Path) -> None:
    server.script = [status(404), status(410)]
    with pytest.raises(NotFound):
        downloads.download([server.url, server.url + "2"], tmp_path / "a.bin")
