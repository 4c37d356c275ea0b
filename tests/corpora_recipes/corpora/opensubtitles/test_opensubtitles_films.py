"""A quota of films from a part of a remote archive: the same rows, few bytes, and lies refused."""

import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from loopback import RangeServer
from no_waiting import no_waiting as no_waiting
from recipe_reading import recipe_corpus, refused, serve

from corpora_recipes.corpora.opensubtitles.recipe import list_members
from corpora_recipes.fetching import sources
from corpora_recipes.fetching.ranges import parts_folder
from corpora_recipes.reading import read
from corpora_recipes.recipe import Corpus
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

NAME = "raw/es.zip"
WHOLE = f"/{NAME}"
SUBTITLES, FILMS = 1200, 480
WHO = ("mi hermana", "el capitán", "la vecina", "tu padre", "nadie", "el médico", "la jueza")
DOES = ("ha visto", "busca", "quiere vender", "se llevó", "conoce", "esconde", "pidió", "perdió")
WHAT = ("la barca", "las llaves", "el reloj", "los planos", "una carta", "el sombrero", "la casa")


def subtitle(number: int) -> str:
    """Return a subtitle file of invented lines, one in five of a film that is dropped."""
    lines = []
    for i in range(15 + number % 20):
        n = number * 977 + i * 131
        line = f"¿Por qué {WHO[n % 7]} {DOES[n // 7 % 8]} {WHAT[n // 56 % 7]} a las {n % 2400}?"
        line = line.upper() if number % FILMS % 5 == 0 else line
        lines.append(f'<s id="{i}"><time id="T{i}S" value="00:00:{i % 60:02},{n % 1000:03}" />')
        lines.append(f"{escape(line)}</s>")
    return '<?xml version="1.0" encoding="utf-8"?>\n<document id="1">' + "\n".join(
        [*lines, "<meta/></document>"]
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("server") / "es.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("README", "no film")
        for number in range(SUBTITLES):
            # The versions of a film are far apart, as no order is promised.
            film = number % FILMS
            name = f"OpenSubtitles/raw/es/{1950 + film % 70}/{film}/{number}.xml"
            file.writestr(name, subtitle(number))
    return path.read_bytes()


@pytest.fixture
def server(archive: bytes) -> Iterator[RangeServer]:
    yield from serve({WHOLE: archive})


def corpus(
    server: RangeServer,
    documents: int | None,
    sizes: dict[str, int] | None = None,
    partial: bool = True,
) -> Corpus:
    special = {"base_url": server.url, "sizes": sizes or {}}
    name = "opensubtitles"
    return recipe_corpus(name, documents=documents, special=special, partial=partial)


def records(raw: str, what: Corpus, workers: int = 1) -> bytes:
    out = Path("films.parquet")
    read(what, Path(raw), out, workers=workers, executor="local")
    return out.read_bytes() + out.with_suffix(".json").read_bytes()


def parts(raw: str) -> list[tuple[int, int]]:
    names = (path.name.split("-") for path in parts_folder(Path(raw, NAME)).glob("*-*"))
    return sorted((int(start), int(stop)) for start, stop in names)


def directory(data: bytes) -> tuple[list[int], int]:
    """Return where the members of an archive begin, and where its directory does."""
    Path("whole.zip").write_bytes(data)
    with Path("whole.zip").open("rb") as file:
        members, start = list_members(file, Path("whole.zip"))
        return sorted(member.offset for member in members), start


@pytest.mark.parametrize("documents", [1, 40])
def test_records_of_a_part_are_those_of_the_whole(server: RangeServer, documents: int) -> None:
    some = corpus(server, documents)
    sources.fetch(some, "upstream", Path("part"))
    assert not Path("part", NAME).exists()
    sources.fetch(corpus(server, documents, partial=False), "upstream", Path("whole"))
    assert Path("whole", NAME).read_bytes() == server.files[WHOLE]
    expected = records("whole", some)
    assert pq.read_metadata("films.parquet").num_rows == documents
    assert records("part", some) == expected
    if documents == 1:
        # Two workers read beyond the quota, where there is nothing.
        assert records("part", some, workers=2) == expected


def test_bytes_fetched_are_those_of_the_films_used(server: RangeServer) -> None:
    some = corpus(server, 60)
    sources.fetch(some, "upstream", Path("part"))
    offsets, start = directory(server.files[WHOLE])
    ends = dict(zip(offsets, [*offsets[1:], start], strict=True))
    # One file of each film up to the quota, those that were dropped included.
    records("part", some)
    used = [offset for offset in offsets if any(a <= offset < b for a, b in parts("part"))]
    members = sum(ends[offset] - offset for offset in used if offset)
    size = len(server.files[WHOLE])
    assert server.sent[WHOLE] == sum(stop - start for start, stop in parts("part"))
    assert server.sent[WHOLE] <= 1.3 * members + (size - start)
    # 60 are kept, and one in five is dropped; few lie between two that are near each other.
    assert 66 <= len(used) <= 87
    assert server.most <= patience.CONNECTIONS


def test_films_come_in_the_order_of_the_archive(server, monkeypatch) -> None:
    monkeypatch.setattr(patience, "CONNECTIONS", 1)
    sources.fetch(corpus(server, 60), "upstream", Path("part"))
    starts = [int(str(asked).removeprefix("bytes=").split("-")[0]) for asked in server.asked(WHOLE)]
    _, start = directory(server.files[WHOLE])
    films = [at for at in starts[1:] if at < start]
    # The films of the quota; then, in the same order, others for those that were dropped.
    rounds = [i for i in range(1, len(films)) if films[i] < films[i - 1]]
    assert rounds[0] >= 50
    assert len(rounds) <= 5


def test_a_larger_quota_continues(server: RangeServer) -> None:
    sources.fetch(corpus(server, 40), "upstream", Path("part"))
    before = server.sent[WHOLE]
    sources.fetch(corpus(server, 40), "upstream", Path("part"))
    assert server.sent[WHOLE] == before
    with refused("", "run fetch again", "only other parts of the file"):
        records("part", corpus(server, 60))
    sources.fetch(corpus(server, 60), "upstream", Path("part"))
    assert server.sent[WHOLE] == sum(stop - start for start, stop in parts("part"))
    some = corpus(server, 60)
    assert records("part", some) == records_of_the_whole(server, some)


def records_of_the_whole(server: RangeServer, some: Corpus) -> bytes:
    path = Path("whole", NAME)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(server.files[WHOLE])
    return records("whole", some)


@pytest.mark.parametrize(("documents", "ranges", "why"), TABLES["whole_archive"])
def test_the_whole_archive_if_it_must_be(server, capsys, documents, ranges, why) -> None:
    server.ranges = ranges
    sources.fetch(corpus(server, documents), "upstream", Path("raw"))
    assert Path("raw", NAME).read_bytes() == server.files[WHOLE]
    assert not parts_folder(Path("raw", NAME)).exists()
    size = len(server.files[WHOLE])
    note = f"fetching the whole of raw/es.zip, {size:,} bytes: {why}\n"
    assert note in capsys.readouterr().err
    # It stays.
    before = server.sent[WHOLE]
    sources.fetch(corpus(server, 10), "upstream", Path("raw"))
    assert server.sent[WHOLE] <= before + (0 if Path("sources.lock").exists() else size)


def changed(data: bytes, change: Callable[[bytearray, int], None]) -> bytes:
    """Change the directory record of each subtitle."""
    new = bytearray(data)
    at = directory(data)[1]
    while new[at : at + 4] == b"PK\1\2":
        named, extra, comment = struct.unpack_from("<3H", new, at + 28)
        name = bytes(new[at + 46 : at + 46 + named]).decode()
        if name.endswith(".xml"):
            change(new, at)
        at += 46 + named + extra + comment
    return bytes(new)


def error(server: RangeServer, data: bytes) -> str:
    server.files[WHOLE] = data
    with pytest.raises(InputError) as caught:
        sources.fetch(corpus(server, 30), "upstream", Path("part"))
    assert caught.value.where == str(Path("part", NAME))
    return caught.value.found


def test_sizes_that_overlap(server: RangeServer, archive: bytes) -> None:
    def grow(data: bytearray, at: int) -> None:
        data[at + 22] += 1  # 65,536 bytes more

    assert "would reach to byte" in error(server, changed(archive, grow))
    # Nothing but the directory was fetched for it.
    start = directory(archive)[1]
    assert server.sent[WHOLE] <= len(archive) - start + 70_000


@pytest.mark.parametrize(
    ("offset", "value", "found"),
    [
        (20, struct.pack("<L", 1 << 30), "has 1,073,741,824 bytes, more than"),
        (42, struct.pack("<L", 50_000_000), "would reach to byte"),
        (42, bytes(4), "README where OpenSubtitles/"),
        (16, bytes(4), "another CRC-32"),
    ],
)
def test_another_record(server, archive, offset: int, value: bytes, found: str) -> None:
    def change(data: bytearray, at: int) -> None:
        data[at + offset : at + offset + 4] = value

    assert found in error(server, changed(archive, change))


def test_a_file_that_was_damaged_is_fetched_again(server: RangeServer, archive: bytes) -> None:
    some = corpus(server, 30)
    sources.fetch(some, "upstream", Path("part"))
    start = directory(archive)[1]
    film = next(part for part in parts("part") if part[0] > 1 and part[1] < start - 70_000)
    path = parts_folder(Path("part", NAME)) / f"{film[0]:015}-{film[1]:015}"
    path.write_bytes(bytes(film[1] - film[0]))
    with pytest.raises(InputError, match="no member at byte"):
        sources.fetch(some, "upstream", Path("part"))
    assert not path.exists()
    sources.fetch(some, "upstream", Path("part"))
    assert records("part", some) == records_of_the_whole(server, some)


@pytest.mark.parametrize("page", [b"<!doctype html><title>Busy</title>", b"PK\3\4" + b"x" * 99])
def test_no_archive(server: RangeServer, page: bytes) -> None:
    found = "no zip archive, or a damaged one: File is not a zip file"
    assert error(server, page) == found


def test_another_size_than_is_known(server: RangeServer) -> None:
    with pytest.raises(InputError, match="5 bytes"):
        sources.fetch(corpus(server, 10, {NAME: 5}), "upstream", Path("part"))
    assert server.sent[WHOLE] == 1
