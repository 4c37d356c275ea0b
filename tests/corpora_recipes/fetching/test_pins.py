"""What a fetch notes: the manifest of its folder, and sources.lock; what a file cannot be."""

import bz2
import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import (
    MANIFEST,
    Fetched,
    check_complete,
    read_fetched,
    read_lock,
    write_fetched,
    wrong_kind,
)
from corpora_recipes.reading import read
from corpora_recipes.running.errors import InputError


def test_what_a_killed_fetch_left_is_not_read(tmp_path: Path, make_corpus, monkeypatch) -> None:
    raw, mirror = tmp_path / "raw", tmp_path / "mirror"
    mirror.mkdir()
    for name in "abc":
        line = {"id": name, "paragraphs": [f"Esta es la frase de {name}, y no hay otra."]}
        (mirror / f"{name}.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    corpus = make_corpus(options={"path": str(mirror)})
    link = sources._link

    def killed_at_b(path: Path, target: Path) -> None:
        if target.name == "b.jsonl":
            raise KeyboardInterrupt
        link(path, target)

    monkeypatch.setattr(sources, "_link", killed_at_b)
    with pytest.raises(KeyboardInterrupt):
        sources.fetch(corpus, "sample", raw)
    with pytest.raises(InputError) as caught:
        read(corpus, raw, tmp_path / "out.parquet", workers=1, executor="local")
    assert caught.value.found == "a fetch that has not ended; missing: b.jsonl, c.jsonl"
    assert "run `probeta fetch --only mine`" in caught.value.todo
    assert not (tmp_path / "out.parquet").exists()
    monkeypatch.undo()
    sources.fetch(corpus, "sample", raw)
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
def test_an_edited_lock_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: object
) -> None:
    monkeypatch.chdir(tmp_path)
    entry = {"date": "2026-01-01", "file": "a", "size": size}
    Path("sources.lock").write_text(json.dumps({"http://a": entry}), "utf-8")
    with pytest.raises(InputError, match=r"JSON that fetch wrote\n.*size"):
        read_lock()


def packed() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", Random(1).randbytes(500))
    return data.getvalue()


RIGHT = {
    "a.zip": packed(),
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


WRITER = """
import sys
from corpora_recipes.fetching.downloads import Locked, add_to_lock

name = sys.argv[1]
print("ready", flush=True)
input()
for number in range(20):
    add_to_lock(f"http://{name}/{number}", Locked("2026-01-01", "a", 1, sha256="0a"))
"""


def test_no_entry_of_two_processes_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(read_lock()) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["sources.lock"]
