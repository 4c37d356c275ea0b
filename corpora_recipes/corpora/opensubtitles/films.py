"""Lists the films of an OPUS archive, says which file of each is read, and fetches a quota."""

import re
import shutil
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from corpora_recipes.corpora.opensubtitles.archive import (
    Bytes,
    Member,
    find_directory,
    list_members,
    member_range,
    read_record,
)
from corpora_recipes.facts import Source
from corpora_recipes.fetching import patience
from corpora_recipes.fetching.downloads import fetch_whole
from corpora_recipes.fetching.ranges import NoRanges, PartialFile, RangeFetcher, parts_folder
from corpora_recipes.fetching.session import look_at
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.reading.blocks import in_order
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.running.errors import InputError, ParamsError, RawError

FORMS = ("raw", "xml")
# What lies between two files is fetched with them if it is at most this share of all: one request
# instead of two.
GAP = 1 / 8


@dataclass(frozen=True, slots=True)
class Film:
    """A block: the subtitle files of one film, as positions of directory records in the archive.

    The key is its IMDb number, the name of its folder there.
    """

    key: str
    path: Path
    positions: tuple[int, ...]


def archive_name(corpus: Corpus) -> str:
    """Return the archive's name; OPUS writes pt_br where BCP 47 has pt-BR."""
    form = corpus.options["form"]
    if form not in FORMS:
        raise ParamsError(f"{corpus.where}.corpus.form", f"one of {', '.join(FORMS)}", repr(form))
    return f"{form}/{corpus.language.lower().replace('-', '_')}.zip"


@contextmanager
def open_archive(path: Path) -> Iterator[Bytes]:
    """Open an archive that was fetched, whole or in parts."""
    if path.is_file():
        with path.open("rb") as file:
            yield file
    else:
        yield PartialFile(path)


def list_films(file: Bytes, path: Path, corpus: Corpus) -> Sequence[Film]:
    """List the films of an open archive, in the folder that language and form name."""
    folder = f"OpenSubtitles/{archive_name(corpus).removesuffix('.zip')}/"
    layout = re.compile(re.escape(folder) + r"[^/]+/([^/]+)/[^/]+\.xml")
    films: dict[str, list[int]] = {}
    others = 0
    for member, position in list_members(file, path):
        name = member.name
        if ".." in name.split("/") or name.startswith("/") or "\\" in name:
            found = f"{name!r}, a path outside the archive's folder"
            raise RawError(path, f"members below {folder}", found)
        if match := layout.fullmatch(name):
            films.setdefault(match[1], []).append(position)
        else:
            others += 1
    if not films:
        expected = f"members {folder}<year>/<imdb>/<subtitle>.xml"
        raise RawError(path, expected, f"{others} other members")
    return [Film(imdb, path, tuple(positions)) for imdb, positions in films.items()]


def choose(file: Bytes, film: Film, corpus: Corpus) -> Member:
    """Return the subtitle file of a film that is read: the first by the keyed hash of its name."""
    return min(
        (read_record(file, film.path, position) for position in film.positions),
        key=lambda f: (keyed_hash(corpus.seed, corpus.name, f.name, "subtitle"), f.name),
    )


# --- fetching a part -----------------------------------------------------------------------------


def fetch(corpus: Corpus, out: Path, read_block: Callable[[Film, Corpus], BlockResult]) -> None:
    """Fetch an archive into folder ``out``: whole, or the parts that the quota needs.

    If the option ``partial`` is set, only the archive's directory is fetched, and then the subtitle
    files of as many films as the quota takes, in the order in which ``read`` takes them. To detect
    which films are accepted, they are read at once, by ``read_block``, in this process. A larger
    quota continues where this one ends. The whole archive is fetched, and a message says
    why, if all films are wanted or more than half of them, or the server does not support byte
    ranges; if it is there already, it stays.
    """
    (source,) = list_sources(corpus)
    path = out / source.file
    if corpus.options["partial"] and not path.exists():
        try:
            why = _fetch_films(corpus, source, path, read_block)
        except NoRanges as error:
            why = str(error)
        if not why:
            return
        size = look_at(source.urls[0]).size or source.size
        known = "size unknown" if size is None else f"{size:,} bytes"
        tqdm.write(f"fetching the whole of {source.file}, {known}: {why}", file=sys.stderr)
    fetch_whole([source], out)
    shutil.rmtree(parts_folder(path), ignore_errors=True)


def _fetch_films(
    corpus: Corpus, source: Source, path: Path, read_block: Callable[[Film, Corpus], BlockResult]
) -> str:
    """Fetch what the quota needs; return why it cannot be done, "" if it was."""
    quota = corpus.documents
    if quota is None:
        return f"corpora.{corpus.name}.corpus.documents asks for all"
    with RangeFetcher(source.urls, path, source.size) as parts:
        # The answer to any range has the size of the file.
        parts.fetch(0, 1)
        assert parts.manifest is not None
        archive = _Archive(PartialFile(path, parts), path, corpus)
        if 2 * quota > len(archive.films):
            return f"more than half of its {len(archive.films):,} films are wanted"
        accepted = at = 0
        with tqdm(total=quota, desc=f"accept {corpus.name}", unit="doc", disable=None) as bar:
            # Some films are dropped: as many others are needed.
            while accepted < quota and at < len(archive.films):
                films = archive.films[at : at + quota - accepted]
                at += len(films)
                for film in archive.fetch(films):
                    try:
                        kept = len(read_block(film, corpus).records)
                    except InputError:
                        archive.discard(film)
                        raise
                    accepted += kept
                    bar.update(kept)
        size = sum(part.stat().st_size for part in parts_folder(path).glob("*-*"))
        note = f"{source.file}: {size:,} of its {parts.manifest.size:,} bytes are present, "
        note += f"{parts.fetched:,} of them new"
        tqdm.write(note, file=sys.stderr)
    return ""


class _Archive:
    """A remote archive, whose ``films`` are in keyed-hash order."""

    def __init__(self, file: PartialFile, path: Path, corpus: Corpus) -> None:
        """Fetch the directory."""
        self._file = file
        self._path = path
        self._corpus = corpus
        self.films = in_order(list_films(file, path, corpus), corpus)
        # Where a member ends is not in the directory: before the next one, or the directory.
        self._ends = sorted(member.offset for member, _ in list_members(file, path))
        self._ends.append(find_directory(file, path)[0])

    def fetch(self, films: Iterable[Film]) -> Iterator[Film]:
        """Fetch the subtitle files of films, in the order of the archive; yield those that came."""
        in_archive = sorted(((self._range(film), film) for film in films), key=lambda pair: pair[0])
        ranges: list[tuple[int, int]] = []
        together: list[list[Film]] = []
        for (start, stop), film in in_archive:
            if ranges and start - ranges[-1][1] <= GAP * (stop - ranges[-1][0]):
                ranges[-1] = (ranges[-1][0], stop)
                together[-1].append(film)
            else:
                ranges.append((start, stop))
                together.append([film])
        fetchers = ThreadPoolExecutor(patience.CONNECTIONS)
        try:
            fetched = fetchers.map(self._file.fetch, *zip(*ranges, strict=True))
            for some, _ in zip(together, fetched, strict=True):
                yield from some
        finally:
            fetchers.shutdown(cancel_futures=True)

    def discard(self, film: Film) -> None:
        """Remove what was fetched of a film."""
        self._file.discard(*self._range(film))

    def _range(self, film: Film) -> tuple[int, int]:
        member = choose(self._file, film, self._corpus)
        end = self._ends[bisect_right(self._ends, member.offset, hi=len(self._ends) - 1)]
        return member_range(member, end, self._path)
