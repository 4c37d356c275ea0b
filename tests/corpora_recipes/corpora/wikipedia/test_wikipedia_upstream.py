"""Dates, sums and mirrors of the dump servers (wikipedia/plan.py and wikipedia/editions.py)."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dump_writer import write_dump
from loopback import RangeServer
from recipe_reading import recipe_corpus, refused
from test_wikipedia_exports import write_export
from test_wikipedia_partial import TEXTS, names
from test_wikipedia_partial import in_an_empty_folder as in_an_empty_folder

from corpora_recipes.corpora.wikipedia import recipe
from corpora_recipes.corpora.wikipedia.editions import folder_of
from corpora_recipes.fetching import sources
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

DATES = ("20260601", "20260701", "20260801")


def files_of(date: str) -> list[str]:
    name = f"eswiki-{date}-pages-articles-multistream"
    return [f"{name}.xml.bz2", f"{name}-index.txt.bz2"]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dump(
        tmp_path_factory.mktemp("made") / files_of("20260701")[0], TEXTS[:200], per_stream=5
    )


@pytest.fixture
def server(dump: Path) -> Iterator[RangeServer]:
    server = RangeServer({})
    for date in DATES:
        add_date(server, dump, date, "in-progress" if date == DATES[-1] else "done")
    yield server
    server.close()


def add_date(server: RangeServer, dump: Path, date: str, status: str, **wrong: Any) -> None:
    """Add a date of a dump to a server, in its layout."""
    parts = (dump, dump.with_name(files_of("20260701")[1]))
    described = {}
    for name, path in zip(files_of(date), parts, strict=True):
        data = path.read_bytes()
        server.files[f"/eswiki/{date}/{name}"] = data
        described[name] = {
            "size": len(data),
            "url": f"/eswiki/{date}/{name}",
            "md5": hashlib.md5(data).hexdigest(),
            "sha1": hashlib.sha1(data).hexdigest(),
            **wrong,
        }
    files = described if status == "done" else {}
    jobs = {"articlesmultistreamdump": {"status": status, "files": files}}
    server.files[f"/eswiki/{date}/dumpstatus.json"] = json.dumps({"jobs": jobs}).encode()
    list_dates(server, "/eswiki/")


def list_dates(server: RangeServer, folder: str) -> None:
    """Write the page of a folder that links to the folders in it."""
    paths = [path for path in server.files if path.startswith(folder) and path != folder]
    dates = sorted({path.split("/")[folder.count("/")] for path in paths})
    links = "".join(f'<a href="{d}/">{d}/</a>  01-Aug-2026 10:00  -\n' for d in dates)
    page = f'<html><head><title>Index</title></head><body>\n<a href="../">../</a>\n{links}'
    server.files[folder] = f'{page}<a href="latest/">latest/</a></body></html>'.encode()


def corpus(*servers: RangeServer, **options: Any) -> Corpus:
    exports = [f"{server.url}/exports/" for server in servers]
    what = recipe_corpus("wikipedia", special={"exports": exports}, **options)
    path = "{language}wiki/{date}/"
    here = tuple(
        replace(s, urls=tuple(f"{server.url}/{path}{s.file}" for server in servers))
        for s in what.facts.sources
    )
    return replace(what, facts=replace(what.facts, sources=here))


def lock() -> dict[str, dict[str, Any]]:
    return dict(json.loads(Path("sources.lock").read_text("utf-8")))


def test_latest_is_the_newest_finished_date_and_stays_it(server: RangeServer, dump: Path) -> None:
    what = corpus(server)
    sources.fetch(what, "upstream", Path("raw"))
    assert names(Path("raw")) == sorted([".fetched.json", *files_of("20260701")])
    assert Path("raw", files_of("20260701")[0]).read_bytes() == dump.read_bytes()
    latest = f"{server.url}/eswiki/latest/"
    dated = [f"{server.url}/eswiki/20260701/{name}" for name in files_of("20260701")]
    assert lock().keys() == {latest, *dated}
    assert lock()[latest] == lock()[dated[0]]
    assert lock()[latest]["sha1"] == hashlib.sha1(dump.read_bytes()).hexdigest()
    # A newer dump appears: the lock keeps the old one, and nothing is asked.
    add_date(server, dump, "20260801", "done")
    server.requests.clear()
    sources.fetch(what, "upstream", Path("raw"))
    assert server.requests == []
    Path("sources.lock").write_text(json.dumps({k: v for k, v in lock().items() if k != latest}))
    sources.fetch(what, "upstream", Path("raw"))
    assert names(Path("raw")) == sorted([".fetched.json", *files_of("20260801")])


def test_doctor_says_of_which_date_the_newest_dump_is(server: RangeServer, dump: Path) -> None:
    (found,) = recipe.examine(corpus(server))
    assert (found.what, found.fault) == (files_of("20260701")[0], "")
    size = f"{dump.stat().st_size:,} bytes"
    assert found.note == f"the newest finished dump is of 20260701, {size}"
    assert not Path("sources.lock").exists()
    assert list(recipe.examine(corpus(server, date="20260601"))) == []


def test_a_part_of_the_latest_dump(server: RangeServer) -> None:
    what = corpus(server, partial=True, documents=20)
    sources.fetch(what, "upstream", Path("raw"))
    name, index = files_of("20260701")
    tops = {path.split("/")[0] for path in names(Path("raw"))}
    assert tops == {".fetched.json", index, f"{name}.parts"}
    url = f"/eswiki/20260701/{name}"
    assert 0 < server.sent[url] < len(server.files[url])
    server.requests.clear()
    sources.fetch(what, "upstream", Path("raw"))
    assert server.requests == []


def test_another_server_is_asked_for_the_date_and_the_files(server: RangeServer) -> None:
    dead = RangeServer({})
    try:
        sources.fetch(corpus(dead, server), "upstream", Path("raw"))
        assert names(Path("raw")) == sorted([".fetched.json", *files_of("20260701")])
        some = corpus(dead, server, partial=True, documents=20)
        Path("sources.lock").unlink()
        sources.fetch(some, "upstream", Path("part"))
        assert recipe.blocks(Path("part"), some)
    finally:
        dead.close()


@pytest.mark.parametrize("wrong", [{"sha1": "0" * 40}, {"size": 5}])
def test_a_dump_that_is_not_what_its_status_says(
    server: RangeServer, dump: Path, wrong: dict[str, Any]
) -> None:
    add_date(server, dump, "20260801", "done", **wrong)
    with pytest.raises(InputError, match="20260801"):
        sources.fetch(corpus(server), "upstream", Path("raw"))
    assert not list(Path("raw").glob("*.bz2"))


def test_a_date_without_a_finished_dump(server: RangeServer) -> None:
    with refused(
        f"{server.url}/eswiki/20260801/dumpstatus.json",
        "a finished dump of 20260801",
        "articlesmultistreamdump in-progress",
    ):
        sources.fetch(corpus(server, date="20260801"), "upstream", Path("raw"))
    for date in DATES[:2]:
        del server.files[f"/eswiki/{date}/dumpstatus.json"]
    with pytest.raises(InputError, match="20260801: articlesmultistreamdump in-progress; 20260701"):
        sources.fetch(corpus(server), "upstream", Path("raw"))


def test_a_date_that_is_gone(server: RangeServer) -> None:
    with refused(
        "params.yaml: corpora.wikipedia.corpus.date",
        "20260601, 20260701, 20260801",
        "kept for some months",
    ):
        sources.fetch(corpus(server, date="20251001"), "upstream", Path("raw"))
    # It was there when it was locked.
    sources.fetch(corpus(server), "upstream", Path("raw"))
    for path in [path for path in server.files if "20260701" in path]:
        del server.files[path]
    list_dates(server, "/eswiki/")
    with refused("", "20260601, 20260801", "remove its entry"):
        sources.fetch(corpus(server), "upstream", Path("other"))


def test_parts_of_a_large_dump_are_joined_by_another_job(server: RangeServer, dump: Path) -> None:
    path = "/eswiki/20260701/dumpstatus.json"
    jobs = json.loads(server.files[path])["jobs"]
    jobs["articlesmultistreamdumprecombine"] = jobs["articlesmultistreamdump"]
    jobs["articlesmultistreamdump"] = {"status": "done", "files": {"eswiki-part1.bz2": {}}}
    server.files[path] = json.dumps({"jobs": jobs}).encode()
    sources.fetch(corpus(server, date="20260701"), "upstream", Path("raw"))
    assert Path("raw", files_of("20260701")[0]).is_file()


def test_a_status_that_is_none(server: RangeServer) -> None:
    for text in (b"[]", b"{}", b'{"jobs": 3}', b"not json"):
        server.files["/eswiki/20260701/dumpstatus.json"] = text
        with pytest.raises(InputError, match=r"dumpstatus\.json"):
            sources.fetch(corpus(server, date="20260701"), "upstream", Path("raw"))


def exported(server: RangeServer, tmp_path: Path, *dates: str) -> None:
    """Add content exports to a server."""
    for date in dates:
        folder = write_export(tmp_path / "made", date)
        for path in folder.iterdir():
            server.files[f"/exports/{folder_of('eswiki', date)}/{path.name}"] = path.read_bytes()
    list_dates(server, "/exports/eswiki/")


def test_an_export_is_fetched_whole_and_once(server: RangeServer, tmp_path: Path) -> None:
    exported(server, tmp_path, "20260701", "20260801", "20260901")
    del server.files[f"/exports/{folder_of('eswiki', '20260901')}/_SUCCESS"]
    what = corpus(server, export="content_current")
    sources.fetch(what, "upstream", Path("raw"))
    folder = folder_of("eswiki", "20260801")
    shards = [f"eswiki-2026-08-01-p{ids}.xml.bz2" for ids in ("301p899", "5p300", "900p1020")]
    fetched = [f"{folder}/{name}" for name in ("SHA256SUMS", "_SUCCESS", *shards)]
    assert names(Path("raw")) == [".fetched.json", *fetched]
    assert len(recipe.blocks(Path("raw"), what)) == 3
    server.requests.clear()
    sources.fetch(what, "upstream", Path("raw"))
    assert server.requests == []
    assert lock()[f"{server.url}/exports/eswiki/latest/"]["file"] == folder


@pytest.mark.parametrize(
    ("spoilt", "content", "message"),
    [
        ("_SUCCESS", None, "a complete export"),
        ("SHA256SUMS", None, "404"),
        ("eswiki-2026-08-01-p301p899.xml.bz2", None, "404"),
        ("eswiki-2026-08-01-p301p899.xml.bz2", b"BZh9 other", "SHA-256"),
        ("SHA256SUMS", b"no sums", "line 1"),
    ],
)
def test_an_export_that_is_not_whole(
    server: RangeServer, tmp_path: Path, spoilt: str, content: bytes | None, message: str
) -> None:
    exported(server, tmp_path, "20260801")
    path = f"/exports/{folder_of('eswiki', '20260801')}/{spoilt}"
    if content is None:
        del server.files[path]
    else:
        server.files[path] = content
    what = corpus(server, export="content_current", date="20260801")
    with pytest.raises(InputError, match=message):
        sources.fetch(what, "upstream", Path("raw"))
    assert not list(Path("raw").rglob("_SUCCESS"))


def test_an_export_of_a_date_that_is_gone_and_none_at_all(
    server: RangeServer, tmp_path: Path
) -> None:
    exported(server, tmp_path, "20260801")
    what = corpus(server, export="content_current", date="20260101")
    with pytest.raises(InputError, match="a date that the server has: 20260801"):
        sources.fetch(what, "upstream", Path("raw"))
    del server.files[f"/exports/{folder_of('eswiki', '20260801')}/_SUCCESS"]
    with pytest.raises(InputError, match="an export with _SUCCESS"):
        sources.fetch(corpus(server, export="content_current"), "upstream", Path("raw"))
