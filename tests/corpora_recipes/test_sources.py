"""Fetching: downloads against a real server that misbehaves, mirrors, samples and archives."""

import hashlib
import io
import json
import os
import stat
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpora_recipes import sources
from corpora_recipes.errors import InputError
from corpora_recipes.recipes import Corpus

DATA = bytes(range(256)) * 1000
SHA = hashlib.sha256(DATA).hexdigest()
OTHER = bytes(reversed(range(256))) * 1000


class Server:
    """A server on loopback; ``script`` has one answer for each request, the last one repeats."""

    def __init__(self) -> None:
        self.script: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.requests.append((self.path, dict(self.headers)))
                step = min(len(owner.requests), len(owner.script)) - 1
                owner.script[step](self)
                self.close_connection = True

            def log_message(self, *args: Any) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/corpus.zip"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def header(self, name: str) -> list[str | None]:
        return [headers.get(name) for _, headers in self.requests]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.httpd.shutdown()
    server.httpd.server_close()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)


def whole(
    data: bytes = DATA,
    *,
    etag: str | None = '"one"',
    ranges: bool = True,
    stop: int | None = None,
    length: int | None = None,
) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with the file: from the range that is asked, breaking off after ``stop`` bytes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        start = 0
        asked = handler.headers.get("Range")
        if asked and ranges and handler.headers.get("If-Range") == etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                handler.send_response(416)
                handler.send_header("Content-Range", f"bytes */{len(data)}")
                handler.end_headers()
                return
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            handler.send_response(200)
        if etag:
            handler.send_header("ETag", etag)
        handler.send_header("Content-Length", str(length or len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start:][:stop])

    return answer


def status(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def corpus(entries: list[dict[str, Any]], recipe: str = "fake", **options: Any) -> Corpus:
    facts = {"sources": entries, "manual": "Ask for it at\nhttps://example.org/form."}
    return Corpus("mine", recipe, "es", None, 1, options, {}, facts)


@pytest.fixture(autouse=True)
def fake_recipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make a recipe "fake" without hooks, with a sample of two files."""
    folder = tmp_path / "recipes" / "fake"
    (folder / "sample" / "sub").mkdir(parents=True)
    (folder / "sample" / "a.txt").write_text("a", "utf-8")
    (folder / "sample" / "sub" / "b.txt").write_text("b", "utf-8")
    monkeypatch.setattr(sources, "RECIPES", tmp_path / "recipes")
    monkeypatch.setattr(sources, "load_recipe", lambda name: SimpleNamespace())
    return folder


def listing(folder: Path) -> list[str]:
    return sorted(
        p.relative_to(folder).as_posix()
        for p in folder.rglob("*")
        if p.is_file() and p.name != sources.MANIFEST
    )


class TestDownload:
    def test_whole_file(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        target = tmp_path / "new" / "corpus.zip"
        assert sources.download(server.url, target) == (SHA, len(DATA))
        assert target.read_bytes() == DATA
        assert listing(tmp_path / "new") == ["corpus.zip"]
        assert server.header("User-Agent") == [sources.USER_AGENT]
        assert server.header("Accept-Encoding") == ["identity"]

    def test_right_file_is_not_downloaded_again(self, server: Server, tmp_path: Path) -> None:
        target = tmp_path / "corpus.zip"
        target.write_bytes(DATA)
        assert sources.download(server.url, target, sha256=SHA) == (SHA, len(DATA))
        assert server.requests == []

    def test_damaged_file_is_downloaded_again(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        target = tmp_path / "corpus.zip"
        target.write_bytes(DATA[:-1])
        sources.download(server.url, target, sha256=SHA)
        assert target.read_bytes() == DATA

    def test_break_is_resumed(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole(stop=1000), whole(stop=5000), whole()]
        target = tmp_path / "corpus.zip"
        assert sources.download(server.url, target) == (SHA, len(DATA))
        assert server.header("Range") == [None, "bytes=1000-", "bytes=6000-"]
        assert server.header("If-Range") == [None, '"one"', '"one"']
        assert target.read_bytes() == DATA

    def test_many_breaks_are_borne_while_bytes_come(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole(stop=len(DATA) // 10)]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert len(server.requests) == 10 > sources.ATTEMPTS

    def test_next_run_resumes(self, server: Server, tmp_path: Path) -> None:
        target = tmp_path / "corpus.zip"
        server.script = [whole(stop=1000), whole(stop=0)]
        with pytest.raises(InputError, match="1000 bytes, then"):
            sources.download(server.url, target)
        assert listing(tmp_path / "recipes") == ["fake/sample/a.txt", "fake/sample/sub/b.txt"]
        assert not target.exists()
        assert (tmp_path / "corpus.zip.part").stat().st_size == 1000
        server.requests.clear()
        server.script = [whole()]
        sources.download(server.url, target, sha256=SHA)
        assert server.header("Range") == ["bytes=1000-"]

    def test_complete_part_of_a_killed_run_is_used(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        (tmp_path / "corpus.zip.part").write_bytes(DATA)
        (tmp_path / "corpus.zip.part.json").write_text(
            json.dumps({"url": server.url, "validator": '"one"'}), "utf-8"
        )
        assert sources.download(server.url, tmp_path / "corpus.zip") == (SHA, len(DATA))
        assert server.header("Range") == [f"bytes={len(DATA)}-"]

    def test_part_of_another_url_is_not_used(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        (tmp_path / "corpus.zip.part").write_bytes(b"other")
        (tmp_path / "corpus.zip.part.json").write_text(
            json.dumps({"url": "http://127.0.0.1/other", "validator": '"one"'}), "utf-8"
        )
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert server.header("Range") == [None]

    def test_changed_etag_starts_over(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole(OTHER, stop=1000), whole(DATA, etag='"two"')]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert server.header("Range") == [None, "bytes=1000-"]

    def test_ignored_range_starts_over(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole(stop=1000), whole(ranges=False)]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)

    @pytest.mark.parametrize("etag", [None, 'W/"weak"'])
    def test_no_strong_validator_starts_over(
        self, server: Server, tmp_path: Path, etag: str | None
    ) -> None:
        server.script = [whole(stop=1000, etag=etag), whole(etag=etag)]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert server.header("Range") == [None, None]

    def test_last_modified_validates_too(self, server: Server, tmp_path: Path) -> None:
        date = "Wed, 21 Oct 2026 07:28:00 GMT"

        def dated(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Last-Modified", date)
            handler.send_header("Content-Length", str(len(DATA)))
            handler.end_headers()
            handler.wfile.write(DATA[:1000])

        server.script = [dated, whole(etag=date)]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert server.header("If-Range") == [None, date]

    def test_wrong_range_starts_over(self, server: Server, tmp_path: Path) -> None:
        def shifted(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes 7-{len(DATA) - 1}/{len(DATA)}")
            handler.send_header("Content-Length", str(len(DATA) - 7))
            handler.end_headers()
            handler.wfile.write(DATA[7:])

        server.script = [whole(stop=1000), shifted, whole()]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert server.header("Range") == [None, "bytes=1000-", None]

    def test_length_that_lies_is_an_error(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole(ranges=False, length=len(DATA) + 10)]
        with pytest.raises(InputError, match="attempts without progress"):
            sources.download(server.url, tmp_path / "corpus.zip")
        assert len(server.requests) == sources.ATTEMPTS
        assert not (tmp_path / "corpus.zip").exists()

    def test_404_is_an_error_at_once(self, server: Server, tmp_path: Path) -> None:
        server.script = [status(404)]
        with pytest.raises(InputError, match="404 Not Found"):
            sources.download(server.url, tmp_path / "corpus.zip")
        assert len(server.requests) == 1

    def test_503_then_file(self, server: Server, tmp_path: Path) -> None:
        server.script = [status(503), status(500), whole()]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert len(server.requests) == 3

    def test_503_for_ever(self, server: Server, tmp_path: Path) -> None:
        server.script = [status(503)]
        with pytest.raises(InputError, match="503 Service Unavailable"):
            sources.download(server.url, tmp_path / "corpus.zip")
        assert len(server.requests) == sources.ATTEMPTS

    def test_retry_after_is_honoured_and_bounded(
        self, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits: list[float] = []
        monkeypatch.setattr("urllib3.util.retry.time.sleep", waits.append)
        server.script = [status(429, Retry_After="7"), status(503, Retry_After="86400"), whole()]
        sources.download(server.url, tmp_path / "corpus.zip", sha256=SHA)
        assert waits == [7, sources.LONGEST_WAIT]

    def test_no_server(self, server: Server, tmp_path: Path) -> None:
        server.httpd.shutdown()
        server.httpd.server_close()
        with pytest.raises(InputError, match="an answer of the server"):
            sources.download(server.url, tmp_path / "corpus.zip")

    def test_wrong_bytes(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole(OTHER)]
        with pytest.raises(InputError) as error:
            sources.download(server.url, tmp_path / "x" / "corpus.zip", sha256=SHA)
        assert SHA in error.value.expected
        assert hashlib.sha256(OTHER).hexdigest() in error.value.found
        assert listing(tmp_path / "x") == []

    def test_too_large_stops_early(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        with pytest.raises(InputError, match="10 bytes"):
            sources.download(server.url, tmp_path / "x" / "corpus.zip", size=10)
        assert listing(tmp_path / "x") == []

    def test_failed_check_leaves_nothing(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]

        def refuse(path: Path) -> None:
            raise InputError(path, expected="x", found="y", todo="z")

        with pytest.raises(InputError):
            sources.download(server.url, tmp_path / "x" / "corpus.zip", check=refuse)
        assert listing(tmp_path / "x") == []


class TestUpstream:
    def entries(self, server: Server, **more: Any) -> list[dict[str, Any]]:
        url = server.url.replace("corpus.zip", "{language}-{date}.zip")
        return [{"file": "raw/{language}-{date}.zip", "url": url, **more}]

    def test_names_are_filled_in(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        sources.fetch(corpus(self.entries(server), date="latest"), "upstream", tmp_path / "out")
        assert server.requests[0][0] == "/es-latest.zip"
        assert listing(tmp_path / "out") == ["raw/es-latest.zip"]

    def test_lock(self, server: Server, tmp_path: Path) -> None:
        mine = corpus(self.entries(server), date=20260101)
        server.script = [whole()]
        sources.fetch(mine, "upstream", tmp_path / "out")
        lock = json.loads((tmp_path / "sources.lock").read_text("utf-8"))
        (entry,) = lock.values()
        assert entry["sha256"] == SHA
        assert entry["size"] == len(DATA)
        assert entry["file"] == "raw/es-20260101.zip"
        assert list(lock) == [server.url.replace("corpus", "es-20260101")]
        # The same again: nothing to do. Elsewhere: downloaded, and held to the lock.
        sources.fetch(mine, "upstream", tmp_path / "out")
        assert len(server.requests) == 1
        sources.fetch(mine, "upstream", tmp_path / "elsewhere")
        assert len(server.requests) == 2
        server.script = [whole(OTHER)]
        with pytest.raises(InputError, match=r"remove its entry from sources\.lock"):
            sources.fetch(mine, "upstream", tmp_path / "third")
        assert listing(tmp_path / "third") == []
        (tmp_path / "sources.lock").write_text("{}", "utf-8")
        sources.fetch(mine, "upstream", tmp_path / "third")
        assert (tmp_path / "third" / "raw" / "es-20260101.zip").read_bytes() == OTHER

    def test_damaged_lock(self, server: Server, tmp_path: Path) -> None:
        (tmp_path / "sources.lock").write_text("<<<<<<< HEAD", "utf-8")
        with pytest.raises(InputError, match=r"sources\.lock"):
            sources.fetch(corpus(self.entries(server), date=1), "upstream", tmp_path / "out")
        assert server.requests == []

    def test_pinned_file_is_not_locked(self, server: Server, tmp_path: Path) -> None:
        server.script = [whole()]
        entries = self.entries(server, sha256=SHA, size=len(DATA))
        sources.fetch(corpus(entries, date=1), "upstream", tmp_path / "out")
        assert not (tmp_path / "sources.lock").exists()

    def test_corpus_that_must_be_asked_for(self, tmp_path: Path) -> None:
        entries = [{"file": "a.zip"}, {"pattern": "train/*.rs3"}]
        sources.fetch(corpus([]), "sample", tmp_path / "out")
        with pytest.raises(InputError) as error:
            sources.fetch(corpus(entries), "upstream", tmp_path / "out")
        assert error.value.found == "Ask for it at https://example.org/form."
        assert "put a.zip, train/*.rs3 into MIRROR/fake/" in error.value.todo
        assert listing(tmp_path / "out") == ["a.txt", "sub/b.txt"]

    def test_recipe_can_fetch_by_itself(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fetch_upstream(corpus: Corpus, out: Path) -> None:
            (out / "x.xml").write_text(corpus.name, "utf-8")

        recipe = SimpleNamespace(
            fetch_upstream=fetch_upstream, sources=lambda corpus: [{"pattern": "*.xml"}]
        )
        monkeypatch.setattr(sources, "load_recipe", lambda name: recipe)
        sources.fetch(corpus([]), "upstream", tmp_path / "out")
        assert listing(tmp_path / "out") == ["x.xml"]


class TestLocal:
    def test_sample(self, tmp_path: Path) -> None:
        sources.fetch(corpus([]), "sample", tmp_path / "out")
        assert listing(tmp_path / "out") == ["a.txt", "sub/b.txt"]

    def test_mirror(self, tmp_path: Path) -> None:
        mirror = tmp_path / "mirror" / "fake"
        for name in ("es.zip", "train/1.rs3", "train/2.rs3", "train/notes.txt"):
            (mirror / name).parent.mkdir(parents=True, exist_ok=True)
            (mirror / name).write_text(name, "utf-8")
        mine = corpus([{"file": "{language}.zip", "url": "x"}, {"pattern": "train/*.rs3"}])
        sources.fetch(mine, "mirror", tmp_path / "out")
        assert listing(tmp_path / "out") == ["es.zip", "train/1.rs3", "train/2.rs3"]
        assert (tmp_path / "out" / "es.zip").samefile(mirror / "es.zip")

    def test_copies_where_links_are_impossible(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(link: Path, target: Path) -> None:
            raise OSError(1, "Operation not permitted")

        monkeypatch.setattr(Path, "symlink_to", refuse)
        self.test_sample(tmp_path)
        (tmp_path / "mirror" / "fake").mkdir(parents=True)
        (tmp_path / "mirror" / "fake" / "a").write_text("a", "utf-8")
        sources.fetch(corpus([{"file": "a"}]), "mirror", tmp_path / "out")
        assert (tmp_path / "out" / "a").read_text("utf-8") == "a"
        assert not (tmp_path / "out" / "a").samefile(tmp_path / "mirror" / "fake" / "a")

    def test_mirror_latest_is_the_newest_date(self, tmp_path: Path) -> None:
        mirror = tmp_path / "mirror" / "fake"
        mirror.mkdir(parents=True)
        for name in ("w-20250101.bz2", "w-20260101.bz2", "w-2026.bz2", "v-20270101.bz2"):
            (mirror / name).write_text(name, "utf-8")
        mine = corpus([{"file": "w-{date}.bz2"}], date="latest")
        sources.fetch(mine, "mirror", tmp_path / "out")
        assert listing(tmp_path / "out") == ["w-20260101.bz2"]

    def test_mirror_latest_is_one_date_for_all_files(self, tmp_path: Path) -> None:
        mirror = tmp_path / "mirror" / "fake"
        mirror.mkdir(parents=True)
        for name in ("w-20250101.bz2", "w-20260101.bz2", "i-20250101.txt"):
            (mirror / name).write_text(name, "utf-8")
        mine = corpus([{"file": "w-{date}.bz2"}, {"file": "i-{date}.txt"}], date="latest")
        sources.fetch(mine, "mirror", tmp_path / "out")
        assert listing(tmp_path / "out") == ["i-20250101.txt", "w-20250101.bz2"]
        (mirror / "i-20250101.txt").unlink()
        with pytest.raises(InputError, match=r"mirror/fake/w-latest\.bz2"):
            sources.fetch(mine, "mirror", tmp_path / "out")

    @pytest.mark.parametrize("entry", [{"file": "a/b.zip", "url": "u"}, {"pattern": "a/*.zip"}])
    def test_mirror_without_file(self, tmp_path: Path, entry: dict[str, str]) -> None:
        (tmp_path / "mirror").mkdir()
        with pytest.raises(InputError) as error:
            sources.fetch(corpus([entry]), "mirror", tmp_path / "out")
        name = entry.get("file", "a/*.zip")
        assert error.value.where == f"mirror/fake/{name}"

    def test_a_mirror_may_lack_some_optional_groups_but_not_all(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        entries = [{"pattern": f"{host}/*.xml", "optional": True} for host in ("here", "there")]
        page = tmp_path / "mirror" / "fake" / "here" / "1.xml"
        page.parent.mkdir(parents=True)
        page.write_text("<a/>", "utf-8")
        sources.fetch(corpus(entries), "mirror", tmp_path / "out")
        assert listing(tmp_path / "out") == ["here/1.xml"]
        assert "there/*.xml" in capsys.readouterr().err
        page.unlink()
        with pytest.raises(InputError, match="no such file"):
            sources.fetch(corpus(entries), "mirror", tmp_path / "out")

    def test_no_mirror(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match='"sample", "upstream" or a folder'):
            sources.fetch(corpus([]), "smaple", tmp_path / "out")

    def test_own_path_wins(self, tmp_path: Path) -> None:
        patterns = [{"pattern": "*.jsonl"}, {"pattern": "*.parquet"}]
        for name in ("mine/d.jsonl", "mine/notes.txt", "mine/.git/x.jsonl", "mine/sub/e.jsonl"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("{}", "utf-8")
        for path in ("mine", "mine/d.jsonl"):
            for where in ("sample", "upstream", "mirror"):
                sources.fetch(corpus(patterns, path=path), where, tmp_path / "out")
                assert listing(tmp_path / "out") == ["d.jsonl"]
        for path, found in (
            ("nowhere", "no such file"),
            ("mine/notes.txt", "notes.txt"),
            ("recipes", "a folder without files"),
        ):
            with pytest.raises(InputError, match=found) as error:
                sources.fetch(corpus(patterns, path=path), "sample", tmp_path / "out")
            assert r"*.jsonl, *.parquet" in str(error.value)

    def test_a_file_that_is_replaced_is_noticed(self, tmp_path: Path) -> None:
        own = tmp_path / "d.jsonl"
        own.write_text("old", "utf-8")
        sources.fetch(corpus([{"pattern": "*.jsonl"}], path="d.jsonl"), "sample", tmp_path / "out")
        own.unlink()
        own.write_text("new", "utf-8")
        assert (tmp_path / "out" / "d.jsonl").read_text("utf-8") == "new"

    def test_without_a_path_the_sample_or_an_error(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sources.fetch(corpus([], path=None), "sample", tmp_path / "out")
        assert "corpora.mine.path is not set" in capsys.readouterr().err
        with pytest.raises(InputError, match=r"corpora\.mine\.path"):
            sources.fetch(corpus([], path=None), "upstream", tmp_path / "out")

    def test_another_source_replaces_the_files(self, tmp_path: Path) -> None:
        self.test_mirror(tmp_path)
        sources.fetch(corpus([]), "sample", tmp_path / "out")
        assert listing(tmp_path / "out") == ["a.txt", "sub/b.txt"]
        assert (tmp_path / "mirror" / "fake" / "es.zip").exists()

    def test_users_files_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.docx").write_text("my work", "utf-8")
        with pytest.raises(InputError, match=r"thesis\.docx"):
            sources.fetch(corpus([]), "sample", tmp_path / "out")
        assert listing(tmp_path / "out") == ["thesis.docx"]


def tar_of(path: Path, *members: tarfile.TarInfo | tuple[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def zip_of(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


GOOD = (("a/b.txt", b"b" * 100), ("c.txt", b""))
BAD_NAMES = ["/etc/passwd", "../up.txt", "a/../../up.txt", "C:\\x.txt", "..\\up.txt", "\\x"]


class TestUnpack:
    @pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "zip"])
    def test_good(self, tmp_path: Path, mode: str) -> None:
        path = tmp_path / "x"
        archive = zip_of(path, *GOOD) if mode == "zip" else tar_of(path, *GOOD, mode=mode)
        sources.unpack(archive, tmp_path / "to", 100)
        assert listing(tmp_path / "to") == ["a/b.txt", "c.txt"]
        assert (tmp_path / "to" / "a" / "b.txt").read_bytes() == b"b" * 100
        assert stat.S_IMODE((tmp_path / "to" / "c.txt").stat().st_mode) & 0o111 == 0

    @pytest.mark.parametrize("name", BAD_NAMES)
    @pytest.mark.parametrize("make", [zip_of, tar_of])
    def test_bad_names(self, tmp_path: Path, make: Callable[..., Path], name: str) -> None:
        archive = make(tmp_path / "x", ("ok.txt", b"x"), (name, b"x"))
        with pytest.raises(InputError, match="outside the archive"):
            sources.unpack(archive, tmp_path / "to", 100)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["recipes", "x"]

    @pytest.mark.parametrize(
        "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
    )
    def test_tar_links_and_devices(self, tmp_path: Path, kind: bytes) -> None:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "c.txt"
        with pytest.raises(InputError, match="a link or a device"):
            sources.unpack(tar_of(tmp_path / "x", *GOOD, info), tmp_path / "to", 1000)
        assert not (tmp_path / "to").exists()

    def test_zip_links(self, tmp_path: Path) -> None:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        with pytest.raises(InputError, match="a link or a device"):
            sources.unpack(zip_of(tmp_path / "x", (info, b"/etc/passwd")), tmp_path / "to", 1000)

    @pytest.mark.parametrize("make", [zip_of, tar_of])
    def test_bomb(self, tmp_path: Path, make: Callable[..., Path]) -> None:
        archive = make(tmp_path / "x", ("a", bytes(5_000_000)), ("b", bytes(5_000_000)))
        sources.unpack(archive, tmp_path / "to", 10_000_000)
        with pytest.raises(InputError, match="more than 9999999 bytes"):
            sources.unpack(archive, tmp_path / "second", 9_999_999)
        assert not (tmp_path / "second").exists()

    def test_zip_header_that_lies_about_the_size(self, tmp_path: Path) -> None:
        archive = zip_of(tmp_path / "x", ("a", bytes(1000)))
        data = archive.read_bytes().replace((1000).to_bytes(4, "little"), b"\x01\0\0\0")
        archive.write_bytes(data)
        with pytest.raises(InputError):
            sources.unpack(archive, tmp_path / "to", 100)

    @pytest.mark.parametrize("make", [zip_of, tar_of])
    def test_truncated(self, tmp_path: Path, make: Callable[..., Path]) -> None:
        archive = make(tmp_path / "x", ("a", os.urandom(50_000)))
        archive.write_bytes(archive.read_bytes()[:20_000])
        with pytest.raises(InputError, match="whole zip or tar archive"):
            sources.unpack(archive, tmp_path / "to", 10**6)
        assert not (tmp_path / "to").exists()

    def test_same_name_twice(self, tmp_path: Path) -> None:
        archive = tar_of(tmp_path / "x", ("a", b"1"), ("a", b"2"))
        with pytest.raises(InputError, match="two members"):
            sources.unpack(archive, tmp_path / "to", 100)

    def test_old_folder_stays_on_failure(self, tmp_path: Path) -> None:
        sources.unpack(zip_of(tmp_path / "x", *GOOD), tmp_path / "to", 100)
        (tmp_path / "y").write_bytes(b"no archive")
        with pytest.raises(InputError):
            sources.unpack(tmp_path / "y", tmp_path / "to", 100)
        assert listing(tmp_path / "to") == ["a/b.txt", "c.txt"]
