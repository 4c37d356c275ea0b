"""Sessions with servers: who we are, one request with its redirects, what an answer says."""

import os
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import metadata
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from corpora_recipes.fetching import patience
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
    """An attempt failed, and another one may not; the message has the reason.

    Attributes:
        wait: seconds that the server asks to wait; None if it does not.
        stalled: whether it was too slow, so that what came is no progress.
    """

    def __init__(self, why: str, *, wait: float | None = None, stalled: bool = False) -> None:
        super().__init__(why)
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

    ``silence`` are the seconds to wait for a byte; patience.SILENCE if None.
    """
    import requests
    import urllib3

    here, silence = url, silence or patience.SILENCE
    timeouts = (min(patience.CONNECT, silence), silence)
    for _ in range(1 + patience.REDIRECTS):
        try:
            response = session.request(
                method, here, headers=headers, stream=True, timeout=timeouts, allow_redirects=False
            )
        # ValueError: of addresses that requests does not check.
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise _no_answer(error, url, here) from None
        _answered.add(urlsplit(here).netloc)
        with response:
            if not response.is_redirect:
                yield response
                return
            target = response.headers["Location"].encode("latin-1").decode("utf-8", "replace")
        try:
            here = urljoin(here, target)
        except ValueError:
            here = target  # no address, as the next request says
    found = f"more than {patience.REDIRECTS} redirects, the last one to {here}"
    raise InputError(url, "the file", found, MOVED)


def _no_answer(error: Exception, url: str, here: str) -> Exception:
    """Return the error for a request for ``url``, redirected to ``here``, that failed."""
    import requests

    why = reason(error)
    todo = MOVED
    if isinstance(_root(error), ssl.SSLCertVerificationError):
        todo = "if your network has certificates of its own, name their file in REQUESTS_CA_BUNDLE"
    elif isinstance(_root(error), socket.gaierror) and urlsplit(here).netloc not in _answered:
        todo = "check the network (are you online?), and the name in the address"
    elif isinstance(error, requests.ConnectionError | requests.Timeout):
        return Broken(why)
    if here != url:
        why += f" (redirected to {here})"
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
    """Return the exception that is at the bottom of those of the libraries."""
    causes = [getattr(error, "reason", None), *error.args, error.__cause__]
    inner = next((cause for cause in causes if isinstance(cause, BaseException)), None)
    return error if inner is None else _root(inner)


def range_of(response: "requests.Response") -> tuple[int, int, int | None] | None:
    """Return first byte, last byte and size of the file (None if unknown) from Content-Range."""
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not match:
        return None
    return int(match[1]), int(match[2]), None if match[3] == "*" else int(match[3])


def said_length(response: "requests.Response") -> int | None:
    """Return the length that an answer states; None if it does not, or states nonsense."""
    stated = response.headers.get("Content-Length", "")
    return int(stated) if _LENGTH.fullmatch(stated) else None


def said_status(response: "requests.Response") -> str:
    """Return the status of an answer in words, for messages."""
    return f"the server answers {response.status_code} {response.reason}"


PATIENCE = 20.0  # seconds


@dataclass(frozen=True, slots=True)
class Remote:
    """What an address says.

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
    """Ask an address about its file: by HEAD, and where that does not tell, for one byte.

    It asks once, for ``patience`` seconds, and never raises an exception for what the server does.
    """
    with open_session() as session:
        head = _ask(session, "HEAD", url, patience)
        is_told = not head.fault and head.size is not None and head.has_ranges
        if only_head or head.status is None or is_told:
            return head
        byte = _ask(session, "GET", url, patience)
        return head if byte.fault and not head.fault else byte


def _ask(session: "requests.Session", method: str, url: str, patience: float) -> Remote:
    headers = {"Range": "bytes=0-0"} if method == "GET" else {}
    try:
        with request(session, method, url, headers, silence=patience) as response:
            is_file = response.status_code in (200, 206)
            size = said_length(response)
            if response.status_code == 206:
                content_range = range_of(response)
                size = content_range and content_range[2]
            return Remote(
                url,
                fault="" if is_file else said_status(response),
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
