"""Files of a corpus in a folder or in a zip or tar archive, as blocks."""

import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpora_recipes.running.errors import InputError

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_NESTED = (*_ARCHIVES, ".gz", ".bz2", ".xz", ".7z", ".rar")
# Files of packing programs, of macOS, Windows or version control.
_NOT_OURS = ("__MACOSX", "Thumbs.db")


@dataclass(frozen=True, slots=True)
class Member:
    """A block: a plain file, or a file in an archive.

    Attributes:
        key: the file's path in the corpus, with the member's name after the archive's.
        path: the file or the archive.
        name: the member's name in the archive, "" for a plain file.
    """

    key: str
    path: Path
    name: str = ""

    @property
    def where(self) -> str:
        """Its name in messages."""
        return f"{self.path}, {self.name}" if self.name else str(self.path)

    def read(self) -> bytes:
        """Return the contents.

        Raises:
            InputError: the archive is damaged.
        """
        if not self.name:
            return self.path.read_bytes()
        return read_members(self.path, [self.name])[self.name]


def read_members(path: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of files of one archive by name, opening it once.

    Raises:
        InputError: the archive is damaged, encrypted, or compressed in an unknown way.
    """
    found: dict[str, bytes] = {}
    name = names[0] if names else ""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in names:
                    found[name] = archive.read(name)
            return found
        with tarfile.open(path) as tar:
            for name in names:
                file = tar.extractfile(name)
                assert file is not None  # ``members`` lists files only
                found[name] = file.read()
    except _DAMAGE as error:
        raise _damaged(f"{path}, {name}", error) from None
    return found


def members(path: Path, raw: Path) -> list[Member]:
    """Return the files of an archive, sorted by name, or the file itself if it is not an archive.

    Args:
        path: a .zip, .tar, .tar.gz or .tgz, or any other file.
        raw: the folder that the keys are relative to.

    Raises:
        InputError: the archive cannot be read, or holds another archive.
    """
    key = path.relative_to(raw).as_posix()
    if not path.name.endswith(_ARCHIVES):
        return [Member(key, path)]
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
        else:
            with tarfile.open(path) as tar:
                names = [info.name for info in tar.getmembers() if info.isfile()]
    except _DAMAGE as error:
        raise _damaged(str(path), error) from None
    names = sorted(name for name in names if _is_ours(name))
    if nested := [name for name in names if name.lower().endswith(_NESTED)]:
        raise InputError(
            path,
            expected="files, not an archive in an archive",
            found=nested[0],
            todo="use the file as published; if it was packed once more, unpack the outer archive",
        )
    return [Member(f"{key}/{name}", path, name) for name in names]


_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


def _is_ours(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part in _NOT_OURS for part in parts)


def _damaged(where: str, error: Exception) -> InputError:
    return InputError(
        where,
        expected="an archive that can be unpacked",
        found=f"{type(error).__name__}: {error}",
        todo="fetch the file again",
    )
