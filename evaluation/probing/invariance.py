"""Gate 10, invariance of scores, measured by probing every dataset in two processes.

The datasets are probed one after the other, by the protocol ``standard``, from one store of vectors
of the encoder ``char_hash``; what counts is the predictions for test (of all folds, where a dataset
has folds):

    plain       embeddings as they are, datasets by name, PYTHONHASHSEED=1
    scale       embeddings times 0.1, and times 10, in the same process
    reverse     datasets in reverse, so that each runs after others, and PYTHONHASHSEED=2

A dataset's number is the share of its test predictions that differ from the plain ones; where
scores are asked for, by how much Pearson's correlation differs. Where the reverse pass changes
nothing, neither order nor hash seed does. Where it does, two further processes find out which of
them it is: in each, one of the two is that of the plain pass.

Datasets that an earlier run has measured are not measured again, if they and all else that the
numbers depend on are unchanged. Never is a dataset measured alone: it would not run after others.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import numbers
from corpora_recipes.records import Split
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import run
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from evaluation.arrays import Floats

if TYPE_CHECKING:
    import pyarrow as pa

    from evaluation.data.features import PairFeatures
    from evaluation.data.instances import Dataset
    from evaluation.embedding.store import EmbeddingStore
    from evaluation.encoders.encoder import Encoder, Form
    from evaluation.measures.metrics import Metric

from evaluation.results.invariance import FORMAT, read_invariance

ENCODER = "char_hash"
# Few columns and rows: a dependence shows in any number of them.
OPTIONS = {"dimension": 64}
ROWS: dict[Split, int] = {"train": 300, "validation": 100, "test": 200}
# The plain one first.
SCALES = (1.0, 0.1, 10.0)
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


Outcomes = dict[str, list[Outcome]]
"""Dataset to the outcome with each scale."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What one process does.

    Attributes:
        datasets: names, in the order to probe them in.
        scales: factors of the embeddings.
        hash_seed: PYTHONHASHSEED.
    """

    datasets: tuple[str, ...]
    scales: tuple[float, ...] = (1.0,)
    hash_seed: int = 1


def measure(
    instances: Path,
    out: Path,
    *,
    seed: int,
    workers: int,
    pair_features: "PairFeatures" = "difference_product",
) -> tuple[dict[str, Any], int]:
    """Measure on every dataset what its predictions depend on.

    Args:
        instances: the folder of the instances.
        out: JSON file to write; what it says of datasets that are unchanged is kept.
        seed: the run's seed.
        workers: number of processes at once; the result does not depend on it.
        pair_features: the features of pair_classification.

    Returns:
        The content of the file: ``datasets``, name to ``digest`` (of its files), ``metric``,
        ``test_rows``, for each of ``limits`` the share of changed predictions (for each of
        ``correlation_limits`` the difference, if the metric is "pearson"), and ``verdict``, "pass"
        or "miss"; and the number of datasets that were not measured again.

    Raises:
        InputError: there are no datasets, one cannot be probed, or (after writing) one misses.
    """
    from evaluation.data.instances import find_probed
    from evaluation.encoders import make_encoder
    from evaluation.results.versions import library_versions

    datasets = find_probed(instances)
    digests = {dataset.name: dataset.digest() for dataset in datasets}
    report: dict[str, Any] = {
        "format": FORMAT,
        "encoder": {"encoder": ENCODER, "options": OPTIONS},
        "seed": seed,
        "pair_features": pair_features,
        "limits": LIMITS,
        "correlation_limits": CORRELATION_LIMITS,
        "versions": library_versions(make_encoder(ENCODER, OPTIONS).packages),
        "code": code_digest(__name__),
        "datasets": {},
    }
    judged = _kept(out, report, digests)
    new = [name for name in digests if name not in judged]
    if len(new) == 1:
        new = sorted({*new, *list(judged)[:1]})
    kept = len(digests) - len(new)
    if new:
        with TemporaryDirectory() as store:
            _embed([dataset for dataset in datasets if dataset.name in new], Path(store), seed)
            found = _judged(
                new, workers, lambda one: _start(instances, Path(store), seed, pair_features, one)
            )
            judged |= {name: {"digest": digests[name], **own} for name, own in found}
    report["datasets"] = dict(sorted(judged.items()))
    with whole_file(out) as temporary:
        temporary.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    missed = [name for name, own in report["datasets"].items() if own["verdict"] == "miss"]
    if missed:
        raise InputError(
            out,
            expected="answers that depend neither on the embeddings' scale nor on the order of "
            "datasets nor on PYTHONHASHSEED",
            found=f"some that do, of {', '.join(missed)}",
            todo="find in evaluation/ what carries state, or is not standardised; then run again",
        )
    return report, kept


def _kept(out: Path, report: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """Return what an earlier run found of datasets, if all that it depends on is unchanged."""
    try:
        before = read_invariance(out)
    except InputError:
        return {}
    if {**before, "datasets": {}} != report:
        return {}
    return {
        name: own for name, own in before["datasets"].items() if own["digest"] == digests.get(name)
    }


def _embed(datasets: Sequence["Dataset"], store: Path, seed: int) -> None:
    """Encode the texts of the rows that are probed."""
    from evaluation.data.texts import text_columns, unique_in
    from evaluation.embedding.embedding import embed
    from evaluation.encoders import make_encoder

    encoder = make_encoder(ENCODER, OPTIONS)
    texts: set[str] = set()
    for dataset in datasets:
        columns = text_columns(dataset.task, encoder.form)
        for rows in _rows(dataset, encoder.form, seed).values():
            texts |= unique_in(rows, columns)
    embed(store, encoder, texts)


def _judged(
    names: Sequence[str], workers: int, start: Callable[[Pass], Outcomes]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the passes over some datasets; yield the name of each, and what ``judge`` returns."""
    plain, reverse = tuple(names), tuple(reversed(names))
    with ThreadPoolExecutor(workers) as threads:
        first, both = threads.map(start, (Pass(plain, SCALES), Pass(reverse, hash_seed=2)))
        differ = {name for name in names if _changed(first[name][0], both[name][0])}
        order, hash_seed = both, both
        if differ:
            order, hash_seed = threads.map(start, (Pass(reverse), Pass(plain, hash_seed=2)))
    for name in names:
        alone = [passed[name][0] for passed in (order, hash_seed)]
        if name in differ and not any(_changed(first[name][0], own) for own in alone):
            # Only the two together change something.
            alone = [both[name][0]] * 2
        yield name, judge(first[name], *alone)


def judge(scaled: Sequence[Outcome], reverse: Outcome, reseeded: Outcome) -> dict[str, Any]:
    """Return what of a dataset's answers changed, and the verdict.

    Args:
        scaled: the outcome with each of ``SCALES``, the plain one first.
        reverse: the outcome after other datasets.
        reseeded: the outcome with another hash seed.
    """
    plain = scaled[0]
    changes = {
        "scale": max(_changed(plain, own) for own in scaled),
        "order": _changed(plain, reverse),
        "hash_seed": _changed(plain, reseeded),
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


def predict(
    instances: Path, store: Path, seed: int, pair_features: "PairFeatures", one: Pass
) -> Outcomes:
    """Return for datasets, and each scale, what a probe predicts for some rows.

    Args:
        instances: the folder of the instances.
        store: folder with the vectors of ``ENCODER``.
        seed: the run's seed; it also selects the rows, at most ``ROWS`` of a split.
        pair_features: the features of pair_classification.
        one: the pass; its hash seed is that of this process.
    """
    from evaluation.data.instances import find_probed
    from evaluation.embedding.store import EmbeddingStore
    from evaluation.encoders import make_encoder

    encoder = make_encoder(ENCODER, OPTIONS)
    opened = EmbeddingStore(store, encoder)
    datasets = {dataset.name: dataset for dataset in find_probed(instances)}
    found: Outcomes = {}
    for name in one.datasets:
        rows = _rows(datasets[name], encoder.form, seed)
        found[name] = [
            _outcome(datasets[name], rows, opened, encoder, scale, seed, pair_features)
            for scale in one.scales
        ]
    return found


def _outcome(
    dataset: "Dataset",
    rows: Mapping[Split, "pa.Table"],
    store: "EmbeddingStore",
    encoder: "Encoder",
    scale: float,
    seed: int,
    pair_features: "PairFeatures",
) -> Outcome:
    import numpy as np

    from evaluation.data.rows import probe_rows
    from evaluation.measures.metrics import measure as measured
    from evaluation.measures.threads import one_thread
    from evaluation.probing.measuring import METRICS
    from evaluation.probing.probing import Probing, answer

    def lookup(texts: Sequence[str]) -> Floats:
        return store.lookup(texts, encoder.layer) * np.float32(scale)

    parts = {
        split: probe_rows(dataset, split, own, encoder.form, lookup, pair_features)
        for split, own in rows.items()
    }
    with one_thread():
        answered = answer(dataset, parts, seed, Probing(pair_features=pair_features))
    metric, predicted = METRICS[dataset.target], answered.predictions[0]
    return Outcome(metric, measured(metric, answered.asked.y, predicted), predicted.tolist())


def _rows(dataset: "Dataset", form: "Form", seed: int) -> dict[Split, "pa.Table"]:
    """Return the rows of each split that are probed, with the columns that this takes."""
    from evaluation.data.rows import read_rows

    return {
        split: _some(read_rows(dataset, split, form), ROWS[split], seed, dataset)
        for split in dataset.files
    }


def _some(rows: "pa.Table", count: int, seed: int, dataset: "Dataset") -> "pa.Table":
    """Return at most ``count`` rows, drawn by their ids, in their order.

    The classes take turns, so that a rare one is there.
    """
    import numpy as np

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
    return rows.take(numbers(np.array(sorted(i for _, i in drawn), np.int64)))


def _changed(one: Outcome, other: Outcome) -> float:
    if one.metric != "accuracy":
        return abs(one.value - other.value)
    pairs = zip(one.predictions, other.predictions, strict=True)
    return sum(a != b for a, b in pairs) / len(one.predictions)


def _start(
    instances: Path, store: Path, seed: int, pair_features: "PairFeatures", one: Pass
) -> Outcomes:
    """Run a pass in a separate process: Python takes PYTHONHASHSEED at its start only."""
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "evaluation.probing.invariance",
            instances,
            store,
            str(seed),
            pair_features,
            json.dumps(asdict(one)),
        ],
        # More threads than one are not used, but wait actively.
        env=os.environ | {"PYTHONHASHSEED": str(one.hash_seed), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if process.returncode < 0:
        raise InputError(
            "a process of the invariance check",
            expected="one that runs until it is done",
            found=f"lost by signal {-process.returncode}: most likely for lack of memory",
            todo="end other programs, or use `--workers 1`",
        )
    if process.returncode:
        raise InputError(
            instances,
            expected="datasets that can be probed",
            found=process.stderr.strip(),
            todo=f"correct what the message above names; it is of probing with {ENCODER}",
        )
    printed = json.loads(process.stdout)
    return {name: [Outcome(**own) for own in outcomes] for name, outcomes in printed.items()}


def _print_outcomes(
    instances: str, store: str, seed: str, pair_features: "PairFeatures", one: str
) -> None:
    given = Pass(**json.loads(one))
    found = predict(Path(instances), Path(store), int(seed), pair_features, given)
    print(json.dumps({name: [asdict(own) for own in outcomes] for name, outcomes in found.items()}))


if __name__ == "__main__":
    sys.exit(run(lambda: _print_outcomes(*sys.argv[1:])))  # type: ignore[arg-type]
