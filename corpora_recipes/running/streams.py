"""Standard streams that take every message: open, and with a form for every character."""

import io
import os
import sys


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


def drop_output() -> None:
    """Send what is left for standard output nowhere, as its reader is gone or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
