"""Downloads of whole files: resumed, checked, pinned by sources.lock, and unpacked."""

import hashlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from corpora_recipes.facts import Pin, Source
from corpora_recipes.fetching.pins import (
    ANY,
    LOCK,
    Locked,
    add_to_lock,
    described,
    found,
    matches,
    read_lock,
    wrong_kind,
)
from corpora_recipes.fetching.session import Broken, open_session
from corpora_recipes.fetching.transfer import (
    LOOK,
    BeyondEnd,
    Changed,
    Transfer,
    Version,
    WrongRange,
    first_that_works,
)
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

if TYPE_CHECKING:
    from tqdm import tqdm


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that was downloaded: the address that gave it, its SHA-256, its size in bytes."""

    url: str
    sha256: str
    size: int


def download_locked(source: Source, target: Path) -> None:
    """Download one file, pinned by corpus.yaml or otherwise by sources.lock.

    The lock has it under its first address, and says which address gave it.

    Args:
        source: the file, its addresses, and its pin, if corpus.yaml has one.
        target: the file to write.

    Raises:
        InputError: as ``download``, or the lock is damaged.
    """
    if source.has_digest:
        todo = "run fetch again; if the publisher has changed the file, correct corpus.yaml"
        download(source.urls, target, pin=source, todo=todo)
        return
    lock = read_lock()
    known = next((lock[url] for url in source.urls if url in lock), None)
    if known is not None:
        todo = (
            f"the file on the server has changed since {known.date}; to accept the new file, "
            f"remove its entry from {LOCK}"
        )
        pin = Pin(sha256=known.sha256 or None, sha1=known.sha1 or None, size=known.size)
        download(source.urls, target, pin=pin, todo=todo)
        return
    got = download(source.urls, target, pin=source)
    today = datetime.now(UTC).date().isoformat()
    came_from = "" if got.url == source.urls[0] else got.url
    add_to_lock(
        source.urls[0], Locked(today, source.file, got.size, sha256=got.sha256, came_from=came_from)
    )


def download(
    urls: Sequence[str],
    target: Path,
    *,
    pin: Pin = ANY,
    todo: str = "run fetch again",
    check: Callable[[Path], None] | None = None,
    check_sees_end: bool = False,
    largest: int | None = None,
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
        largest: the largest size in bytes that is accepted; None for any.

    Returns:
        What was downloaded, or is there already.

    Raises:
        InputError: from all addresses: no answer after several attempts, an answer such as 404, or
            wrong content.
    """
    if pin.has_digest and target.is_file():
        sha256 = sha256_of(target)
        if matches(target, pin, sha256):
            return Downloaded(urls[0], sha256, target.stat().st_size)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _Part(target)

    def fetch(url: str, hurried: bool) -> Downloaded:
        verified = pin.has_digest or check_sees_end
        limit = min((size for size in (pin.size, largest) if size is not None), default=None)
        with open_session() as session:
            transfer = Transfer(session, url, hurried=hurried, verified=verified)
            sha256 = _complete(transfer, part, limit)
        try:
            if not matches(part.path, pin, sha256):
                kind = wrong_kind(part.path, target.name)
                is_found = ", ".join(filter(None, [kind, found(part.path, pin, sha256)]))
                raise InputError(url, expected=described(pin), found=is_found, todo=todo)
            if check is not None:
                check(part.path)
            if not pin.has_digest and (kind := wrong_kind(part.path, target.name)):
                raise InputError(url, expected=f"the file {target.name}", found=kind, todo=LOOK)
        except InputError:
            part.remove()
            raise
        part.path.replace(target)
        part.remove()
        return Downloaded(url, sha256, target.stat().st_size)

    *_, resumed = part.here(urls)
    return first_that_works(sorted(urls, key=lambda url: url != resumed), fetch)


class _Part:
    """A partial download, and its state: its address and version."""

    def __init__(self, target: Path) -> None:
        self.name = target.name
        self.path = target.with_name(target.name + ".part")
        self._state = target.with_name(target.name + ".part.json")

    def here(self, urls: Sequence[str]) -> tuple[int, Version | None, str]:
        """Return the number of bytes that can be used, their version, and which address has it."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            known = json.loads(self._state.read_text("utf-8"))
            version = Version(known["size"], known["validator"])
            length = self.path.stat().st_size
            usable = version.validator if version.size is None else length <= version.size
            if known["url"] in urls and usable and (version.validator or length == version.size):
                return length, version, known["url"]
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
    from tqdm import tqdm

    bar: tqdm[Any]
    with tqdm(desc=part.name, unit="B", unit_scale=True, disable=None) as bar:
        try:
            while True:
                try:
                    return _attempt(transfer, part, limit, bar)
                except Broken as broken:
                    transfer.again(broken, part.here([transfer.url])[0])
        except InputError:
            if not part.here([transfer.url])[0]:
                part.remove()
            raise


def _attempt(transfer: Transfer, part: _Part, limit: int | None, bar: "tqdm[Any]") -> str:
    """Make one attempt to complete a partial download; return its SHA-256.

    Raises:
        Broken: another attempt may help.
        InputError: none would.
    """
    position, version, _ = part.here([transfer.url])
    if version is not None and position == version.size:
        return sha256_of(part.path)
    try:
        with transfer.ask(position, None, version) as answer:
            size = answer.version.size
            if answer.is_range and size is None:
                raise WrongRange("a range of a file of unknown size")
            if size is not None and limit is not None and size > limit:
                raise InputError(
                    transfer.url,
                    expected=f"a file of at most {limit:,} bytes",
                    found=f"one of {size:,} bytes",
                    todo="check the address in a browser; if it is right, correct corpus.yaml",
                )
            if not answer.is_range:
                part.begin(transfer.url, answer.version)
                position = 0
            bar.total, bar.n = size, position
            bar.refresh()
            digest = hashlib.sha256()
            with part.path.open("ab+") as file:
                file.seek(0)
                digest = hashlib.file_digest(file, lambda: digest)
                for chunk in transfer.body(answer):
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
