"""Fetching: from samples, mirrors and servers, packed files and files instead of others."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import DATA, OTHER, RangeServer, Server, whole
from no_waiting import no_waiting as no_waiting
from recipe_reading import refused, serve

from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import MANIFEST, check_complete, read_fetched, unpack
from corpora_recipes.recipe import Corpus, CorpusFacts, MissingCorpus, Recipe, Source
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import locked_folder
from corpora_recipes.verbs import fetched

SHA = hashlib.sha256(DATA).hexdigest()


def no_hook(*arguments: Any) -> Any:
    raise NotImplementedError


def corpus(entries: Sequence[Source], manual: str = "", **options: Any) -> Corpus:
    sources = tuple(entries)
    facts = CorpusFacts("Mine", "documents", "es", "CC0", "", sources=sources, manual=manual)
    return Corpus("mine", "fake", "es", None, 1, options, {}, facts)


def write(*paths: Path) -> None:
    """Write files, whose content is their name."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name, "utf-8")


@pytest.fixture(autouse=True)
def fake_recipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make a recipe "fake" without hooks, with a sample of two files."""
    folder = tmp_path / "recipes" / "fake"
    write(folder / "sample" / "a.txt", folder / "sample" / "sub" / "b.txt")
    monkeypatch.setattr(sources, "RECIPES", tmp_path / "recipes")
    monkeypatch.setattr(sources, "load_recipe", lambda name: Recipe(no_hook, no_hook))
    return folder


def listing(folder: Path) -> list[str]:
    return sorted(
        p.relative_to(folder).as_posix()
        for p in folder.rglob("*")
        if p.is_file() and p.name not in (MANIFEST, ".lock")
    )


def test_one_fetch_at_a_time_in_a_folder(tmp_path: Path, fake_recipe: Path) -> None:
    out = tmp_path / "out"
    with locked_folder(out, "fetch"):
        with pytest.raises(InputError, match="another running fetch"):
            sources.fetch(corpus([]), "sample", out)
        assert listing(out) == []
        sources.fetch(corpus([]), "sample", tmp_path / "another")
    sources.fetch(corpus([]), "sample", out)
    assert listing(out) == ["a.txt", "sub/b.txt"]


def entries_on(server: Server, **more: Any) -> list[Source]:
    url = server.url.replace("corpus.bin", "{language}-{date}.bin")
    return [Source("raw/{language}-{date}.bin", (url,), **more)]


def test_lock(server: Server, tmp_path: Path) -> None:
    mine = corpus(entries_on(server), date=20260101)
    server.script = [whole()]
    sources.fetch(mine, "upstream", tmp_path / "out")
    lock = json.loads((tmp_path / "sources.lock").read_text("utf-8"))
    (entry,) = lock.values()
    assert (entry["sha256"], entry["size"]) == (SHA, len(DATA))
    assert entry["file"] == "raw/es-20260101.bin"
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
    (tmp_path / "sources.lock").write_text("<<<<<<< HEAD", "utf-8")
    with pytest.raises(InputError, match=r"sources\.lock"):
        sources.fetch(mine, "upstream", tmp_path / "third")
    (tmp_path / "sources.lock").unlink()
    # A pinned file is not locked.
    pinned = entries_on(server, sha256=hashlib.sha256(OTHER).hexdigest())
    sources.fetch(corpus(pinned, date=20260101), "upstream", tmp_path / "third")
    assert not (tmp_path / "sources.lock").exists()
    sources.fetch(mine, "upstream", tmp_path / "fourth")
    assert (tmp_path / "fourth" / "raw" / "es-20260101.bin").read_bytes() == OTHER


def test_corpus_without_addresses(tmp_path: Path) -> None:
    entries = [Source("a.zip"), Source("train/*.rs3")]
    sources.fetch(corpus([]), "sample", tmp_path / "out")
    with refused(found_is="the corpus has no URL", todo="put a.zip, train/*.rs3 into MIRROR/fake/"):
        sources.fetch(corpus(entries), "upstream", tmp_path / "out")
    assert listing(tmp_path / "out") == ["a.txt", "sub/b.txt"]


def test_corpus_that_must_be_asked_for(tmp_path: Path, fake_recipe: Path) -> None:
    asked = corpus(
        [Source("a.zip"), Source("b.zip", optional=True), Source("train/*.rs3")],
        manual="Ask for it at\nhttps://example.org/form.",
    )
    out = tmp_path / "out"
    with refused("sample/a.zip", "correct `file`"):
        sources.fetch(asked, "sample", out)
    write(fake_recipe / "sample" / "a.zip")
    sources.fetch(asked, "sample", out)
    (tmp_path / "mirror" / "fake").mkdir(parents=True)
    for origin in ("upstream", str(tmp_path / "mirror")):
        with pytest.raises(MissingCorpus) as error:
            sources.fetch(asked, origin, out)
        assert "Ask for it at https://example.org/form." in error.value.found
        assert f"{out}/a.zip, {out}/b.zip, {out}/train/*.rs3" in error.value.expected
        assert listing(out) == []
    write(out / "a.zip")
    with pytest.raises(MissingCorpus):
        sources.check_files(asked, "upstream", out)
    write(out / "train" / "1.rs3")
    sources.check_files(asked, "upstream", out)
    for origin in ("upstream", str(tmp_path / "mirror")):
        sources.fetch(asked, origin, out)
        assert listing(out) == ["a.zip", "train/1.rs3"]
        check_complete(out, "mine")
    with pytest.raises(InputError, match="another file"):
        sources.fetch(asked, "sample", out)
    assert listing(out) == ["a.zip", "train/1.rs3"]


def test_recipe_can_fetch_by_itself(tmp_path, monkeypatch) -> None:
    def fetch_upstream(corpus: Corpus, out: Path) -> None:
        (out / "x.xml").write_text(corpus.name, "utf-8")

    recipe = Recipe(no_hook, no_hook, lambda _: [Source("*.xml")], fetch_upstream=fetch_upstream)
    monkeypatch.setattr(sources, "load_recipe", lambda name: recipe)
    sources.fetch(corpus([]), "upstream", tmp_path / "out")
    assert listing(tmp_path / "out") == ["x.xml"]


def test_servers_are_not_asked_again(server: Server) -> None:
    server.script = [whole()]
    mine = corpus([Source("corpus.bin", (server.url,))])
    found = fetched(mine, "upstream")
    assert found == {"data/raw/mine/corpus.bin": SHA}
    assert fetched(mine, "upstream") == found
    assert len(server.requests) == 1
    # A file that has changed is none that was fetched.
    raw = Path("data/raw/mine/corpus.bin")
    for change in (lambda: raw.write_bytes(OTHER), raw.unlink):
        change()
        asked = len(server.requests)
        assert fetched(mine, "upstream") == found
        assert len(server.requests) == asked + 1


def test_what_is_asked_for_is_part_of_it(server: Server, fake_recipe: Path) -> None:
    server.script = [whole()]
    write(fake_recipe / "sample" / "corpus.bin")
    for number, (documents, origin) in enumerate(
        [(5, "upstream"), (5, "upstream"), (7, "upstream"), (7, "sample"), (7, "upstream")]
    ):
        mine = replace(corpus([Source("corpus.bin", (server.url,))]), documents=documents)
        names = [Path(path).name for path in fetched(mine, origin)]
        assert names == (
            ["corpus.bin"] if origin == "upstream" else ["a.txt", "corpus.bin", "b.txt"]
        )
        # What is there and whole need not come again, whoever asks.
        assert len(server.requests) == (2 if number == 4 else 1)


def test_an_interrupted_fetch_is_none(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script = [whole()]
    entry = Source("corpus.bin", (server.url,))
    found = fetched(corpus([entry]), "upstream")

    def interrupted(files: Sequence[Source], out: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sources, "fetch_whole", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetched(corpus([entry], date="1"), "upstream")
    with pytest.raises(InputError, match="a fetch that has not ended"):
        check_complete(Path("data/raw/mine"), "mine")
    assert fetched(corpus([entry]), "upstream") == found
    check_complete(Path("data/raw/mine"), "mine")


MINE = corpus([Source("{language}.zip", ("x",)), Source("train/*.rs3")])


@pytest.fixture
def from_mirror(tmp_path: Path) -> Path:
    """Return a folder into which files of a mirror were fetched."""
    names = ("es.zip", "train/1.rs3", "train/2.rs3", "train/notes.txt")
    write(*(tmp_path / "mirror" / "fake" / name for name in names))
    sources.fetch(MINE, "mirror", tmp_path / "out")
    assert listing(tmp_path / "out") == ["es.zip", "train/1.rs3", "train/2.rs3"]
    return tmp_path / "out"


@pytest.mark.parametrize("links", [True, False])
def test_links_or_copies(tmp_path, monkeypatch, *, links: bool) -> None:
    def refuse(link: Path, target: Path) -> None:
        raise OSError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(Path, "symlink_to", refuse)
    write(tmp_path / "mirror" / "fake" / "a")
    sources.fetch(corpus([Source("a")]), "mirror", tmp_path / "out")
    assert (tmp_path / "out" / "a").read_text("utf-8") == "a"
    assert (tmp_path / "out" / "a").samefile(tmp_path / "mirror" / "fake" / "a") == links
    # A link that leads to the file stays; one that leads to another is replaced.
    before = (tmp_path / "out" / "a").lstat().st_ino
    sources.fetch(corpus([Source("a")]), "mirror", tmp_path / "out")
    assert ((tmp_path / "out" / "a").lstat().st_ino == before) == links
    write(tmp_path / "other" / "fake" / "a")
    (tmp_path / "other" / "fake" / "a").write_text("b", "utf-8")
    sources.fetch(corpus([Source("a")]), str(tmp_path / "other"), tmp_path / "out")
    assert (tmp_path / "out" / "a").read_text("utf-8") == "b"


def test_mirror_latest_is_one_date_for_all_files(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror" / "fake"
    names = ("w-20250101.bz2", "w-20260101.bz2", "w-2026.bz2", "i-20250101.txt")
    write(*(mirror / name for name in names))
    newest = corpus([Source("w-{date}.bz2")], date="latest")
    sources.fetch(newest, "mirror", tmp_path / "out")
    assert listing(tmp_path / "out") == ["w-20260101.bz2"]
    mine = corpus([Source("w-{date}.bz2"), Source("i-{date}.txt")], date="latest")
    sources.fetch(mine, "mirror", tmp_path / "out")
    assert listing(tmp_path / "out") == ["i-20250101.txt", "w-20250101.bz2"]
    (mirror / "i-20250101.txt").unlink()
    with pytest.raises(InputError, match=r"mirror/fake/w-latest\.bz2"):
        sources.fetch(mine, "mirror", tmp_path / "out")


def test_a_mirror_may_lack_some_optional_groups_but_not_all(tmp_path, capsys) -> None:
    entries = [Source(f"{host}/*.xml", optional=True) for host in ("here", "there")]
    page = tmp_path / "mirror" / "fake" / "here" / "1.xml"
    write(page)
    sources.fetch(corpus(entries), "mirror", tmp_path / "out")
    assert listing(tmp_path / "out") == ["here/1.xml"]
    assert "there/*.xml" in capsys.readouterr().err
    link = page.parent.with_name("there") / "2.xml"
    link.parent.mkdir()
    link.symlink_to("nowhere")
    with pytest.raises(InputError, match="a link that leads nowhere"):
        sources.fetch(corpus(entries), "mirror", tmp_path / "out")
    link.unlink()
    page.unlink()
    with pytest.raises(InputError, match="no such file"):
        sources.fetch(corpus(entries), "mirror", tmp_path / "out")


def test_own_path_wins(tmp_path: Path) -> None:
    patterns = [Source("*.jsonl"), Source("*.parquet")]
    names = ("mine/d.jsonl", "mine/notes.txt", "mine/.git/x.jsonl", "mine/sub/e.jsonl")
    write(*(tmp_path / name for name in names))
    for path, found in (("mine", ["d.jsonl", "sub/e.jsonl"]), ("mine/d.jsonl", ["d.jsonl"])):
        for where in ("sample", "upstream", "mirror"):
            sources.fetch(corpus(patterns, path=path), where, tmp_path / "out")
            assert listing(tmp_path / "out") == found
    for path, found in (
        ("nowhere", "no such file"),
        ("mine/notes.txt", "notes.txt"),
        ("recipes", "a folder of 2 other files"),
    ):
        with refused("", r"*.jsonl, *.parquet", match=found):
            sources.fetch(corpus(patterns, path=path), "sample", tmp_path / "out")


def test_what_is_missing_is_found_before_a_fetch(tmp_path, fake_recipe) -> None:
    def check(origin: str, **options: Any) -> None:
        sources.check_files(corpus([Source("*.jsonl")], **options), origin, tmp_path / "out")

    check("sample")
    check("upstream")  # servers are not asked
    with pytest.raises(InputError, match=r"nowhere\n.*params\.yaml: corpora\.mine\.corpus"):
        check("upstream", path="nowhere")
    with pytest.raises(InputError, match="no such folder"):
        check("mirror")
    shutil.rmtree(fake_recipe / "sample")
    with pytest.raises(InputError, match="the recipe's sample"):
        check("sample")


def test_another_source_replaces_the_files_and_their_parts(tmp_path, from_mirror) -> None:
    parts = from_mirror / "es.zip.parts"
    write(parts / "000000000000000-000000000000007", parts / "manifest.json")
    sources.fetch(MINE, "mirror", from_mirror)
    assert len(listing(parts)) == 2
    sources.fetch(corpus([]), "sample", from_mirror)
    assert listing(from_mirror) == ["a.txt", "sub/b.txt"]
    assert not parts.exists()
    assert (tmp_path / "mirror" / "fake" / "es.zip").exists()


@pytest.mark.parametrize("name", ["other.zip.parts/manifest.json", "es.zip.parts/7", "thesis.docx"])
def test_users_files_are_left_alone(from_mirror: Path, name: str) -> None:
    write(from_mirror / name)
    with pytest.raises(InputError, match=name):
        sources.fetch(corpus([]), "sample", from_mirror)
    assert (from_mirror / name).exists()


@pytest.mark.parametrize("date", ["../../../elsewhere", "/elsewhere", "x/../../y"])
def test_an_option_cannot_name_a_file_outside_the_folder(tmp_path: Path, date: str) -> None:
    mine = corpus([Source("{date}", urls=("http://127.0.0.1:9/{date}",))], date=date)
    for origin in ("upstream", str(tmp_path)):
        with refused(found=repr(date)):
            sources.fetch(mine, origin, tmp_path / "out")


LINES = b'{"text": "uno"}\n' * 500


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/").replace("_txt", ".txt"), data)
    return buffer.getvalue()


PACKED = zipped(folder__all_txt=LINES, folder__readme=b"x")
LINES_SHA, PACKED_SHA = (hashlib.sha256(data).hexdigest() for data in (LINES, PACKED))


@pytest.fixture
def ranges() -> Iterator[RangeServer]:
    yield from serve({"/all.txt": LINES, "/all.zip": PACKED, "/a.txt": b"a", "/b.txt": b"b"})


def files(folder: str) -> dict[str, bytes]:
    paths = sorted(path for path in Path(folder).rglob("[!.]*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def source(ranges: RangeServer) -> Source:
    archive = Source("all.zip", (f"{ranges.url}/all.zip",), sha256=PACKED_SHA)
    url = f"{ranges.url}/all.txt"
    return Source("all.txt", (url,), packed=archive, sha256=LINES_SHA, size=len(LINES))


def test_the_archive_first(ranges: RangeServer) -> None:
    mine = corpus([source(ranges)])
    sources.fetch(mine, "upstream", Path("out"))
    # Nothing but the file is left, and it is not fetched again.
    assert files("out") == {"all.txt": LINES}
    sources.fetch(mine, "upstream", Path("out"))
    assert [path for path, _ in ranges.requests] == ["/all.zip"]
    assert read_fetched(Path("out")).files == ["all.txt", "all.zip"]  # type: ignore[union-attr]


@pytest.mark.parametrize("instead", [None, b"<html>", zipped(other_txt=LINES)])
def test_the_plain_file_if_the_archive_is_gone(ranges, capsys, instead: bytes | None) -> None:
    del ranges.files["/all.zip"]
    if instead is not None:
        ranges.files["/all.zip"] = instead
    sources.fetch(corpus([source(ranges)]), "upstream", Path("out"))
    assert files("out") == {"all.txt": LINES}
    assert "; taking all.txt as it is" in capsys.readouterr().err


def test_mirrors(ranges: RangeServer) -> None:
    mine = corpus([source(ranges)])
    mirror = Path("mirror", "fake")
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
def test_bad_archives(ranges: RangeServer, tmp_path: Path, archive: bytes, found: str) -> None:
    (tmp_path / "all.zip").write_bytes(archive)
    with pytest.raises(InputError, match=found):
        unpack(tmp_path / "all.zip", source(ranges), tmp_path / "out")
    assert files("out") == {}


def source_with_others(ranges: RangeServer) -> Source:
    a, b = (Source(name, (f"{ranges.url}/{name}",)) for name in ("a.txt", "b.txt"))
    return Source("c.txt", (f"{ranges.url}/gone.txt",), instead=(a, b, Source("sub/*.txt")))


def test_others_from_servers(ranges: RangeServer, capsys: pytest.CaptureFixture[str]) -> None:
    mine = corpus([source_with_others(ranges)])
    sources.fetch(mine, "upstream", Path("out"))
    assert files("out") == {"a.txt": b"a", "b.txt": b"b"}
    assert "404 Not Found; taking a.txt, b.txt instead" in capsys.readouterr().err
    # What was taken stays, whatever the servers have later.
    ranges.files["/gone.txt"] = b"back"
    sources.fetch(mine, "upstream", Path("out"))
    assert files("out") == {"a.txt": b"a", "b.txt": b"b"}
    sources.fetch(mine, "upstream", Path("new"))
    assert files("new") == {"c.txt": b"back"}
    del ranges.files["/b.txt"], ranges.files["/gone.txt"]
    with pytest.raises(InputError, match=r"b\.txt(.|\n)*404"):
        sources.fetch(mine, "upstream", Path("none"))


def test_others_from_mirrors(ranges: RangeServer) -> None:
    mine = corpus([source_with_others(ranges)])
    mirror = Path("mirror", "fake")
    (mirror / "sub").mkdir(parents=True)
    with pytest.raises(InputError, match=r"mirror/fake/c\.txt"):
        sources.fetch(mine, "mirror", Path("out"))
    (mirror / "sub" / "d.txt").write_bytes(b"d")
    (mirror / "b.txt").write_bytes(b"b")
    sources.check_files(mine, "mirror", Path("out"))
    sources.fetch(mine, "mirror", Path("out"))
    assert files("out") == {"b.txt": b"b", "sub/d.txt": b"d"}
    (mirror / "c.txt").write_bytes(b"c")
    sources.fetch(mine, "mirror", Path("out"))
    assert files("out") == {"c.txt": b"c"}
