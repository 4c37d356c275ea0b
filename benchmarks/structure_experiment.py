"""Trains encoders with eight sets of objectives, and lays out their scores as Chen et al. do."""

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any

from scipy.stats import t as student

from builders.tasks import TASKS
from corpora_recipes.running.console import run
from evaluation.params import Training
from evaluation.training.material import HeldOut
from evaluation.training.training import train
from probeta import score

# Table 2 of Chen, Chu and Gimpel (2019): the sets, and the published average over DiscoEval.
SETS = {
    "NSP": 54.5,
    "NSP + SDT": 53.7,
    "NSP + SPP": 54.6,
    "NSP + NL": 54.4,
    "NSP + SPP + NL": 55.1,
    "NSP + SDT + NL": 54.2,
    "NSP + SDT + SPP": 54.1,
    "NSP + SDT + SPP + NL": 54.1,
}
UNTRAINED = "untrained"
EXAMPLES = """\
examples:
  python benchmarks/structure_experiment.py --corpus wikipedia --epochs 4 \\
      --datasets sp_wiki bso_wiki dc_wiki --results structure.jsonl

Needs the extra `torch`, and the records and the package of a run (`dvc repro`). Scores are added to
the file of results one by one; a run that was killed goes on there. The table is printed at the
end: each cell has the mean over the seeds, ± half of its 95 % interval (Student's t over the
seeds). The last lines compare each set with NSP, seed by seed, and tell the interval of one
encoder over the test rows.
"""
Result = dict[str, Any]


def one(arguments: argparse.Namespace, named: str, seed: int, held_out: Any) -> Result:
    """Train one encoder and score it."""
    names = ["nsp"] if named == UNTRAINED else named.lower().split(" + ")
    training = Training(
        arguments.corpus,
        {name: 1.0 for name in ("nsp", "nl", "spp", "sdt") if name in names},  # type: ignore[misc]
        setting=arguments.setting,
        seed=seed,
        epochs=0 if named == UNTRAINED else arguments.epochs,
        batch=arguments.batch,
        sentences=arguments.sentences,
    )
    key = "-".join([arguments.corpus, *names, f"{seed}-{training.epochs}-{training.batch}"])
    key += f"-{training.sentences}" if training.sentences else ""
    folder = arguments.models / key
    if not (folder / "modules.json").exists():
        records = arguments.records / f"{arguments.corpus}.parquet"
        train(key, training, records, held_out, folder, lambda _: key)
    scores = score(folder, data=arguments.instances, datasets=arguments.datasets, name=key)
    return {
        "set": named,
        "seed": seed,
        "corpus": arguments.corpus,
        "epochs": arguments.epochs,
        "batch": arguments.batch,
        "sentences": arguments.sentences,
        "scores": {found.dataset: found.value for found in scores.results.main},
        "intervals": {found.dataset: found.interval for found in scores.results.main},
        "groups": {
            found.dataset: TASKS[found.task].group.abbreviation for found in scores.results.main
        },
    }


def averages(result: Result) -> dict[str, float]:
    """Return the mean of each group of datasets, and of the groups, in per cent."""
    groups: dict[str, list[float]] = {}
    for dataset, value in result["scores"].items():
        groups.setdefault(result["groups"][dataset], []).append(100 * value)
    means = {group: mean(values) for group, values in groups.items()}
    return means | {"average": mean(means.values())}


def half_interval(values: Iterable[float]) -> float:
    """Return half of the 95 % interval of a mean, by Student's t."""
    found = list(values)
    if len(found) < 2:
        return math.nan
    return float(student.ppf(0.975, len(found) - 1)) * stdev(found) / math.sqrt(len(found))


def of_rows(result: Result) -> float:
    """Return half of the interval of the average over test rows, if datasets are independent."""
    groups: dict[str, list[float]] = {}
    for dataset, (low, high) in result["intervals"].items():
        groups.setdefault(result["groups"][dataset], []).append(50 * (high - low))
    halves = [math.hypot(*values) / len(values) for values in groups.values()]
    return math.hypot(*halves) / len(halves)


def table(results: Iterable[Result]) -> str:
    """Return the table in Markdown, with the comparisons below."""
    by_set: dict[str, dict[int, Result]] = {}
    for result in results:
        by_set.setdefault(result["set"], {})[result["seed"]] = result
    means = {
        named: {seed: averages(found) for seed, found in by_seed.items()}
        for named, by_seed in by_set.items()
    }
    columns = list(next(iter(next(iter(means.values())).values())))
    lines = [
        f"| objectives | {' | '.join(columns)} | average, published |",
        f"|---|{'---|' * (len(columns) + 1)}",
    ]
    for named, by_seed in means.items():
        cells = []
        for column in columns:
            values = [found[column] for found in by_seed.values()]
            cells.append(_with_interval(values))
        lines.append(f"| {named} | {' | '.join(cells)} | {SETS.get(named, '–')} |")
    lines.append("")
    for named, by_seed in means.items():
        if named != "NSP" and "NSP" in means:
            gains = [
                by_seed[seed]["average"] - means["NSP"][seed]["average"]
                for seed in by_seed
                if seed in means["NSP"]
            ]
            lines.append(f"{named} less NSP: {_with_interval(gains, '+')} (seeds: {len(gains)})")
    rows = mean(of_rows(found) for by_seed in by_set.values() for found in by_seed.values())
    lines.append(f"one encoder's average over other test documents: ± {rows:.1f}")
    return "\n".join(lines)


def _with_interval(values: list[float], sign: str = "") -> str:
    shown = f"{mean(values):{sign}.1f}"
    return shown if len(values) == 1 else f"{shown} ± {half_interval(values):.1f}"


def read_results(path: Path, keys: Mapping[str, Any]) -> list[Result]:
    """Return the results of a file that have some values; none if there is no file."""
    if not path.exists():
        return []
    found = map(json.loads, path.read_text("utf-8").splitlines())
    return [result for result in found if all(result.get(key) == keys[key] for key in keys)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", required=True, help="an entry of `corpora`, of documents")
    parser.add_argument("--datasets", required=True, nargs="+", help="to score the encoders on")
    parser.add_argument(
        "--sets", nargs="+", choices=(UNTRAINED, *SETS), default=(UNTRAINED, *SETS), metavar="SET"
    )
    parser.add_argument("--results", type=Path, required=True, help="file of JSON Lines")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--sentences", type=int, default=0, help="to learn from (default: all)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--setting", default="small")
    parser.add_argument("--records", type=Path, default=Path("data/records"))
    parser.add_argument("--instances", type=Path, default=Path("dist/hub"))
    parser.add_argument("--models", type=Path, help="folder that keeps the models")
    arguments = parser.parse_args()
    held_out = HeldOut(arguments.instances)
    keys = {key: getattr(arguments, key) for key in ("corpus", "epochs", "batch", "sentences")}
    with TemporaryDirectory() as temporary:
        arguments.models = arguments.models or Path(temporary)
        for seed in range(1, arguments.seeds + 1):
            for named in arguments.sets:
                done = {(r["set"], r["seed"]) for r in read_results(arguments.results, keys)}
                if (named, seed) not in done:
                    result = one(arguments, named, seed, held_out)
                    with arguments.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(result) + "\n")
    print(table(read_results(arguments.results, keys)))


if __name__ == "__main__":
    sys.exit(run(main))
