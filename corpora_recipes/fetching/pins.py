"""What a file must be: its pin, its kind by its name, and sources.lock: pins of the first fetch."""

import re
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha1
from pathlib import Path
from zipfile import is_zipfile

from corpora_recipes.facts import Pin
from corpora_recipes.fetching.manifest import read_note, write_note
from corpora_recipes.running.workplaces import release, try_lock

# Nothing is known of the file.
ANY = Pin()


def matches(path: Path, pin: Pin, sha256: str) -> bool:
    """Return whether a file is what its pin says.

    Args:
        path: the file.
        pin: what it must be.
        sha256: its SHA-256, which who wrote the file knows already.
    """
    here = _pin_of(path, pin, sha256)
    facts = ("size", "sha256", "sha1", "git_blob")
    return all(getattr(pin, fact) in (None, getattr(here, fact)) for fact in facts)


def described(pin: Pin) -> str:
    """Return a pin in words, for messages."""
    named = {"SHA-256": pin.sha256, "SHA-1": pin.sha1, "git blob": pin.git_blob}
    known = [f"{name} {digest}" for name, digest in named.items() if digest]
    known += [] if pin.size is None else [f"{pin.size} bytes"]
    return ", ".join(known) or "any bytes"


def found(path: Path, pin: Pin, sha256: str) -> str:
    """Return what a file is, in the terms of the pin that it does not match, for messages."""
    return described(_pin_of(path, pin, sha256))


def _pin_of(path: Path, pin: Pin, sha256: str) -> Pin:
    size = path.stat().st_size
    return Pin(
        size=size,
        sha256=sha256 if pin.sha256 or not pin.has_digest else None,
        sha1=_sha1(path) if pin.sha1 else None,
        git_blob=_sha1(path, b"blob %d\0" % size) if pin.git_blob else None,
    )


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

    Args:
        path: the file.
        name: what it is to be called; only the ending matters.
    """
    with path.open("rb") as file:
        begin = file.read(1024)
        file.seek(max(0, path.stat().st_size - 16))
        end = file.read()
    if not begin:
        return "an empty file"
    if _HTML.match(begin) and not name.endswith(_PAGES):
        return f"a web page, which begins {_shown(begin)}"
    suffix = Path(name).suffix
    magic = _MAGIC.get(suffix, (b"",))
    if not begin.startswith(magic):
        return f"no {suffix} file: it begins {_shown(begin)}"
    if (suffix == ".zip" and not is_zipfile(path)) or (suffix == ".bz2" and not _ends_bz2(end)):
        return f"a {suffix} file without its end"
    return ""


def _ends_bz2(end: bytes) -> bool:
    """Return whether the last bytes of a file end a bzip2 stream, which may end in any bit."""
    bits = int.from_bytes(end, "big")
    return any(bits >> 32 + spare & 0xFFFFFFFFFFFF == _BZ2_END for spare in range(8))


def _shown(begin: bytes) -> str:
    return repr(begin.strip()[:40])


# In the working folder, beside params.yaml.
LOCK = Path("sources.lock")


@dataclass(frozen=True, slots=True)
class Locked:
    """A file as it was when it was fetched for the first time.

    Attributes:
        date: of that fetch, as YYYY-MM-DD.
        file: its upstream name.
        size: in bytes.
        sha256: its SHA-256, in hexadecimal; "" if its SHA-1 is known.
        sha1: its SHA-1, if its publisher says it.
        came_from: the address that gave it; "" if it is the one under which the lock has it.
    """

    date: str
    file: str
    size: int
    sha256: str = ""
    sha1: str = ""
    came_from: str = ""


def read_lock() -> dict[str, Locked]:
    """Return the first address of each locked file, and the file.

    Raises:
        InputError: the lock is damaged.
    """
    todo = "restore the file, or remove it to accept what the servers have now"
    found = read_note(LOCK, lambda f: {url: Locked(**entry) for url, entry in f.items()}, todo)
    return found or {}


def add_to_lock(url: str, file: Locked) -> None:
    """Lock a file.

    Raises:
        InputError: the lock is damaged.
    """
    # Read again: fetches of other corpora may have written to it in the meantime.
    writing = try_lock(LOCK.with_name(f".{LOCK.name}.writing"), wait=True)
    try:
        locked = read_lock() | {url: file}
        write_note(LOCK, {url: asdict(entry) for url, entry in locked.items()}, indent=2)
    finally:
        release(writing)
