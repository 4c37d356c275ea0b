"""A rehearsal at the papers' sizes: what each stage costs in a run of everything.

Makes records of all corpora at their real sizes (see made_records.py), so that constructed datasets
have 10,000, 4,000 and 4,000 rows and X-Probe's 120,000 a task, and runs the stages on them, each as
one process with a limit on its memory: from `build` to `report`, with vectors of 768 dimensions
(made_vectors.py). Prints for each its CPU seconds, also beside those of `build`, its peak of
memory, the size of its output, and what failed or was skipped. Costs are kept in the work folder,
so that a rehearsal can be made piece by piece.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from measuring import HERE, HOUR, PROBETA, REPOSITORY, main_of, make_parser, measure

from builders.plan.datasets import PAPER_ROWS
from builders.tasks import TASKS
from builders.tasks.task import PassageTask
from corpora_recipes.running.outputs import LEFT_OUT, MEMORY

EXAMPLES = """\
examples:
  python benchmarks/full.py --work big --scale 0.1
  python benchmarks/full.py --work big --only probe rank

Give another file of --params (other datasets, the protocol `senteval`) a work folder of its own.
"""
ENCODERS = {"made": {"encoder": "callable", "function": "made_vectors:encode"}}


class Step(NamedTuple):
    """A step of the rehearsal."""

    output: str  # a folder below the work folder
    max_cpu: float | None = None  # seconds that it may cost at full size, if that is said
    max_memory: float = 4_000  # MB
    options: tuple[str, ...] = ()  # those of a stage that shares out its work: one process


ONE = ("--workers", "1")
STEPS = {
    "samples": Step("samples/data/records"),
    "make": Step("data/records"),
    "build": Step("data/instances/corpora"),
    "compose": Step("data/instances/rankings"),
    "audit": Step("data/audit", 480, 3_000, ONE),
    "package": Step("dist/hub"),
    "embed": Step("data/embeddings", options=ONE),
    "probe": Step("data/results", 840, options=ONE),
    "rank": Step("data/rankings", 40, options=ONE),
    "paradigms": Step("data/paradigms"),
    "report": Step("reports", 60),
}


def write_params(work: Path, params: dict[str, Any], scale: float) -> None:
    """Write the parameters of the run, and of the one that reads the samples."""
    (work / "samples").mkdir(parents=True, exist_ok=True)
    (work / "samples" / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    for corpus in params["corpora"].values() if scale != 1 else ():
        for dataset in corpus.get("datasets", {}).values():
            if isinstance(TASKS[dataset["task"]], PassageTask):
                dataset["rows"] = [max(20, round(rows * scale)) for rows in PAPER_ROWS]
    params |= {"sources": "upstream", "encoders": ENCODERS}
    (work / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")


def run_step(name: str, work: Path, scale: float) -> dict[str, Any]:
    """Run a step anew, and return what it cost."""
    step = STEPS[name]
    folder = work / "samples" if name == "samples" else work
    for output in (Path(step.output), MEMORY / {"audit": "measured"}.get(name, name)):
        shutil.rmtree(work / output, ignore_errors=True)
    command = [*PROBETA, "read" if name == "samples" else name, *step.options]
    if name == "make":
        command = [sys.executable, str(HERE / "made_records.py"), str(scale)]
    limit = ["prlimit", f"--data={step.max_memory * 10**6:.0f}"]
    try:
        cost = measure([*limit, *command], folder, 12 * HOUR)
    except RuntimeError as error:
        return {"cpu": 0.0, "wall": 0.0, "peak": 0.0, "size": 0.0, "failed": str(error)[-1_000:]}
    print(cost.output.strip()[-1_000:], file=sys.stderr)
    skipped_file = folder / LEFT_OUT / f"{name}.json"
    skipped = json.loads(skipped_file.read_bytes()) if skipped_file.exists() else []
    if name == "audit":
        # Made-up texts miss a gate or two; what follows is measured with all datasets.
        skipped_file.unlink(missing_ok=True)
    files = [file for file in (work / step.output).rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    skipped = [*map(str, skipped)]
    return {**cost._asdict(), "output": "", "size": size, "skipped": skipped}


def benchmark() -> None:
    """Run steps and print what they, and those that ran before, have cost."""
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="the work folder")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (default: 1)")
    about = "of the run (default: the shipped one)"
    parser.add_argument("--params", type=Path, default=REPOSITORY / "params.yaml", help=about)
    parser.add_argument("--only", nargs="+", choices=STEPS, default=[*STEPS], help="steps to run")
    args = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    work = args.work.resolve()
    write_params(work, yaml.safe_load(args.params.read_text("utf-8")), args.scale)
    costs_file = work / "costs.json"
    costs = json.loads(costs_file.read_text("utf-8")) if costs_file.exists() else {}
    for name in args.only:
        costs[name] = run_step(name, work, args.scale)
        costs_file.write_text(json.dumps(costs, indent=1), "utf-8")
    print(f"scale {args.scale:g}")
    print(f"{'step':10}{'CPU s':>9}{'x build':>9}{'wanted':>8}{'peak MB':>9}{'limit':>7}{'MB':>9}")
    for name, step in STEPS.items():
        if cost := costs.get(name):
            reference = costs.get("build", {}).get("cpu")
            ratio = f"{cost['cpu'] / reference:.2f}" if reference else ""
            print(
                f"{name:10}{cost['cpu']:9.1f}{ratio:>9}{step.max_cpu or '':>8}{cost['peak']:9.0f}"
                f"{step.max_memory:7.0f}{cost['size']:9.1f}"
            )
            for line in cost.get("skipped", ()):
                print(f"  skipped: {line}")
    if failed := {name: cost["failed"] for name, cost in costs.items() if "failed" in cost}:
        sys.exit("\n".join(f"{name} failed: {error}" for name, error in failed.items()))


if __name__ == "__main__":
    main_of(benchmark)
