"""What an address says of its file, without downloading it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora_recipes.fetching.session import (
    Broken,
    open_session,
    range_of,
    request,
    said_length,
    said_status,
    validator_of,
)
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    import requests

PATIENCE = 20.0  # seconds


@dataclass(frozen=True, slots=True)
class Remote:
    """What an address says.

    Attributes:
        url: the address.
        fault: why there is no file, such as "the server answers 404 Not Found", "TLS: certificate
            has expired"; "" if there is one.
        status: of the answer; None without one.
        final_url: where redirects lead; "" without an answer.
        size: of the file in bytes; None if it is not stated.
        kind: its media type, such as "application/zip"; "" if it is not stated.
        has_ranges: whether parts of it can be requested, so that a download can be resumed.
        validator: its version, see ``transfer.Version``; "" if it is not stated.
        modified: Last-Modified as the server writes it; "" if it is not stated.
    """

    url: str
    fault: str
    status: int | None = None
    final_url: str = ""
    size: int | None = None
    kind: str = ""
    has_ranges: bool = False
    validator: str = ""
    modified: str = ""


def look_at(url: str, *, patience: float = PATIENCE, only_head: bool = False) -> Remote:
    """Ask an address about its file: by HEAD, and where that does not tell, for one byte.

    It asks once, and never raises an exception for what the server does.

    Args:
        url: an http or https address.
        patience: seconds to wait for an answer.
        only_head: whether to ask by HEAD alone.
    """
    with open_session() as session:
        said = _ask(session, "HEAD", url, patience)
        if only_head:
            return said
        if said.status is not None and (said.fault or said.size is None or not said.has_ranges):
            byte = _ask(session, "GET", url, patience)
            if not byte.fault or said.fault:
                said = byte
    return said


def _ask(session: "requests.Session", method: str, url: str, patience: float) -> Remote:
    headers = {"Range": "bytes=0-0"} if method == "GET" else {}
    try:
        with request(session, method, url, headers, silence=patience) as response:
            is_file = response.status_code in (200, 206)
            size = said_length(response)
            if response.status_code == 206:
                place = range_of(response)
                size = place and place[2]
            return Remote(
                url,
                fault="" if is_file else said_status(response),
                status=response.status_code,
                final_url=response.url,
                size=size if is_file else None,
                kind=response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
                has_ranges=response.status_code == 206
                or response.headers.get("Accept-Ranges", "").lower() == "bytes",
                validator=validator_of(response),
                modified=response.headers.get("Last-Modified", ""),
            )
    except Broken as error:
        return Remote(url, fault=str(error))
    except InputError as error:
        return Remote(url, fault=error.found)
