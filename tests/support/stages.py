"""Runs commands of `probeta` one after the other in one process: no start is paid.

Called as a program in a copy of the project: ``python stages.py [COMMAND …]``. Without commands,
those of all stages of dvc.yaml are run, as DVC would. Each finds one CPU. If PROBETA_TRACE names a
folder (see ``tracing/sitecustomize.py``), each runs in a fork, which has imported nothing of ours;
all but the first, which is `code`, have imported numpy and pyarrow.
"""

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml


def commands(folder: Path) -> Iterator[str]:
    """Yield the commands of the stages, in the order of dvc.yaml."""
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    stages = yaml.safe_load((folder / "dvc.yaml").read_text("utf-8"))["stages"]
    for stage in stages.values():
        if "foreach" in stage:
            for key in params[stage["foreach"].strip("${}")]:
                yield stage["do"]["cmd"].replace("${key}", key)
        else:
            yield stage["cmd"]


def run(command: str) -> int:
    """Run one command in this process; stars are expanded as a shell would."""
    from evaluation.commands import main

    words = (
        sorted(map(str, Path().glob(word))) if "*" in word else [word]
        for word in shlex.split(command)
    )
    program, *arguments = [word for group in words for word in group]
    assert program == "probeta", command
    return main(arguments)


def run_traced(command: str) -> int:
    """Run one command in a fork, and note the files that it opens."""
    import sitecustomize

    if (child := os.fork()) == 0:
        status = 1
        try:
            sitecustomize.trace(" ".join(command.split()[1:3]))
            status = run(command)
        finally:
            sys.stdout.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    import numpy  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    # The processes of pytest use the others.
    os.cpu_count = lambda: 1
    run_one = run_traced if "PROBETA_TRACE" in os.environ else run
    for command in sys.argv[1:] or commands(Path()):
        print(f"$ {command}", file=sys.stderr)
        if status := run_one(command):
            sys.exit(f"{command}: exit status {status}")
