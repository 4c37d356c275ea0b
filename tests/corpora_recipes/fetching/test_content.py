"""What a file cannot be, by its name."""

import bz2
import gzip
import io
import zipfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.fetching.pins import wrong_kind


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
