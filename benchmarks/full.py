"""A rehearsal at the papers' sizes: what each stage costs in a run of everything.

Makes records of all corpora at their real sizes (see made_records.py), so that constructed datasets
have 10,000, 4,000 and 4,000 rows and X-Probe's 120,000 a task, and runs the stages on them, each as
one process with a limit on its memory: from `build` to `report`, with vectors of 768 dimensions
(made_vectors.py). `read` reads a made dump of Wikipedia (dump_generator.py): the cost of a real one
follows from its bytes. `senteval` is `probe` by that protocol, without discourse coherence. The
report is on 20 encoders, copies of one. Prints for each step its CPU and wall seconds, its peak of
memory, the size of its output, and what failed or was skipped. Costs are kept in the work folder,
so that a rehearsal can be made piece by piece.
"""

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from dump_generator import generate
from measuring import HERE, HOUR, PROBETA, REPOSITORY, main_of, make_parser, measure

from builders.plan.datasets import PAPER_ROWS
from builders.tasks import TASKS
from builders.tasks.task import PassageTask
from corpora_recipes.running.outputs import LEFT_OUT, MEMORY

EXAMPLES = """\
examples:
  python benchmarks/full.py --work big --scale 0.1
  python benchmarks/full.py --work big --only probe rank

Give another file of --params, such as one with other datasets, a work folder of its own.
"""
ENCODER = {"encoder": "callable", "function": "made_vectors:encode"}
# Those of the report; the others are copies of the first.
NAMES = ["made", *(f"copy_{number}" for number in range(1, 20))]
# Pages of the dump, at full scale.
PAGES = 200_000
DUMP = "eswiki-20260101-pages-articles-multistream.xml.bz2"


class Step(NamedTuple):
    """A step of the rehearsal."""

    output: str  # a folder below that of the step
    max_cpu: float | None = None  # seconds that it may cost at full size, if that is said
    folder: str = "."  # below the work folder
    options: tuple[str, ...] = ()  # those of a stage that shares out its work: one process
    verb: str = ""  # if the step has another name


MAX_MEMORY = 2_000  # MB
ONE = ("--workers", "1")
STEPS = {
    "read": Step("data/records", folder="read", options=ONE),
    "samples": Step("data/records", folder="samples", options=ONE, verb="read"),
    "make": Step("data/records"),
    "build": Step("data/instances/corpora"),
    "compose": Step("data/instances/rankings"),
    "audit": Step("data/audit", 480, options=ONE),
    "package": Step("dist/hub"),
    "embed": Step("data/embeddings", options=ONE),
    "probe": Step("data/results", 840, options=ONE),
    "senteval": Step("data/results", folder="senteval", options=ONE, verb="probe"),
    "rank": Step("data/rankings", 60, options=ONE),
    "paradigms": Step("data/paradigms"),
    "report": Step("reports", 60, options=("--params", "report.yaml")),
}


# The caches of verbs that have not only one of their own name.
CACHES = {
    "audit": ["audit", "measured"],
    "probe": ["probe", "probed", "transferred"],
    "rank": ["rank", "ranked"],
    "paradigms": ["paradigms", "completed"],
}


def write_params(work: Path, params: dict[str, Any], scale: float) -> None:
    """Write the parameters of the run, and of the steps that have their own."""

    def write(name: str, **changes: Any) -> None:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(yaml.safe_dump(params | changes), "utf-8")

    write("samples/params.yaml")
    entry = {"corpus": {"recipe": "wikipedia", "language": "es"}}
    write("read/params.yaml", sources="mirror", corpora={"wikipedia": entry})
    for corpus in params["corpora"].values() if scale != 1 else ():
        for dataset in corpus.get("datasets", {}).values():
            if isinstance(TASKS[dataset["task"]], PassageTask):
                dataset["rows"] = [max(20, round(rows * scale)) for rows in PAPER_ROWS]
    params |= {"sources": "upstream", "encoders": {"made": ENCODER}}
    write("params.yaml")
    write("senteval/params.yaml", probing={**params.get("probing", {}), "protocol": "senteval"})
    write("report.yaml", encoders=dict.fromkeys(NAMES, ENCODER))


def prepare(name: str, work: Path, scale: float) -> None:
    """Make what a step needs besides the outputs of those before it."""
    if name == "read":
        generate(work / "read/mirror/wikipedia" / DUMP, pages=round(PAGES * scale))
    if name == "senteval":
        hub = work / "senteval/dist/hub"
        shutil.rmtree(hub, ignore_errors=True)
        shutil.copytree(work / "dist/hub", hub, ignore=shutil.ignore_patterns("dc_*"))
        (work / "senteval/data").mkdir(exist_ok=True)
        with suppress(FileExistsError):
            (work / "senteval/data/embeddings").symlink_to(work / "data/embeddings")
    for copy in NAMES[1:] if name == "report" else ():
        data = work / "data"
        for kind in ("results", "rankings"):
            shutil.copytree(data / kind / "made", data / kind / copy, dirs_exist_ok=True)
            _rename(data / kind / "made/scores.json", data / kind / copy / "scores.json", copy)
        _rename(data / "paradigms/made.json", data / "paradigms" / f"{copy}.json", copy)


def _rename(scores: Path, out: Path, name: str) -> None:
    """Write scores under another name of the encoder, if there are any."""
    if scores.exists():
        text = scores.read_text("utf-8").replace('"name": "made"', f'"name": "{name}"', 1)
        out.write_text(text, "utf-8")


def run_step(name: str, work: Path, scale: float) -> dict[str, Any]:
    """Run a step anew, and return what it cost."""
    step = STEPS[name]
    folder, verb = work / step.folder, step.verb or name
    for output in (step.output, *(MEMORY / name for name in CACHES.get(verb, [verb]))):
        shutil.rmtree(folder / output, ignore_errors=True)
    prepare(name, work, scale)
    command = [*PROBETA, verb, *step.options]
    if name == "make":
        command = [sys.executable, str(HERE / "made_records.py"), str(scale)]
    limit = ["prlimit", f"--data={2 * MAX_MEMORY * 10**6}"]
    try:
        cost = measure([*limit, *command], folder, 12 * HOUR)
    except RuntimeError as error:
        return {"cpu": 0.0, "wall": 0.0, "peak": 0.0, "size": 0.0, "failed": str(error)[-1_000:]}
    print(cost.output.strip()[-1_000:], file=sys.stderr)
    skipped_file = folder / LEFT_OUT / f"{verb}.json"
    skipped = json.loads(skipped_file.read_bytes()) if skipped_file.exists() else []
    if name == "audit":
        # Made-up texts miss a gate or two; what follows is measured with all datasets.
        skipped_file.unlink(missing_ok=True)
    files = [file for file in (folder / step.output).rglob("*") if file.is_file()]
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
    print(f"{'step':10}{'CPU s':>9}{'wanted':>8}{'wall s':>9}{'peak MB':>9}{'wanted':>8}{'MB':>9}")
    for name, step in STEPS.items():
        if cost := costs.get(name):
            print(
                f"{name:10}{cost['cpu']:9.1f}{step.max_cpu or '':>8}{cost['wall']:9.1f}"
                f"{cost['peak']:9.0f}{MAX_MEMORY:8}{cost['size']:9.1f}"
            )
            for line in cost.get("skipped", ()):
                print(f"  skipped: {line}")
    if failed := {name: cost["failed"] for name, cost in costs.items() if "failed" in cost}:
        sys.exit("\n".join(f"{name} failed: {error}" for name, error in failed.items()))


if __name__ == "__main__":
    main_of(benchmark)
