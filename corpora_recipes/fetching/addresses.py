"""Several addresses of one file, tried in order until one works."""

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from corpora_recipes.running.errors import InputError

_T = TypeVar("_T")


class NotFound(InputError):
    """The server has no such file (404, 410)."""


class TooSlow(InputError):
    """The server is slow, or asks to wait, while another address has not been tried."""


def first_that_works(urls: Sequence[str], fetch: Callable[[str, bool], _T]) -> _T:
    """Return the result of ``fetch`` for the first address that works.

    Of several, a slow one is left for the next one, and tried again at the end, if none was faster.

    Args:
        urls: the addresses, at least one.
        fetch: takes an address, and whether to raise TooSlow if it is slow. It raises InputError if
            the address does not work.

    Raises:
        InputError: of the only address; or of several, what was wrong with each. NotFound if no
            server has the file.
    """
    from tqdm import tqdm

    assert not isinstance(urls, str), "a list of addresses"
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
    kind = NotFound if all(isinstance(f, NotFound) for f in faults.values()) else InputError
    answers = [f"{url}: {fault.found}" for url, fault in faults.items()]
    raise kind(
        urls[0],
        expected=f"the file at one of its {len(urls)} addresses",
        found="\n            ".join(answers),
        todo="; or ".join(dict.fromkeys(fault.todo for fault in faults.values())),
    )
