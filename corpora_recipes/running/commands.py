"""Shared by all verbs of the command line: exit codes, standard streams, common arguments."""

import argparse
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

from corpora_recipes.running.failures import explain

# The parameters of a run, unless --params names another file.
PARAMS = Path("params.yaml")


def run(command: Callable[[], None], kept: str = "what was there before is unchanged") -> int:
    """Run a command and return its exit code.

    It is 0; 1 if an input, the disk, the memory or the system is to blame, with a message on
    standard error; 130 if interrupted: ``kept`` is what is left of its work then, for the message.
    Other errors are the program's, and are raised.
    """
    try:
        command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"interrupted: {kept}; run it again", file=sys.stderr)
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


def add_params(parser: argparse.ArgumentParser) -> None:
    """Add the option that names params.yaml."""
    told = "the parameters of the run (default: params.yaml)"
    parser.add_argument("--params", type=Path, default=PARAMS, metavar="FILE", help=told)


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the option that names datasets."""
    told = "folder of the datasets, or their id on the Hugging Face Hub (default: dist/hub)"
    parser.add_argument("--data", metavar="DATA", help=told)


def add_stage(parser: argparse.ArgumentParser, entries: str = "") -> None:
    """Add the options of all stages; ``entries`` are what it walks, "" if it walks nothing."""
    add_params(parser)
    add = parser.add_argument
    if entries:
        told = f"these {entries} only (default: all of params.yaml)"
        add("--only", type=names, metavar="NAME,…", help=told)
    told = "stop at the first fault (default: leave out what has one, and say so)"
    add("--strict", action="store_true", help=told)
    told = """read all files again whose contents are remembered (default: those whose size or times
        have changed)"""
    add("--check", action="store_true", help=told)


def names(text: str) -> list[str]:
    """Return the names of an argument, which are separated by commas; a type for argparse."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of processes."""
    cpus, told = os.cpu_count() or 1, "number of processes (default: one per CPU)"
    parser.add_argument("--workers", type=positive, default=cpus, metavar="N", help=told)


def add_executor(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options for processes of this machine or a cluster, for ``what``: "blocks read"."""
    told = f"{what} at once (default: one per CPU, or one per thread of the cluster)"
    parser.add_argument("--workers", type=positive, metavar="N", help=told)
    default = os.environ.get("PROBETA_EXECUTOR") or "local"
    told = """processes of this machine, or a Dask scheduler (default: the environment variable
        PROBETA_EXECUTOR, or local)"""
    where = "local|tcp://HOST:PORT"
    parser.add_argument("--executor", default=default, metavar=where, help=told)
