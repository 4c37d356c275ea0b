"""A rehearsal at the papers' sizes: what each stage costs in a run of everything.

Makes records of all corpora at their real sizes (see made_records.py), so that constructed datasets
have 10,000, 4,000 and 4,000 rows and X-Probe's 120,000 a task, and runs the stages on them, each as
one process with a limit on its memory: from `build` to `report`, with vectors of 768 dimensions
(made_vectors.py). Prints for each its CPU seconds, its peak of memory, the size of its output, and
what broke or was left out. Costs are kept in the work folder, so that a rehearsal can be made piece
by piece.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from measuring import HERE, HOUR, PROBETA, REPOSITORY, measure, parser_of

from corpora_recipes.running.outputs import EMBEDDINGS, LEFT_OUT, MEMORY, PACKAGE

EXAMPLES = """\
examples:
  python benchmarks/full.py --work big --scale 0.1
  python benchmarks/full.py --work big --scale 0.1 --only layers
  python benchmarks/full.py --work big --only probe senteval

words, senteval and layers probe a part of the datasets, in a folder of their own: those of word
content; by the papers' schedule all others but discourse coherence, which takes hours; and all
others in thirteen layers, which take thirteen times the disk (so at a tenth of the rows).
"""
# Their classes are a thousand words.
WORD_CONTENT = ("wc", "ud_word_content_es")
# These share out their work; here, one process is measured.
PARALLEL = ("read", "audit", "embed", "probe", "rank")


class Step(NamedTuple):
    """A step of the rehearsal."""

    makes: str  # its output, below the work folder
    cpu: float | None = None  # seconds that it may cost at full size, if that is said
    memory: float = 4_000  # MB that it may take


STEPS = {
    "samples": Step("samples/data/records"),
    "make": Step("data/records"),
    "build": Step("data/instances/corpora"),
    "compose": Step("data/instances/rankings"),
    "audit": Step("data/audit", 480, 3_000),
    "package": Step("dist/hub"),
    "embed": Step("data/embeddings"),
    "probe": Step("data/results", 840),
    "rank": Step("data/rankings", 40),
    "paradigms": Step("data/paradigms"),
    "report": Step("reports", 60),
    "words": Step("words/data/results", 600),
    "senteval": Step("senteval/data/results", 2_400),
    "layers": Step("layers/data/results"),
}
APART = ("words", "senteval", "layers")


class Rehearsal:
    """The steps of a rehearsal, in a folder."""

    def __init__(self, work: Path, scale: float) -> None:
        """Write the parameters of the run."""
        self.work, self.scale = work, scale
        shipped = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
        _write(work / "samples", shipped)
        if scale != 1:
            _scale_rows(shipped, scale)
        self.params = shipped | {"sources": "upstream", "encoders": _encoder("one")}
        _write(work, self.params)

    def run(self, name: str) -> dict[str, Any]:
        """Run a step anew, and return what it cost."""
        folder = self.work / name if name in ("samples", *APART) else self.work
        shutil.rmtree(self.work / STEPS[name].makes, ignore_errors=True)
        if name in APART:
            self._lay_out(name, folder)
        verbs = {"samples": ["read"], "make": [], "layers": ["embed", "probe"]}
        verbs |= {"words": ["probe"], "senteval": ["probe"]}
        commands = [[*PROBETA, verb] for verb in verbs.get(name, [name])]
        if name == "make":
            commands = [[sys.executable, str(HERE / "made_records.py"), str(self.scale)]]
        cpu = peak = 0.0
        broken = []
        for command in commands:
            verb = command[-1]
            for memory in (verb, "measured") if verb == "audit" else (verb,):
                shutil.rmtree(folder / MEMORY / memory, ignore_errors=True)
            limit = ["prlimit", f"--data={STEPS[name].memory * 10**6:.0f}"]
            one = ["--workers", "1"] if verb in PARALLEL else []
            try:
                cost = measure([*limit, *command, *one], folder, 12 * HOUR)
            except RuntimeError as error:
                broken.append(str(error)[-1_000:])
                break
            cpu, peak = cpu + cost.cpu, max(peak, cost.peak)
            print(cost.output.strip()[-1_000:], file=sys.stderr)
            left_out = folder / LEFT_OUT / f"{verb}.json"
            if left_out.exists():
                broken += [f"left out: {entry}" for entry in json.loads(left_out.read_bytes())]
            if verb == "audit":
                # Made-up texts miss a gate or two; what follows is measured with all datasets.
                left_out.unlink(missing_ok=True)
        made = [file for file in (self.work / STEPS[name].makes).rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in made) / 1e6
        return {"cpu": cpu, "peak": peak, "size": size, "broken": broken}

    def _lay_out(self, step: str, folder: Path) -> None:
        """Make a folder with a part of the datasets, and with the vectors of the run."""
        shutil.rmtree(folder, ignore_errors=True)
        (folder / EMBEDDINGS).parent.mkdir(parents=True)
        probing = {"protocol": "senteval"} if step == "senteval" else {}
        params = self.params | {"probing": self.params["probing"] | probing}
        if step == "layers":
            params["encoders"] = _encoder("thirteen")
        else:
            (folder / EMBEDDINGS).symlink_to(self.work / EMBEDDINGS)
        _write(folder, params)
        for dataset in (self.work / PACKAGE).iterdir():
            words = dataset.name in WORD_CONTENT
            left_out = step == "senteval" and dataset.name.startswith("dc_")
            if dataset.is_dir() and words == (step == "words") and not left_out:
                shutil.copytree(dataset, folder / PACKAGE / dataset.name, copy_function=os.link)


def _encoder(function: str) -> dict[str, Any]:
    return {function: {"encoder": "callable", "function": f"made_vectors:{function}"}}


def _write(folder: Path, params: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")


def _scale_rows(params: dict[str, Any], scale: float) -> None:
    """Give the constructed datasets fewer rows."""
    from builders.plan.datasets import PAPER_ROWS
    from builders.tasks import TASKS
    from builders.tasks.task import PassageTask

    for corpus in params["corpora"].values():
        for dataset in corpus.get("datasets", {}).values():
            if isinstance(TASKS[dataset["task"]], PassageTask):
                dataset["rows"] = [max(20, round(rows * scale)) for rows in PAPER_ROWS]


def main() -> None:
    """Run steps and print what they, and those that ran before, have cost."""
    parser = parser_of(__doc__, EXAMPLES)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="the work folder")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (default: 1)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=STEPS,
        default=[step for step in STEPS if step not in APART],
        help=f"the steps to run (default: all but {', '.join(APART)})",
    )
    args = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    rehearsal = Rehearsal(args.work.resolve(), args.scale)
    kept = args.work / "costs.json"
    costs = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for step in args.only:
        costs[step] = rehearsal.run(step)
        kept.write_text(json.dumps(costs, indent=1), "utf-8")
        _show({step: costs[step]}, sys.stderr)
    print(f"scale {args.scale:g}")
    print(f"{'step':10} {'CPU s':>8} {'wanted':>7} {'peak MB':>8} {'limit':>6} {'output MB':>9}")
    _show(costs, sys.stdout)


def _show(costs: dict[str, Any], stream: Any) -> None:
    """Print the rows of the table."""
    for name, step in STEPS.items():
        if cost := costs.get(name):
            aim = "" if step.cpu is None else f"{step.cpu:.0f}"
            print(
                f"{name:10} {cost['cpu']:8.1f} {aim:>7} {cost['peak']:8.0f} {step.memory:6.0f}"
                f" {cost['size']:9.1f}",
                file=stream,
            )
            for line in cost["broken"]:
                print(f"  broke: {line}", file=stream)


if __name__ == "__main__":
    main()
