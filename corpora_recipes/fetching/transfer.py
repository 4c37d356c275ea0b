"""HTTP transfers with retries and resumption, for whole files, byte ranges and small documents.

Nothing that a server states is trusted if it can be checked: the range that it sends, the version
of the file, the length, the content type, the rate, and the end.
"""

import json
import os
import re
import socket
import ssl
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.metadata import metadata
from threading import Timer
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

from tqdm import tqdm

from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    import requests


# The environment variable with a contact address for the servers' owners, which Wikimedia asks for
# (Wikimedia Foundation User-Agent Policy).
CONTACT = "PROBETA_CONTACT"
MOVED = "check the address in a browser; if it has moved, correct corpus.yaml"
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", re.ASCII)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
# Hosts that have answered this process: if the name of one is not known later, that may pass.
_answered: set[str] = set()


class Broken(Exception):
    """An attempt failed, and another one may succeed; the message has the reason.

    Attributes:
        wait: seconds that the server asks to wait; None if it does not.
        stalled: whether it was too slow, so that what came is no progress.
    """

    def __init__(self, reason: str, *, wait: float | None = None, stalled: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.stalled = stalled


def open_session() -> "requests.Session":
    """Open a session, which threads may share; ``patience`` has its number of connections."""
    import requests

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """Leave redirects to ``request``: requests reads their bodies, however long."""

    session = Session()
    for scheme in ("http://", "https://"):
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=patience.CONNECTIONS, pool_block=True)
        adapter.poolmanager.pool_classes_by_scheme = _pools()
        session.mount(scheme, adapter)
    # With compressed transfer, lengths and ranges would not be those of the file.
    session.headers.update({"User-Agent": user_agent(), "Accept-Encoding": "identity"})
    return session


class _Bounded:
    """A connection for HTTP; the head of an answer has to come in time, however it drips."""

    sock: socket.socket

    def getresponse(self) -> Any:
        """Return the answer, its body unread; TimeoutError if its head comes too late."""
        begin = monotonic()
        timer = Timer(patience.HEAD, _hang_up, [self.sock])
        timer.start()
        try:
            answer = super().getresponse()  # type: ignore[misc]
        finally:
            timer.cancel()
        # A head that is cut looks like a whole one.
        if monotonic() - begin >= patience.HEAD:
            raise TimeoutError
        return answer


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@cache
def _pools() -> dict[str, Any]:
    """Return for each scheme the pool of such connections."""
    from urllib3.poolmanager import pool_classes_by_scheme

    pools: dict[str, Any] = dict(pool_classes_by_scheme)
    for scheme, pool in pools.items():
        connection = type("Connection", (_Bounded, pool.ConnectionCls), {})
        pools[scheme] = type("Pool", (pool,), {"ConnectionCls": connection})
    return pools


def user_agent() -> str:
    """Return the User-Agent for servers: project, version, purpose, address and contact."""
    version, addresses = _project()
    about = ["corpus download for research", *addresses, os.environ.get(CONTACT, "")]
    return f"Probeta/{version} ({'; '.join(filter(None, about))})"


# Every request of a harvest would read the file again.
@cache
def _project() -> tuple[str, list[str]]:
    """Return the project's version, and its address if it has one."""
    facts = metadata("probeta")
    urls = dict(entry.split(", ", 1) for entry in facts.get_all("Project-URL") or [])
    return facts["Version"], [urls["Repository"]] if "Repository" in urls else []


@contextmanager
def request(
    session: "requests.Session",
    method: str,
    url: str,
    headers: dict[str, str] | None = None,
    *,
    silence: float | None = None,
    pinned: bool = False,
) -> Iterator["requests.Response"]:
    """Send a request, follow redirects, and yield the response, its body unread.

    ``silence`` are the seconds to wait for a byte; patience.SILENCE if None. Unless a digest of the
    file is ``pinned``, https must stay https.
    """
    import requests
    import urllib3

    current_url, silence = url, silence or patience.SILENCE
    timeouts = (min(patience.CONNECT, silence), silence)
    for _ in range(1 + patience.REDIRECTS):
        try:
            response = session.request(
                method,
                current_url,
                headers=headers,
                stream=True,
                timeout=timeouts,
                allow_redirects=False,
            )
        # ValueError: of addresses that requests does not check.
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise _no_answer(error, url, current_url) from None
        _answered.add(urlsplit(current_url).netloc)
        with response:
            if not response.is_redirect:
                yield response
                return
            target = response.headers["Location"].encode("latin-1").decode("utf-8", "replace")
        try:
            current_url = urljoin(current_url, target)
        except ValueError:
            current_url = target  # no address, as the next request says
        if url.startswith("https:") and current_url.startswith("http:") and not pinned:
            found = f"a redirect to {current_url}, which anybody on the way may change"
            raise InputError(url, "an address that stays https", found, MOVED)
    found = f"more than {patience.REDIRECTS} redirects, the last one to {current_url}"
    raise InputError(url, "the file", found, MOVED)


def _no_answer(error: Exception, url: str, current_url: str) -> Exception:
    """Return the error for a failed request for ``url``, redirected to ``current_url``."""
    import requests

    why = reason(error)
    todo = MOVED
    if isinstance(_root(error), ssl.SSLCertVerificationError):
        todo = "if your network has certificates of its own, name their file in REQUESTS_CA_BUNDLE"
    elif (
        isinstance(_root(error), socket.gaierror) and urlsplit(current_url).netloc not in _answered
    ):
        todo = "check the network (are you online?), and the name in the address"
    elif isinstance(error, requests.ConnectionError | requests.Timeout):
        return Broken(why)
    if current_url != url:
        why += f" (redirected to {current_url})"
    return InputError(url, "an answer from the server", why, todo)


def validator_of(response: "requests.Response") -> str:
    """Return a validator for If-Range (RFC 9110, 13.1.5): a strong ETag, or Last-Modified."""
    etag = response.headers.get("ETag", "")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified", "")


def reason(error: Exception) -> str:
    """Return in a few words why there was no answer, or no more of it."""
    import urllib3

    root = _root(error)
    if isinstance(root, urllib3.exceptions.IncompleteRead):
        return f"the connection ended after {root.partial:,} bytes"
    if isinstance(root, socket.gaierror):
        return f"the name of the server is not known ({root.strerror})"
    if isinstance(root, ssl.SSLCertVerificationError):
        return f"TLS: {root.verify_message}"
    if isinstance(root, ssl.SSLError):
        return f"TLS: {root.reason or root}"
    if isinstance(root, TimeoutError | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(root, OSError) and root.strerror:
        return root.strerror
    return str(root) or type(root).__name__


def _root(error: BaseException) -> BaseException:
    """Return the innermost exception, below those of the libraries."""
    causes = [getattr(error, "reason", None), *error.args, error.__cause__]
    inner = next((cause for cause in causes if isinstance(cause, BaseException)), None)
    return error if inner is None else _root(inner)


def stated_range(response: "requests.Response") -> tuple[int, int, int | None] | None:
    """Return first byte, last byte and size of the file (None if unknown) from Content-Range."""
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not match:
        return None
    return int(match[1]), int(match[2]), None if match[3] == "*" else int(match[3])


def stated_length(response: "requests.Response") -> int | None:
    """Return the length that an answer states; None if it does not, or states nonsense."""
    stated = response.headers.get("Content-Length", "")
    return int(stated) if _LENGTH.fullmatch(stated) else None


def describe_status(response: "requests.Response") -> str:
    """Return the status of an answer in words, for messages."""
    return f"the server answers {response.status_code} {response.reason}"


PATIENCE = 20.0  # seconds


@dataclass(frozen=True, slots=True)
class Remote:
    """What a server states of the file at an address.

    Attributes:
        url: the address.
        fault: why there is no file, such as "the server answers 404 Not Found", "TLS: certificate
            has expired"; "" if there is one.
        status: of the answer; None without one.
        size: of the file in bytes; None if it is not stated.
        kind: its media type, such as "application/zip"; "" if it is not stated.
        has_ranges: whether parts of it can be requested, so that a download can be resumed.
        modified: Last-Modified as the server writes it; "" if it is not stated.
    """

    url: str
    fault: str
    status: int | None = None
    size: int | None = None
    kind: str = ""
    has_ranges: bool = False
    modified: str = ""


def look_at(url: str, *, patience: float = PATIENCE, only_head: bool = False) -> Remote:
    """Ask a server about a file: by HEAD, and if that is not enough, by a request for one byte.

    It asks once, for ``patience`` seconds, and raises no exception, whatever the server does.
    """
    with open_session() as session:
        head = _ask(session, "HEAD", url, patience)
        is_complete = not head.fault and head.size is not None and head.has_ranges
        if only_head or head.status is None or is_complete:
            return head
        byte = _ask(session, "GET", url, patience)
        return head if byte.fault and not head.fault else byte


def _ask(session: "requests.Session", method: str, url: str, patience: float) -> Remote:
    headers = {"Range": "bytes=0-0"} if method == "GET" else {}
    try:
        with request(session, method, url, headers, silence=patience) as response:
            is_file = response.status_code in (200, 206)
            size = stated_length(response)
            if response.status_code == 206:
                content_range = stated_range(response)
                size = content_range and content_range[2]
            return Remote(
                url,
                fault="" if is_file else describe_status(response),
                status=response.status_code,
                size=size if is_file else None,
                kind=response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
                has_ranges=response.status_code == 206
                or response.headers.get("Accept-Ranges", "").lower() == "bytes",
                modified=response.headers.get("Last-Modified", ""),
            )
    except Broken as error:
        return Remote(url, fault=str(error))
    except InputError as error:
        return Remote(url, fault=error.found)


_T = TypeVar("_T")


class NotFound(InputError):
    """The server has no such file (404, 410)."""


class TooSlow(InputError):
    """The server is slow, or asks to wait, while another address has not been tried."""


def first_that_works(urls: Sequence[str], fetch: Callable[[str, bool], _T]) -> _T:
    """Return the result of ``fetch`` for the first address that works.

    Of several, a slow one is left for the next one, and tried again at the end, if none was faster.
    ``fetch`` takes an address, and whether to raise TooSlow if it is slow; it raises InputError if
    the address does not work. If none does, the error names the fault of each; it is NotFound if no
    server has the file.
    """
    turns = [(url, len(urls) > 1) for url in urls]
    faults: dict[str, InputError] = {}
    while turns:
        url, hurried = turns.pop(0)
        try:
            return fetch(url, hurried)
        except InputError as error:
            faults[url] = error
            if isinstance(error, TooSlow):
                turns.append((url, False))
            if turns:
                found = " ".join(error.found.split())
                tqdm.write(f"{url}: {found}; trying {turns[0][0]}", file=sys.stderr)
    if len(faults) == 1:
        raise faults[urls[0]]
    kind = NotFound if all(isinstance(fault, NotFound) for fault in faults.values()) else InputError
    raise kind(
        urls[0],
        f"the file at one of its {len(urls)} addresses",
        "\n            ".join(f"{url}: {fault.found}" for url, fault in faults.items()),
        "; or ".join(dict.fromkeys(fault.todo for fault in faults.values())),
    )


_BUSY = (429, 500, 502, 503, 504)
LOOK = "open the address in a browser to see what the server sends"


class WrongRange(Broken):
    """The range is not the one that was asked for."""


class Changed(Exception):
    """The server has another version than the one that is here in part; the message names it."""


class BeyondEnd(Exception):
    """The server says that the range is not in the file (416); the message is the file's size."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a file, as a server states it."""

    size: int | None
    validator: str  # see ``validator_of``


@dataclass(frozen=True, slots=True)
class FileResponse:
    """A response with a file or a range of it; its head was checked, its body is unread."""

    response: "requests.Response"
    length: int | None  # of the body
    version: Version

    @property
    def is_range(self) -> bool:
        """Whether it has a range of the file, and not all of it."""
        return self.response.status_code == HTTPStatus.PARTIAL_CONTENT


class Transfer:
    """The transfer of a file, or of ranges of it, from one address, in as many attempts as needed.

    Its clock starts when it is made.
    """

    def __init__(
        self,
        session: "requests.Session",
        url: str,
        *,
        hurried: bool = False,
        verified: bool = False,
        pinned: bool = False,
    ) -> None:
        """Prepare a transfer.

        ``hurried``: it raises TooSlow, as there is another address to try. ``verified``: the caller
        verifies what came, by a digest or by its end, so that it may come without a length, and
        called HTML; ``pinned``: by a digest.
        """
        self._pinned = pinned
        self.url = url
        self.received = 0
        self._session = session
        self._hurried = hurried
        self._verified = verified
        self._started = monotonic()
        self._attempts = 0
        self._failures = 0
        self._max_position = -1

    @contextmanager
    def ask(
        self, start: int = 0, stop: int | None = None, version: Version | None = None
    ) -> Iterator[FileResponse]:
        """Request the bytes from ``start`` up to ``stop``, exclusive, and check the answer's head.

        The answer may be the whole file, or end before ``stop`` (None for the end of the file).
        ``version`` is that of the bytes that are here; None without any.
        """
        self._attempts += 1
        headers = {}
        if start or stop is not None:
            headers["Range"] = f"bytes={start}-{'' if stop is None else stop - 1}"
            if version is not None and version.validator:
                headers["If-Range"] = version.validator
        with request(self._session, "GET", self.url, headers, pinned=self._pinned) as response:
            self._check_status(response, for_range=bool(headers))
            self._check_form(response)
            if response.status_code == HTTPStatus.PARTIAL_CONTENT:
                yield _range(response, start, stop, version, for_range=bool(headers))
                return
            length = stated_length(response)
            chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
            if length is None and not chunked and not self._verified:
                raise self._wrong("an answer without a length, which may be cut anywhere")
            yield FileResponse(response, length, Version(length, validator_of(response)))

    def read_body(self, answer: FileResponse) -> Iterator[bytes]:
        """Yield the bytes of an answer; Broken if it breaks off, or TooSlow, see ``Transfer``."""
        import urllib3

        length, window_bytes, window_start = 0, self.received, monotonic()
        raw: Any = answer.response.raw
        try:
            # Not more than what is there: else a trickle would block until the chunk is full.
            while chunk := raw.read1(patience.CHUNK, decode_content=False):
                length += len(chunk)
                self.received += len(chunk)
                yield chunk
                if (now := monotonic()) - window_start >= patience.WINDOW:
                    rate = (self.received - window_bytes) / (now - window_start)
                    self._check_rate(rate)
                    window_bytes, window_start = self.received, now
        except urllib3.exceptions.HTTPError as error:
            raise Broken(reason(error)) from None
        if answer.length not in (None, length):
            raise Broken(f"the answer ended after {length:,} of its {answer.length:,} bytes")

    def prepare_retry(self, broken: Broken, position: int) -> None:
        """Wait before the next attempt, or give up; more bytes than ever before are progress."""
        progress = position > self._max_position and not broken.stalled
        self._failures = 1 if progress else self._failures + 1
        self._max_position = max(self._max_position, position)
        if self._failures >= patience.ATTEMPTS:
            raise self._given_up(position, str(broken))
        wait, found = patience.BACKOFF * 2 ** (self._failures - 1), str(broken)
        if broken.wait is not None:
            wait, found = broken.wait, f"{broken}, and asks to wait {broken.wait:,.0f} s"
            if self._hurried and wait > patience.LONGEST_WAIT:
                raise self._slow(found)
        deadline = patience.DEADLINE + self.received / patience.LOWEST_RATE
        if monotonic() - self._started + wait > deadline:
            raise self._given_up(position, found)
        if broken.wait is not None or wait >= patience.LONGEST_WAIT:
            tqdm.write(f"{self.url}: {found}; trying again in {wait:,.0f} s", file=sys.stderr)
        sleep(wait)

    def _check_status(self, response: "requests.Response", *, for_range: bool) -> None:
        code = response.status_code
        if code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and for_range:
            raise BeyondEnd(response.headers.get("Content-Range", "").removeprefix("bytes */"))
        if code in (*_BUSY, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE):
            wait = patience.retry_after(response.headers.get("Retry-After", ""))
            raise Broken(describe_status(response), wait=wait)
        if code in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            return
        kind = NotFound if code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) else InputError
        todo = MOVED
        if code == HTTPStatus.FORBIDDEN:
            todo = f"the server may refuse programs, or this network; we are {user_agent()}"
            if not os.environ.get(CONTACT):
                todo = f"state a contact address, which some servers need: export {CONTACT}=you@…"
        raise kind(self.url, "the file", describe_status(response), todo)

    def _check_form(self, response: "requests.Response") -> None:
        encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", ""):
            raise self._wrong(f"an answer in another encoding ({encoding}) than asked for")
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        page = urlsplit(self.url).path.endswith((".html", ".htm", "/"))
        if kind in ("text/html", "application/xhtml+xml") and not (self._verified or page):
            raise self._wrong(f"a web page ({kind})")

    def _check_rate(self, rate: float) -> None:
        """Raise an exception if the rate of the last window, in bytes per second, is too low."""
        found = f"only {rate:,.0f} bytes per second"
        if self._hurried and rate < patience.SLOW_RATE:
            raise self._slow(found)
        if rate < patience.LOWEST_RATE:
            raise Broken(found, stalled=True)

    def _wrong(self, found: str) -> InputError:
        return InputError(self.url, "the file", found, LOOK)

    def _slow(self, found: str) -> TooSlow:
        todo = "run fetch again later; it resumes the download"
        return TooSlow(self.url, "the file, soon", found, todo)

    def _given_up(self, position: int, found: str) -> InputError:
        todo = "check network and address, and run fetch again later; it resumes the download"
        made = "1 attempt" if self._attempts == 1 else f"{self._attempts:,} attempts"
        took = f"{made} in {monotonic() - self._started:,.0f} s"
        return InputError(self.url, "the file", f"{position:,} bytes after {took}: {found}", todo)


def _range(
    response: "requests.Response",
    start: int,
    stop: int | None,
    version: Version | None,
    *,
    for_range: bool,
) -> FileResponse:
    """Check that an answer 206 has the requested range, or the beginning of it."""
    stated = response.headers.get("Content-Range", "")
    wrong = WrongRange(f"the server sent the wrong range: {stated!r}")
    content_range = stated_range(response)
    if not for_range or not content_range:
        raise wrong
    first, last, total = content_range
    validator = validator_of(response)
    if version is not None:
        if None not in (total, version.size) and total != version.size:
            raise Changed(f"a file of {total:,} bytes")
        # An answer to If-Range need not repeat it (RFC 9110, 15.3.7).
        if version.validator and validator not in ("", version.validator):
            raise Changed(validator)
    end = last + 1 if total is None else total
    length = last + 1 - first
    fits = first == start and first <= last < end and (stop is None or last < stop)
    if not fits or stated_length(response) not in (None, length):
        raise wrong
    return FileResponse(response, length, Version(total, validator))


MAX_DOCUMENT = 1 << 24  # bytes


def read_document(urls: Sequence[str], max_size: int = MAX_DOCUMENT) -> bytes:
    """Return the whole of a small document; a web page only if the address ends in .html or "/"."""

    def attempt(transfer: Transfer) -> bytes:
        data = bytearray()
        with transfer.ask() as answer:
            for chunk in transfer.read_body(answer):
                data += chunk
                if len(data) > max_size:
                    expected = f"a document of at most {max_size:,} bytes"
                    raise InputError(transfer.url, expected, "more", LOOK)
        return bytes(data)

    def fetch(url: str, hurried: bool) -> bytes:
        with open_session() as session:
            transfer = Transfer(session, url, hurried=hurried)
            while True:
                try:
                    return attempt(transfer)
                except Broken as broken:
                    transfer.prepare_retry(broken, 0)

    return first_that_works(urls, fetch)


def read_json(urls: Sequence[str]) -> Any:
    """Return the content of a JSON document; for the arguments and errors see ``read_document``."""
    data = read_document(urls)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(urls[0], "JSON", f"{data[:60]!r} ({error})", LOOK) from None
