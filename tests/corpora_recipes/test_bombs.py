"""Bombs, small files that unpack to large ones or make parsers work: the named error, in 500 MB."""

import bz2
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
MEGABYTE = b"a" * (1 << 20)
# Answers each request with the megabytes that a process has used at most, and its message; that
# process is a fork, fresh for each bomb.
READ = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, "tests/support")
from reading_oracle import corpus_for
from corpora_recipes.reading import read
from corpora_recipes.running import limits
from corpora_recipes.running.errors import InputError

for line in sys.stdin:
    recipe, raw, out, lower = json.loads(line)
    if os.fork():
        os.wait()
        print(flush=True)
        continue
    # Before the recipe, which is imported when it is read with.
    vars(limits).update(lower)
    corpus = corpus_for(recipe, {"language": "es"})
    try:
        read(corpus, Path(raw), Path(out), workers=1, executor="local")
    except InputError as error:
        # Of this process alone: ru_maxrss is that of its parent, too.
        status = Path("/proc/self/status").read_text("ascii")
        most = int(status.partition("VmHWM:")[2].split()[0]) >> 10
        print(json.dumps([most, str(error)]), end="", flush=True)
    finally:
        os._exit(0)
"""
MOST_MEGABYTES = 500


def of_lying_member(raw: Path) -> None:
    """Make a member of 400 MB that says it has 1,000 bytes."""
    path = raw / "corpusCine.zip"
    _zip(path, {"corpusCriticasCine/1.xml": 400})
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(mark) + offset
        data[at : at + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(data)


def of_many_members(raw: Path) -> None:
    """Make an archive of 400,000 empty reviews, from one that has 1,000."""
    with zipfile.ZipFile(raw / "few.zip", "w") as archive:
        for number in range(1000):
            archive.writestr(f"corpusCriticasCine/{number}.xml", b"")
    data = (raw / "few.zip").read_bytes()
    (raw / "few.zip").unlink()
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    records = data[start:end] * 400
    tail = bytearray(data[end:])
    tail[12:16] = len(records).to_bytes(4, "little")
    (raw / "corpusCine.zip").write_bytes(data[:start] + records + tail)


def of_many_large_members(raw: Path) -> None:
    path = raw / "corpusCine.zip"
    _zip(path, {f"corpusCriticasCine/{n}.xml": 0 for n in range(80)})
    data = bytearray(path.read_bytes())
    at = -1
    while (at := data.find(b"PK\1\2", at + 1)) >= 0:
        data[at + 24 : at + 28] = (60 << 20).to_bytes(4, "little")
    path.write_bytes(data)


def of_large_tar(raw: Path) -> None:
    """Make a tar archive of 480 MB: what is not read is skipped, but unpacked."""
    _tar(raw / "x-final.tar.gz", [(f"x-final/fr/{n}.tsv", 60) for n in range(8)])


def of_large_tar_header(raw: Path) -> None:
    """Make a tar archive with a header (for a long name) of 400 MB."""
    info = tarfile.TarInfo("././@LongLink")
    info.type = tarfile.GNUTYPE_LONGNAME
    info.size = 400 << 20
    content = gzip.compress(MEGABYTE) * 401
    (raw / "x-final.tar.gz").write_bytes(gzip.compress(info.tobuf()) + content)


def of_many_tar_members(raw: Path) -> None:
    one = tarfile.TarInfo("x-final/fr/a.tsv").tobuf()
    (raw / "x-final.tar.gz").write_bytes(gzip.compress(one * 30_000, 1))


def of_one_line(raw: Path) -> None:
    start = gzip.compress(b'{"id": "1", "text": "')
    (raw / "a.jsonl.gz").write_bytes(start + gzip.compress(MEGABYTE) * 700)


def of_blank_lines(raw: Path) -> None:
    (raw / "a.jsonl.gz").write_bytes(gzip.compress(b"\n" * (10 << 20), 1) * 6)


def of_small_documents(raw: Path) -> None:
    lines = b'{"id":"1","text":"Uno."}\n' * 30_000
    (raw / "a.jsonl.gz").write_bytes(gzip.compress(lines, 9) * 100)


def of_shared_values(raw: Path) -> None:
    """Make a Parquet file of 2 MB whose 2,000 rows share one text, 4 GB in all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = "a" * (2 << 20)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), pa.array([text]))
    table = pa.table({"id": [str(number) for number in range(2000)], "text": texts})
    pq.write_table(table, raw / "a.parquet")


def of_a_large_table(raw: Path) -> None:
    """Make a plain file of 5 GB, most of it a hole."""
    _hole(raw / "fac.subjective", 5 << 30)
    _hole(raw / "fac.objective", 10)


def of_many_examples(raw: Path) -> None:
    (raw / "word_evalrank").mkdir()
    (raw / "word_evalrank" / "basic_vocab.txt").write_bytes(b"a\n" * (15 << 20))


def of_many_blank_rows(raw: Path) -> None:
    (raw / "fac.subjective").write_bytes(b"\n" * (60 << 20))
    _hole(raw / "fac.objective", 10)


def of_filled_rows(raw: Path) -> None:
    """Make a table of 90,000 columns with a million rows that end early."""
    table = b"\t".join([b"id", b"sentence1", b"sentence2", b"label"] + [b""] * 90_000)
    data = table + b"\n" + b"a\n" * 1_000_000
    info = tarfile.TarInfo("x-final/es/translated_train.tsv")
    info.size = len(data)
    with tarfile.open(raw / "x-final.tar.gz", "w:gz", compresslevel=1) as tar:
        tar.addfile(info, io.BytesIO(data))


def of_entities(raw: Path) -> None:
    """Make a page with an entity that is ten thousand million characters long."""
    entities = "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "aaaaaaaaaa"}">' for n in range(10)
    )
    _page(raw, f"<!DOCTYPE a [{entities}]>", "&a9;")


def of_subtitles(raw: Path) -> None:
    (raw / "raw").mkdir()
    _zip(raw / "raw" / "es.zip", {"OpenSubtitles/raw/es/2000/1/1.xml": 200})


def of_a_dump(raw: Path) -> None:
    page = b"<mediawiki><siteinfo><dbname>eswiki</dbname></siteinfo><page>"
    path = raw / "eswiki-20260101-pages-articles.xml.bz2"
    path.write_bytes(bz2.compress(page + MEGABYTE * 40))


def of_an_index(raw: Path) -> None:
    name = "eswiki-20260101-pages-articles-multistream"
    (raw / f"{name}.xml.bz2").write_bytes(bz2.compress(b"<mediawiki>"))
    lines = "".join(f"{number}:1:a\n" for number in range(1, 110_001))
    (raw / f"{name}-index.txt.bz2").write_bytes(bz2.compress(lines.encode()))


BOMBS: list[tuple[str, Callable[[Path], object], str]] = [
    (
        "muchocine",
        lambda raw: _zip(raw / "corpusCine.zip", {"corpusCriticasCine/1.xml": 200}),
        "at most 67,108,864 bytes",
    ),
    ("muchocine", of_lying_member, "an archive that can be unpacked"),
    (
        "muchocine",
        lambda raw: _zip(
            raw / "corpusCine.zip", {"corpusCriticasCine/1.xml": 60}, zipfile.ZIP_BZIP2
        ),
        "compression method 12",
    ),
    ("muchocine", of_many_members, "at most 50,000 files"),
    ("muchocine", of_many_large_members, "at most 4,294,967,296 bytes together"),
    (
        "paws_x",
        lambda raw: _tar(raw / "x-final.tar.gz", [("x-final/es/translated_train.tsv", 300)]),
        "at most 67,108,864 bytes",
    ),
    ("paws_x", of_large_tar, "at most 419,430,400 bytes together"),
    ("paws_x", of_large_tar_header, "at most 67,108,864 bytes"),
    ("paws_x", of_many_tar_members, "at most 5,000 files"),
    ("paws_x", of_filled_rows, "at most 100 columns"),
    ("documents", of_one_line, "lines of at most 8,388,608 bytes"),
    ("documents", of_blank_lines, "at most 500,000 lines"),
    ("documents", of_small_documents, "at most 20,000 documents"),
    (
        "documents",
        lambda raw: (raw / "a.jsonl").write_bytes(b'{"id": ' + b"[" * (4 << 20)),
        "a line that is one JSON object",
    ),
    ("documents", of_shared_values, "at most 268,435,456 characters"),
    ("fac", of_a_large_table, "at most 67,108,864 bytes"),
    ("evalrank", of_many_examples, "at most 250,000 examples"),
    ("fac", of_many_blank_rows, "at most 500,000 lines"),
    ("theses", of_entities, "DOCTYPE|complete response"),
    ("theses", lambda raw: _page(raw, "", "<a>" * 500_000), "complete response"),
    ("theses", lambda raw: _page(raw, "", "<a/>" * (4 << 20)), "at most 8,388,608 bytes"),
    ("opensubtitles", of_subtitles, "more than 67,108,864"),
    ("wikipedia", of_a_dump, "a page without an end"),
    ("wikipedia", of_an_index, "at most 100,000 streams"),
    ("gutenberg", lambda raw: _hole(raw / "pg1.txt", 2 << 30), "none; counts"),
    (
        "word_pairs",
        lambda raw: (raw / "a.tsv").write_bytes(b"a " * (30 << 20)),
        "at most 100,000 bytes|of at most 100,000",
    ),
    ("paralex", lambda raw: _hole(raw / "ParaLex.csv", 1 << 30), "at most 16,777,216 bytes"),
]
# Lower limits for what is read item by item, which would take ten seconds and hold no more.
LOWER: dict[Callable[[Path], object], dict[str, int]] = {
    of_many_tar_members: {"MOST_MEMBERS": 5_000},
    of_an_index: {"MOST_STREAMS": 100_000},
    of_large_tar: {"LARGEST_ARCHIVE": 400 << 20},
    of_blank_lines: {"MOST_LINES": 500_000},
    of_many_blank_rows: {"MOST_LINES": 500_000},
    of_small_documents: {"MOST_RECORDS": 20_000},
}


@pytest.fixture(scope="module")
def reader() -> Iterator[subprocess.Popen[str]]:
    """Start the process that READ is."""
    process = subprocess.Popen(
        [sys.executable, "-c", READ],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process
    process.communicate()


@pytest.mark.parametrize(
    ("recipe", "make", "message"),
    BOMBS,
    ids=[f"{recipe}-{message}" for recipe, _, message in BOMBS],
)
def test_a_bomb(reader, recipe, make, message, tmp_path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out" / "records.parquet"
    raw.mkdir()
    out.parent.mkdir()
    make(raw)
    assert reader.stdin
    assert reader.stdout
    try:
        request = json.dumps([recipe, str(raw), str(out), LOWER.get(make, {})])
        print(request, file=reader.stdin, flush=True)
        answer = reader.stdout.readline().strip()
    finally:
        for path in raw.rglob("*"):
            if path.is_file():
                path.unlink()
    assert answer, "no InputError"
    megabytes, error = json.loads(answer)
    assert re.search(message, error), error
    assert megabytes <= MOST_MEGABYTES
    assert list(out.parent.iterdir()) == []


def _zip(path: Path, members: dict[str, int], method: int = zipfile.ZIP_DEFLATED) -> None:
    """Write an archive of members by their names and their megabytes."""
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
        for name, megabytes in members.items():
            with archive.open(name, "w") as member:
                for _ in range(megabytes):
                    member.write(MEGABYTE)


def _tar(path: Path, members: list[tuple[str, int]]) -> None:
    """Write an archive of members by their names and their megabytes."""
    megabyte = gzip.compress(MEGABYTE, 1)
    with path.open("wb") as packed:
        for name, megabytes in members:
            info = tarfile.TarInfo(name)
            info.size = megabytes << 20
            packed.write(gzip.compress(info.tobuf()) + megabyte * megabytes)
        packed.write(gzip.compress(bytes(1024)))


def _hole(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.write(b"a\n")
        file.truncate(size)


def _page(raw: Path, doctype: str, content: str) -> None:
    start = '<?xml version="1.0"?>\n' + doctype
    root = '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record>'
    end = "</record></ListRecords></OAI-PMH>"
    (raw / "page-0000.xml").write_text(start + root + content + end)
