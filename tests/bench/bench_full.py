"""A rehearsal at the papers' sizes: what each command costs in a run of everything.

Makes records of all corpora at their real sizes (see made_records.py), so that constructed datasets
have 10,000, 4,000 and 4,000 rows and X-Probe's 120,000 a task, and runs the commands on them, each
as one process with a limit on its memory: from `build` to `report`, with vectors of 768 dimensions
(made_vectors.py). Prints for each its CPU seconds, its peak of memory, the size of its output, and
what broke. Costs are kept in the work folder, so that a rehearsal can be made piece by piece.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from measuring import REPOSITORY, measure

EXAMPLES = """\
examples:
  python tests/bench/bench_full.py --work big --scale 0.1
  python tests/bench/bench_full.py --work big --scale 0.1 --only layers
  python tests/bench/bench_full.py --work big --only probe_standard probe_words
"""
TIMEOUT = 12 * 3600.0
# Its classes are a thousand words; and so are those of the treebanks, on fewer rows.
WORD_CONTENT = ("wc", "ud_word_content_es")


class Wanted(NamedTuple):
    """What a step may cost at full size: CPU seconds, None if nothing is said, and MB of memory."""

    cpu: float | None = None
    memory: float = 4_000


STEPS = {
    "samples": Wanted(),
    "make": Wanted(),
    "build": Wanted(),
    "compose": Wanted(),
    "audit": Wanted(900, 3_000),
    "package": Wanted(),
    "embed": Wanted(),
    "probe_standard": Wanted(240),
    "probe_words": Wanted(600),
    "probe_senteval": Wanted(2_400),
    "rank": Wanted(),
    "paradigms": Wanted(),
    "invariance": Wanted(),
    "report": Wanted(60),
    # Thirteen layers: for a tenth of the rows, as their vectors take thirteen times the disk.
    "layers": Wanted(),
}


class Rehearsal:
    """The commands of a rehearsal, in a folder."""

    def __init__(self, work: Path, scale: float) -> None:
        """Write the parameters of the run."""
        self.work, self.scale = work, scale
        work.mkdir(parents=True, exist_ok=True)
        shipped = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
        self.corpora = list(shipped["corpora"])
        self._write("samples", shipped)
        if scale != 1:
            _scale_rows(shipped, scale)
        shipped["sources"] = "upstream"
        shipped["encoders"] = {
            name: {"encoder": "callable", "function": f"made_vectors:{name}"}
            for name in ("one", "thirteen")
        }
        self._write("standard", shipped)
        shipped["probing"]["protocol"] = "senteval"
        self._write("senteval", shipped)

    def _write(self, name: str, params: dict[str, Any]) -> None:
        self._params(name).write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")

    def _params(self, name: str) -> Path:
        return self.work / f"{name}.yaml"

    def commands(self, step: str) -> Iterator[tuple[list[str], Path]]:
        """Yield the commands of a step, and what each writes."""
        work, params = self.work, ["--params", str(self._params("standard"))]
        records, instances, hub = (work / name for name in ("records", "instances", "hub"))
        store, audit = work / "embeddings/one", work / "audit"
        if step == "samples":
            for corpus in self.corpora:
                out = work / "samples" / f"{corpus}.parquet"
                raw = ["--fetch", "--raw", str(work / "raw" / corpus), "--workers", "1"]
                own = ["--params", str(self._params("samples"))]
                yield ["read", corpus, *raw, "--out", str(out), *own], out
        elif step == "make":
            program = str(Path(__file__).with_name("made_records.py"))
            paths = (self._params("standard"), work / "samples", records)
            yield [program, *map(str, paths), str(self.scale)], records
        elif step == "build":
            for corpus in self.corpora:
                out = instances / corpus
                own = ["--records", str(records / f"{corpus}.parquet"), "--out", str(out)]
                yield ["build", corpus, *own, *params], out
        elif step == "compose":
            out = instances / "rankings"
            yield ["compose", "--records", str(records), "--out", str(out), *params], out
        elif step == "audit":
            one = ["--workers", "1", *params]
            yield ["audit", str(instances), "--out", str(audit), *one], audit
        elif step == "package":
            own = ["--instances", str(instances), "--audit", str(audit / "audit.json")]
            yield ["package", *own, "--out", str(hub), *params], hub
        elif step == "embed":
            one = ["--workers", "1", *params]
            yield ["embed", "one", "--instances", str(hub), "--out", str(store), *one], store
        elif step in ("probe_standard", "probe_words", "probe_senteval"):
            protocol = "senteval" if step == "probe_senteval" else "standard"
            datasets = self._datasets(words=step == "probe_words")
            yield self._probe(step, "one", protocol, datasets)
        elif step in ("rank", "paradigms"):
            out = work / (f"{step}/one" if step == "rank" else f"{step}/one.json")
            one = ["--workers", "1"] if step == "rank" else []
            own = ["--instances", str(hub), "--embeddings", str(store), "--out", str(out)]
            yield [step, "one", *own, *one, *params], out
        elif step == "invariance":
            out = work / "invariance.json"
            own = ["--instances", str(hub), "--out", str(out), "--workers", "1"]
            yield ["invariance", *own, *params], out
        elif step == "report":
            out = work / "reports"
            given = ["--rankings", str(work / "rank/one")]
            given += ["--paradigms", str(work / "paradigms/one.json")]
            # It may have been left out.
            if (invariance := work / "invariance.json").exists():
                given += ["--invariance", str(invariance)]
            results = str(work / "results/probe_standard")
            own = ["--instances", str(hub), "--audit", str(hub / "audit.json"), "--out", str(out)]
            yield ["report", results, *own, *given, *params], out / "index.html"
        elif step == "layers":
            layers = work / "embeddings/thirteen"
            one = ["--workers", "1", *params]
            yield ["embed", "thirteen", "--instances", str(hub), "--out", str(layers), *one], layers
            yield self._probe(step, "thirteen", "standard", self._datasets(words=False))

    def _probe(
        self, step: str, encoder: str, protocol: str, instances: Path
    ) -> tuple[list[str], Path]:
        out = self.work / "results" / step
        store = self.work / "embeddings" / encoder
        own = ["--instances", str(instances), "--embeddings", str(store), "--out", str(out)]
        own += ["--params", str(self._params(protocol)), "--workers", "1"]
        return ["probe", encoder, *own], out

    def _datasets(self, *, words: bool) -> Path:
        """Return a folder of links to the datasets with word content, or to the others."""
        folder = self.work / ("words" if words else "others")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for dataset in (self.work / "hub").iterdir():
            if dataset.is_dir() and (dataset.name in WORD_CONTENT) == words:
                (folder / dataset.name).symlink_to(dataset)
        return folder

    def run(self, step: str) -> dict[str, Any]:
        """Run the commands of a step and return what they cost."""
        cpu = peak = size = 0.0
        broken = []
        # Made-up texts miss a gate or two, which is said and costs no work.
        passing = (0, 1) if step == "audit" else (0,)
        limit = f"--data={STEPS[step].memory * 10**6:.0f}"
        for words, out in self.commands(step):
            program = words if words[0].endswith(".py") else ["-m", "evaluation.commands", *words]
            try:
                cost = measure(["prlimit", limit, sys.executable, *program], TIMEOUT, passing)
            except RuntimeError as error:
                broken.append(str(error)[-1_000:])
                continue
            cpu, peak = cpu + cost.cpu, max(peak, cost.peak, cost.driver)
            size += _size(out)
            print(cost.output.strip()[-1_000:], file=sys.stderr)
        return {"cpu": cpu, "peak": peak, "size": size, "broken": broken}


def _scale_rows(params: dict[str, Any], scale: float) -> None:
    """Give the constructed datasets fewer rows."""
    from builders.plan.datasets import PAPER_ROWS
    from builders.tasks import TASKS
    from builders.tasks.passage_task import PassageTask

    for corpus in params["corpora"].values():
        for dataset in corpus.get("datasets", {}).values():
            if isinstance(TASKS[dataset["task"]], PassageTask):
                dataset["rows"] = [max(20, round(rows * scale)) for rows in PAPER_ROWS]


def _size(path: Path) -> float:
    """Return the size of a file, or of the files in a folder, in MB."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


def main() -> None:
    """Run steps and print what they, and those that ran before, have cost."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="the work folder")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (default: 1)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=STEPS,
        default=[step for step in STEPS if step != "layers"],
        help="the steps to run (default: all but layers)",
    )
    args = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["PYTHONPATH"] = f"{REPOSITORY}{os.pathsep}{Path(__file__).parent}"
    work: Path = args.work.resolve()
    rehearsal = Rehearsal(work, args.scale)
    kept = work / "costs.json"
    costs = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for step in args.only:
        costs[step] = rehearsal.run(step)
        kept.write_text(json.dumps(costs, indent=1), "utf-8")
        _show({step: costs[step]}, sys.stderr)
    print(f"scale {args.scale:g}")
    print(f"{'step':15} {'CPU s':>8} {'wanted':>7} {'peak MB':>8} {'limit':>6} {'output MB':>9}")
    _show(costs, sys.stdout)


def _show(costs: dict[str, Any], stream: Any) -> None:
    """Print the rows of the table."""
    for step, wanted in STEPS.items():
        if cost := costs.get(step):
            aim = "" if wanted.cpu is None else f"{wanted.cpu:.0f}"
            print(
                f"{step:15} {cost['cpu']:8.1f} {aim:>7} {cost['peak']:8.0f} {wanted.memory:6.0f}"
                f" {cost['size']:9.1f}",
                file=stream,
            )
            for line in cost["broken"]:
                print(f"  broke: {line}", file=stream)


if __name__ == "__main__":
    main()
