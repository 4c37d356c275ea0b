"""What a run tells while it works: details of its entries, and how far it is."""

import sys
import time
from contextlib import AbstractContextManager
from typing import Any, Protocol

# Seconds between two lines of a log that say how far a run is.
SILENCE = 60
# Whether all is left out but results and faults; the verbs' --quiet sets it.
quiet = False
# Whether details are left out, and what begins the line of a stage; `probeta repro` sets them.
brief = False
heading = ""


class Bar(Protocol):
    """How far a run is: ``n`` of ``total`` units, which may be set before ``refresh``."""

    total: Any
    n: Any

    def update(self, n: int = 1) -> Any:
        """Say that so many more units are done."""

    def refresh(self) -> Any:
        """Show the number and the total that were set."""


def tell(text: str) -> None:
    """Print a detail, such as the number of rows of a dataset."""
    if not (brief or quiet):
        print(text)


def say(text: str) -> None:
    """Print the line of a stage, or one of those below it."""
    if not quiet:
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
        unit: of which there are so many, such as "text"; "B" for bytes.
    """
    if quiet or not sys.stderr.isatty():
        return _Log(total, what, unit)
    from tqdm import tqdm

    scaled = unit == "B" or bool(total and total > 10_000)
    bar: AbstractContextManager[Bar] = tqdm(
        total=total, desc=what, unit=unit, unit_scale=scaled, leave=False
    )
    return bar


class _Log(AbstractContextManager["_Log"]):
    def __init__(self, total: int | None, what: str, unit: str) -> None:
        self.total, self.n = total, 0
        self._what, self._unit = what, unit
        self._told = time.monotonic()
        self.refresh()

    def __exit__(self, *error: object) -> None:
        pass

    def refresh(self) -> None:
        # What was done before, such as the part of a file that is here, took no time.
        self._begin, self._before = time.monotonic(), self.n

    def update(self, n: int = 1) -> None:
        self.n += n
        now = time.monotonic()
        if quiet or now - self._told < SILENCE:
            return
        self._told = now
        left = ""
        if self.total and self.n > self._before:
            rest = (now - self._begin) / (self.n - self._before) * (self.total - self.n)
            left = f", about {clock(rest)} left"
        print(f"{self._what}: {self._amount()}{left}", file=sys.stderr, flush=True)

    def _amount(self) -> str:
        numbers = [self.n, self.total] if self.total else [self.n]
        if self._unit == "B":
            return f"{' of '.join(f'{number / 1e6:,.1f}' for number in numbers)} MB"
        return f"{' of '.join(f'{number:,}' for number in numbers)} {self._unit}s"
