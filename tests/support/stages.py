"""Runs commands of `probeta` one after the other in one process: no start is paid.

Called as a program in a copy of the project: ``python stages.py [COMMAND …]``. Without commands,
those of all stages of dvc.yaml are run, as DVC would.
"""

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


if __name__ == "__main__":
    for command in sys.argv[1:] or commands(Path()):
        print(f"$ {command}", file=sys.stderr)
        if status := run(command):
            sys.exit(f"{command}: exit status {status}")
