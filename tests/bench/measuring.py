"""What the benchmarks of whole programs share: the cost of a command, and `read` as a command."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

REPOSITORY = Path(__file__).parents[2]
# Seconds between two looks at a command's processes.
INTERVAL = 0.05


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command cost.

    Attributes:
        cpu: user and system seconds of all its processes.
        wall: seconds.
        peak: resident MB of its largest process, from getrusage.
        driver: resident MB of the process that was started, from /proc.
        worker: resident MB of the largest process that it started itself; 0 if there was none.
        output: what it printed.
    """

    cpu: float
    wall: float
    peak: float
    driver: float
    worker: float
    output: str


def measure(command: list[str], timeout: float, passing: Collection[int] = (0,)) -> Cost:
    """Run a command and return its cost. Linux only: it looks into /proc.

    This process has to stay small: Linux counts its size to the peak of what it starts.

    Args:
        command: the program and its arguments.
        timeout: seconds.
        passing: the exit codes that are no failure.

    Raises:
        RuntimeError: the command failed, or did not end within ``timeout`` seconds.
    """
    peaks: dict[int, float] = {}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=printed, stderr=printed, cwd=REPOSITORY, start_new_session=True
        )
        try:
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                wall = time.perf_counter() - begin
                if wall > timeout:
                    raise RuntimeError(f"{_line(command)}: no end in {timeout:.0f} s")
                for pid in _session(process.pid):
                    peaks[pid] = max(peaks.get(pid, 0.0), _peak(pid))
                time.sleep(INTERVAL)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        wall = time.perf_counter() - begin
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        output = printed.read()
    if process.returncode not in passing:
        raise RuntimeError(f"{_line(command)}: exit {process.returncode}\n{output[-2000:]}")
    driver = peaks.pop(process.pid, 0.0)
    return Cost(
        cpu=usage.ru_utime + usage.ru_stime,
        wall=wall,
        peak=usage.ru_maxrss / 1024,
        driver=driver,
        worker=max(peaks.values(), default=0.0),
        output=output,
    )


def peak_of(compute: Callable[[], Result]) -> tuple[Result, float]:
    """Call a function; return its result and the most MB resident in this process meanwhile."""
    # Since Linux 4.0: the peak starts anew from here.
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    result = compute()
    return result, _peak(os.getpid())


def generate_command(out: Path, dumps: list[Path], size: str, number: int) -> list[str]:
    """Return the command that generates a dump; ``size`` is "times" or "pages"."""
    program = Path(__file__).with_name("dump_generator.py")
    paths = map(str, dumps)
    return [sys.executable, str(program), *paths, f"--{size}", str(number), "--out", str(out)]


def read_command(
    dump: Path,
    out: Path,
    language: str,
    *,
    documents: int | None = None,
    workers: int = 1,
    options: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the command that reads a dump (so many documents, None for all) into ``out``.

    Args:
        dump: alone in its folder but for its index.
        out: the Parquet file; the parameters of the run are written beside it.
        language: of the dump.
        documents: the quota.
        workers: number of processes.
        options: of the recipe.
    """
    entry = {"recipe": "wikipedia", "language": language}
    entry |= options or {}
    line = ", ".join(f"{key}: {value}" for key, value in entry.items())
    params = out.with_suffix(".yaml")
    params.write_text(f"seed: 1111\ncorpora:\n  wikipedia: {{corpus: {{{line}}}}}\n", "utf-8")
    program = [sys.executable, "-m", "evaluation.commands", "read", "wikipedia"]
    program += ["--params", str(params)]
    quota = "all" if documents is None else str(documents)
    paths = ["--raw", str(dump.parent), "--out", str(out)]
    return [*program, *paths, "--documents", quota, "--workers", str(workers)]


def _line(command: list[str]) -> str:
    return " ".join(command)


def _session(leader: int) -> list[int]:
    """Return the processes of a session: a command and all that it started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getsid(int(path.name)) == leader:
                found.append(int(path.name))
    return found


def _peak(pid: int) -> float:
    """Return the most MB that a process has had resident; 0 if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    match = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(match[1]) / 1024 if match else 0.0
