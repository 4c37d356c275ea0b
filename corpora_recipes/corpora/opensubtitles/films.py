"""Lists the films of an OPUS archive, and decides which subtitle file of a film is read."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from corpora_recipes.corpora.opensubtitles.archive import Bytes, Member, list_members, read_record
from corpora_recipes.fetching.ranges import PartialFile
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

FORMS = ("raw", "xml")


@dataclass(frozen=True, slots=True)
class Film:
    """A block: the subtitle files of one film.

    Attributes:
        key: its IMDb number, the name of its folder in the archive.
        path: the archive.
        positions: positions of its files' directory records in the archive.
    """

    key: str
    path: Path
    positions: tuple[int, ...]


def archive_name(corpus: Corpus) -> str:
    """Return the archive's name; OPUS writes pt_br where BCP 47 has pt-BR.

    Raises:
        InputError: the option ``form`` is neither raw nor xml.
    """
    form = corpus.options["form"]
    if form not in FORMS:
        raise InputError(
            f"{corpus.where}.corpus.form",
            expected=f"one of {', '.join(FORMS)}",
            found=repr(form),
            todo="write one of these; the default is raw",
        )
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
    """List the films of an open archive.

    Args:
        file: the archive.
        path: its place.
        corpus: its language and form name the folder in the archive.

    Raises:
        InputError: the archive is damaged, has a member outside its folder, or holds no subtitle
            files of this form and language.
    """
    folder = f"OpenSubtitles/{archive_name(corpus).removesuffix('.zip')}/"
    layout = re.compile(re.escape(folder) + r"[^/]+/([^/]+)/[^/]+\.xml")
    films: dict[str, list[int]] = {}
    others = 0
    for member, position in list_members(file, path):
        name = member.name
        if ".." in name.split("/") or name.startswith("/") or "\\" in name:
            raise InputError(
                path,
                expected=f"members below {folder}",
                found=f"{name!r}, a path outside the archive's folder",
                todo="fetch it again; if that does not help, inspect it with other tools",
            )
        if match := layout.fullmatch(name):
            films.setdefault(match[1], []).append(position)
        else:
            others += 1
    if not films:
        raise InputError(
            path,
            expected=f"members {folder}<year>/<imdb>/<subtitle>.xml",
            found=f"{others} other members",
            todo="check that the file is the archive of this form and language",
        )
    return [Film(imdb, path, tuple(positions)) for imdb, positions in films.items()]


def choose(file: Bytes, film: Film, corpus: Corpus) -> Member:
    """Return the subtitle file of a film that is read: the first by the keyed hash of its name.

    Args:
        file: the open archive.
        film: of this archive.
        corpus: its seed and name are the key.

    Raises:
        InputError: the archive's directory is damaged.
    """
    return min(
        (read_record(file, film.path, position) for position in film.positions),
        key=lambda f: (keyed_hash(corpus.seed, corpus.name, f.name, "subtitle"), f.name),
    )
