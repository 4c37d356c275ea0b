"""Measures the probe protocols against the classic engine's schedule, on the same embeddings."""

from functools import partial

import numpy as np
from classic_engine import classic
from measuring import main_of, make_parser, time_call

from corpora_recipes.params import load_params
from corpora_recipes.running.console import PARAMS, positive
from corpora_recipes.running.outputs import EMBEDDINGS, PACKAGE
from evaluation.arrays import Values
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import Encoder
from evaluation.features import ProbeRows
from evaluation.measures import one_thread
from evaluation.probing.probing import make_problem
from evaluation.probing.protocols import senteval, standard
from evaluation.probing.protocols.problem import SEEDS, Problem

TASKS = ("sp_wiki", "bso_wiki", "dc_wiki", "ssp_mlsum", "dr_rst", "sick_es_e", "mc")
SENTEVAL, STANDARD = 5, 30
EXAMPLES = """\
examples:
  python benchmarks/probes.py
  python benchmarks/probes.py --tasks sp_wiki bso_wiki --starts 5

Run it where `probeta repro` has run; the tasks have classes. Seconds are of CPU, on one thread. The
classic engine, in plain numpy, trains task by task, strength by strength and fold by fold, and once
more with the strength chosen. In the seconds both it and senteval have as many random starts.
Senteval's accuracy and its deviation are of five starts; the classic engine's is of its own, and
`off` is their difference in such deviations: 1 or less is wanted, and one start of the classic
engine has that by chance in two of three cases.
"""


def read_problem(
    dataset: Dataset, encoder: Encoder, store: EmbeddingStore
) -> tuple[Problem, Values]:
    """Return a dataset as a problem, and the targets of the rows that are tested."""
    parts = {split: ProbeRows(dataset, split, encoder.form) for split in dataset.files}
    lookup = partial(store.lookup, layer=encoder.layer)
    x = {split: rows.features(lookup) for split, rows in parts.items()}
    return make_problem(dataset, parts, x), parts[dataset.tested].y


def warm_up() -> None:
    """Let all sides import what they import, so that no task's seconds have it."""
    y = np.arange(64) % 2
    x = np.stack([y, 1 - y], axis=1).astype(np.float32)
    problem = Problem("", "section_prediction", "accuracy", x, y, validation=(x, y), test=x)
    standard.fit_predict(problem, 0, "numpy")
    senteval.fit_predict(problem, 0, "numpy", 1)
    classic(problem, 0)


def compare(problem: Problem, gold: Values, seed: int, n_starts: int) -> list[float]:
    """Measure one task and print its line; return the seconds: classic, senteval, standard."""
    runs = [
        time_call(lambda: np.stack([classic(problem, seed + i) for i in range(n_starts)])),
        time_call(lambda: senteval.fit_predict(problem, seed, "numpy", n_starts).predictions),
        time_call(lambda: standard.fit_predict(problem, seed, "numpy").predictions),
    ]
    if n_starts != SEEDS:
        runs.append(time_call(lambda: senteval.fit_predict(problem, seed, "numpy").predictions))
    accuracies = [np.mean(predictions == gold, axis=1) for predictions, _ in runs]
    classics, standards = accuracies[0], accuracies[2]
    sentevals = accuracies[1] if n_starts == SEEDS else accuracies[3]
    mean, deviation = np.mean(sentevals), np.std(sentevals, ddof=1)
    off = abs(np.mean(classics) - mean) / deviation if deviation else 0.0
    slow, middle, fast = seconds = [cpu for _, cpu in runs[:3]]
    print(
        f"{problem.name:12}{slow:9.2f}{middle:9.2f}{fast:9.2f}{slow / middle:9.1f}"
        f"{slow / fast:9.1f}{100 * np.mean(classics):9.1f}{100 * mean:9.1f} ±{100 * deviation:4.1f}"
        f"{off:6.1f}{100 * standards[0]:9.1f}",
        flush=True,
    )
    return seconds


def benchmark() -> None:
    """Run the benchmark as the arguments say."""
    parser = make_parser(__doc__, EXAMPLES)
    about = "its entry in params.yaml; default: use_multilingual"
    parser.add_argument("--encoder", default="use_multilingual", help=about)
    parser.add_argument("--tasks", nargs="+", default=TASKS, metavar="DATASET", help="default: all")
    parser.add_argument("--starts", type=positive, default=1, help="of both sides; default: 1")
    args = parser.parse_args()
    params = load_params(PARAMS)
    encoder = make_encoder(args.encoder, params["encoders"].get(args.encoder) or {})
    store = EmbeddingStore(EMBEDDINGS / args.encoder, encoder)
    datasets = {dataset.name: dataset for dataset in find_datasets(PACKAGE)}
    warm_up()
    print(
        f"{args.starts} start(s)\n"
        f"{'':12}{'seconds of CPU':>27}{'classic to':>18}{'accuracy':>36}\n{'':12}"
        f"{'classic':>9}{'senteval':>9}{'standard':>9}{'senteval':>9}{'standard':>9}"
        f"{'classic':>9}{'senteval':>15}{'off':>6}{'standard':>9}"
    )
    problems = (read_problem(datasets[name], encoder, store) for name in args.tasks)
    seconds = [compare(*problem, params["seed"], args.starts) for problem in problems]
    slow, middle, fast = np.sum(seconds, axis=0)
    print(
        f"{'together':12}{slow:9.2f}{middle:9.2f}{fast:9.2f}{slow / middle:9.1f}"
        f"{slow / fast:9.1f}\nsenteval {slow / middle:.1f} times (wanted: {SENTEVAL}), "
        f"standard {slow / fast:.1f} times (wanted: {STANDARD}) as fast as the classic engine"
    )


if __name__ == "__main__":
    with one_thread("scipy.linalg"):
        main_of(benchmark)
