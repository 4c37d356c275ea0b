"""Dumps of Wikipedia: a part of a remote one, exports, and pages created after a day."""

import bz2
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from dump_writer import SamplePage, write_dump
from loopback import RangeServer, break_off, refuse
from no_waiting import no_waiting as no_waiting
from recipe_reading import read_all, recipe_corpus, refused, serve

from corpora_recipes.corpora.wikipedia import editions, plan, recipe
from corpora_recipes.corpora.wikipedia.editions import (
    MAX_BLOCKS,
    Creation,
    Revision,
    find_creation,
    find_shards,
    folder_of,
    parse_revision,
    read_sums,
)
from corpora_recipes.corpora.wikipedia.pages import read_pages
from corpora_recipes.corpora.wikipedia.plan import find_dump, list_blocks
from corpora_recipes.fetching import sources
from corpora_recipes.fetching.ranges import parts_folder
from corpora_recipes.fetching.sources import fetch
from corpora_recipes.hashing import keyed_hash, keyed_uniform
from corpora_recipes.reading import read
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

# --- wikipedia partial ---------------------------------------------------------------------------

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
    yield from serve({DUMP_PATH: dump.read_bytes(), INDEX_PATH: index.read_bytes()})


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
def test_else_the_whole_dump_and_a_message(server, tmp_path, capsys, lacks, documents, why) -> None:
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


# --- wikipedia exports ---------------------------------------------------------------------------

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


export_corpus = partial(recipe_corpus, "wikipedia", export="content_current")


def test_an_export_from_a_mirror_gives_all_its_articles(tmp_path, monkeypatch) -> None:
    write_export(tmp_path / "mirror")
    fetch(export_corpus(), str(tmp_path / "mirror"), tmp_path / "raw")
    assert [path.name for path in find_shards(tmp_path / "raw", "eswiki")] == [
        f"eswiki-2026-08-01-p{ids}.xml.bz2" for ids in ("5p300", "301p899", "900p1020")
    ]
    outputs = []
    for step in (1 << 20, 1_000):
        monkeypatch.setattr(plan, "COMPRESSED_RANGE", step)
        records, counts = read_all(recipe, tmp_path / "raw", export_corpus())
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
    names = {block.path.name[:17] for block in recipe.blocks(tmp_path, export_corpus())}
    assert names == {"eswiki-2026-09-01"}
    fetch(export_corpus(date=DATE), str(tmp_path), tmp_path / "raw")
    names = {block.path.name[:17] for block in recipe.blocks(tmp_path / "raw", export_corpus())}
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
def test_an_export_that_is_not_whole(tmp_path, name, content, message) -> None:
    path = write_export(tmp_path) / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        fetch(export_corpus(), str(tmp_path), tmp_path / "raw")
    if "p5p300" not in name:
        with pytest.raises(InputError, match=message):
            recipe.blocks(tmp_path / "wikipedia", export_corpus())


def test_no_export_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"eswiki/\*/xml/bzip2"):
        recipe.blocks(tmp_path, export_corpus())
    write_export(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        fetch(export_corpus(date="20260901"), str(tmp_path), tmp_path / "raw")
    # The other kind of dump is not taken for it, nor the other way round.
    with pytest.raises(InputError, match=r"pages-articles"):
        recipe.blocks(tmp_path, export_corpus(export="pages_articles"))


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


# --- wikipedia editions --------------------------------------------------------------------------

BEGIN, END = datetime(2004, 1, 1), datetime(2026, 8, 1)
LATE_DUMP = "eswiki-20260801-pages-articles-multistream.xml.bz2"


def chance(n: int, purpose: str) -> float:
    return keyed_uniform(7, "created", str(n), purpose)


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def history(pages: int, outliers: float = 0.1) -> tuple[list[Revision], dict[int, str]]:
    """Make pages of known dates: their last revisions, and when each was really written first.

    A third of the pages was never edited. Of the outliers, half are imported: a new page id and a
    new revision id, but an old time. Half are undeleted: a new page id, but old revisions.
    """
    events: list[tuple[datetime, int, str]] = []
    truth = {}
    found = []
    for n in range(pages):
        page = 5 + 3 * n
        # Ever fewer pages a year.
        entered = BEGIN + (END - BEGIN) * (n / pages) ** 1.5
        kind = chance(page, "kind")
        written = entered
        if kind < outliers:
            written = BEGIN + (entered - BEGIN) * chance(page, "written")
        imported = kind < outliers / 2
        events.append((entered if imported else written, page, "first"))
        if imported or chance(page, "alone") < 1 / 3:
            found.append((page, "first", "", written))
        else:
            # The last edit of an undeleted page may be older than its page.
            edited = written + (END - written) * chance(page, "edited")
            events.append((edited, page, "last"))
            found.append((page, "last", "first", edited))
        truth[page] = stamp(written)
    ids = {event[1:]: 1000 + 2 * n for n, event in enumerate(sorted(events))}
    return [
        Revision(page, ids[page, revision], ids.get((page, parent), 0), stamp(time))
        for page, revision, parent, time in found
    ], truth


def search(
    revisions: Sequence[Revision], day: str, size: int = 400
) -> tuple[Creation, list[int], int]:
    """Return what is found, the pages taken, and the number of blocks read."""
    blocks = [revisions[start : start + size] for start in range(0, len(revisions), size)]
    read: list[int] = []

    def block(number: int) -> Sequence[Revision]:
        read.append(number)
        return blocks[number]

    found = find_creation(len(blocks), block, day, "here")
    assert len(set(read)) == len(read) == found.blocks
    kept = [r.page for block in blocks[found.block :] for r in block if found.takes(r)]
    assert kept == [r.page for r in revisions if found.takes(r)]
    return found, kept, len(read)


@pytest.mark.parametrize(
    ("day", "outliers"),
    [(day, 0.1) for day in ("2007-05-05", "2019-12-31", "2025-12-31", "2026-06-30")]
    + [("2025-12-31", 0.0), ("2025-12-31", 0.3)],
)
def test_no_page_from_before_the_day_and_nearly_all_after_it(day: str, outliers: float) -> None:
    revisions, truth = history(60_000, outliers)
    found, kept, ranges = search(revisions, day)
    after = {page for page, time in truth.items() if time[:10] > day}
    assert not set(kept) - after
    # Of the pages between the two known ones around the day, nobody knows.
    assert len(after - set(kept)) <= max(10, 0.01 * len(after))
    assert ranges <= MAX_BLOCKS
    assert found.uncertainty <= (5 if outliers > 0.1 else 3)
    assert found.before[:10] <= day < found.time[:10]
    assert (found.off == 0) == (outliers == 0)
    assert found.off / found.dated <= 2 * outliers


def test_a_dump_of_a_hundred_million_pages_is_searched_in_twenty_blocks() -> None:
    count, made = 1 << 18, []

    def block(number: int) -> list[Revision]:
        made.append(number)
        hours = [BEGIN + timedelta(hours=number * 0.75, minutes=n) for n in range(40)]
        return [
            Revision(40 * number + n, 80 * number + n, n % 2 and 80 * number, stamp(time))
            for n, time in enumerate(hours)
        ]

    for day in ("2004-03-01", "2015-05-05", "2026-05-31"):
        made.clear()
        found = find_creation(count, block, day, "here")
        assert len(made) <= MAX_BLOCKS
        assert found.time[:10] > day >= found.before[:10]
        assert found.uncertainty <= 2


def test_a_day_before_the_first_page_and_one_after_the_last() -> None:
    revisions, _ = history(4_000)
    found, kept, _ = search(revisions, "1999-12-31")
    assert (found.page, found.before, found.uncertainty, found.block) == (0, "", 0, 0)
    assert len(kept) == 4_000
    with refused("here", "a day before the last pages", "2026-08-01; the newest of"):
        search(revisions, "2026-08-01")
    with pytest.raises(InputError, match="<parentid>"):
        search([replace(r, parent=0) for r in revisions], "2020-01-01")


def test_a_page_whose_parent_is_older_than_the_day_is_not_taken() -> None:
    created = Creation("2026-01-01", 0, 50, "2026-01-02T00:00:00Z", "x", 900, 1, 1, 0)
    taken = Revision(51, 1_000, 950, "2026-03-03T00:00:00Z")
    assert created.takes(taken)
    assert created.takes(replace(taken, parent=0))
    assert not created.takes(replace(taken, parent=900))
    assert not created.takes(replace(taken, page=49))
    assert not created.takes(replace(taken, time="2026-01-01T23:59:59Z"))


def test_revisions_are_parsed_from_pages() -> None:
    first = b"<page><title>A</title><ns>0</ns><id>7</id><revision>\n <id>12</id>\n"
    last = b"<timestamp>2026-01-01T10:00:00Z</timestamp><contributor><id>3</id></contributor>"
    assert parse_revision(first + last, Path("x")) == Revision(7, 12, 0, "2026-01-01T10:00:00Z")
    assert parse_revision(first + b" <parentid>11</parentid>\n" + last, Path("x")).parent == 11
    for bad in (first, last, first + last.replace(b"T", b" ")):
        with pytest.raises(InputError, match="a revision with id and time"):
            parse_revision(bad, Path("x"))


PAGES, TRUTH = history(1_500)
LATE = {page for page, time in TRUTH.items() if time[:10] > "2025-12-31"}


def sample_pages() -> list[SamplePage]:
    return [
        SamplePage(
            f"Lago {r.page}",
            f"El lago {r.page} es pequeño y está lejos. Nadie sabe por qué se llama así.",
            id=r.page,
            revision=r.id,
            parent=r.parent,
            time=r.time,
        )
        for r in PAGES
    ]


wiki = partial(recipe_corpus, "wikipedia", created_after="2025-12-31")


@pytest.mark.parametrize("form", ["multistream", "plain", "export"])
def test_records_and_window_of_every_form_of_dump(tmp_path, form: str, monkeypatch) -> None:
    monkeypatch.setattr(plan, "RANGE", 30_000)
    monkeypatch.setattr(plan, "COMPRESSED_RANGE", 2_000)
    what = wiki(export="content_current" if form == "export" else "pages_articles")
    if form == "export":
        name = "eswiki-2026-08-01-p5p4502.xml.bz2"
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  {name}\n", "utf-8")
    else:
        name = (
            LATE_DUMP
            if form == "multistream"
            else LATE_DUMP.replace("-multistream.xml.bz2", ".xml")
        )
    write_dump(tmp_path / name, sample_pages(), per_stream=10)
    out = tmp_path / "records.parquet"
    drops = read(what, tmp_path, out, workers=1, executor="local")
    ids = {int(row["id"]) for row in pq.read_table(out).to_pylist()}
    assert not ids - LATE
    assert len(LATE - ids) <= max(1, 0.02 * len(LATE))
    assert drops.dropped["documents", "created_before"] == drops.seen["documents"] - len(ids) > 0
    window = json.loads(out.with_suffix(".json").read_text("utf-8"))["window"]
    assert window == json.loads(pq.read_schema(out).metadata[b"probeta_window"])
    assert (window["after"], window["until"]) == ("2025-12-31", "2026-08-01")
    assert 1 <= window["uncertain_days"] <= 60
    assert f"page ids from {min(ids)} on" in window["known_by"] or form == "export"


def test_a_part_of_a_remote_dump(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "server" / LATE_DUMP, sample_pages(), per_stream=5)
    index = LATE_DUMP.replace(".xml.bz2", "-index.txt.bz2")
    server = RangeServer(
        {
            f"/eswiki/20260801/{name}": (dump.parent / name).read_bytes()
            for name in (LATE_DUMP, index)
        }
    )
    try:
        for documents in (10, 20):
            server.requests.clear()
            asked = corpus(server, documents, date="20260801", created_after="2025-12-31")
            sources.fetch(asked, "upstream", Path("raw"))
            ranges = server.asked(f"/eswiki/20260801/{LATE_DUMP}")
            if documents == 10:
                assert len(set(ranges)) == len(ranges) <= 1 + MAX_BLOCKS + 5
            out = tmp_path / f"{documents}.parquet"
            read(asked, Path("raw"), out, workers=1, executor="local")
            ids = {int(row["id"]) for row in pq.read_table(out).to_pylist()}
            assert len(ids) == documents
            assert not ids - LATE
        assert any(names(parts_folder(Path("raw", LATE_DUMP))))
        late = corpus(server, 9, date="20260801", created_after="2026-12-31")
        with pytest.raises(InputError, match="a day before the last pages"):
            sources.fetch(late, "upstream", Path("x"))
    finally:
        server.close()


def test_keys_do_not_depend_on_the_day(tmp_path: Path) -> None:
    write_dump(tmp_path / LATE_DUMP, sample_pages(), per_stream=10)
    late = recipe.blocks(tmp_path, wiki())
    everything = recipe.blocks(tmp_path, wiki(created_after=None))
    assert [b.key for b in late] == [b.key for b in everything][-len(late) :]
    assert keyed_hash(1, late[0].key)
