"""One careful HTTP transfer: an answer is checked before, while and after its body is read.

Whole files (``downloads``), ranges of a file (``ranges``) and small documents (``documents``) are
all transferred by it. A server is trusted with nothing that can be checked: the range that it
sends, the version that this is of, its length, its kind, how fast it comes, and where it ends.
"""

import os
import re
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.metadata import metadata
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from corpora_recipes.fetching.addresses import NotFound, TooSlow
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    import requests

# The environment variable with a contact address for the servers' owners, which Wikimedia asks for
# (Wikimedia Foundation User-Agent Policy).
CONTACT = "PROBETA_CONTACT"
# Wikimedia's dump server allows two per address (dumps.wikimedia.org/backup-index.html).
CONNECTIONS = 2
CONNECT = 20.0  # seconds to connect
SILENCE = 60.0  # seconds without a byte
ATTEMPTS = 6  # in a row without progress
BACKOFF = 1.0  # seconds; doubles with every attempt in a row
WINDOW = 60.0  # seconds over which the rate is measured
LOWEST_RATE = 1_000  # bytes per second; what is slower is broken off, and asked for again
SLOW_RATE = 20_000  # bytes per second; what is slower is left for the next address, if any
LONGEST_WAIT = 10.0  # seconds that a server may ask to wait before another address is tried
# Seconds at one address, apart from those in which bytes come at the lowest rate or faster.
DEADLINE = 900.0
CHUNK = 1 << 18  # bytes read at once
REDIRECTS = 10

_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", re.ASCII)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
_BUSY = (429, 500, 502, 503, 504)


class Broken(Exception):
    """An attempt failed, and another one may not; the message has the reason.

    Attributes:
        wait: seconds that the server asks to wait; None if it does not.
        stalled: whether it was too slow, so that what came is no progress.
    """

    def __init__(self, why: str, *, wait: float | None = None, stalled: bool = False) -> None:
        super().__init__(why)
        self.wait = wait
        self.stalled = stalled


class WrongRange(Broken):
    """The range is not the one that was asked for."""


class Changed(Exception):
    """The server has another version than the one that is here in part; the message names it."""


class BeyondEnd(Exception):
    """The server says that the range is not in the file (416); the message is the file's size."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a file, as a server states it.

    Attributes:
        size: in bytes; None if unknown.
        validator: a strong ETag, or Last-Modified, for If-Range (RFC 9110, 13.1.5); may be "".
    """

    size: int | None
    validator: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with a file or a range of it, whose head was checked, and whose body is unread.

    Attributes:
        response: the answer.
        start: the first byte of its body in the file; 0 if it is the whole file.
        length: of its body; None if unknown.
        version: of the file.
    """

    response: "requests.Response"
    start: int
    length: int | None
    version: Version

    @property
    def is_range(self) -> bool:
        """Whether it has a range of the file, and not all of it."""
        return self.response.status_code == HTTPStatus.PARTIAL_CONTENT


class Transfer:
    """The transfer of a file, or of ranges of it, from one address, in as many attempts as needed.

    Its clock starts when it is made.

    Attributes:
        url: the address.
        received: number of bytes received.
    """

    def __init__(
        self,
        session: "requests.Session",
        url: str,
        *,
        hurried: bool = False,
        verified: bool = False,
    ) -> None:
        """Prepare a transfer.

        Args:
            session: of ``open_session``.
            url: the address.
            hurried: whether to raise TooSlow where there is another address to try.
            verified: whether the caller verifies what came, by a digest or by its end, so that it
                may come without a length, and called HTML.
        """
        self.url = url
        self.received = 0
        self._session = session
        self._hurried = hurried
        self._verified = verified
        self._started = monotonic()
        self._failures = 0
        self._reached = -1

    @contextmanager
    def ask(
        self, start: int = 0, stop: int | None = None, version: Version | None = None
    ) -> Iterator[Answer]:
        """Request the bytes from ``start`` up to ``stop``, exclusive, and check the answer's head.

        The answer may be the whole file, or end before ``stop``.

        Args:
            start: the first byte.
            stop: the byte after the last one; None for the end of the file.
            version: of the bytes that are here; None without any.

        Raises:
            Broken: it failed in a way that may pass.
            Changed: the range is of another version.
            BeyondEnd: the file ends before ``start``.
            InputError: it failed in a way that will not pass.
        """
        headers = {}
        if start or stop is not None:
            headers["Range"] = f"bytes={start}-{'' if stop is None else stop - 1}"
            if version is not None and version.validator:
                headers["If-Range"] = version.validator
        with request(self._session, "GET", self.url, headers) as response:
            self._check_status(response)
            self._check_form(response)
            if response.status_code == HTTPStatus.PARTIAL_CONTENT:
                yield _range(response, start, stop, version, asked=bool(headers))
                return
            length = said_length(response)
            chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
            if length is None and not chunked and not self._verified:
                raise self._wrong("an answer without a length, which may be cut anywhere")
            yield Answer(response, 0, length, Version(length, validator_of(response)))

    def body(self, answer: Answer) -> Iterator[bytes]:
        """Yield the bytes of an answer.

        Raises:
            Broken: it broke off, was too slow, or is not as long as it said.
            TooSlow: it was slow, and there is another address.
        """
        import urllib3

        length, mark, since = 0, self.received, monotonic()
        raw: Any = answer.response.raw
        try:
            # Not more than what is there: else a trickle would block until the chunk is full.
            while chunk := raw.read1(CHUNK, decode_content=False):
                length += len(chunk)
                self.received += len(chunk)
                yield chunk
                if (now := monotonic()) - since >= WINDOW:
                    self._check_rate((self.received - mark) / (now - since))
                    mark, since = self.received, now
        except urllib3.exceptions.HTTPError as error:
            raise Broken(reason(error)) from None
        if answer.length not in (None, length):
            raise Broken(f"the answer ended after {length:,} of its {answer.length:,} bytes")

    def again(self, broken: Broken, position: int) -> None:
        """Wait before the next attempt.

        Args:
            broken: how the last one ended.
            position: the number of bytes here; more than ever before is progress.

        Raises:
            InputError: there were enough attempts, or the wait would be too long.
        """
        progress = position > self._reached and not broken.stalled
        self._failures = 1 if progress else self._failures + 1
        self._reached = max(self._reached, position)
        if self._failures >= ATTEMPTS:
            raise self._given_up(f"{ATTEMPTS} attempts without progress", position, str(broken))
        wait = BACKOFF * 2 ** (self._failures - 1) if broken.wait is None else broken.wait
        if self._hurried and broken.wait is not None and wait > LONGEST_WAIT:
            raise self._slow(f"{broken}, and asks to wait {wait:,.0f} s")
        if monotonic() - self._started + wait > DEADLINE + self.received / LOWEST_RATE:
            found = str(broken)
            if broken.wait is not None:
                found += f", and asks to wait {wait:,.0f} s"
            raise self._given_up(f"{DEADLINE:,.0f} s", position, found)
        if broken.wait is not None:
            self._say(f"{broken}; waiting {wait:,.0f} s, as the server asks")
        elif wait >= LONGEST_WAIT:
            self._say(f"{broken}; trying again in {wait:,.0f} s")
        sleep(wait)

    def _check_status(self, response: "requests.Response") -> None:
        code = response.status_code
        if code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise BeyondEnd(response.headers.get("Content-Range", "").removeprefix("bytes */"))
        if code in _BUSY:
            raise Broken(said_status(response), wait=_retry_after(response))
        if code in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            return
        kind = NotFound if code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) else InputError
        todo = "check the address in a browser; if it has moved, correct corpus.yaml"
        if code == HTTPStatus.FORBIDDEN:
            todo = f"the server may refuse programs, or this network; we are {user_agent()}"
            if not os.environ.get(CONTACT):
                todo = (
                    "state your contact address, which some servers require: "
                    f"export {CONTACT}=you@…"
                )
        raise kind(self.url, expected="the file", found=said_status(response), todo=todo)

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
        said = f"only {rate:,.0f} bytes per second"
        if self._hurried and rate < SLOW_RATE:
            raise self._slow(said)
        if rate < LOWEST_RATE:
            raise Broken(said, stalled=True)

    def _wrong(self, found: str) -> InputError:
        return InputError(
            self.url,
            expected="the file",
            found=found,
            todo="open the address in a browser to see what the server sends",
        )

    def _slow(self, found: str) -> TooSlow:
        todo = "run fetch again later; it resumes the download"
        return TooSlow(self.url, expected="the file, soon", found=found, todo=todo)

    def _given_up(self, limit: str, position: int, found: str) -> InputError:
        return InputError(
            self.url,
            expected=f"the file, in at most {limit}",
            found=f"{position:,} bytes, then: {found}",
            todo="check the network and the address, and run fetch again later; it resumes the "
            "download",
        )

    def _say(self, text: str) -> None:
        from tqdm import tqdm

        tqdm.write(f"{self.url}: {text}", file=sys.stderr)


def open_session() -> "requests.Session":
    """Open a session with at most CONNECTIONS connections per server; threads may share it."""
    import requests

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """Leave redirects to ``request``: requests reads their bodies, however long."""

    session = Session()
    for scheme in ("http://", "https://"):
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=CONNECTIONS, pool_block=True)
        session.mount(scheme, adapter)
    # With compressed transfer, lengths and ranges would not be those of the file.
    session.headers.update({"User-Agent": user_agent(), "Accept-Encoding": "identity"})
    return session


def user_agent() -> str:
    """Return the User-Agent for servers: project, version, purpose, address and contact."""
    version, addresses = _project()
    about = ["corpus download for research", *addresses, os.environ.get(CONTACT, "")]
    return f"Probeta/{version} ({'; '.join(filter(None, about))})"


# Every request of a harvest would read the file again.
@cache
def _project() -> tuple[str, list[str]]:
    """Return the project's version, and its address if it has one."""
    known = metadata("probeta")
    urls = dict(entry.split(", ", 1) for entry in known.get_all("Project-URL") or [])
    return known["Version"], [urls["Repository"]] if "Repository" in urls else []


@contextmanager
def request(
    session: "requests.Session",
    method: str,
    url: str,
    headers: dict[str, str] | None = None,
    *,
    silence: float | None = None,
) -> Iterator["requests.Response"]:
    """Send a request, follow redirects, and yield the response, its body unread.

    Args:
        session: of ``open_session``.
        method: GET or HEAD.
        url: the address.
        headers: beside those of the session.
        silence: seconds without a byte; SILENCE if None.

    Raises:
        Broken: no answer.
        InputError: the address is wrong, the server's certificate is, or redirects do not end.
    """
    here = url
    for _ in range(1 + REDIRECTS):
        with _answered(session, method, here, headers, silence or SILENCE, url) as response:
            if not response.is_redirect:
                yield response
                return
            target = response.headers["Location"].encode("latin-1").decode("utf-8", "replace")
        try:
            here = urljoin(here, target)
        except ValueError:
            here = target  # no address, as the next request says
    raise InputError(
        url,
        expected="the file",
        found=f"more than {REDIRECTS} redirects, the last one to {here}",
        todo="check the address in a browser; if it has moved, correct corpus.yaml",
    )


def _answered(
    session: "requests.Session",
    method: str,
    here: str,
    headers: dict[str, str] | None,
    silence: float,
    url: str,
) -> "requests.Response":
    """Send one request of ``request`` for ``url``, to ``here``."""
    import requests
    import urllib3

    timeouts = (min(CONNECT, silence), silence)
    try:
        return session.request(
            method, here, headers=headers, stream=True, timeout=timeouts, allow_redirects=False
        )
    # ValueError: of addresses that requests does not check.
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        why = reason(error)
        untrusted = isinstance(_root(error), ssl.SSLCertVerificationError)
        passing = isinstance(error, requests.ConnectionError | requests.Timeout)
        if passing and not untrusted:
            raise Broken(why) from None
        raise InputError(
            url,
            expected="an answer from the server",
            found=why if here == url else f"{why} (redirected to {here})",
            todo="if your network has certificates of its own, name their file in "
            "REQUESTS_CA_BUNDLE"
            if untrusted
            else "check the address in a browser; if it has moved, correct corpus.yaml",
        ) from None


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
    """Return the exception that is at the bottom of those of the libraries."""
    inner = [getattr(error, "reason", None), *error.args, error.__cause__]
    found = next((e for e in inner if isinstance(e, BaseException)), None)
    return error if found is None else _root(found)


def range_of(response: "requests.Response") -> tuple[int, int, int | None] | None:
    """Return first byte, last byte and size of the file (None if unknown) from Content-Range.

    None if there is no such header, or it is nonsense.
    """
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not match:
        return None
    return int(match[1]), int(match[2]), None if match[3] == "*" else int(match[3])


def _range(
    response: "requests.Response",
    start: int,
    stop: int | None,
    version: Version | None,
    *,
    asked: bool,
) -> Answer:
    """Check that an answer 206 has the requested range, or the beginning of it."""
    said = response.headers.get("Content-Range", "")
    place = range_of(response)
    if not asked or not place:
        raise WrongRange(f"the server sent the wrong range: {said!r}")
    first, last, total = place
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
    if not fits or said_length(response) not in (None, length):
        raise WrongRange(f"the server sent the wrong range: {said!r}")
    return Answer(response, first, length, Version(total, validator))


def said_length(response: "requests.Response") -> int | None:
    """Return the length that an answer states; None if it does not, or states nonsense."""
    said = response.headers.get("Content-Length", "")
    return int(said) if _LENGTH.fullmatch(said) else None


def said_status(response: "requests.Response") -> str:
    """Return the status of an answer in words, for messages."""
    return f"the server answers {response.status_code} {response.reason}"


def _retry_after(response: "requests.Response") -> float | None:
    """Return the seconds that the server asks to wait, None if it does not, or says nonsense."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    said = response.headers.get("Retry-After", "")[:40]
    try:
        return Retry(retry_after_max=10**9).parse_retry_after(said)
    except (InvalidHeader, ValueError):
        return None
