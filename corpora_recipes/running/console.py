"""What a command prints, how it ends, and the arguments that commands share."""

import argparse
import errno
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from traceback import format_exception_only
from typing import Any, Protocol

from corpora_recipes.running.errors import InputError, explain_import
from corpora_recipes.running.outputs import finished, is_full_disk

# What was expected, and what to do.
_AGAIN = "then run the same command again"
_SPACE = "space for the output", f"free some space, or raise the limit; {_AGAIN}"
_ANY = "a system that does what it is asked", f"mend what is found; {_AGAIN}"
_RIGHTS = (
    "a file or folder that you may read and write",
    f"change its permissions, or name another place; {_AGAIN}",
)
_FILES = "fewer files open", f"raise the limit (`ulimit -n 4096`) or use fewer workers; {_AGAIN}"
_DISK = "a disk that reads and writes", f"check the disk and its connection; {_AGAIN}"
_PATH = "a path that the system can have", "name another one, or move away what is there"
_ADVICE = {
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), _RIGHTS),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), _FILES),
    **dict.fromkeys((errno.EIO, errno.ESTALE), _DISK),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY), _PATH),
    **dict.fromkeys((errno.ENAMETOOLONG, errno.ELOOP, errno.EBUSY), _PATH),
    **dict.fromkeys((errno.EXDEV, errno.EINVAL), _PATH),
    errno.ENOENT: ("a file or folder", f"check the path, and that nobody removes it; {_AGAIN}"),
}
# How libraries announce that there was no memory, for their code or for another thread.
_NO_MEMORY = (
    "failed to map segment",
    "annot allocate memory",
    "not enough memory",
    "Failed to launch worker thread",
    "BLIS support requires blis",
    "can't start new thread",
)


def explain(error: BaseException) -> InputError | None:
    """Return the message for an error that is not the program's fault; None if it may be."""
    # First, as it may have looked like a damaged file to a reader.
    if any(map(_is_of_memory, _chain(error))):
        found = error.found if isinstance(error, InputError) else str(error) or "too little"
        todo = "end other programs, use fewer workers (`--workers 1`), or another machine"
        return InputError("memory", "enough for this work", found, todo)
    if isinstance(error, InputError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return explain_import(error)
    if isinstance(error, OSError):
        return _refused(error)
    if isinstance(error, UnicodeEncodeError) and _is_of_a_path(error):
        path = error.object.encode("utf-8", "backslashreplace").decode()
        todo = "rename the file or folder; under the locale POSIX, set PYTHONUTF8=1"
        return InputError(path, "a path in UTF-8", "other bytes", todo)
    return None


def _refused(error: OSError) -> InputError:
    found = str(error.strerror or error.args[0] if error.args else error)
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        # Of each file that shutil.copytree could not copy: source, target, and the error in words.
        found = "; ".join(str(reason) for *_, reason in error.args[0])
    path = error.filename2 or error.filename
    where = finished(os.fsdecode(path)) if isinstance(path, str | bytes) else "the system"
    expected, todo = _SPACE if is_full_disk(error) else _ADVICE.get(error.errno or 0, _ANY)
    return InputError(where, expected, finished(found), todo)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_of_memory(error: BaseException) -> bool:
    if isinstance(error, InputError):
        return False
    has_number = isinstance(error, OSError) and error.errno == errno.ENOMEM
    # Unlike str(), it never raises an exception of its own.
    said = "".join(format_exception_only(error))
    has_words = any(words in said for words in _NO_MEMORY)
    return isinstance(error, MemoryError) or has_number or has_words


def _is_of_a_path(error: UnicodeEncodeError) -> bool:
    """Return whether it is a path that is not in the system's encoding: see PEP 383."""
    return any("\udc80" <= sign <= "\udcff" for sign in error.object[error.start : error.end])


# Seconds between two lines of a log that announce how far a run is, and before the first one.
SILENCE = 60
FIRST_SILENCE = 5
# Whether only results and faults are printed, or also the counts of every entry: the verbs'
# --quiet and --verbose.
quiet = verbose = False
# What begins the line of a stage, which `probeta repro` sets; and when the stage began.
heading, _began = "", time.monotonic()


@contextmanager
def quietly() -> Iterator[None]:
    """Print neither details nor progress."""
    global quiet
    before, quiet = quiet, True
    try:
        yield
    finally:
        quiet = before


class Bar(Protocol):
    """How far a run is: ``n`` of ``total`` units, which may be set before ``refresh``."""

    total: Any
    n: Any

    def update(self, n: int = 1) -> Any:
        """Say that so many more units are done."""

    def refresh(self) -> Any:
        """Show the number and the total that were set."""


def log(text: str) -> None:
    """Print a detail, such as the number of rows of a dataset, with --verbose."""
    if verbose:
        print(text)


def announce(text: str) -> None:
    """Print what was done, unless --quiet."""
    if not quiet:
        print(f"{heading}{text}", flush=True)


def begin_stage(place: str = "") -> None:
    """Start the clock of a stage; ``place`` begins its line, such as "[2/12] "."""
    global heading, _began
    heading, _began = place, time.monotonic()


def end_stage(text: str) -> None:
    """Print the line of a stage, and how long it took."""
    seconds = time.monotonic() - _began
    announce(f"{text} ({f'{clock(seconds)} min' if seconds >= 60 else f'{seconds:.0f} s'})")


def plural(count: int, units: str) -> str:
    """Return a number of things: "1 corpus", "2 corpora"."""
    unit = {"corpora": "corpus"}.get(units, units.removesuffix("s")) if count == 1 else units
    return f"{count:,} {unit}"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds: "1:05"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def progress(total: int | None, activity: str, unit: str) -> AbstractContextManager[Bar]:
    """Return a bar that shows the time left; without a terminal, lines of a log now and then.

    Args:
        total: number of units; None if unknown.
        activity: such as "embed char_hash".
        unit: of which there are so many, such as "text"; "B" for bytes.
    """
    if quiet or not sys.stderr.isatty():
        return _Log(total, activity, unit)
    from tqdm import tqdm

    scaled = unit == "B" or bool(total and total > 10_000)
    bar: AbstractContextManager[Bar] = tqdm(
        total=total, desc=activity, unit=unit, unit_scale=scaled, leave=False, delay=1
    )
    return bar


class _Log(AbstractContextManager["_Log"]):
    def __init__(self, total: int | None, activity: str, unit: str) -> None:
        self.total, self.n, self._updates = total, 0, 0
        self._activity, self._unit = activity, unit
        self._logged_at = time.monotonic() - SILENCE + min(SILENCE, FIRST_SILENCE)
        self.refresh()

    def __exit__(self, *error: object) -> None:
        pass

    def refresh(self) -> None:
        # What was done before, such as the part of a file that is here, took no time.
        self._begin, self._before = time.monotonic(), self.n

    def update(self, n: int = 1) -> None:
        self.n += n
        self._updates += 1
        now = time.monotonic()
        if quiet or self.n == self.total or now - self._logged_at < SILENCE:
            return
        self._logged_at = now
        left = ""
        # The first batch also loads what works.
        if self.total and self.n > self._before and self._updates > 1:
            rest = (now - self._begin) / (self.n - self._before) * (self.total - self.n)
            left = f", about {clock(rest)} left"
        print(f"{self._activity}: {self._amount()}{left}", file=sys.stderr, flush=True)

    def _amount(self) -> str:
        numbers = [self.n, self.total] if self.total else [self.n]
        if self._unit == "B":
            return f"{' of '.join(f'{number / 1e6:,.1f}' for number in numbers)} MB"
        return f"{' of '.join(f'{number:,}' for number in numbers)} {self._unit}s"


# The parameters of a run, unless --params names another file.
PARAMS = Path("params.yaml")


def run(
    command: Callable[[], None], if_interrupted: str = "what was there before is unchanged"
) -> int:
    """Run a command and return its exit code.

    It is 0; 1 if an input, the disk, the memory or the system is to blame, with a message on
    standard error; 130 if interrupted: the message then says ``if_interrupted``.
    Other errors are the program's, and are raised.
    """
    try:
        command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"interrupted: {if_interrupted}; run it again", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output, such as `head`, has closed it.
        _drop_output()
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:
            # Python would complain at its end.
            _drop_output()
        except ValueError:
            pass  # a function of the user has closed it
        return 1
    return 0


def open_streams() -> None:
    """Open the streams that the caller has closed, and let others escape what they cannot show.

    A closed stream leaves its number free, which the next file would get: what a library writes to
    standard output would go into that file. Call this before any file is opened.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            setattr(sys, name, open(nowhere, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Send what is left for standard output nowhere, as its reader is gone or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def positive(text: str) -> int:
    """Return the positive integer of an argument; a type for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)


def names(text: str) -> list[str]:
    """Return the names of an argument, which are separated by commas; a type for argparse."""
    return [name.strip() for name in text.split(",") if name.strip()]
