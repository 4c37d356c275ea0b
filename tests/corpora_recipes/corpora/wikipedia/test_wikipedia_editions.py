"""Tests of wikipedia/editions.py: the pages created after a day, from few blocks."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from dump_writer import SamplePage, write_dump
from loopback import RangeServer
from recipe_reading import recipe_corpus, refused
from test_wikipedia_partial import corpus as upstream
from test_wikipedia_partial import names

from corpora_recipes.corpora.wikipedia import plan, recipe
from corpora_recipes.corpora.wikipedia.editions import (
    MAX_BLOCKS,
    Creation,
    Revision,
    find_creation,
    parse_revision,
)
from corpora_recipes.fetching import patience, sources
from corpora_recipes.fetching.ranges import parts_folder
from corpora_recipes.hashing import keyed_hash, keyed_uniform
from corpora_recipes.reading import read
from corpora_recipes.running.errors import InputError

BEGIN, END = datetime(2004, 1, 1), datetime(2026, 8, 1)
NAME = "eswiki-20260801-pages-articles-multistream.xml.bz2"


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
        name = NAME if form == "multistream" else NAME.replace("-multistream.xml.bz2", ".xml")
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


def test_a_part_of_a_remote_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)
    dump = write_dump(tmp_path / "server" / NAME, sample_pages(), per_stream=5)
    index = NAME.replace(".xml.bz2", "-index.txt.bz2")
    server = RangeServer(
        {f"/eswiki/20260801/{name}": (dump.parent / name).read_bytes() for name in (NAME, index)}
    )
    try:
        for documents in (10, 20):
            server.requests.clear()
            asked = upstream(server, documents, date="20260801", created_after="2025-12-31")
            sources.fetch(asked, "upstream", Path("raw"))
            ranges = server.asked(f"/eswiki/20260801/{NAME}")
            if documents == 10:
                assert len(set(ranges)) == len(ranges) <= 1 + MAX_BLOCKS + 5
            out = tmp_path / f"{documents}.parquet"
            read(asked, Path("raw"), out, workers=1, executor="local")
            ids = {int(row["id"]) for row in pq.read_table(out).to_pylist()}
            assert len(ids) == documents
            assert not ids - LATE
        assert any(names(parts_folder(Path("raw", NAME))))
        late = upstream(server, 9, date="20260801", created_after="2026-12-31")
        with pytest.raises(InputError, match="a day before the last pages"):
            sources.fetch(late, "upstream", Path("x"))
    finally:
        server.close()


def test_keys_do_not_depend_on_the_day(tmp_path: Path) -> None:
    write_dump(tmp_path / NAME, sample_pages(), per_stream=10)
    late = recipe.blocks(tmp_path, wiki())
    everything = recipe.blocks(tmp_path, wiki(created_after=None))
    assert [b.key for b in late] == [b.key for b in everything][-len(late) :]
    assert keyed_hash(1, late[0].key)
