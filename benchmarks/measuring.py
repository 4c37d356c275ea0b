"""What the benchmarks share: their command line, and the time and memory of commands and calls."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from corpora_recipes.running.console import run

Result = TypeVar("Result")

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
PROBETA = [sys.executable, "-m", "probeta"]
HOUR = 3600.0


class Cost(NamedTuple):
    """What a command cost."""

    cpu: float  # user and system seconds of all its processes
    wall: float  # seconds
    peak: float  # resident MB of its largest process
    output: str  # what it printed


def make_parser(description: str | None, epilog: str) -> argparse.ArgumentParser:
    """Return a parser of arguments whose help shows both texts as they are."""
    formatter = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(
        description=description, epilog=epilog, formatter_class=formatter
    )


def main_of(benchmark: Callable[[], None]) -> None:
    """Run a benchmark as the main program: an error of its input ends it with a message."""
    sys.exit(run(benchmark))


def measure(command: list[str], folder: Path = REPOSITORY, timeout: float = HOUR) -> Cost:
    """Run a command in a folder, with the commands and modules of this project; return its cost.

    This process has to stay small: Linux counts its size to the peak of what it starts.
    """
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{HERE}",
    }
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=printed,
            stderr=printed,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        timer = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            timer.cancel()
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        output = printed.read()
    if process.returncode:
        raise RuntimeError(
            f"{shlex.join(command)}: exit {process.returncode} after {wall:.0f} s\n{output[-2000:]}"
        )
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output)


def time_call(function: Callable[[], Result]) -> tuple[Result, float]:
    """Call a function; return its result and its seconds of CPU."""
    begin = time.process_time()
    return function(), time.process_time() - begin


def peak_memory(function: Callable[[], Result]) -> tuple[Result, float]:
    """Call a function; return its result and the most MB resident in this process meanwhile."""
    # Since Linux 4.0: the peak starts anew from here.
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    result = function()
    status = Path("/proc/self/status").read_text("ascii").splitlines()
    return result, next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
