"""Several addresses of one file, tried in order until one works."""

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from corpora_recipes.running.errors import InputError

_T = TypeVar("_T")


class NotFound(InputError):
    """The server has no such file (404, 410)."""


def first_that_works(urls: Sequence[str], fetch: Callable[[str], _T]) -> _T:
    """Return the result of ``fetch`` for the first address for which it raises no InputError.

    Args:
        urls: the addresses, at least one.
        fetch: takes an address.

    Raises:
        InputError: of the only address; or of several, what was wrong with each. NotFound if no
            server has the file.
    """
    from tqdm import tqdm

    faults: list[InputError] = []
    for n, url in enumerate(urls, 1):
        try:
            return fetch(url)
        except InputError as error:
            faults.append(error)
            if n < len(urls):
                found = " ".join(error.found.split())
                tqdm.write(f"{url}: {found}; trying {urls[n]}", file=sys.stderr)
    if len(faults) == 1:
        raise faults[0]
    kind = NotFound if all(isinstance(fault, NotFound) for fault in faults) else InputError
    answers = [f"{url}: {fault.found}" for url, fault in zip(urls, faults, strict=True)]
    raise kind(
        urls[0],
        expected=f"the file at one of its {len(urls)} addresses",
        found="\n            ".join(answers),
        todo="; or ".join(dict.fromkeys(fault.todo for fault in faults)),
    )
