"""Downloads whole files: resumed, checked against pins, locked in sources.lock, and unpacked.

sources.lock has the digests of files at their first download; the manifest of a raw folder lists
the files of the fetch, and says whether it has ended. Bytes, free disk and time are announced.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import file_digest, sha1
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import urlsplit
from zipfile import is_zipfile

from tqdm import tqdm

from corpora_recipes.fetching.transfer import (
    LOOK,
    MOVED,
    BeyondEnd,
    Broken,
    Changed,
    Transfer,
    Version,
    WrongRange,
    first_that_works,
    look_at,
    open_session,
)
from corpora_recipes.hashing import sha256_of
from corpora_recipes.recipe import Pin, Source
from corpora_recipes.running.console import Bar, progress
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from corpora_recipes.running.outputs import (
    format_size,
    free_at,
    load_json,
    release,
    try_lock,
    whole_file,
)
from corpora_recipes.validation import validate

# Allows any bytes.
ANY = Pin()
# In the working folder, beside params.yaml.
LOCK = Path("sources.lock")
# The files that a fetch has put into its folder, to distinguish them from files of the user.
MANIFEST = ".fetched.json"
# Missing files that a message names.
MAX_NAMED = 10

_T = TypeVar("_T")


def describe_pin(pin: Pin) -> str:
    """Return a pin in words, for messages."""
    digests = {"SHA-256": pin.sha256, "SHA-1": pin.sha1, "git blob": pin.git_blob}
    parts = [f"{name} {digest}" for name, digest in digests.items() if digest]
    parts += [] if pin.size is None else [f"{pin.size} bytes"]
    return ", ".join(parts) or "any bytes"


def describe_mismatch(path: Path, pin: Pin, sha256: str) -> str:
    """Describe a file that does not match its pin, in the terms of the pin; "" if it matches.

    ``sha256`` is that of the file.
    """
    size = path.stat().st_size
    actual = Pin(
        size=size,
        sha256=sha256 if pin.sha256 or not pin.has_digest else None,
        sha1=_sha1(path) if pin.sha1 else None,
        git_blob=_sha1(path, b"blob %d\0" % size) if pin.git_blob else None,
    )
    facts = ("size", "sha256", "sha1", "git_blob")
    matches = all(getattr(pin, fact) in (None, getattr(actual, fact)) for fact in facts)
    return "" if matches else describe_pin(actual)


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
    """Describe a file that is not of the kind that its name says; "" if it is.

    Of a zip or bz2 file, the end is checked too, which a truncated file lacks.
    """
    with path.open("rb") as file:
        begin = file.read(1024)
        file.seek(max(0, path.stat().st_size - 16))
        end = file.read()
    if not begin:
        return "an empty file"
    quoted, suffix = repr(begin.strip()[:40]), Path(name).suffix
    if _HTML.match(begin) and not name.endswith(_PAGES):
        return f"a web page, which begins {quoted}"
    if not begin.startswith(_MAGIC.get(suffix, (b"",))):
        return f"no {suffix} file: it begins {quoted}"
    if (suffix == ".zip" and not is_zipfile(path)) or (suffix == ".bz2" and not _ends_bz2(end)):
        return f"a {suffix} file without its end"
    return ""


def _ends_bz2(end: bytes) -> bool:
    """Return whether the last bytes of a file end a bzip2 stream, which may end in any bit."""
    bits = int.from_bytes(end, "big")
    return any(bits >> 32 + spare & 0xFFFFFFFFFFFF == _BZ2_END for spare in range(8))


def read_note(path: Path, kind: Callable[..., _T], todo: str) -> _T | None:
    """Return the JSON of a file that fetch wrote, validated as a type; None if there is no file."""
    try:
        return validate(kind, load_json(path), path)
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
    """An entry of sources.lock: a file at its first download."""

    date: str  # of that fetch, as YYYY-MM-DD
    file: str  # its upstream name
    size: int
    sha256: str = ""  # "" if its SHA-1 is known
    sha1: str = ""  # if its publisher says it


def read_lock() -> dict[str, Locked]:
    """Return sources.lock: the first address of each locked file to its entry."""
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
    """The manifest of a raw folder: the files of the fetch."""

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
    """Refuse a folder whose fetch has not ended; a folder without a manifest is the user's."""
    fetched = read_fetched(raw)
    if fetched is None or fetched.complete:
        return
    names = {path.relative_to(raw).as_posix() for path in raw.rglob("*") if path.is_file()}
    absent = [file for file in fetched.files if file not in names]
    missing = [file for file in absent if not any(matches_any(name, {file}) for name in names)]
    more = f" and {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
    listed = f"; missing: {', '.join(missing[:MAX_NAMED])}{more}" if missing else ""
    todo = f"run `probeta fetch --only {corpus}`, which goes on where it stopped; "
    todo += f"to read only what is there, remove {raw / MANIFEST}"
    found = f"a fetch that has not ended{listed}"
    raise InputError(raw, f"all raw files of {corpus}", found, todo)


def matches_any(name: str, patterns: Set[str]) -> bool:
    """Return whether a name is one of the names, or matches one of the patterns (with a star)."""
    globs = (pattern for pattern in patterns if "*" in pattern)
    return name in patterns or any(fnmatchcase(name, pattern) for pattern in globs)


_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that was downloaded: the address that gave it, its SHA-256, its size in bytes."""

    url: str
    sha256: str
    size: int


def fetch_whole(sources: Iterable[Source], out: Path) -> None:
    """Download files that have addresses into folder ``out``, pinned by corpus.yaml or the lock.

    If the packed form of a file fails, the plain one is tried, and then the files that corpus.yaml
    names instead; once taken, these stay. Too little disk space is an error.
    """
    files = list(sources)
    _announce(files, out)
    for source in files:
        _fetch_source(source, out)


def _fetch_source(source: Source, out: Path) -> None:
    target, packed = out / source.file, source.packed
    alternatives = [file for file in source.instead if file.urls]
    exist = [(out / file.file).is_file() for file in alternatives]
    if alternatives and all(exist) and not target.is_file():
        fetch_whole(alternatives, out)
        return
    if packed is not None and not target.is_file():
        try:
            download_locked(packed, out / packed.file)
            unpack(out / packed.file, source, out)
            (out / packed.file).unlink()
            return
        except InputError as error:
            _announce_failure(packed, error, f"taking {source.file} as it is")
    try:
        download_locked(source, target)
    except InputError as error:
        if not alternatives:
            raise
        names = ", ".join(file.file for file in alternatives)
        _announce_failure(source, error, f"taking {names} instead")
        fetch_whole(alternatives, out)


def _announce_failure(source: Source, error: InputError, then: str) -> None:
    _write(f"{source.file}: {' '.join(error.found.split())}; {then}")


def _announce(sources: Iterable[Source], out: Path) -> None:
    """Announce the downloads, and check the disk."""
    sizes: list[int | None] = []
    hosts = []
    for source in sources:
        file = source.packed or source
        if source.urls and not (out / source.file).exists():
            remote = look_at(file.urls[0], only_head=True) if file.size is None else None
            if remote is None or remote.status not in (404, 410):
                sizes.append(file.size if remote is None else remote.size)
                hosts.append(urlsplit(file.urls[0]).netloc)
    if sizes:
        announce(sizes, ", ".join(dict.fromkeys(hosts)), out)


def announce(sizes: Collection[int | None], origin: str, out: Path) -> None:
    """Announce a download into a folder: files, origin, bytes, free disk; refuse a full disk."""
    needed, free = sum(size or 0 for size in sizes), free_at(out)
    cost = f"{format_sizes(sizes)}; {format_size(free)} free on the disk"
    _write(f"{out}: {_files(len(sizes))} from {origin}, {cost}")
    if needed > free:
        expected = f"a disk with {needed:,} free bytes ({format_size(needed)})"
        raise InputError(out, expected, f"{free:,} ({format_size(free)})", "make room")


def format_sizes(sizes: Collection[int | None]) -> str:
    """Return the sum of sizes in words, and how many are unknown."""
    known_sizes = [size for size in sizes if size is not None]
    parts = [format_size(sum(known_sizes))] if known_sizes or not sizes else []
    if n_unknown := len(sizes) - len(known_sizes):
        parts.append(f"{_files(n_unknown)} of unknown size")
    return " and ".join(parts)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _write(text: str) -> None:
    tqdm.write(text, file=sys.stderr)


def download_locked(source: Source, target: Path) -> None:
    """Download one file, pinned by corpus.yaml, or by the lock under its first address."""
    if source.has_digest:
        todo = "run fetch again; if the publisher has changed the file, correct corpus.yaml"
        download(source.urls, target, pin=source, todo=todo)
        return
    lock = read_lock()
    locked = next((lock[url] for url in source.urls if url in lock), None)
    if locked is not None:
        todo = f"to accept what is new since {locked.date}, remove its entry from {LOCK}"
        pin = Pin(sha256=locked.sha256 or None, sha1=locked.sha1 or None, size=locked.size)
        download(source.urls, target, pin=pin, todo=todo)
        return
    downloaded = download(source.urls, target, pin=source)
    entry = Locked(today(), source.file, downloaded.size, sha256=downloaded.sha256)
    add_to_lock(source.urls[0], entry)


def download(
    urls: Sequence[str],
    target: Path,
    *,
    pin: Pin = ANY,
    todo: str = "run fetch again",
    check: Callable[[Path], None] | None = None,
    check_sees_end: bool = False,
    max_size: int | None = None,
) -> Downloaded:
    """Download a file, resuming an earlier attempt or run.

    The partial download is in ``<target>.part``, with its address and its version (size, and ETag
    or Last-Modified) beside it, so that two versions of a file are never joined. A file that
    matches a digest is not downloaded again. Without a digest, the file must come with its length,
    and be what its name says: a zip file, say, and no web page.

    Args:
        urls: its http or https addresses, tried in this order; but the one of the partial
            download first.
        target: the file to write; it appears complete and checked, or not at all.
        pin: what it must be.
        todo: the advice if it is not what the pin says.
        check: raises InputError if the downloaded file is not as expected.
        check_sees_end: whether ``check`` finds out if the file was cut, so that it may come without
            its length.
        max_size: the largest size that is accepted, in bytes; None for any.

    Returns:
        What was downloaded, or is there already.
    """
    if pin.has_digest and target.is_file():
        sha256 = sha256_of(target)
        if not describe_mismatch(target, pin, sha256):
            return Downloaded(urls[0], sha256, target.stat().st_size)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _Part(target)

    def fetch(url: str, hurried: bool) -> Downloaded:
        verified = pin.has_digest or check_sees_end
        limit = min((size for size in (pin.size, max_size) if size is not None), default=None)
        with open_session() as session:
            pinned = pin.has_digest
            transfer = Transfer(session, url, hurried=hurried, verified=verified, pinned=pinned)
            sha256 = _complete(transfer, part, limit)
        try:
            if wrong := describe_mismatch(part.path, pin, sha256):
                kind = wrong_kind(part.path, target.name)
                raise InputError(
                    url, describe_pin(pin), f"{kind}, {wrong}" if kind else wrong, todo
                )
            if check is not None:
                check(part.path)
            if not pin.has_digest and (kind := wrong_kind(part.path, target.name)):
                raise InputError(url, f"the file {target.name}", kind, LOOK)
        except InputError:
            part.remove()
            raise
        part.path.replace(target)
        part.remove()
        return Downloaded(url, sha256, target.stat().st_size)

    *_, resumed_url = part.usable(urls)
    return first_that_works(sorted(urls, key=lambda url: url != resumed_url), fetch)


class _Part:
    """A partial download, and its state: its address and version."""

    def __init__(self, target: Path) -> None:
        self.name = target.name
        self.path = target.with_name(target.name + ".part")
        self._state = target.with_name(target.name + ".part.json")

    def usable(self, urls: Sequence[str]) -> tuple[int, Version | None, str]:
        """Return the number of bytes that can be used, their version, and which address has it."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            state = json.loads(self._state.read_text("utf-8"))
            version = Version(state["size"], state["validator"])
            length = self.path.stat().st_size
            usable = version.validator if version.size is None else length <= version.size
            if state["url"] in urls and usable and (version.validator or length == version.size):
                return length, version, state["url"]
        return 0, None, ""

    def begin(self, url: str, version: Version) -> None:
        """Begin at the first byte of another version."""
        # In this order: whenever the process is killed, the bytes are of the version of the state.
        self.remove()
        state = {"url": url, "size": version.size, "validator": version.validator}
        self._state.write_text(json.dumps(state), "utf-8")

    def remove(self) -> None:
        """Remove what is left of it."""
        self.path.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)


def _complete(transfer: Transfer, part: _Part, limit: int | None) -> str:
    """Complete a partial download, in as many attempts as needed; return its SHA-256."""
    with progress(None, part.name, "B") as bar:
        try:
            while True:
                try:
                    return _attempt(transfer, part, limit, bar)
                except Broken as broken:
                    transfer.prepare_retry(broken, part.usable([transfer.url])[0])
        except InputError:
            if not part.usable([transfer.url])[0]:
                part.remove()
            raise


def _attempt(transfer: Transfer, part: _Part, limit: int | None, bar: Bar) -> str:
    """Make one attempt to complete a partial download; return its SHA-256."""
    position, version, _ = part.usable([transfer.url])
    if version is not None and position == version.size:
        return sha256_of(part.path)
    try:
        with transfer.ask(position, None, version) as answer:
            size = answer.version.size
            if answer.is_range and size is None:
                raise WrongRange("a range of a file of unknown size")
            if size is not None and limit is not None and size > limit:
                expected = f"a file of at most {limit:,} bytes"
                raise InputError(transfer.url, expected, f"one of {size:,} bytes", MOVED)
            if not answer.is_range:
                part.begin(transfer.url, answer.version)
                position = 0
            bar.total, bar.n = size, position
            bar.refresh()
            with part.path.open("ab+") as file:
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256")
                for chunk in transfer.read_body(answer):
                    file.write(chunk)
                    digest.update(chunk)
                    position += len(chunk)
                    bar.update(len(chunk))
                    if limit is not None and position > limit:
                        break
                file.flush()
                os.fsync(file.fileno())
    except (Changed, BeyondEnd, WrongRange) as error:
        part.remove()
        raise Broken(f"another version, or a wrong range: {error}") from None
    if size is not None and position < size:
        raise Broken(f"the range ended before byte {size:,}")
    return digest.hexdigest()


def unpack(archive: Path, source: Source, out: Path) -> None:
    """Write the only member of an archive with the name of a raw file into ``out``.

    It may be in any folder of the archive, and must match the pin of the file.
    """
    name = PurePosixPath(source.file).name
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [i for i in packed.infolist() if PurePosixPath(i.filename).name == name]
            if len(members) != 1 or source.size not in (None, members[0].file_size):
                listed = (f"{i.filename}, {i.file_size:,} bytes" for i in packed.infolist())
                found = "; ".join(listed)[:500] or "an empty archive"
                raise RawError(archive, f"one file {name}, {describe_pin(source)}", found)
            with (
                whole_file(out / source.file) as temporary,
                packed.open(members[0]) as member,
                temporary.open("wb") as file,
            ):
                shutil.copyfileobj(member, file, _CHUNK)
                file.flush()
                if wrong := describe_mismatch(temporary, source, sha256_of(temporary)):
                    where = f"{archive}, {members[0].filename}"
                    raise RawError(where, describe_pin(source), wrong)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        found = f"{type(error).__name__}: {error}"
        raise RawError(archive, "a whole zip archive", found) from None
