"""Tests of corpora_recipes/wikipedia/editions.py: a quota from a part of a remote dump."""

import bz2
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from dump_writer import write_dump
from loopback import RangeServer, break_off, refuse
from recipe_reading import recipe_corpus, refused

from corpora_recipes.corpora.wikipedia import editions
from corpora_recipes.corpora.wikipedia.plan import find_dump, list_blocks
from corpora_recipes.fetching import patience, sources
from corpora_recipes.fetching.ranges import parts_folder
from corpora_recipes.reading import read
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

NAME = "eswiki-20260101-pages-articles-multistream.xml.bz2"
INDEX = NAME.replace(".xml.bz2", "-index.txt.bz2")
DUMP_PATH, INDEX_PATH = f"/eswiki/20260101/{NAME}", f"/eswiki/20260101/{INDEX}"
# Two streams in five hold redirects and other pages that no quota counts.
TEXTS = [
    (
        f"Lago {i}",
        "#REDIRECCIÓN [[Lago 1]]"
        if i // 5 % 5 < 2
        else f"El lago {i} es pequeño y está lejos. Nadie sabe por qué se llama así.",
    )
    for i in range(800)
]
PER_STREAM = 5
PER_BLOCK = 4 * PER_STREAM


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("server") / NAME
    return write_dump(path, TEXTS, per_stream=PER_STREAM)


@pytest.fixture
def server(dump: Path) -> Iterator[RangeServer]:
    index = dump.with_name(INDEX)
    server = RangeServer({DUMP_PATH: dump.read_bytes(), INDEX_PATH: index.read_bytes()})
    yield server
    server.close()


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)


def corpus(server: RangeServer, documents: int | None, **options: Any) -> Corpus:
    options = {"date": "20260101", "partial": True} | options
    what = recipe_corpus("wikipedia", documents=documents, **options)
    path = f"{server.url}/{{language}}wiki/{{date}}/"
    here = tuple(replace(s, urls=(path + s.file,)) for s in what.facts.sources)
    return replace(what, facts=replace(what.facts, sources=here))


def records(raw: Path, what: Corpus, out: Path) -> bytes:
    read(what, raw, out, workers=1, executor="local")
    return out.read_bytes() + out.with_suffix(".json").read_bytes()


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("documents", [1, 120, 2000])
def test_records_of_a_part_are_those_of_the_whole_dump(server, tmp_path, documents: int) -> None:
    some = corpus(server, documents)
    sources.fetch(some, "upstream", Path("part"))
    assert not Path("part", NAME).exists()
    sources.fetch(corpus(server, documents, partial=False), "upstream", Path("whole"))
    assert names(Path("whole")) == [".fetched.json", INDEX, NAME]
    expected = records(Path("whole"), some, tmp_path / "whole.parquet")
    assert pq.read_metadata(tmp_path / "whole.parquet").num_rows == min(documents, 480)
    assert records(Path("part"), some, tmp_path / "part.parquet") == expected


def test_bytes_fetched_are_those_of_the_streams_used_and_two_blocks(server, tmp_path) -> None:
    some = corpus(server, 120)
    sources.fetch(some, "upstream", Path("part"))
    records(Path("part"), some, tmp_path / "part.parquet")
    report = json.loads((tmp_path / "part.json").read_text("utf-8"))
    used = report["documents"]["seen"] / PER_BLOCK
    assert used >= 10
    folder = parts_folder(Path("part", NAME))
    sizes = sorted(p.stat().st_size for p in folder.iterdir() if p.name != "manifest.json")
    # The header is one of them.
    assert len(sizes) <= 1 + used + editions.LOOK_AHEAD
    assert server.sent[DUMP_PATH] == sum(sizes)
    assert server.sent[DUMP_PATH] <= 1.5 * used * sum(sizes) / len(sizes)
    assert server.most <= 2
    ranges = server.asked(DUMP_PATH)
    assert len(set(ranges)) == len(ranges) == len(sizes)


def test_a_larger_quota_fetches_only_what_is_new(server: RangeServer, tmp_path: Path) -> None:
    sources.fetch(corpus(server, 120), "upstream", Path("part"))
    before = set(server.asked(DUMP_PATH))
    assert server.sent[INDEX_PATH] == len(server.files[INDEX_PATH])
    server.requests.clear()
    server.sent.clear()
    sources.fetch(corpus(server, 120), "upstream", Path("part"))
    sources.fetch(corpus(server, 40), "upstream", Path("part"))
    assert server.requests == []
    more = corpus(server, 200)
    with refused("", "probeta fetch", "no such file"):
        records(Path("part"), more, tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()
    sources.fetch(more, "upstream", Path("part"))
    assert not before & set(server.asked(DUMP_PATH))
    assert 0 < server.sent[DUMP_PATH] < len(server.files[DUMP_PATH]) / 3
    assert server.sent[INDEX_PATH] == 0
    records(Path("part"), more, tmp_path / "x.parquet")


def test_an_interrupted_fetch_goes_on(server: RangeServer, tmp_path: Path) -> None:
    some = corpus(server, 120)
    answers = [lambda handler: False] * 6 + [refuse(404)]
    server.faults[DUMP_PATH] = list(answers)
    with pytest.raises(InputError, match="404"):
        sources.fetch(some, "upstream", Path("part"))
    kept = len(names(Path("part")))
    assert 5 <= kept <= 11
    torn = max(parts_folder(Path("part", NAME)).glob("0*"))
    torn.write_bytes(b"torn")
    with pytest.raises(InputError, match=f"a fetch that has not ended; missing: {NAME}"):
        records(Path("part"), some, tmp_path / "x.parquet")
    server.faults[DUMP_PATH] = [break_off(100), refuse(503), break_off(7)]
    sources.fetch(some, "upstream", Path("part"))
    records(Path("part"), some, tmp_path / "x.parquet")
    torn.write_bytes(b"torn")
    with pytest.raises(InputError, match="4 bytes"):
        records(Path("part"), some, tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("lacks", "documents", "why"),
    [
        ("ranges", 120, "the server does not support ranges of files"),
        ("version", 120, "the server does not state the file's version"),
        ("index", 120, f"the server has no {INDEX}"),
        ("", None, "corpora.wikipedia.corpus.documents asks for all"),
    ],
)
def test_else_the_whole_dump_and_a_message(
    server, tmp_path, capsys, lacks: str, documents: int | None, why: str
) -> None:
    size = len(server.files[DUMP_PATH])
    server.ranges = lacks != "ranges"
    server.etag = None if lacks == "version" else server.etag
    if lacks == "index":
        del server.files[INDEX_PATH]
    some = corpus(server, documents)
    sources.fetch(some, "upstream", Path("raw"))
    assert f"fetching the whole of {NAME}, {size:,} bytes: {why}" in capsys.readouterr().err
    assert Path("raw", NAME).read_bytes() == server.files[DUMP_PATH]
    files = [NAME] if lacks == "index" else [INDEX, NAME]
    assert names(Path("raw")) == [".fetched.json", *files]
    lock = json.loads(Path("sources.lock").read_text("utf-8"))
    assert {entry["file"] for entry in lock.values()} == set(files)
    records(Path("raw"), some, tmp_path / "x.parquet")
    # The next run finds it there.
    server.sent.clear()
    sources.fetch(some, "upstream", Path("raw"))
    assert not server.sent
    assert capsys.readouterr().err == ""


def test_a_dump_that_is_not_there(server: RangeServer) -> None:
    del server.files[DUMP_PATH]
    with refused(server.url + DUMP_PATH, "404"):
        sources.fetch(corpus(server, 120), "upstream", Path("raw"))


def test_parts_go_when_the_whole_dump_comes(server: RangeServer) -> None:
    some = corpus(server, 120)
    sources.fetch(some, "upstream", Path("raw"))
    assert parts_folder(Path("raw", NAME)).is_dir()
    sources.fetch(corpus(server, 120, partial=False), "upstream", Path("raw"))
    assert names(Path("raw")) == [".fetched.json", INDEX, NAME]
    # The whole dump serves any quota.
    server.requests.clear()
    sources.fetch(some, "upstream", Path("raw"))
    assert server.requests == []


def test_an_index_that_does_not_fit_is_an_error(server: RangeServer) -> None:
    good = bz2.decompress(server.files[INDEX_PATH])
    first = good.partition(b":")[0] + b":"
    server.files[INDEX_PATH] = bz2.compress(good.replace(first, b"0:"))
    with pytest.raises(InputError, match="right after the dump's header"):
        sources.fetch(corpus(server, 480), "upstream", Path("raw"))


def test_parts_without_their_index(server: RangeServer) -> None:
    some = corpus(server, 120)
    sources.fetch(some, "upstream", Path("raw"))
    Path("raw", INDEX).unlink()
    with pytest.raises(InputError, match="index"):
        list_blocks(find_dump(Path("raw"), "es"))
    sources.fetch(some, "upstream", Path("raw"))
    assert list_blocks(find_dump(Path("raw"), "es"))
