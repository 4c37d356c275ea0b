"""One careful HTTP transfer: an answer is checked before, while and after its body is read.

Whole files (``downloads``), ranges of a file (``ranges``) and small documents (``documents``) are
all transferred by it. A server is trusted with nothing that can be checked: the range that it
sends, the version that this is of, its length, its kind, how fast it comes, and where it ends.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from tqdm import tqdm

from corpora_recipes.fetching import patience
from corpora_recipes.fetching.session import (
    CONTACT,
    MOVED,
    Broken,
    open_session,
    range_of,
    reason,
    request,
    said_length,
    said_status,
    user_agent,
    validator_of,
)
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    import requests

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
class Answer:
    """An answer with a file or a range of it, whose head was checked, and whose body is unread."""

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
    ) -> None:
        """Prepare a transfer.

        ``hurried``: it raises TooSlow, as there is another address to try. ``verified``: the caller
        verifies what came, by a digest or by its end, so that it may come without a length, and
        called HTML.
        """
        self.url = url
        self.received = 0
        self._session = session
        self._hurried = hurried
        self._verified = verified
        self._started = monotonic()
        self._attempts = 0
        self._failures = 0
        self._reached = -1

    @contextmanager
    def ask(
        self, start: int = 0, stop: int | None = None, version: Version | None = None
    ) -> Iterator[Answer]:
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
        with request(self._session, "GET", self.url, headers) as response:
            self._check_status(response, for_range=bool(headers))
            self._check_form(response)
            if response.status_code == HTTPStatus.PARTIAL_CONTENT:
                yield _range(response, start, stop, version, for_range=bool(headers))
                return
            length = said_length(response)
            chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
            if length is None and not chunked and not self._verified:
                raise self._wrong("an answer without a length, which may be cut anywhere")
            yield Answer(response, length, Version(length, validator_of(response)))

    def body(self, answer: Answer) -> Iterator[bytes]:
        """Yield the bytes of an answer; Broken if it breaks off, or TooSlow, see ``Transfer``."""
        import urllib3

        length, mark, since = 0, self.received, monotonic()
        raw: Any = answer.response.raw
        try:
            # Not more than what is there: else a trickle would block until the chunk is full.
            while chunk := raw.read1(patience.CHUNK, decode_content=False):
                length += len(chunk)
                self.received += len(chunk)
                yield chunk
                if (now := monotonic()) - since >= patience.WINDOW:
                    self._check_rate((self.received - mark) / (now - since))
                    mark, since = self.received, now
        except urllib3.exceptions.HTTPError as error:
            raise Broken(reason(error)) from None
        if answer.length not in (None, length):
            raise Broken(f"the answer ended after {length:,} of its {answer.length:,} bytes")

    def again(self, broken: Broken, position: int) -> None:
        """Wait before the next attempt, or give up; more bytes than ever before are progress."""
        progress = position > self._reached and not broken.stalled
        self._failures = 1 if progress else self._failures + 1
        self._reached = max(self._reached, position)
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
            raise Broken(said_status(response), wait=_retry_after(response))
        if code in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            return
        kind = NotFound if code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) else InputError
        todo = MOVED
        if code == HTTPStatus.FORBIDDEN:
            todo = f"the server may refuse programs, or this network; we are {user_agent()}"
            if not os.environ.get(CONTACT):
                todo = f"state a contact address, which some servers need: export {CONTACT}=you@…"
        raise kind(self.url, "the file", said_status(response), todo)

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
) -> Answer:
    """Check that an answer 206 has the requested range, or the beginning of it."""
    stated = response.headers.get("Content-Range", "")
    wrong = WrongRange(f"the server sent the wrong range: {stated!r}")
    content_range = range_of(response)
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
    if not fits or said_length(response) not in (None, length):
        raise wrong
    return Answer(response, length, Version(total, validator))


def _retry_after(response: "requests.Response") -> float | None:
    """Return the seconds that the server asks to wait, None if it does not, or says nonsense."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    stated = response.headers.get("Retry-After", "")[:40]
    try:
        return Retry(retry_after_max=10**9).parse_retry_after(stated)
    except (InvalidHeader, ValueError):
        return None


LARGEST = 1 << 24  # bytes


def read_document(urls: Sequence[str], largest: int = LARGEST) -> bytes:
    """Return the whole of a small document; a web page only if the address ends in .html or "/"."""

    def attempt(transfer: Transfer) -> bytes:
        data = bytearray()
        with transfer.ask() as answer:
            for chunk in transfer.body(answer):
                data += chunk
                if len(data) > largest:
                    expected = f"a document of at most {largest:,} bytes"
                    raise InputError(transfer.url, expected, "more", LOOK)
        return bytes(data)

    def fetch(url: str, hurried: bool) -> bytes:
        with open_session() as session:
            transfer = Transfer(session, url, hurried=hurried)
            while True:
                try:
                    return attempt(transfer)
                except Broken as broken:
                    transfer.again(broken, 0)

    return first_that_works(urls, fetch)


def read_json(urls: Sequence[str]) -> Any:
    """Return the content of a JSON document; for the arguments and errors see ``read_document``."""
    data = read_document(urls)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(urls[0], "JSON", f"{data[:60]!r} ({error})", LOOK) from None
