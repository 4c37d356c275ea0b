"""Files of a corpus, plain or members of zip and tar archives, as blocks."""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from corpora_recipes.recipe import Corpus, no_files
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import (
    LARGEST_ARCHIVE,
    LARGEST_FILE,
    MOST_MEMBERS,
    read_whole,
    too_large,
)

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_NESTED = (*ARCHIVES, ".gz", ".bz2", ".xz", ".7z", ".rar")
# Files of packing programs, of macOS, Windows or version control.
_NOT_CONTENT = ("__MACOSX", "Thumbs.db")
# The last line is what zipfile and tarfile let through: no name, an invalid number or date.
_DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError),
    *(IndexError, KeyError, ValueError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class Member:
    """A block: a plain file, or a file in an archive."""

    key: str  # the file's path in the corpus, with the member's name after the archive's
    path: Path
    name: str = ""  # of the member in the archive

    @property
    def where(self) -> str:
        """Its name in messages."""
        return f"{self.path}, {self.name}" if self.name else str(self.path)

    def read(self, max_size: int = LARGEST_FILE) -> bytes:
        """Return the contents; see ``read_members``."""
        return next(read_members([self], max_size))


@dataclass(frozen=True, slots=True)
class Members:
    """A block: some files, which are plain or members of one archive."""

    key: str
    files: tuple[Member, ...]


def read_members(files: Iterable[Member], max_size: int = LARGEST_FILE) -> Iterator[bytes]:
    """Yield the contents of files, one at a time; an archive is opened once for all in a row.

    Args:
        files: plain, or in archives.
        max_size: the largest size, in bytes, of a plain file.
    """
    for path, group in groupby(files, lambda file: file.path):
        if not path.name.endswith(ARCHIVES):
            yield read_whole(path, max_size)
            continue
        where = str(path)
        try:
            with _open(path) as archive:
                for file in group:
                    where = file.where
                    yield archive.read(file.name)
        except _DAMAGE as error:
            raise _damage_error(where, error) from None


def list_members(path: Path, raw: Path) -> list[Member]:
    """Return the files of an archive, sorted by name, or the file itself if it is not an archive.

    Their keys are relative to ``raw``.
    """
    key = path.relative_to(raw).as_posix()
    if not path.name.endswith(ARCHIVES):
        return [Member(key, path)]
    try:
        with _open(path) as archive:
            names = archive.names()
    except _DAMAGE as error:
        raise _damage_error(str(path), error) from None
    names = sorted(name for name in names if _is_content(name))
    if nested := [name for name in names if name.lower().endswith(_NESTED)]:
        todo = "use the file as published; if it was packed once more, unpack the outer archive"
        raise RawError(path, "files, not an archive in an archive", nested[0], todo)
    return [Member(f"{key}/{name}", path, name) for name in names]


def existing_members(raw: Path, names: Iterable[str], corpus: Corpus) -> list[Member]:
    """Return those of some files of a folder that exist; for an archive the files in it."""
    paths = [raw / name for name in names if (raw / name).is_file()]
    if not paths:
        raise no_files(corpus, raw, " or ".join(names))
    return [member for path in paths for member in list_members(path, raw)]


@contextmanager
def _open(path: Path) -> Iterator["_Zip | _Tar"]:
    with path.open("rb") as file:
        if path.suffix == ".zip":
            # zipfile holds all records of the directory in memory.
            _check_number(path, _count(file, b"PK\1\2"))
            with zipfile.ZipFile(file) as archive:
                yield _Zip(path, archive)
        else:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            with (
                gzip.open(file) if packed else file as unpacked,
                tarfile.open(fileobj=_Bounded(unpacked, path), mode="r:") as tar,
            ):
                yield _Tar(path, tar)


def _count(file: BinaryIO, mark: bytes) -> int:
    """Count the occurrences of a mark in a file."""
    count, end = 0, b""
    while chunk := file.read(1 << 20):
        chunk = end + chunk
        count += chunk.count(mark)
        end = chunk[1 - len(mark) :]
    return count


@dataclass(frozen=True, slots=True)
class _Zip:
    path: Path
    archive: zipfile.ZipFile

    def names(self) -> list[str]:
        infos = self.archive.infolist()
        _check_total(self.path, sum(info.file_size for info in infos))
        return [info.filename for info in infos if not info.is_dir()]

    def read(self, name: str) -> bytes:
        info = self.archive.getinfo(name)
        _check_size(self.path, name, max(info.file_size, info.compress_size))
        # Other methods unpack without regard to how much is asked for.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotImplementedError(f"the compression method {info.compress_type}")
        with self.archive.open(info) as member:
            # Unlike read(), it unpacks no more than the directory says.
            return member.read(info.file_size + 1)


@dataclass(frozen=True, slots=True)
class _Tar:
    path: Path
    tar: tarfile.TarFile

    def names(self) -> list[str]:
        names = []
        for number, info in enumerate(self.tar, 1):
            _check_number(self.path, number)
            if info.isfile():
                names.append(info.name)
        return names

    def read(self, name: str) -> bytes:
        info = self.tar.getmember(name)
        _check_size(self.path, name, info.size)
        file = self.tar.extractfile(info)
        assert file is not None  # ``names`` lists files only
        return file.read()


class _Bounded(io.RawIOBase):
    """The unpacked bytes of a tar archive, whose headers may claim any size."""

    def __init__(self, file: BinaryIO | gzip.GzipFile, path: Path) -> None:
        super().__init__()
        self.file = file
        self.path = path

    def read(self, size: int = -1) -> bytes:
        """Return ``size`` bytes, or those that are left."""
        _check_size(self.path, "a header", size)
        data = self.file.read(size)
        _check_total(self.path, self.file.tell())
        return data

    def seek(self, position: int, whence: int = 0) -> int:
        """Go to a position."""
        if whence == 0:
            _check_total(self.path, position)
        return self.file.seek(position, whence)

    def tell(self) -> int:
        """Return the position."""
        return self.file.tell()


def _check_size(path: Path, name: str, size: int) -> None:
    if not 0 <= size <= LARGEST_FILE:
        raise too_large(f"{path}, {name}", f"{size:,} bytes", LARGEST_FILE)


def _check_number(path: Path, number: int) -> None:
    if number > MOST_MEMBERS:
        raise RawError(path, f"an archive of at most {MOST_MEMBERS:,} files", "more")


def _check_total(path: Path, size: int) -> None:
    if size > LARGEST_ARCHIVE:
        expected = f"files of at most {LARGEST_ARCHIVE:,} bytes together, unpacked"
        raise RawError(path, expected, f"{size:,} or more")


def _is_content(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part in _NOT_CONTENT for part in parts)


def _damage_error(where: str, error: Exception) -> RawError:
    return RawError(where, "an archive that can be unpacked", f"{type(error).__name__}: {error}")
