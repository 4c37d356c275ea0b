"""Faults at the n-th event on the file system, in a process and in those that it starts.

``PROBETA_FAULT`` holds what happens, as JSON; ``sitecustomize.py`` installs it in further
processes.

    folder  where events count: everything below
    tally   file to which each event adds its name, of all processes together
    kind    "count": nothing happens
            "kill": the n-th event kills the whole group of processes
            "full": from the n-th on there is no space for new files, folders and links
            "broken": the n-th event fails, whatever it is
            "memory": at the n-th event there is no memory
            "worker": the first worker that opens any file for its work is killed
    number  n, from 1
"""

import errno
import os
import signal
import sys
from contextlib import suppress
from typing import Any

# What takes space, or changes a name. Audit events have no writes to a file that is open.
TAKING = ("open", "os.mkdir", "os.link", "os.symlink")
EVENTS = (*TAKING, "os.rename", "os.remove", "os.rmdir", "os.truncate")


def install(fault: dict[str, Any]) -> None:
    """Let this process meet a fault."""
    folder = fault["folder"] + os.sep
    tally = os.open(fault["tally"], os.O_RDWR | os.O_APPEND | os.O_CREAT)

    def meet(event: str, arguments: tuple[Any, ...]) -> None:
        if fault["kind"] == "worker":
            if event == "open":
                lose_worker(fault["tally"] + ".lost")
            return
        if event not in EVENTS or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path = os.fsdecode(arguments[0])
        # shutil.rmtree names what it removes relative to a folder that it has opened.
        relative = event in ("os.remove", "os.rmdir") and arguments[-1] != -1
        if not relative and not os.path.abspath(path).startswith(folder):
            return
        if event != "open" or arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            os.write(tally, f"{event}\n".encode())
            happen(event, path, os.pread(tally, 1 << 20, 0).count(b"\n"))

    def happen(event: str, path: str, number: int) -> None:
        kind, due = fault["kind"], fault.get("number", 0)
        if kind == "kill" and number >= due:
            os.killpg(0, signal.SIGKILL)
        elif kind == "full" and number >= due and event in TAKING:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        elif kind == "broken" and number == due:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        elif kind == "memory" and number == due:
            raise MemoryError

    sys.addaudithook(meet)


def lose_worker(mark: str) -> None:
    """Kill this process if it is a worker at work, and the first one that comes here."""
    serves = hasattr(sys.modules.get("corpora_recipes.running.executors"), "_serve")
    if serves and "--multiprocessing-fork" in sys.orig_argv:
        with suppress(FileExistsError):
            os.mkdir(mark)
            os.kill(os.getpid(), signal.SIGKILL)
