"""Downloads of whole files: resumed, checked, and pinned by sources.lock."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.facts import Pin, Source
from corpora_recipes.fetching.addresses import NotFound, first_that_works
from corpora_recipes.fetching.pins import ANY, described, found, matches
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

if TYPE_CHECKING:
    import requests
    from tqdm import tqdm

# In the working folder, beside params.yaml.
LOCK = Path("sources.lock")
# The environment variable with a contact address for the servers' owners, which Wikimedia asks for
# (Wikimedia Foundation User-Agent Policy).
CONTACT = "PROBETA_CONTACT"
# Wikimedia's dump server allows two per address (dumps.wikimedia.org/backup-index.html).
CONNECTIONS = 2
TIMEOUT = 60.0  # seconds without a byte
ATTEMPTS = 6  # in a row without progress
BACKOFF = 1.0  # seconds; doubles with every attempt in a row
LONGEST_WAIT = 600  # seconds; the limit for a server's Retry-After
CHUNK = 1 << 20


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
    lock = _read_lock()
    known = next((lock[url] for url in source.urls if url in lock), None)
    if known is not None:
        todo = (
            f"the file on the server has changed since {known['date']}; to accept the new file, "
            f"remove its entry from {LOCK}"
        )
        pin = Pin(sha256=known["sha256"], size=known["size"])
        download(source.urls, target, pin=pin, todo=todo)
        return
    got = download(source.urls, target, pin=source)
    entry = {
        "date": datetime.now(UTC).date().isoformat(),
        "file": source.file,
        "from": got.url,
        "sha256": got.sha256,
        "size": got.size,
    }
    # Read again: fetches of other corpora may have written to it in the meantime.
    lock = _read_lock() | {source.urls[0]: entry}
    with whole_file(LOCK) as temporary:
        text = json.dumps(lock, ensure_ascii=False, indent=2, sort_keys=True)
        temporary.write_text(text + "\n", "utf-8")


def download(
    urls: Sequence[str],
    target: Path,
    *,
    pin: Pin = ANY,
    todo: str = "run fetch again",
    check: Callable[[Path], None] | None = None,
) -> Downloaded:
    """Download a file, resuming an earlier attempt or run.

    The partial download is in ``<target>.part``, with the server's ETag or Last-Modified beside
    it, so that two versions of a file are never joined. A file that matches a digest is not
    downloaded again.

    Args:
        urls: its http or https addresses, tried in this order.
        target: the file to write; it appears complete and checked, or not at all.
        pin: what it must be.
        todo: the advice if it is not what the pin says.
        check: raises InputError if the downloaded file is not as expected.

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
    return first_that_works(urls, lambda url: _download(url, target, pin, todo, check))


def _download(
    url: str, target: Path, pin: Pin, todo: str, check: Callable[[Path], None] | None
) -> Downloaded:
    """Download a file from one of its addresses, see ``download``."""
    import requests
    import urllib3
    from tqdm import tqdm

    part = target.with_name(target.name + ".part")
    state = target.with_name(target.name + ".part.json")
    failures, reached = 0, -1
    with (
        open_session() as session,
        tqdm(desc=target.name, unit="B", unit_scale=True, disable=None) as bar,
    ):
        while True:
            try:
                sha256 = _transfer(session, url, part, state, pin.size, bar)
                break
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                length = part.stat().st_size if part.exists() else 0
                failures = failures + 1 if length <= reached else 1
                reached = max(reached, length)
                if failures == ATTEMPTS:
                    raise InputError(
                        url,
                        expected=f"the whole file in at most {ATTEMPTS} attempts without progress",
                        found=f"{length} bytes, then: {error}",
                        todo="run fetch again later; it resumes the download",
                    ) from None
                time.sleep(BACKOFF * 2 ** (failures - 1))
    try:
        if not matches(part, pin, sha256):
            raise InputError(
                url, expected=described(pin), found=found(part, pin, sha256), todo=todo
            )
        if check is not None:
            check(part)
    except InputError:
        part.unlink()
        state.unlink(missing_ok=True)
        raise
    part.replace(target)
    state.unlink(missing_ok=True)
    return Downloaded(url, sha256, target.stat().st_size)


def open_session() -> "requests.Session":
    """Open a session that retries if a server does not answer or is busy.

    It has at most CONNECTIONS connections per server; threads may share it.
    """
    import requests
    from urllib3.util import Retry

    patience = Retry(
        ATTEMPTS - 1,
        status_forcelist=[429, 500, 502, 503, 504],
        raise_on_status=False,
        backoff_factor=BACKOFF,
        backoff_max=60,
        retry_after_max=LONGEST_WAIT,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        adapter = requests.adapters.HTTPAdapter(
            max_retries=patience, pool_maxsize=CONNECTIONS, pool_block=True
        )
        session.mount(scheme, adapter)
    # With compressed transfer, lengths and ranges would not be those of the file.
    session.headers.update({"User-Agent": user_agent(), "Accept-Encoding": "identity"})
    return session


def user_agent() -> str:
    """Return the User-Agent for servers."""
    contact = os.environ.get(CONTACT, "")
    return f"Probeta/0.1 (corpus download for research{contact and '; ' + contact})"


def get(session: "requests.Session", url: str, headers: dict[str, str]) -> "requests.Response":
    """Request a file and return the response, its body unread.

    Raises:
        InputError: no answer, after the session's retries.
    """
    import requests
    import urllib3

    try:
        return session.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise InputError(
            url,
            expected="an answer from the server",
            found=str(error),
            todo="check the network and the address, and run fetch again",
        ) from None


def refused(url: str, response: "requests.Response") -> InputError:
    """Return the error for a response to ``url`` that is not a file."""
    kind = NotFound if response.status_code in (404, 410) else InputError
    todo = "check the address in a browser; if it has moved, correct corpus.yaml"
    if response.status_code == 429 or response.status_code >= 500:
        todo = "the server is busy or broken: run fetch again later; it resumes the download"
    elif response.status_code == 403 and not os.environ.get(CONTACT):
        todo = f"state your contact address, which some servers require: export {CONTACT}=you@…"
    return kind(
        url,
        expected="the file",
        found=f"the server answers {response.status_code} {response.reason}",
        todo=todo,
    )


def size_of(url: str) -> int | None:
    """Return the size of a remote file in bytes, None if the server does not state it."""
    import requests
    import urllib3

    with open_session() as session:
        try:
            response = session.head(url, timeout=TIMEOUT, allow_redirects=True)
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            return None
    length = response.headers.get("Content-Length", "")
    return int(length) if response.ok and length.isdecimal() else None


def _read_lock() -> dict[str, dict[str, Any]]:
    try:
        lock: dict[str, dict[str, Any]] = json.loads(LOCK.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise InputError(
            LOCK,
            expected="the JSON that fetch wrote",
            found=str(error),
            todo="restore the file, or remove it to accept what the servers have now",
        ) from None
    return lock


def _transfer(
    session: "requests.Session",
    url: str,
    part: Path,
    state: Path,
    size: int | None,
    bar: "tqdm[Any]",
) -> str:
    """Make one attempt to complete ``part``; return its SHA-256.

    Raises:
        InputError: a retry would not help.
        requests.RequestException, urllib3.exceptions.HTTPError: a retry may help.
    """
    import requests

    start, validator = _resume_at(url, part, state)
    headers = {"Range": f"bytes={start}-", "If-Range": validator} if start else {}
    with get(session, url, headers) as response:
        answered = response.headers.get("Content-Range", "")
        if response.status_code == 416 and answered == f"bytes */{start}":
            return sha256_of(part)
        if response.status_code == 416 or (
            response.status_code == 206 and not answered.startswith(f"bytes {start}-")
        ):
            part.unlink(missing_ok=True)
            raise requests.RequestException(f"the server sent the wrong range: {answered!r}")
        if response.status_code not in (200, 206):
            raise refused(url, response)
        digest = hashlib.sha256()
        if response.status_code == 206:
            with part.open("rb") as done:
                digest = hashlib.file_digest(done, lambda: digest)
        else:
            start = 0
        state.write_text(json.dumps({"url": url, "validator": validator_of(response)}), "utf-8")
        expected = response.headers.get("Content-Length", "")
        bar.total = start + int(expected) if expected.isdecimal() else None
        bar.n = start
        bar.refresh()
        with part.open("ab" if start else "wb") as file:
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                file.write(chunk)
                digest.update(chunk)
                start += len(chunk)
                bar.update(len(chunk))
                if size is not None and start > size:
                    break
    return digest.hexdigest()


def _resume_at(url: str, part: Path, state: Path) -> tuple[int, str]:
    """Return the number of bytes already downloaded, and the validator of their version."""
    with suppress(OSError, ValueError):
        known = json.loads(state.read_text("utf-8"))
        if known["url"] == url and known["validator"]:
            return part.stat().st_size, known["validator"]
    return 0, ""


def validator_of(response: "requests.Response") -> str:
    """Return a validator for If-Range (RFC 9110, 13.1.5): a strong ETag, or Last-Modified."""
    etag = response.headers.get("ETag", "")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified", "")
