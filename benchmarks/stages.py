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

from measuring import PROBETA, REPOSITORY, Cost, measure

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

def watched(stage, *others, run=runs._run):
    cpu, begin = spent(), time.perf_counter()
    run(stage, *others)
    print("cost", stage.name, spent() - cpu, time.perf_counter() - begin)

runs._run = watched
sys.exit(cli.main(["repro"]))
"""
Table = dict[str, list[tuple[float, float]]]


def main(params: str = str(REPOSITORY / "params.yaml")) -> None:
    """Run the benchmark."""
    table: Table = {stage.name: [] for stage in STAGES}
    with TemporaryDirectory(prefix="probeta-") as name:
        alone, together, project = (
            Path(name) / folder for folder in ("alone", "together", "project")
        )
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
    show(table, repros, dvcs)


def show(table: Table, repros: list[Cost], dvcs: list[Cost]) -> None:
    """Print the costs of stages, and of whole runs, each first and second time."""
    titles = ("own process", "second time", "within repro", "second time")
    print(f"{'':21}" + "".join(f"{title:>18}" for title in titles))
    print(f"{'':21}" + "   CPU-s   wall s".rjust(18) * 4)
    columns = zip(*table.values(), strict=True)
    sums = [tuple(map(sum, zip(*column, strict=True))) for column in columns]
    for stage, costs in {**table, "sum": sums}.items():
        print(f"{stage:21}" + "".join(f"{cpu:9.2f}{wall:9.2f}" for cpu, wall in costs))
    print(f"\n{'':21}    CPU-s   wall s  peak MB        x")
    for what, costs in (("probeta repro", repros), ("dvc repro", dvcs)):
        for which, cost, (alone, _) in zip(("first", "second"), costs, sums[:2], strict=True):
            figures = f"{cost.cpu:9.2f}{cost.wall:9.2f}{cost.peak:9.0f}{cost.cpu / alone:9.2f}"
            print(f"{what + ', ' + which:21}{figures}")


if __name__ == "__main__":
    main(*sys.argv[1:])
