"""Measures a run on the samples, and a second one, which has nothing to do.

    python benchmarks/stages.py [PARAMS.yaml [TIMES]]

A row is a stage: CPU seconds and seconds of wall of `probeta STAGE`, a process of its own. The last
rows are those of whole runs, by `probeta repro` and by `dvc repro`; x divides their CPU seconds by
the sum of the processes of their own: a ratio says the same on any machine.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measuring import PROBETA, REPOSITORY, measure

sys.path.append(str(REPOSITORY / "tests/support"))

from projects import copy_of_project

from probeta.cli import STAGES

TITLES = ("first time", "second time")


def main(params: str = str(REPOSITORY / "params.yaml"), times: str = "2") -> None:
    """Print the costs of stages, and of whole runs, each first and second time."""
    titles = TITLES[: int(times)]
    table: dict[str, list[tuple[float, float]]] = {stage.name: [] for stage in STAGES}
    with TemporaryDirectory(prefix="probeta-") as name:
        alone, together, project = (Path(name, run) for run in ("alone", "together", "project"))
        copy_of_project(project)
        for folder in (alone, together, project):
            folder.mkdir(exist_ok=True)
            shutil.copyfile(params, folder / "params.yaml")
        # The copy has no git.
        measure(["dvc", "config", "--local", "core.no_scm", "true"], project)
        for _ in titles:
            for stage in STAGES:
                cost = measure([*PROBETA, stage.name], alone)
                table[stage.name].append((cost.cpu, cost.wall))
        repros = [measure([*PROBETA, "repro"], together) for _ in titles]
        dvcs = [measure(["dvc", "repro"], project) for _ in titles]
    print(f"{'':21}" + "".join(f"{title:>18}" for title in titles))
    print(f"{'':21}" + "   CPU-s   wall s".rjust(18) * len(titles))
    sums = np.sum(list(table.values()), axis=0).tolist()
    for stage_name, costs in {**table, "sum": sums}.items():
        print(f"{stage_name:21}" + "".join(f"{cpu:9.2f}{wall:9.2f}" for cpu, wall in costs))
    print(f"\n{'':21}    CPU-s   wall s  peak MB        x")
    for command, runs in (("probeta repro", repros), ("dvc repro", dvcs)):
        for time, run, (cpu, _) in zip(titles, runs, sums, strict=True):
            heading = f"{command}, {time}"
            print(f"{heading:21}{run.cpu:9.2f}{run.wall:9.2f}{run.peak:9.0f}{run.cpu / cpu:9.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
