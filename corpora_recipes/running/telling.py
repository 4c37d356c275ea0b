"""What a run tells while it works: details of its entries, and how far it is."""

import sys
import time
from contextlib import AbstractContextManager
from typing import Any, Protocol

# Seconds between two lines of a log that say how far a run is.
SILENCE = 60
# Whether details are left out, and what begins the line of a stage; `probeta repro` sets them.
brief = False
heading = ""


class Bar(Protocol):
    """How far a run is."""

    def update(self, n: int = 1) -> Any:
        """Say that so many more units are done."""


def tell(text: str) -> None:
    """Print a detail, such as the number of rows of a dataset."""
    if not brief:
        print(text)


def say(text: str) -> None:
    """Print the line of a stage, or one of those below it."""
    print(f"{heading}{text}", flush=True)


def counted(count: int, units: str) -> str:
    """Return a number of things: "1 corpus", "2 corpora"."""
    unit = {"corpora": "corpus"}.get(units, units.removesuffix("s")) if count == 1 else units
    return f"{count} {unit}"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds: "1:05"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def progress(total: int | None, what: str, unit: str) -> AbstractContextManager[Bar]:
    """Return a bar that shows the time left; without a terminal, lines of a log now and then.

    Args:
        total: number of units; None if unknown.
        what: is done, such as "embed char_hash".
        unit: of which there are so many, such as "text".
    """
    if not sys.stderr.isatty():
        return _Log(total, what, unit)
    from tqdm import tqdm

    bar: AbstractContextManager[Bar] = tqdm(
        total=total, desc=what, unit=unit, unit_scale=bool(total and total > 10_000), leave=False
    )
    return bar


class _Log(AbstractContextManager["_Log"]):
    def __init__(self, total: int | None, what: str, unit: str) -> None:
        self._total, self._what, self._unit = total, what, unit
        self._done = 0
        self._begin = self._told = time.monotonic()

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, n: int = 1) -> None:
        self._done += n
        now = time.monotonic()
        if now - self._told < SILENCE:
            return
        self._told = now
        of = f" of {self._total:,}" if self._total else ""
        left = ""
        if self._total and self._done:
            rest = (now - self._begin) / self._done * (self._total - self._done)
            left = f", about {clock(rest)} left"
        print(f"{self._what}: {self._done:,}{of} {self._unit}s{left}", file=sys.stderr, flush=True)
