"""Measures the commands of a full run on the samples: what each costs, and how much is starting.

    python tests/bench/bench_stages.py

Runs `dvc repro` in a copy of the project. A row of the table is a command, or all commands of a
verb: CPU seconds of all its processes, those of its own start (Python and its imports, however
late) and those of the processes that it starts, seconds of wall, the most MB that one of its
processes had. In the last column, CPU seconds are divided by those of a process that only imports
pyarrow.parquet, measured before and after: a ratio says the same on any machine.
"""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "support"))

from projects import copy_of_project

REFERENCE = [sys.executable, "-c", "import pyarrow.parquet"]


class Costs(NamedTuple):
    """What commands cost: CPU seconds, seconds of wall, MB."""

    cpu: float
    workers: float
    start: float
    wall: float
    peak: float


def main() -> None:
    """Run the benchmark."""
    with TemporaryDirectory(prefix="probeta-") as name:
        folder = copy_of_project(Path(name) / "probeta")
        hook = Path(name) / "hook"
        hook.mkdir()
        shutil.copy(Path(__file__).with_name("process_cost.py"), hook / "sitecustomize.py")
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{folder}{os.pathsep}{hook}",
            "PROBETA_COSTS": str(hook / "costs"),
        }
        reference = [cpu_of(REFERENCE, folder, environment)]
        begin = perf_counter()
        whole = cpu_of(["dvc", "repro"], folder, environment)
        wall = perf_counter() - begin
        reference.append(cpu_of(REFERENCE, folder, environment))
        lines = (hook / "costs").read_text("utf-8").splitlines()
    commands = [(words[5:7], figures(words)) for line in lines if (words := line.split())]
    verbs = defaultdict(list)
    for (verb, *_), cost in commands:
        verbs[verb].append(cost)
    unit = min(reference)
    print(
        f"{'command':32} {'CPU-s':>7} {'start':>7} {'workers':>7} {'wall s':>7} {'MB':>6} {'x':>6}"
    )
    for words, cost in commands:
        show(" ".join(words), cost, unit)
    print()
    for verb, costs in sorted(verbs.items(), key=lambda item: -together(item[1]).cpu):
        show(f"{verb}, {len(costs)}", together(costs), unit)
    everything = together([cost for _, cost in commands])
    show(f"all commands, {len(commands)}", everything, unit)
    own = Costs(whole - everything.cpu, 0, 0, wall - everything.wall, 0)
    show("DVC's own", own, unit)
    show("dvc repro", Costs(whole, everything.workers, everything.start, wall, 0), unit)
    print(f"\nx: CPU seconds divided by the {unit:.2f} of `import pyarrow.parquet`")


def cpu_of(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    """Run a command and return the CPU seconds of all its processes."""
    output = folder.with_name("output")
    with output.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=file)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{output.read_text('utf-8')[-2000:]}")
    return usage.ru_utime + usage.ru_stime


def figures(words: list[str]) -> Costs:
    """Return the costs in a line of the hook."""
    own, workers, start, wall, peak = map(float, words[:5])
    return Costs(own + workers, workers, start, wall, peak)


def together(costs: list[Costs]) -> Costs:
    """Return the costs of several commands: their sums, and the highest peak."""
    *sums, peaks = zip(*costs, strict=True)
    return Costs(*map(sum, sums), max(peaks))


def show(what: str, cost: Costs, unit: float) -> None:
    """Print a row."""
    print(
        f"{what:32} {cost.cpu:7.2f} {cost.start:7.2f} {cost.workers:7.2f} {cost.wall:7.2f}"
        f" {cost.peak:6.0f} {cost.cpu / unit:6.1f}"
    )


if __name__ == "__main__":
    main()
