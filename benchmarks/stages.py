"""Measures a run on the samples, and a second one, which has nothing to do.

    python benchmarks/stages.py [PARAMS.yaml]

A row is a stage: CPU seconds and seconds of wall, first of `probeta STAGE`, a process of its own,
then within `probeta repro`. The last rows are those of whole runs, by `probeta repro` and by
`dvc repro`; x divides their CPU seconds by the sum of the processes of their own: a ratio says the
same on any machine.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import PROBETA, REPOSITORY, measure

sys.path.append(str(REPOSITORY / "tests/support"))

from projects import copy_of_project

from probeta.cli.runs import STAGES

WATCHED = """\
import resource, sys, time
from probeta import cli
from probeta.cli import runs

def spent():
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)

def watched(stage, *others, run=runs._run_stage):
    cpu, begin = spent(), time.perf_counter()
    run(stage, *others)
    print("cost", stage.name, spent() - cpu, time.perf_counter() - begin)

runs._run_stage = watched
sys.exit(cli.main(["repro"]))
"""
TITLES = ("own process", "second time", "within repro", "second time")


def main(params: str = str(REPOSITORY / "params.yaml")) -> None:
    """Print the costs of stages, and of whole runs, each first and second time."""
    table: dict[str, list[tuple[float, float]]] = {stage.name: [] for stage in STAGES}
    with TemporaryDirectory(prefix="probeta-") as name:
        alone, together, project = (Path(name, run) for run in ("alone", "together", "project"))
        copy_of_project(project)
        for folder in (alone, together, project):
            folder.mkdir(exist_ok=True)
            shutil.copyfile(params, folder / "params.yaml")
        # The copy has no git.
        measure(["dvc", "config", "--local", "core.no_scm", "true"], project)
        for _ in range(2):
            for stage in STAGES:
                cost = measure([*PROBETA, stage.name], alone)
                table[stage.name].append((cost.cpu, cost.wall))
        repros = [measure([sys.executable, "-c", WATCHED], together) for _ in range(2)]
        dvcs = [measure(["dvc", "repro"], project) for _ in range(2)]
    for words in (line.split() for cost in repros for line in cost.output.splitlines()):
        if words[:1] == ["cost"]:
            table[words[1]].append((float(words[2]), float(words[3])))
    print(f"{'':21}" + "".join(f"{title:>18}" for title in TITLES))
    print(f"{'':21}" + "   CPU-s   wall s".rjust(18) * len(TITLES))
    sums = [
        (
            sum(costs[run][0] for costs in table.values()),
            sum(costs[run][1] for costs in table.values()),
        )
        for run in range(len(TITLES))
    ]
    for stage_name, costs in {**table, "sum": sums}.items():
        print(f"{stage_name:21}" + "".join(f"{cpu:9.2f}{wall:9.2f}" for cpu, wall in costs))
    print(f"\n{'':21}    CPU-s   wall s  peak MB        x")
    for command, runs in (("probeta repro", repros), ("dvc repro", dvcs)):
        for time, run, (cpu, _) in zip(("first", "second"), runs, sums[:2], strict=True):
            heading = f"{command}, {time}"
            print(f"{heading:21}{run.cpu:9.2f}{run.wall:9.2f}{run.peak:9.0f}{run.cpu / cpu:9.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
