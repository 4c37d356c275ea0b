"""Small documents of a server, such as JSON and lists of checksums, read into memory."""

import json
from collections.abc import Sequence
from typing import Any

from corpora_recipes.fetching.addresses import first_that_works
from corpora_recipes.fetching.session import Broken, open_session
from corpora_recipes.fetching.transfer import BeyondEnd, Changed, Transfer
from corpora_recipes.running.errors import InputError

LARGEST = 1 << 24  # bytes


def read_document(urls: Sequence[str], largest: int = LARGEST) -> bytes:
    """Return the whole of a small document.

    Args:
        urls: its addresses, tried in this order. A web page is accepted only where the address
            ends in ".html" or "/".
        largest: the largest size in bytes.

    Raises:
        InputError: no address works, or the document is larger. NotFound if no server has it.
    """

    def fetch(url: str, hurried: bool) -> bytes:
        with open_session() as session:
            transfer = Transfer(session, url, hurried=hurried)
            while True:
                try:
                    return _attempt(transfer, largest)
                except Broken as broken:
                    transfer.again(broken, 0)

    return first_that_works(urls, fetch)


def read_json(urls: Sequence[str], largest: int = LARGEST) -> Any:
    """Return what a JSON document has.

    Raises:
        InputError: see ``read_document``, or it is not JSON.
    """
    data = read_document(urls, largest)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            urls[0],
            expected="JSON",
            found=f"{data[:60]!r} ({error})",
            todo="open the address in a browser to see what the server sends",
        ) from None


def _attempt(transfer: Transfer, largest: int) -> bytes:
    data = bytearray()
    try:
        with transfer.ask() as answer:
            for chunk in transfer.body(answer):
                data += chunk
                if len(data) > largest:
                    raise InputError(
                        transfer.url,
                        expected=f"a document of at most {largest:,} bytes",
                        found="more",
                        todo="open the address in a browser to see what the server sends",
                    )
    except (BeyondEnd, Changed) as error:
        raise Broken(f"a range, which was not asked for: {error}") from None
    return bytes(data)
