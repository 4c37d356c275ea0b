"""A file that is packed, and files instead of it: from servers and from mirrors."""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import RangeServer
from no_waiting import no_waiting as no_waiting

from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import read_fetched, unpack
from corpora_recipes.recipe import Corpus, Recipe, Source, load_facts
from corpora_recipes.running.errors import InputError

LINES = b'{"text": "uno"}\n' * 500


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/").replace("_txt", ".txt"), data)
    return buffer.getvalue()


PACKED = zipped(folder__all_txt=LINES, folder__readme=b"x")
SHA, PACKED_SHA = (hashlib.sha256(data).hexdigest() for data in (LINES, PACKED))


@pytest.fixture
def server() -> Iterator[RangeServer]:
    server = RangeServer({"/all.txt": LINES, "/all.zip": PACKED, "/a.txt": b"a", "/b.txt": b"b"})
    yield server
    server.close()


def no_hook(*arguments: Any) -> Any:
    raise NotImplementedError


def corpus(monkeypatch: pytest.MonkeyPatch, source: Source) -> Corpus:
    recipe = Recipe(no_hook, no_hook, lambda _: [source])
    monkeypatch.setattr(sources, "load_recipe", lambda name: recipe)
    return Corpus("mine", "mine", "es", None, 1, {}, {}, load_facts("sqc"))


def files(folder: str) -> dict[str, bytes]:
    paths = sorted(path for path in Path(folder).rglob("[!.]*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


class TestPacked:
    def source(self, server: RangeServer) -> Source:
        archive = Source("all.zip", (f"{server.url}/all.zip",), sha256=PACKED_SHA)
        url = f"{server.url}/all.txt"
        return Source("all.txt", (url,), packed=archive, sha256=SHA, size=len(LINES))

    def test_the_archive_first(self, server: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = corpus(monkeypatch, self.source(server))
        sources.fetch(mine, "upstream", Path("out"))
        # Nothing but the file is left, and it is not fetched again.
        assert files("out") == {"all.txt": LINES}
        sources.fetch(mine, "upstream", Path("out"))
        assert [path for path, _ in server.requests] == ["/all.zip"]
        assert read_fetched(Path("out")).files == ["all.txt", "all.zip"]  # type: ignore[union-attr]

    @pytest.mark.parametrize("instead", [None, b"<html>", zipped(other_txt=LINES)])
    def test_the_plain_file_if_the_archive_is_gone(
        self,
        server: RangeServer,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        instead: bytes | None,
    ) -> None:
        del server.files["/all.zip"]
        if instead is not None:
            server.files["/all.zip"] = instead
        sources.fetch(corpus(monkeypatch, self.source(server)), "upstream", Path("out"))
        assert files("out") == {"all.txt": LINES}
        assert "; taking all.txt as it is" in capsys.readouterr().err

    def test_mirrors(self, server: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = corpus(monkeypatch, self.source(server))
        mirror = Path("mirror", "mine")
        mirror.mkdir(parents=True)
        (mirror / "all.zip").write_bytes(PACKED)
        sources.fetch(mine, "mirror", Path("out"))
        assert files("out") == {"all.txt": LINES}
        assert not Path("out", "all.txt").is_symlink()
        (mirror / "all.txt").write_bytes(b"plain")
        sources.fetch(mine, "mirror", Path("out"))
        assert files("out") == {"all.txt": b"plain"}

    @pytest.mark.parametrize(
        ("archive", "found"),
        [
            (zipped(), "an empty archive"),
            (zipped(a__all_txt=LINES, b__all_txt=LINES), r"a/all\.txt, 8,000 bytes; b/all\.txt"),
            (zipped(all_txt=LINES[1:]), r"all\.txt, 7,999 bytes"),
            (zipped(all_txt=LINES[1:] + b"x"), "SHA-256"),
            (PACKED[:-9], "BadZipFile"),
            (PACKED.replace(PACKED[60:64], b"\0\0\0\0"), "error: Error -3|BadZipFile"),
        ],
    )
    def test_bad_archives(
        self, server: RangeServer, tmp_path: Path, archive: bytes, found: str
    ) -> None:
        (tmp_path / "all.zip").write_bytes(archive)
        with pytest.raises(InputError, match=found):
            unpack(tmp_path / "all.zip", self.source(server), tmp_path / "out")
        assert files("out") == {}


class TestInstead:
    def source(self, server: RangeServer) -> Source:
        a, b = (Source(name, (f"{server.url}/{name}",)) for name in ("a.txt", "b.txt"))
        return Source("c.txt", (f"{server.url}/gone.txt",), instead=(a, b, Source("sub/*.txt")))

    def test_servers(
        self,
        server: RangeServer,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        mine = corpus(monkeypatch, self.source(server))
        sources.fetch(mine, "upstream", Path("out"))
        assert files("out") == {"a.txt": b"a", "b.txt": b"b"}
        assert "404 Not Found; taking a.txt, b.txt instead" in capsys.readouterr().err
        # What was taken stays, whatever the servers have later.
        server.files["/gone.txt"] = b"back"
        sources.fetch(mine, "upstream", Path("out"))
        assert files("out") == {"a.txt": b"a", "b.txt": b"b"}
        sources.fetch(mine, "upstream", Path("new"))
        assert files("new") == {"c.txt": b"back"}
        del server.files["/b.txt"], server.files["/gone.txt"]
        with pytest.raises(InputError, match=r"b\.txt(.|\n)*404"):
            sources.fetch(mine, "upstream", Path("none"))

    def test_mirrors(self, server: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = corpus(monkeypatch, self.source(server))
        mirror = Path("mirror", "mine")
        (mirror / "sub").mkdir(parents=True)
        with pytest.raises(InputError, match=r"mirror/mine/c\.txt"):
            sources.fetch(mine, "mirror", Path("out"))
        (mirror / "sub" / "d.txt").write_bytes(b"d")
        (mirror / "b.txt").write_bytes(b"b")
        sources.check_files(mine, "mirror", Path("out"))
        sources.fetch(mine, "mirror", Path("out"))
        assert files("out") == {"b.txt": b"b", "sub/d.txt": b"d"}
        (mirror / "c.txt").write_bytes(b"c")
        sources.fetch(mine, "mirror", Path("out"))
        assert files("out") == {"c.txt": b"c"}
