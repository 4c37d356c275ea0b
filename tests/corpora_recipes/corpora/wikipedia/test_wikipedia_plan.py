"""Wikipedia: blocks of a dump, chunks of streams, and what is downloaded."""

import bz2
import hashlib
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from case_tables import read_tables
from dump_writer import SamplePage, header, page_xml, write_dump
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import RangeServer
from no_waiting import no_waiting as no_waiting
from recipe_reading import recipe_corpus, refused
from test_wikipedia_editions import TEXTS, names, write_export

from corpora_recipes.corpora.wikipedia import pages, plan, recipe
from corpora_recipes.corpora.wikipedia.editions import folder_of
from corpora_recipes.corpora.wikipedia.pages import Page, parse_page, read_pages, unescape
from corpora_recipes.corpora.wikipedia.plan import (
    DumpBlock,
    Site,
    check_end,
    find_dump,
    index_path,
    list_blocks,
    read_blocks,
    read_index,
    read_site,
)
from corpora_recipes.fetching import sources
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- wikipedia plan ------------------------------------------------------------------------------

NAME = "eswiki-20260101-pages-articles-multistream.xml.bz2"
PLAIN = "eswiki-20260101-pages-articles.xml"
SINGLE = "eswiki-20260101-pages-articles.xml.bz2"
TEXTS_PLAN = [
    (f"Página {i}", f"Texto «número» {i} & <b>{i}</b>.\n" * (i % 5 + 1)) for i in range(950)
]


def pages_of(blocks: list[DumpBlock]) -> list[Page]:
    return [parse_page(raw, block.site) for block in blocks for raw in read_pages(block)]


@pytest.fixture
def multistream(tmp_path: Path) -> Path:
    return write_dump(tmp_path / NAME, TEXTS_PLAN)


def test_multistream_blocks_hold_every_page_once(multistream: Path) -> None:
    blocks = list_blocks(multistream)
    assert [len(block.streams) for block in blocks] == [4, 4, 2]
    assert [sum(s.pages for s in block.streams) for block in blocks] == [400, 400, 150]
    assert len({block.key for block in blocks}) == 3
    assert str(multistream.parent) not in blocks[0].key
    pages = pages_of(blocks)
    assert [p.id for p in pages] == [str(10 + 7 * i) for i in range(950)]
    assert [(p.title(), p.text()) for p in pages] == TEXTS_PLAN
    assert pages_of(pickle.loads(pickle.dumps(blocks[1:2]))) == pages[400:800]


@pytest.mark.parametrize("size", [150, 601, 2_003, 1_000_000])
def test_ranges_of_a_plain_dump_may_start_anywhere(tmp_path, size: int, monkeypatch) -> None:
    monkeypatch.setattr(plan, "RANGE", size)
    monkeypatch.setattr(plan, "CHUNK", 64)
    # One page is larger than most ranges.
    texts = [*TEXTS_PLAN[:12], ("A", "a" * 9_000), ("B", "b")]
    path = write_dump(tmp_path / PLAIN, texts)
    assert [p.title() for p in pages_of(list_blocks(path))] == [title for title, _ in texts]


@pytest.mark.parametrize("name", [PLAIN, SINGLE, NAME])
@pytest.mark.parametrize("version", ["0.10", "0.11"])
def test_every_form_and_version_gives_the_same_pages(tmp_path, name, version, monkeypatch) -> None:
    monkeypatch.setattr(plan, "RANGE", 5_000)
    monkeypatch.setattr(plan, "CHUNK", 777)
    path = write_dump(tmp_path / name, TEXTS_PLAN[:60], version=version, index=False)
    blocks = list_blocks(path)
    assert (len(blocks) > 5) == (name == PLAIN)
    assert [(p.title(), p.text()) for p in pages_of(blocks)] == TEXTS_PLAN[:60]
    assert {p.model for p in pages_of(blocks)} == {"wikitext"}


def test_memory_is_bounded_by_the_page_and_not_the_stream(tmp_path: Path) -> None:
    import tracemalloc

    path = write_dump(tmp_path / NAME, [("A", "palabra " * 20_000)] * 50, per_stream=50)
    blocks = list_blocks(path)
    tracemalloc.start()
    count = sum(1 for block in blocks for _ in read_pages(block))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 50  # 8 MB of text
    assert peak < 4_000_000


def test_fields_of_a_page(tmp_path: Path) -> None:
    pages = [
        SamplePage('A & «B» "c"', "&lt; <b>x</b> &amp;nbsp;", id=3),
        SamplePage("Categoría:X", "", id=4, ns=14),
        SamplePage("R", "#REDIRECCIÓN [[A]]", id=5, redirect="A"),
        SamplePage("M", "return 1", id=6, ns=828, model="Scribunto"),
        SamplePage("V", "x", id=7, model=None),
    ]
    found = pages_of(list_blocks(write_dump(tmp_path / PLAIN, pages)))
    assert [p.id for p in found] == list("34567")
    assert [p.namespace for p in found] == [0, 14, 0, 828, 0]
    assert [p.redirect for p in found] == [False, False, True, False, False]
    assert {p.model for p in found if p.id != "6"} == {"wikitext"}
    assert found[0].title() == 'A & «B» "c"'
    assert found[0].text() == "&lt; <b>x</b> &amp;nbsp;"


def test_an_old_page_has_its_namespace_from_its_title_and_is_a_redirect_by_its_text(
    tmp_path: Path,
) -> None:
    site = read_site(write_dump(tmp_path / PLAIN, []))
    old = b"<page><title>%s</title><id>1</id><revision><text>%s</text></revision>"
    assert parse_page(old % ("Categoría:A".encode(), b""), site).namespace == 14
    assert parse_page(old % (b"Alien: Covenant", b""), site).namespace == 0
    for text in ("#REDIRECT [[B]]", " #redirección:[[B]]", "#WEITERLEITUNG [[B]]"):
        assert parse_page(old % (b"A", text.encode()), site).redirect
    assert not parse_page(old % (b"A", b"# [[B]]\n* [[C]]"), site).redirect


def test_a_page_without_text_element_content() -> None:
    raw = b'<page><title>A</title><id>1</id><revision><text bytes="0" /></revision>'
    site = Site("eswiki", ())
    assert parse_page(raw, site).text_bytes == b""
    for cut in (b"<page><id>1</id>", b"<page><id>1</id><text>a"):
        with pytest.raises(ValueError, match="without title and text"):
            parse_page(cut, site)
    # Unescaped, as no dump of MediaWiki has it, but edited excerpts do.
    raw = b"<page><title>A</title><id>1</id><revision><text>a<!-- b -->c</text></revision>"
    assert parse_page(raw, site).text() == "a<!-- b -->c"


@pytest.mark.parametrize(("raw", "text"), TABLES["unescaped"])
def test_unescape_knows_xml_and_expands_nothing_else(raw: str, text: str) -> None:
    assert unescape(raw) == text


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")))] * 2),
        min_size=1,
        max_size=6,
    )
)
def test_any_title_and_text_come_back_as_they_were(rows: list[tuple[str, str]]) -> None:
    for name in (PLAIN, NAME):
        with TemporaryDirectory() as folder:
            blocks = list_blocks(write_dump(Path(folder, name), rows, per_stream=2))
            assert [(page.title(), page.text()) for page in pages_of(blocks)] == rows


def test_find_dump_takes_the_newest_of_its_language(tmp_path: Path) -> None:
    for name in (
        "eswiki-20250101-pages-articles.xml.bz2",
        "eswiki-20260101-pages-articles.xml",
        "eswiki-20260101-pages-articles.xml.bz2",
        "eswiki-20260101-pages-articles-multistream.xml.bz2",
        "ptwiki-20270101-pages-articles.xml.bz2",
        "eswiki-20260101-pages-articles-multistream.xml.bz2.part",
    ):
        (tmp_path / name).touch()
    (tmp_path / "eswiki-20260101-pages-articles-multistream-index.txt.bz2").touch()
    assert find_dump(tmp_path, "es").name == NAME
    assert find_dump(tmp_path, "pt-BR").name == "ptwiki-20270101-pages-articles.xml.bz2"
    with pytest.raises(InputError, match=r"dewiki-<date>-pages-articles.*\n.*ptwiki-20270101"):
        find_dump(tmp_path, "de")


def read_all(path: Path) -> None:
    for block in list_blocks(path):
        for _ in read_pages(block):
            pass


def damaged() -> Iterator[tuple[str, bytes, str]]:
    """Yield (name of the dump, its bytes, what the message must say)."""
    whole = header() + page_xml(SamplePage("A", "a"), 1) + page_xml(SamplePage("B", "b"), 2)
    plain = (whole + "</mediawiki>\n").encode()
    yield PLAIN, b"", "an empty file"
    yield PLAIN, b"<html>no dump</html>", "siteinfo"
    for following in (b"  <page>", b"</med"):
        unclosed = plain.replace(b"    </revision>\n  </page>\n" + following, following)
        yield PLAIN, unclosed, "without an end"
    yield PLAIN, plain[: plain.index(b"<title>B") + 30], "a cut dump"
    yield PLAIN, whole.encode(), "a cut dump"
    yield PLAIN, b'<!DOCTYPE lolz [<!ENTITY lol "lol">]>' + plain, "entity bomb"
    yield PLAIN, b'<!DOCTYPE x SYSTEM "file:///etc/passwd">' + plain, "document type"
    yield PLAIN, plain.replace("Categoría".encode(), b"Categor\xeda"), "UTF-8"
    single = bz2.compress(plain)
    yield SINGLE, b"", "an empty file"
    yield SINGLE, single[:-20], "the dump is cut"
    yield SINGLE, b"BZh9 not really", "Invalid data stream"
    yield SINGLE, bz2.compress(whole.encode()), "cut dump"
    yield SINGLE, bz2.compress(b"<!DOCTYPE a>" + plain), "document type"


@pytest.mark.parametrize(("name", "data", "message"), list(damaged()))
def test_damage_is_an_input_error_that_names_the_file(tmp_path, name, data, message) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read_all(path)
    assert message in str(error.value)
    assert str(path) in error.value.where
    assert error.value.todo


def test_an_endless_page_is_an_error_before_memory_ends(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pages, "LONGEST_PAGE", 1 << 21)
    path = tmp_path / SINGLE
    path.write_bytes(bz2.compress(header().encode() + b"<page>" + b"a" * (1 << 24)))
    with pytest.raises(InputError, match="without an end"):
        read_all(path)


def test_cut_multistream_dump(multistream: Path) -> None:
    data = multistream.read_bytes()
    multistream.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is cut, or the index belongs to another dump"):
        list_blocks(multistream)
    multistream.write_bytes(data[:-30])
    with pytest.raises(InputError, match="the dump is cut"):
        read_all(multistream)
    last = max(s.offset for b in list_blocks(multistream) for s in b.streams)
    multistream.write_bytes(data[: last + 100])
    with pytest.raises(InputError, match=f"stream at byte {last:,}"):
        read_all(multistream)


def test_damage_inside_a_stream(multistream: Path) -> None:
    stream = list_blocks(multistream)[1].streams[2]
    data = multistream.read_bytes()
    for position in (stream.offset, stream.offset + 200):
        multistream.write_bytes(data[:position] + b"plain text" + data[position + 10 :])
        with pytest.raises(InputError, match=f"stream at byte {stream.offset:,}"):
            read_all(multistream)


def edit_index(dump: Path, *edits: tuple[str, str]) -> None:
    path = index_path(dump)
    text = bz2.decompress(path.read_bytes()).decode()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path.write_bytes(bz2.compress(text.encode()))


def test_an_index_that_does_not_fit_is_an_input_error(multistream: Path) -> None:
    index = index_path(multistream)
    good = index.read_bytes()
    first, second = (stream.offset for stream in list_blocks(multistream)[0].streams[:2])
    for edits, message in (
        ([(f"{first}:", f"{first + 1}:")], "bz2 stream"),
        ([(f"{second}:", f"{second + 1}:")], f"the next stream at byte {second + 1:,}"),
        ([(":710:", ":711:")], "its first page has the id 711"),
        ([(":1403:", ":1404:")], "its last page has the id 1404"),
        ([(f"{second}:717:Página 101\n", "")], "99 pages"),
    ):
        index.write_bytes(good)
        edit_index(multistream, *edits)
        with pytest.raises(InputError) as error:
            read_all(multistream)
        assert message in str(error.value), edits


def test_a_cut_index_is_an_input_error(multistream: Path) -> None:
    index = index_path(multistream)
    data = index.read_bytes()
    lines = bz2.decompress(data).splitlines(keepends=True)
    for kept in (lines[:500], lines[:500] + lines[600:]):
        index.write_bytes(bz2.compress(b"".join(kept)))
        with pytest.raises(InputError, match="belongs to another dump"):
            read_all(multistream)
    for bad in (data[: len(data) // 2], bz2.compress(b""), b"", b"plain text"):
        index.write_bytes(bad)
        with refused(where="index"):
            list_blocks(multistream)


def test_a_page_split_over_two_streams_is_an_input_error(tmp_path: Path) -> None:
    pages = [page_xml(SamplePage(f"P{n}", "texto"), n).encode() for n in (1, 2)]
    cut = len(pages[0]) + 100
    text = b"".join(pages)
    parts = [bz2.compress(p) for p in (header().encode(), text[:cut], text[cut:])]
    first = len(parts[0])
    second = first + len(parts[1])
    dump = tmp_path / NAME
    dump.write_bytes(b"".join(parts) + bz2.compress(b"</mediawiki>\n"))
    index_path(dump).write_bytes(bz2.compress(b"%d:1:P1\n%d:2:P2\n" % (first, second)))
    with refused("", f"stream at byte {first:,}", "a page without an end"):
        read_all(dump)


def streams_of(text: bytes) -> list[tuple[int, int | None, int, int, int]]:
    with TemporaryDirectory() as folder:
        index = Path(folder, "index.txt.bz2")
        index.write_bytes(bz2.compress(text))
        return [(s.offset, s.stop, s.first, s.last, s.pages) for s in read_index(index)]


def test_index_lines_may_hold_anything_after_the_second_colon() -> None:
    text = "5:1:A\n5:2:\n5:30:5:4:é: \r\x0b\x0c\u2028\n51:4:51:7:x\n512:9:5:1:A".encode()
    assert streams_of(text) == [(5, 51, 1, 30, 3), (51, 512, 4, 4, 1), (512, None, 9, 9, 1)]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 40),
            st.lists(st.tuples(st.integers(0, 10**9), st.text("a:1é5 ", max_size=20)), min_size=1),
        ),
        min_size=1,
    ),
    st.integers(80, 200),  # no line is longer
)
def test_streams_of_an_index_are_found_across_chunks(groups, chunk) -> None:
    text = ""
    expected = []
    offset = 0
    for step, rows in groups:
        offset += step
        expected.append((offset, rows[0][0], rows[-1][0], len(rows)))
        text += "".join(f"{offset}:{page_id}:{title}\n" for page_id, title in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "DECOMPRESSED", chunk)
        found = streams_of(text.encode())
    assert [(offset, *rest) for offset, _, *rest in found] == expected
    assert [stop for _, stop, *_ in found] == [row[0] for row in expected[1:]] + [None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"5:1:A\n5:2:B\n4:3:C\n", "ascend"),
        (b"5:1:A\n6:2:B\n5:3:C\n", "ascend"),
        (b"5:1:A\n\n6:2:B\n", "after 1 lines"),
        (b"5:1:A\n5:2:B\n5:3\n", "after 2 lines"),
        (b"5:1:A\nx:2:B\n", "offset:id:title"),
        (b"5:1:A\n:2:B\n", "after 1 lines"),
        (b"5:1:A\n" + b"9" * 5_000 + b":2:B\n", "after 1 lines"),
        (b"5" * (3 << 20), "after 0 lines"),
    ],
)
def test_bad_lines_of_an_index_are_counted(text: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        streams_of(text)


# --- wikipedia chunks ----------------------------------------------------------------------------

# Level 1 makes blocks of 100 kB.
DATA = b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() * 2 for n in range(8_000))
PACKED = bz2.compress(DATA, 1)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bz2") / "data.bz2"
    path.write_bytes(PACKED)
    return path


@pytest.mark.parametrize("chunk", [11, 1_000, 1 << 18])
def test_all_blocks_are_the_file(packed: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CHUNK", chunk)
    blocks = list(read_blocks(packed, 0))
    assert len(blocks) == 11
    assert b"".join(content for _, content in blocks) == DATA
    assert blocks[0][0] == 4


def test_read_blocks_any_byte_are_those_that_begin_there_or_later(packed: Path) -> None:
    blocks = list(read_blocks(packed, 0))
    for n, (start, _) in enumerate(blocks):
        assert list(read_blocks(packed, start)) == blocks[n:]
        assert list(read_blocks(packed, start + 1)) == blocks[n + 1 :]
    # They begin at different bits of a byte, as nothing aligns them.
    assert len({len(content) for _, content in blocks[:-1]}) > 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=400), min_size=1, max_size=6), st.integers(1, 9))
def test_what_is_compressed_comes_back(tmp_path_factory, parts, level) -> None:
    path = tmp_path_factory.mktemp("bz2") / "any.bz2"
    path.write_bytes(b"".join(bz2.compress(part, level) for part in parts))
    check_end(path)
    assert b"".join(content for _, content in read_blocks(path, 0)) == b"".join(parts)


def test_a_mark_by_chance_in_a_block_is_no_block(packed, monkeypatch) -> None:
    blocks = list(read_blocks(packed, 0))
    real = plan._marks

    def marks(file: object, offset: int) -> object:
        for bit, mark in real(file, offset):  # type: ignore[arg-type]
            yield bit, mark
            if mark == plan._BLOCK:
                yield bit + 5_003, plan._BLOCK if bit % 2 else plan._END

    monkeypatch.setattr(plan, "_marks", marks)
    assert list(read_blocks(packed, 0)) == blocks


def test_damage(tmp_path: Path, packed: Path) -> None:
    path = tmp_path / "bad.bz2"
    starts = [start for start, _ in read_blocks(packed, 0)]
    for place, sound in ((starts[3] + 700, 3), (starts[4] + 3, 3), (starts[-1] + 700, 10)):
        data = bytearray(PACKED)
        data[place] ^= 0xFF
        path.write_bytes(data)
        found = []
        with pytest.raises(InputError, match=f"byte {starts[sound]:,}"):
            found.extend(read_blocks(path, 0))
        assert len(found) <= sound
    for wrong in (PACKED[:-1], PACKED[:-200], PACKED + b"x", b"", b"BZh9", DATA[:500]):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match="the file is cut, or no bz2 file"):
            check_end(path)
    path.write_bytes(PACKED[:-200])
    with pytest.raises(InputError, match="a damaged block, or a cut file"):
        list(read_blocks(path, 0))


# --- wikipedia upstream --------------------------------------------------------------------------

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
def test_a_dump_that_is_not_what_its_status_says(server, dump, wrong: dict[str, Any]) -> None:
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
        *TABLES["not_whole"],
        ("eswiki-2026-08-01-p301p899.xml.bz2", b"BZh9 other", "SHA-256"),
        ("SHA256SUMS", b"no sums", "line 1"),
    ],
)
def test_an_export_that_is_not_whole(server, tmp_path, spoilt, content, message) -> None:
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


def test_an_export_of_a_date_that_is_gone_and_none_at_all(server, tmp_path) -> None:
    exported(server, tmp_path, "20260801")
    what = corpus(server, export="content_current", date="20260101")
    with pytest.raises(InputError, match="a date that the server has: 20260801"):
        sources.fetch(what, "upstream", Path("raw"))
    del server.files[f"/exports/{folder_of('eswiki', '20260801')}/_SUCCESS"]
    with pytest.raises(InputError, match="an export with _SUCCESS"):
        sources.fetch(corpus(server, export="content_current"), "upstream", Path("raw"))
