"""Gate 10, invariance of scores, measured by probing every dataset five times.

Each pass is a separate process, which probes the datasets one after the other with the encoder
``char_hash``, by the protocol ``standard``, and gives the predictions for test (of all folds, where
a dataset has folds):

    plain       embeddings as they are, datasets by name, PYTHONHASHSEED=1
    scale       embeddings times 0.1, and times 10
    order       datasets in reverse, so that each runs after others
    hash seed   PYTHONHASHSEED=2

A dataset's number is the share of its test predictions that differ from those of the plain pass;
where scores are asked for, by how much Pearson's correlation differs.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import Split
from corpora_recipes.running.commands import run
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from evaluation.arrays import Floats

if TYPE_CHECKING:
    import pyarrow as pa

    from evaluation.data.features import PairFeatures
    from evaluation.data.instances import Dataset
    from evaluation.measures.metrics import Metric

from evaluation.results.invariance import FORMAT

ENCODER = "char_hash"
# Few columns and rows: a dependence shows in any number of them.
OPTIONS = {"dimension": 64}
ROWS: dict[Split, int] = {"train": 300, "validation": 100, "test": 200}
# Shares of test predictions that may change. float32 rounds an embedding times 0.1 or 10, which
# can turn a tie, so one prediction may change with the scale however few there are; nothing is
# rounded in another order, or under another hash seed.
LIMITS = {"scale": 0.005, "order": 0.0, "hash_seed": 0.0}
# Differences of Pearson's correlation that may be: rounding moves every score a little.
CORRELATION_LIMITS = {"scale": 0.002, "order": 0.0, "hash_seed": 0.0}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass gives for one dataset.

    Attributes:
        metric: what the dataset is measured by.
        value: the metric.
        predictions: class numbers or scores.
    """

    metric: "Metric"
    value: float
    predictions: list[float]


Outcomes = dict[str, Outcome]
"""Dataset to outcome."""


@dataclass(frozen=True, slots=True)
class Pass:
    """How a pass over all datasets differs from others; the defaults are those of the plain one.

    Attributes:
        scale: factor of the embeddings.
        reverse: whether the datasets are probed in reverse.
        hash_seed: PYTHONHASHSEED.
    """

    scale: float = 1.0
    reverse: bool = False
    hash_seed: int = 1


PLAIN = Pass()
CHANGED = {
    "scale": (Pass(scale=0.1), Pass(scale=10.0)),
    "order": (Pass(reverse=True),),
    "hash_seed": (Pass(hash_seed=2),),
}


def measure(
    instances: Path,
    out: Path,
    *,
    seed: int,
    workers: int,
    pair_features: "PairFeatures" = "difference_product",
) -> dict[str, Any]:
    """Measure on every dataset what its predictions depend on.

    Args:
        instances: the folder of the instances.
        out: JSON file to write.
        seed: the run's seed.
        workers: number of passes at once; the result does not depend on it.
        pair_features: the features of pair_classification.

    Returns:
        The content of the file: ``datasets``, name to ``digest`` (of its files), ``metric``,
        ``test_rows``, for each of ``limits`` the share of changed predictions (for each of
        ``correlation_limits`` the difference, if the metric is "pearson"), and ``verdict``, "pass"
        or "miss".

    Raises:
        InputError: there are no datasets, one cannot be probed, or (after writing) one misses.
    """
    from tqdm import tqdm

    from evaluation.data.instances import find_probed

    datasets = find_probed(instances)
    passes = [PLAIN, *chain.from_iterable(CHANGED.values())]
    with ThreadPoolExecutor(workers) as threads:
        waiting = threads.map(lambda one: _start(instances, seed, pair_features, one), passes)
        bar = tqdm(waiting, desc="invariance", unit="pass", total=len(passes), disable=None)
        found = dict(zip(passes, bar, strict=True))
    judged = {
        dataset.name: {"digest": dataset.digest(), **judge(found, dataset.name)}
        for dataset in datasets
    }
    report = {
        "format": FORMAT,
        "encoder": {"encoder": ENCODER, "options": OPTIONS},
        "seed": seed,
        "pair_features": pair_features,
        "limits": LIMITS,
        "correlation_limits": CORRELATION_LIMITS,
        "datasets": judged,
    }
    with whole_file(out) as temporary:
        temporary.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    missed = [name for name, own in judged.items() if own["verdict"] == "miss"]
    if missed:
        raise InputError(
            out,
            expected="answers that depend neither on the embeddings' scale nor on the order of "
            "datasets nor on PYTHONHASHSEED",
            found=f"some that do, of {', '.join(missed)}",
            todo="find in evaluation/ what carries state, or is not standardised; then run again",
        )
    return report


def judge(found: Mapping[Pass, Outcomes], dataset: str) -> dict[str, Any]:
    """Return what of a dataset's answers changed, and the verdict.

    Args:
        found: pass to dataset to outcome, for ``PLAIN`` and all of ``CHANGED``.
        dataset: its name.
    """
    plain = found[PLAIN][dataset]
    changes = {
        what: max(_changed(plain, found[one][dataset]) for one in passes)
        for what, passes in CHANGED.items()
    }
    rows = len(plain.predictions)
    if plain.metric == "accuracy":
        limits = LIMITS | {"scale": max(LIMITS["scale"], 1 / rows)}
    else:
        limits = CORRELATION_LIMITS
    missed = any(change > limits[what] for what, change in changes.items())
    return {
        "metric": plain.metric,
        "test_rows": rows,
        **changes,
        "verdict": "miss" if missed else "pass",
    }


def predict(instances: Path, seed: int, pair_features: "PairFeatures", one: Pass) -> Outcomes:
    """Return for every dataset what a probe predicts for some rows.

    Args:
        instances: the folder of the instances.
        seed: the run's seed; it also selects the rows, at most ``ROWS`` of a split.
        pair_features: the features of pair_classification.
        one: the pass; its hash seed is that of this process.
    """
    import numpy as np

    from evaluation.data.instances import find_probed
    from evaluation.data.rows import probe_rows, read_rows
    from evaluation.encoders import make_encoder
    from evaluation.measures.metrics import measure as measured
    from evaluation.measures.threads import one_thread
    from evaluation.probing.probing import METRICS, Probing, answer

    encoder = make_encoder(ENCODER, OPTIONS)

    def lookup(texts: Sequence[str]) -> Floats:
        return encoder.encode(texts)[:, 0] * np.float32(one.scale)

    found: Outcomes = {}
    datasets = find_probed(instances)
    for dataset in reversed(datasets) if one.reverse else datasets:
        parts = {}
        for split in dataset.files:
            rows = read_rows(dataset, split, encoder.form)
            some = _some(rows, ROWS[split], seed, dataset)
            parts[split] = probe_rows(dataset, split, some, encoder.form, lookup, pair_features)
        with one_thread("scipy.linalg"):
            own = answer(dataset, parts, seed, Probing(pair_features=pair_features))
        metric, predicted = METRICS[dataset.target], own.predictions[0]
        value = measured(metric, own.asked.y, predicted)
        found[dataset.name] = Outcome(metric, value, predicted.tolist())
    return found


def _some(rows: "pa.Table", count: int, seed: int, dataset: "Dataset") -> "pa.Table":
    """Return at most ``count`` rows, drawn by their ids, in their order.

    The classes take turns, so that a rare one is there.
    """
    ids, answers = rows["id"].to_pylist(), rows[dataset.target].to_pylist()
    classes = answers if dataset.target == "label" else [None] * len(ids)
    turns: Counter[Any] = Counter()
    order: list[tuple[int, int]] = []
    for i in sorted(
        range(len(ids)), key=lambda i: keyed_hash(seed, dataset.name, ids[i], "invariance")
    ):
        order.append((turns[classes[i]], i))
        turns[classes[i]] += 1
    # Sorting is stable: within a turn in the drawn order.
    drawn = sorted(order, key=lambda turn: turn[0])[:count]
    return rows.take(sorted(i for _, i in drawn))


def _changed(one: Outcome, other: Outcome) -> float:
    if one.metric != "accuracy":
        return abs(one.value - other.value)
    pairs = zip(one.predictions, other.predictions, strict=True)
    return sum(a != b for a, b in pairs) / len(one.predictions)


def _start(instances: Path, seed: int, pair_features: "PairFeatures", one: Pass) -> Outcomes:
    """Run a pass in a separate process: Python takes PYTHONHASHSEED at its start only."""
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "evaluation.probing.invariance",
            instances,
            str(seed),
            pair_features,
            json.dumps(asdict(one)),
        ],
        env=os.environ | {"PYTHONHASHSEED": str(one.hash_seed)},
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise InputError(
            instances,
            expected="datasets that can be probed",
            found=process.stderr.strip(),
            todo=f"correct what the message above names; it is of probing with {ENCODER}, {one}",
        )
    return {name: Outcome(**own) for name, own in json.loads(process.stdout).items()}


def _print_outcomes(instances: str, seed: str, pair_features: "PairFeatures", one: str) -> None:
    found = predict(Path(instances), int(seed), pair_features, Pass(**json.loads(one)))
    print(json.dumps({name: asdict(own) for name, own in found.items()}))


if __name__ == "__main__":
    sys.exit(run(lambda: _print_outcomes(*sys.argv[1:])))  # type: ignore[arg-type]
