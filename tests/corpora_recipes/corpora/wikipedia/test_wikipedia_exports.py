"""Tests of wikipedia/editions.py: Content File Exports, whole and not."""

import bz2
import hashlib
from functools import partial
from pathlib import Path

import pytest
from dump_writer import SamplePage, write_dump
from recipe_reading import read_all, recipe_corpus

from corpora_recipes.corpora.wikipedia import plan, recipe
from corpora_recipes.corpora.wikipedia.editions import find_shards, folder_of, read_sums
from corpora_recipes.corpora.wikipedia.pages import read_pages
from corpora_recipes.corpora.wikipedia.plan import list_blocks
from corpora_recipes.fetching.sources import fetch
from corpora_recipes.running.errors import InputError

DATE = "20260801"


def page(n: int) -> SamplePage:
    """Return an article, or in one case of three a page that is none."""
    text = f"El cerro {n} es alto y nadie lo sube. Su nombre viene de un {'río ' * (n % 7)}lejano."
    kind = {1: (1, "Discusión:"), 2: (2, "Usuario:")}.get(n % 3, (0, ""))
    return SamplePage(f"{kind[1]}Cerro {n}", text, id=n, ns=kind[0], slot=f'{{"nota": "{n}"}}')


def write_export(mirror: Path, date: str = DATE, wiki: str = "eswiki") -> Path:
    """Write an export of three files; the ids of the last have more digits."""
    folder = mirror / "wikipedia" / folder_of(wiki, date)
    folder.mkdir(parents=True)
    sums = []
    for first, last in ((900, 1020), (5, 300), (301, 899)):
        name = f"{wiki}-{date[:4]}-{date[4:6]}-{date[6:]}-p{first}p{last}.xml.bz2"
        path = write_dump(folder / name, map(page, range(first, last + 1)), wiki=wiki)
        sums.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n")
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")
    (folder / "_SUCCESS").touch()
    return folder


corpus = partial(recipe_corpus, "wikipedia", export="content_current")


def test_an_export_from_a_mirror_gives_all_its_articles(tmp_path, monkeypatch) -> None:
    write_export(tmp_path / "mirror")
    fetch(corpus(), str(tmp_path / "mirror"), tmp_path / "raw")
    assert [path.name for path in find_shards(tmp_path / "raw", "eswiki")] == [
        f"eswiki-2026-08-01-p{ids}.xml.bz2" for ids in ("5p300", "301p899", "900p1020")
    ]
    outputs = []
    for step in (1 << 20, 1_000):
        monkeypatch.setattr(plan, "COMPRESSED_RANGE", step)
        records, counts = read_all(recipe, tmp_path / "raw", corpus())
        outputs.append(sorted(records, key=lambda record: int(record.id)))
    assert [record.id for record in outputs[0]] == [str(n) for n in range(5, 1021) if n % 3 == 0]
    assert outputs[0][0].title == "Cerro 6"
    assert outputs[0] == outputs[1]
    assert counts["documents"] == {"seen": 1016, "kept": 339, "dropped": {"other_namespace": 677}}


def test_ranges_of_a_long_stream_hold_each_page_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(plan, "COMPRESSED_RANGE", 4_000)
    # Words that hardly compress: several blocks of bzip2 (of 100 kB), and pages longer than one.
    words = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(6_000)]
    pages = [("A", " ".join(words[:50])), ("B", " ".join(words[50:4_000]))]
    pages += [(f"C{n}", " ".join(words[4_000 + 20 * n :][:20])) for n in range(100)]
    path = write_dump(tmp_path / "eswiki-2026-08-01-p10p999999.xml.bz2", pages)
    path.write_bytes(bz2.compress(bz2.decompress(path.read_bytes()), 1))
    blocks = list_blocks(path)
    assert len({block.key for block in blocks}) == len(blocks) > 40
    titles = [[raw.count(b"<title>") for raw in read_pages(block)] for block in blocks]
    assert sum(map(len, titles)) == 102
    assert {n for counts in titles for n in counts} == {1}
    assert sum(1 for counts in titles if counts) >= 3


def test_the_newest_export_of_the_wiki_is_read(tmp_path: Path) -> None:
    for date, wiki in ((DATE, "eswiki"), ("20260901", "eswiki"), ("20261001", "ptwiki")):
        write_export(tmp_path, date, wiki)
    names = {block.path.name[:17] for block in recipe.blocks(tmp_path, corpus())}
    assert names == {"eswiki-2026-09-01"}
    fetch(corpus(date=DATE), str(tmp_path), tmp_path / "raw")
    names = {block.path.name[:17] for block in recipe.blocks(tmp_path / "raw", corpus())}
    assert names == {"eswiki-2026-08-01"}


SHARD = "eswiki-2026-08-01-p{}.xml.bz2"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("_SUCCESS", None, "_SUCCESS"),
        ("SHA256SUMS", None, "SHA256SUMS"),
        ("SHA256SUMS", "x  y\n", "line 1"),
        ("SHA256SUMS", "", "0 lines, none of such a file"),
        (SHARD.format("301p899"), None, "p301p899.xml.bz2 missing"),
        (SHARD.format("1021p1022"), "x", "p1021p1022.xml.bz2, which it does not list"),
        (SHARD.format("5p300"), "x", "as SHA256SUMS says"),
    ],
)
def test_an_export_that_is_not_whole(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    path = write_export(tmp_path) / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        fetch(corpus(), str(tmp_path), tmp_path / "raw")
    if "p5p300" not in name:
        with pytest.raises(InputError, match=message):
            recipe.blocks(tmp_path / "wikipedia", corpus())


def test_no_export_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"eswiki/\*/xml/bzip2"):
        recipe.blocks(tmp_path, corpus())
    write_export(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        fetch(corpus(date="20260901"), str(tmp_path), tmp_path / "raw")
    # The other kind of dump is not taken for it, nor the other way round.
    with pytest.raises(InputError, match=r"pages-articles"):
        recipe.blocks(tmp_path, corpus(export="pages_articles"))


def test_sums_are_as_sha256sum_writes_them() -> None:
    one, two = "0" * 64, "f" * 64
    text = f"{one} *eswiki-2026-08-01-p10p20.xml.bz2\n{two}  eswiki-2026-08-01-p9p9.xml.bz2\n"
    text += f"{one}  README\n"
    assert read_sums(text, "x", "eswiki") == {
        "eswiki-2026-08-01-p9p9.xml.bz2": two,
        "eswiki-2026-08-01-p10p20.xml.bz2": one,
    }
    with pytest.raises(InputError, match="none of such a file"):
        read_sums(text, "x", "ptwiki")
