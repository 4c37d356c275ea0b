"""Unpacks a raw file from the zip archive in which a server or a mirror has it."""

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from corpora_recipes.facts import Source
from corpora_recipes.fetching.pins import described, found, matches
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

_CHUNK = 1 << 20


def unpack(archive: Path, source: Source, out: Path) -> None:
    """Write the member of an archive that has the name of a raw file, in any folder, into ``out``.

    Args:
        archive: a zip archive.
        source: the raw file, and its pin.
        out: the corpus's folder.

    Raises:
        InputError: the archive is damaged, has no such member, or the member is not what the pin
            says.
    """
    target = out / source.file
    name = PurePosixPath(source.file).name
    try:
        with zipfile.ZipFile(archive) as packed:
            inside = [i for i in packed.infolist() if PurePosixPath(i.filename).name == name]
            if len(inside) != 1 or source.size not in (None, inside[0].file_size):
                listed = (f"{i.filename}, {i.file_size:,} bytes" for i in packed.infolist())
                raise InputError(
                    archive,
                    expected=f"one file {name}, {described(source)}",
                    found="; ".join(listed)[:500] or "an empty archive",
                    todo="take the archive as its publisher gives it",
                )
            with (
                whole_file(target) as temporary,
                packed.open(inside[0]) as member,
                temporary.open("wb") as file,
            ):
                shutil.copyfileobj(member, file, _CHUNK)
                file.flush()
                sha256 = sha256_of(temporary)
                if not matches(temporary, source, sha256):
                    raise InputError(
                        f"{archive}, {inside[0].filename}",
                        expected=described(source),
                        found=found(temporary, source, sha256),
                        todo="take the archive as its publisher gives it",
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            archive,
            expected="a zip archive that can be unpacked",
            found=f"{type(error).__name__}: {error}",
            todo="fetch it again",
        ) from None
