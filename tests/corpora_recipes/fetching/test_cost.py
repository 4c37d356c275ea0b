"""What a download costs is said before it, and a disk that is too small is an error."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import RangeServer

from corpora_recipes.facts import Source
from corpora_recipes.fetching import downloads
from corpora_recipes.fetching.downloads import (
    fetch_whole,
    free_at,
    in_words,
    sizes_in_words,
    tell_time_left,
)
from corpora_recipes.running.errors import InputError


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RangeServer]:
    monkeypatch.chdir(tmp_path)
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
    tell_time_left(600_000_000, 1_800_000_000, 1.0)  # too short to tell
    assert capsys.readouterr().err == ""
    tell_time_left(1_200_000_000, 1_200_000_000, 20.0)
    assert capsys.readouterr().err == "1.2 GB left, at 60.0 MB a second: 20 s\n"
    tell_time_left(1_800_000_000, 600_000_000, 600.0)
    assert capsys.readouterr().err == "600.0 MB left, at 3.0 MB a second: 3 min\n"


def test_sizes_in_words(tmp_path: Path) -> None:
    assert [in_words(size) for size in (0, 999, 1500, 7_038_263_862, 2_000_000_000_000)] == [
        "0 bytes",
        "999 bytes",
        "1.5 kB",
        "7.0 GB",
        "2,000.0 GB",
    ]
    assert sizes_in_words([]) == "0 bytes"
    assert sizes_in_words([None]) == "1 file of unknown size"
    assert sizes_in_words([5, None, None]) == "5 bytes and 2 files of unknown size"
    assert free_at(tmp_path / "not" / "there") > 0
