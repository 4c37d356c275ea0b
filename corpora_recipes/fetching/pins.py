"""What a file must be, by its pin and its name, and what a fetch notes.

It notes in sources.lock what files were when they came first, and in the manifest of a raw folder
what it puts there, and whether it has ended.
"""

import json
import re
from collections.abc import Callable, Iterable, Set
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import file_digest, sha1
from pathlib import Path
from typing import TypeVar
from zipfile import is_zipfile

from corpora_recipes.checking import checked
from corpora_recipes.facts import Pin
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.outputs import load_json, release, try_lock, whole_file

# Nothing is known of the file.
ANY = Pin()
# In the working folder, beside params.yaml.
LOCK = Path("sources.lock")
# The files that a fetch has put into its folder, to distinguish them from files of the user.
MANIFEST = ".fetched.json"
# Missing files that a message names.
NAMED = 10

_T = TypeVar("_T")


def described(pin: Pin) -> str:
    """Return a pin in words, for messages."""
    named = {"SHA-256": pin.sha256, "SHA-1": pin.sha1, "git blob": pin.git_blob}
    known = [f"{name} {digest}" for name, digest in named.items() if digest]
    known += [] if pin.size is None else [f"{pin.size} bytes"]
    return ", ".join(known) or "any bytes"


def mismatch(path: Path, pin: Pin, sha256: str) -> str:
    """Return what a file of a known SHA-256 is, in the terms of its pin; "" if it is just that."""
    size = path.stat().st_size
    here = Pin(
        size=size,
        sha256=sha256 if pin.sha256 or not pin.has_digest else None,
        sha1=_sha1(path) if pin.sha1 else None,
        git_blob=_sha1(path, b"blob %d\0" % size) if pin.git_blob else None,
    )
    facts = ("size", "sha256", "sha1", "git_blob")
    same = all(getattr(pin, fact) in (None, getattr(here, fact)) for fact in facts)
    return "" if same else described(here)


def _sha1(path: Path, begin: bytes = b"") -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: sha1(begin, usedforsecurity=False)).hexdigest()


# Ending of a name to the first bytes of every such file.
_MAGIC = {
    ".zip": (b"PK\x03\x04", b"PK\x05\x06"),
    ".gz": (b"\x1f\x8b",),
    ".tgz": (b"\x1f\x8b",),
    ".bz2": (b"BZh",),
    ".xz": (b"\xfd7zXZ\x00",),
    ".7z": (b"7z\xbc\xaf\x27\x1c",),
    ".parquet": (b"PAR1",),
}
_PAGES = (".html", ".htm", ".xhtml")
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|script)\b",
    re.IGNORECASE | re.DOTALL,
)
# What follows the last block of a bzip2 stream, at any bit: the square root of pi in BCD
# (bzip2-1.0.8, compress.c), and then a checksum of four bytes.
_BZ2_END = 0x177245385090


def wrong_kind(path: Path, name: str) -> str:
    """Return what a file is if it is not what its name says, else "".

    Of a zip or bz2 file, the end is looked at too: that of a file which was cut is missing.
    """
    with path.open("rb") as file:
        begin = file.read(1024)
        file.seek(max(0, path.stat().st_size - 16))
        end = file.read()
    if not begin:
        return "an empty file"
    shown, suffix = repr(begin.strip()[:40]), Path(name).suffix
    if _HTML.match(begin) and not name.endswith(_PAGES):
        return f"a web page, which begins {shown}"
    if not begin.startswith(_MAGIC.get(suffix, (b"",))):
        return f"no {suffix} file: it begins {shown}"
    if (suffix == ".zip" and not is_zipfile(path)) or (suffix == ".bz2" and not _ends_bz2(end)):
        return f"a {suffix} file without its end"
    return ""


def _ends_bz2(end: bytes) -> bool:
    """Return whether the last bytes of a file end a bzip2 stream, which may end in any bit."""
    bits = int.from_bytes(end, "big")
    return any(bits >> 32 + spare & 0xFFFFFFFFFFFF == _BZ2_END for spare in range(8))


def read_note(path: Path, kind: Callable[..., _T], todo: str) -> _T | None:
    """Return the JSON in a file that fetch wrote, of a type for ``checked``; None without it."""
    try:
        return checked(kind, load_json(path), path)
    except FileNotFoundError:
        return None
    except ParamsError as error:
        found = f"{error.where}: {error.found}, not {error.expected}"
    except (ValueError, RecursionError) as error:
        found = str(error)
    raise InputError(path, "the JSON that fetch wrote", found, todo)


def write_note(path: Path, note: object, indent: int | None = None) -> None:
    """Write JSON for ``read_note``; with an indent, sorted too, for people."""
    with whole_file(path) as temporary:
        text = json.dumps(note, ensure_ascii=False, indent=indent, sort_keys=indent is not None)
        temporary.write_text(text + "\n", "utf-8")


@dataclass(frozen=True, slots=True)
class Locked:
    """A file as it was when it was fetched for the first time."""

    date: str  # of that fetch, as YYYY-MM-DD
    file: str  # its upstream name
    size: int
    sha256: str = ""  # "" if its SHA-1 is known
    sha1: str = ""  # if its publisher says it
    came_from: str = ""  # the address that gave it; "" if it is the one of the lock


def read_lock() -> dict[str, Locked]:
    """Return the first address of each locked file, and the file."""
    todo = "restore the file, or remove it to accept what the servers have now"
    return read_note(LOCK, dict[str, Locked], todo) or {}


def today() -> str:
    """Return today's date, for the lock."""
    return datetime.now(UTC).date().isoformat()


def add_to_lock(url: str, file: Locked) -> None:
    """Lock a file under its first address."""
    # Read again: fetches of other corpora may have written to it in the meantime.
    writing = try_lock(LOCK.with_name(f".{LOCK.name}.writing"), wait=True)
    try:
        locked = read_lock() | {url: file}
        write_note(LOCK, {url: asdict(entry) for url, entry in locked.items()}, indent=2)
    finally:
        release(writing)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch puts into its folder."""

    source: str  # their origin, in words
    files: list[str]  # relative to the folder; patterns, where only servers know the names
    complete: bool = False  # until the fetch has ended; earlier versions did not note it
    sha256: dict[str, str] = field(default_factory=dict)  # of files that nothing pins


def read_fetched(folder: Path) -> Fetched | None:
    """Return the manifest of a folder, None if no fetch was ever there."""
    todo = f"remove {folder}, and run fetch again"
    return read_note(folder / MANIFEST, Fetched, todo)


def write_fetched(folder: Path, fetched: Fetched) -> None:
    """Write the manifest of a folder."""
    write_note(folder / MANIFEST, asdict(fetched))


def note_digests(folder: Path, files: Iterable[str]) -> None:
    """Write the SHA-256 of files into the manifest of their folder."""
    fetched = read_fetched(folder)
    assert fetched is not None
    write_fetched(folder, replace(fetched, sha256={f: sha256_of(folder / f) for f in files}))


def check_complete(raw: Path, corpus: str) -> None:
    """Refuse a folder in which a fetch has begun and not ended. Other folders are the user's."""
    fetched = read_fetched(raw)
    if fetched is None or fetched.complete:
        return
    names = {path.relative_to(raw).as_posix() for path in raw.rglob("*") if path.is_file()}
    rest = [file for file in fetched.files if file not in names]
    missing = [file for file in rest if not any(is_among(name, {file}) for name in names)]
    more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    listed = f"; missing: {', '.join(missing[:NAMED])}{more}" if missing else ""
    todo = f"run `probeta fetch --only {corpus}`, which goes on where it stopped; "
    todo += f"to read only what is there, remove {raw / MANIFEST}"
    found = f"a fetch that has not ended{listed}"
    raise InputError(raw, f"all raw files of {corpus}", found, todo)


def is_among(name: str, patterns: Set[str]) -> bool:
    """Return whether a name is among some, of which those with a star are patterns."""
    starred = (pattern for pattern in patterns if "*" in pattern)
    return name in patterns or any(fnmatchcase(name, pattern) for pattern in starred)
