"""Tests of benchmarks/dump_generator.py: dumps of any size in the real layout."""

import bz2
from pathlib import Path
from xml.sax.saxutils import escape

from dump_generator import SAMPLE, generate, read_header, read_pages
from dump_writer import SamplePage, write_dump

from corpora_recipes.corpora.wikipedia.pages import parse_page
from corpora_recipes.corpora.wikipedia.pages import read_pages as block_pages
from corpora_recipes.corpora.wikipedia.plan import index_path, list_blocks, read_site

NAME = "eswiki-20260101-pages-articles-multistream.xml.bz2"
ODD = [
    SamplePage('A & «B» "c"', "&lt; '''x''' &amp;nbsp; <title>no</title> <id>7</id>\n", id=7),
    SamplePage("Seco", "#REDIRECCIÓN [[Lago]]", id=9, redirect="Lago"),
    SamplePage("Lago", "El lago.\n<page>\nno\n</page>\n", id=12),
]


def index_rows(dump: Path) -> list[list[bytes]]:
    with bz2.open(index_path(dump)) as lines:
        return [line.rstrip(b"\n").split(b":", 2) for line in lines]


def fields(dump: Path) -> list[tuple[str, str, str, bool]]:
    site = read_site(dump)
    pages = [parse_page(xml, site) for xml in read_pages(dump)]
    return [(page.id, page.title(), page.text(), page.redirect) for page in pages]


def test_copies_differ_in_id_and_title_alone(tmp_path: Path) -> None:
    source = write_dump(tmp_path / "odd.xml", ODD)
    out = tmp_path / NAME
    assert generate(out, [source], times=3) == 9
    titles = [page.title + mark for mark in ("", " (×2)", " (×3)") for page in ODD]
    assert fields(out) == [
        (str(number + 1), title, ODD[number % 3].text, number % 3 == 1)
        for number, title in enumerate(titles)
    ]
    assert read_header(out) == read_header(source)
    # Everything but the title and the page's id is as it was.
    copy = list(read_pages(source))[1].replace(b"Seco</title>", "Seco (×2)</title>".encode())
    assert list(read_pages(out))[4] == copy.replace(b"<id>9</id>", b"<id>5</id>", 1)
    assert index_rows(out)[0][1:] == [b"1", "A &amp; «B» &quot;c&quot;".encode()]


def test_index_offsets_are_the_starts_of_streams_of_100_pages(tmp_path: Path) -> None:
    out = tmp_path / NAME
    assert generate(out, pages=450) == 450
    rows = index_rows(out)
    assert [int(row[1]) for row in rows] == list(range(1, 451))
    assert len({row[2] for row in rows}) == 450
    # Reading compares the index with the streams, up to the last byte.
    blocks = list_blocks(out)
    streams = [stream for block in blocks for stream in block.streams]
    assert [stream.pages for stream in streams] == [100, 100, 100, 100, 50]
    assert [stream.offset for stream in streams] == sorted({int(row[0]) for row in rows})
    titles = [parse_page(xml, block.site).title() for block in blocks for xml in block_pages(block)]
    assert [escape(title, {'"': "&quot;"}).encode() for title in titles] == [row[2] for row in rows]
    data = out.read_bytes()
    assert bz2.decompress(data[: streams[0].offset]) == read_header(SAMPLE)
    assert data.endswith(bz2.compress(b"</mediawiki>\n"))


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name / NAME for name in ("a", "b")]
    assert [generate(file) for file in files] == [len(list(read_pages(SAMPLE)))] * 2
    assert files[0].read_bytes() == files[1].read_bytes()
    assert index_path(files[0]).read_bytes() == index_path(files[1]).read_bytes()
