"""Measures how much faster two workers of a Dask cluster embed than one.

    python tests/bench/bench_cluster.py [encoder] [sentences]

Sentences of made-up words are encoded by one process without a cluster, by one worker and by two,
which `dask worker` starts on this machine, each time into a new store; all have the same bytes.
Prints for each the seconds, and the CPU seconds of the driver, of all workers, and of the thread
of a worker that encodes most.

Seconds depend on what else the machine does, CPU seconds less: a cluster with a processor for each
worker needs at least those of that thread, and at most those and the driver's. (Dask's own threads
look around for as long as a run lasts: where the machine is busy, that adds up.)
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_embeddings import HOUR, sentence
from measuring import REPOSITORY, Cost, measure

sys.path.append(str(Path(__file__).parents[1] / "support"))

from instance_files import row, write_dataset

# Two workers beside one, to reach.
WANTED = 1.7
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int) -> dict[str, float]:
    """Return the user and system seconds of each thread of a process. Linux only."""
    seconds = {}
    for path in Path(f"/proc/{process}/task").glob("*/stat"):
        fields = path.read_text("utf-8").rpartition(")")[2].split()
        seconds[path.parent.name] = (int(fields[11]) + int(fields[12])) / TICKS
    return seconds


@contextmanager
def cluster(workers: int, log: Path) -> Iterator[tuple[str, list[int]]]:
    """Start a cluster; yield its address, and the processes of its workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    commands = [["scheduler", "--host", "127.0.0.1", "--port", port]]
    commands += [["worker", address, "--nthreads", "1", "--no-nanny"]] * workers
    with log.open("w") as stream:
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "dask", *command, "--no-dashboard"],
                stdout=stream,
                stderr=stream,
                cwd=REPOSITORY,
            )
            for command in commands
        ]
        try:
            yield address, [process.pid for process in started[1:]]
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def wait_for_workers(address: str, workers: int) -> None:
    """Wait until all workers are there; in another process, as this one has to stay small."""
    code = "import sys; from distributed import Client; c = Client(sys.argv[1], timeout=60); "
    code += "c.wait_for_workers(int(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", code, address, str(workers)], check=True)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a store."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def main(encoder: str = "use_multilingual", sentences: int = 8 * 2048) -> None:
    """Run the benchmark."""
    # What Dask's nannies set, too.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "params.yaml").write_text(f"seed: 1\nencoders: {{{encoder}: {{}}}}\n")
        rows = [row(i, i % 2, sentence=sentence(i)) for i in range(sentences)]
        splits = {"train": rows, "validation": rows[:2], "test": rows[:2]}
        write_dataset(here / "i" / "own" / "ssp", "section_prediction", splits)

        def embed(store: str, *options: str) -> Cost:
            command = [sys.executable, "-m", "evaluation.commands", "embed", encoder]
            command += ["--instances", str(here / "i"), "--out", str(here / store), *options]
            return measure([*command, "--params", str(here / "params.yaml")], HOUR)

        cost = embed("0", "--workers", "1")
        print(f"one process: {cost.wall:.1f} s, CPU {cost.cpu:.1f} s")
        walls, least, most = {}, {}, {}
        for workers in (1, 2):
            with cluster(workers, here / "dask.log") as (address, processes):
                wait_for_workers(address, workers)
                before = [cpu_seconds(process) for process in processes]
                cost = embed(str(workers), "--executor", address)
                after = [cpu_seconds(process) for process in processes]
            spent = [
                seconds - begin.get(thread, 0)
                for begin, end in zip(before, after, strict=True)
                for thread, seconds in end.items()
            ]
            walls[workers], least[workers] = cost.wall, max(spent)
            most[workers] = max(spent) + cost.cpu
            print(
                f"{workers} workers: {cost.wall:.1f} s, CPU driver {cost.cpu:.1f} s, "
                f"workers {sum(spent):.1f} s, thread {max(spent):.1f} s; driver's peak "
                f"{cost.peak:.0f} MB",
                flush=True,
            )
            if contents(here / str(workers)) != contents(here / "0"):
                sys.exit(f"{workers} workers: other bytes than one process")
        print(
            f"two workers beside one: {walls[1] / walls[2]:.2f} times as fast in seconds; by CPU "
            f"seconds {most[1] / most[2]:.2f} (driver and thread), {least[1] / least[2]:.2f} "
            f"(thread); to reach: {WANTED}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
