"""The stage `probe`: every dataset with every layer of one encoder, each for itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from builders.statistics import number_documents
from corpora_recipes.records import Split
from corpora_recipes.running.code import code_digest, versions_of
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import CPUS, as_completed, open_executor
from evaluation.arrays import Floats, Values
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import encode_when_needed, fitted_on, open_lookup
from evaluation.embedding.store import EmbeddingStore, read_described, read_header, vector_facts
from evaluation.encoders.encoder import Description, Encoder, describe
from evaluation.features import BUILD_MORE, ProbeRows
from evaluation.measures import (
    COVERAGE,
    MIN_DOCUMENTS,
    Metric,
    cosines,
    leave_out,
    measure,
    measures,
    one_thread,
    score_interval,
)
from evaluation.probing.controls import add_controls, first_words, without_controls
from evaluation.probing.protocols import PROTOCOLS, Probing, effort
from evaluation.probing.protocols.problem import ABLATIONS, Problem
from evaluation.probing.words import WORD_TASKS
from evaluation.results.scores import (
    PROBES_FORMAT,
    Predictions,
    Results,
    Score,
    predictions_digest,
    predictions_table,
)
from evaluation.results.stored import Part, encoder_facts, library_versions, score_parts

if TYPE_CHECKING:
    from corpora_recipes.running.cache import Cache

METRICS: dict[str, Metric] = {"label": "accuracy", "score": "pearson", "word": "accuracy"}
"""Kind of target to its metric."""
INTERVALS: Mapping[str, Any] = {
    "method": "jackknife",
    "coverage": COVERAGE,
    "unit": "document",
    "least_documents": MIN_DOCUMENTS,
}
"""The method of the intervals of scores, for results."""


def score_predictions(
    dataset: Dataset,
    layer: str,
    rows: Mapping[Split, ProbeRows],
    predicted: Values,
    chosen: dict[str, list[float]] | None = None,
    validation: float | None = None,
) -> tuple[Score, Predictions]:
    """Return the score of predictions, without the coverage of a vocabulary; within ``one_thread``.

    Args:
        dataset: whose rows were predicted.
        layer: of the encoder, that the predictions are from.
        rows: all rows of the dataset.
        predicted: class numbers or scores for the rows of test, or of all folds, [starts, rows].
        chosen: see ``Score``.
        validation: see ``Score``.
    """
    tested, metric = rows[dataset.tested], METRICS[dataset.target]
    gold = tested.y
    predictions = Predictions(tested.ids, tested.documents, gold, predicted)
    values = np.array([measure(metric, gold, start) for start in predicted])
    replicates = leave_out(metric, gold, predicted, tested.documents).mean(axis=0)
    by_start = [measures(metric, gold, start, tested.subsets) for start in predicted]
    classes = metric == "accuracy"
    n_classes = len(np.unique(np.concatenate([part.y for part in rows.values()])))
    score = Score(
        **dataset.facts("task", "corpus", "language", "version"),
        digest=dataset.digest(),
        rows={split: len(of_split) for split, of_split in rows.items()},
        folds=len(np.unique(tested.folds)) if dataset.folds else 0,
        test_documents=len(number_documents(tested.documents)[0]),
        layer=layer,
        metric=metric,
        value=float(values.mean()),
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        interval=score_interval(metric, float(values.mean()), replicates, tested.documents),
        measures={
            name: float(np.mean([start[name] for start in by_start])) for name in by_start[0]
        },
        majority=measure(metric, gold, _predict_majority(dataset, rows)) if classes else None,
        chance=1 / n_classes if classes else None,
        chosen=chosen or {},
        validation=validation,
        coverage=None,
        answers=predictions_digest(predictions),
    )
    return score, predictions


def _predict_majority(dataset: Dataset, rows: Mapping[Split, ProbeRows]) -> Values:
    """Return for each test row the most frequent class of its train rows, [rows]."""
    majority = np.empty_like(rows[dataset.tested].y)
    for train_y, test_rows in iter_folds(dataset, rows):
        values, counts = np.unique(train_y, return_counts=True)
        majority[test_rows] = values[counts.argmax()]
    return majority


def iter_folds(
    dataset: Dataset, rows: Mapping[Split, ProbeRows]
) -> Iterator[tuple[Values, Values | slice]]:
    """Yield (train targets, test rows) of the split, or of each fold; untrained, those of test."""
    train = rows["train" if dataset.trained else "test"]
    y, folds = train.y, train.folds
    if not dataset.folds:
        yield y, slice(None)
        return
    numbers = np.unique(folds)
    if len(numbers) < 3:
        found = f"the numbers {', '.join(map(str, numbers))}"
        raise InputError(dataset.files["train"][0], "three folds or more", found, BUILD_MORE)
    for number in numbers:
        yield y[folds != number], folds == number


# Nanoseconds of work for which another process is started: a start takes one to two seconds.
WORK_OF_A_PROCESS = 10 * 10**9


def probe_datasets(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    probing: Probing,
    workers: int | None = 1,
    executor: str = "local",
    cache: "Cache | None" = None,
    faults: dict[str, InputError] | None = None,
) -> tuple[Results, list[pa.Table], int]:
    """Probe every dataset with every layer of one encoder, in parallel.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds, or does not keep.
        datasets: in any order.
        store: folder of the embedding store.
        seed: the run's seed.
        probing: protocol, engine, pair features, ablations.
        workers: largest number of processes, or of probes at once in a cluster; None for one per
            CPU, or one per thread of the cluster. The scores do not depend on it.
        executor: "local" or the address of a Dask scheduler, whose workers see the files of the
            datasets and of the store under the same paths.
        cache: of the scores of each dataset and layer; None to compute all.
        faults: filled with the datasets that cannot be probed, which are skipped; None to raise the
            first error.

    Returns:
        The results, for each of their scores the table of its predictions, and the number of
        datasets that were probed now.
    """
    # Once and here: the workers get the description.
    described = describe(encoder)
    opened = EmbeddingStore(store, described)
    results = Results(
        format=PROBES_FORMAT,
        name=name,
        encoder=encoder_facts(described, opened.dimension),
        protocol=probing.as_protocol(),
        intervals=dict(INTERVALS),
        seed=seed,
        versions=library_versions("probe", opened.made_by)
        | (versions_of(["torch"]) if probing.engine == "torch" else {}),
        code=code_digest(__name__),
        scores=(),
        controls=probing.controls,
    )
    jobs = {f"{d.name} {layer}": (d, layer) for d, layer in product(datasets, described.layers)}
    encoded = {dataset.name: vector_facts(store, described, dataset) for dataset in datasets}
    inputs = {part: encoded[dataset.name] for part, (dataset, _) in jobs.items()}
    needed = {part: [dataset] for part, (dataset, _) in jobs.items()}
    failed = {} if faults is None else faults

    def compute(new: list[str]) -> Iterator[tuple[str, Part]]:
        new_jobs = {part: jobs[part] for part in new}
        arguments = described, store, seed, probing
        outcomes = _probe_all(name, new_jobs, arguments, opened.dimension, workers, executor)
        for part, outcome in outcomes:
            if isinstance(outcome, Part):
                yield part, outcome
            elif faults is None:
                raise outcome
            else:
                failed[jobs[part][0].name] = outcome

    compute_encoded = encode_when_needed(encoder, store, needed, compute, workers, executor)
    parts, new = score_parts(results, inputs, Score, compute_encoded, cache)
    probed = [part for part, (dataset, _) in jobs.items() if dataset.name not in failed]
    probed.sort(key=lambda part: (jobs[part][0].name, described.layers.index(jobs[part][1])))
    scores = tuple(score for part in probed for score in parts[part].scores)
    tables = [table for part in probed for table in parts[part].tables]
    now = {jobs[part][0].name for part in new} - failed.keys()
    return replace(results, scores=scores), tables, len(now)


def _probe_all(
    name: str,
    jobs: Mapping[str, tuple[Dataset, str]],
    arguments: tuple[Description, Path, int, Probing],
    dimension: int,
    workers: int | None,
    executor: str,
) -> Iterator[tuple[str, Part | InputError]]:
    """Yield the part, or the error, of each job as it is done; see ``probe_datasets``."""
    if not jobs:
        return
    probing = arguments[-1]
    efforts = {
        part: _estimate_effort(dataset, dimension, probing) for part, (dataset, _) in jobs.items()
    }
    # The longest first, so that at the end no process is left alone with one of them.
    order = sorted(jobs, key=lambda part: (-efforts[part], part))
    calls: Iterator[tuple[Any, ...]] = ((*jobs[part], *arguments) for part in order)
    function: Callable[..., Part | InputError] = _try_to_probe
    if executor == "local":
        n_worthwhile = 1 + sum(efforts.values()) // WORK_OF_A_PROCESS
        # A GPU is used by one process.
        limit = 1 if probing.engine == "torch" else workers or CPUS
        workers = min(limit, len(jobs), n_worthwhile)
    else:
        from corpora_recipes.running.cluster import call_alike

        function, calls = call_alike, _remote_calls(calls)
    with (
        open_executor(executor, workers) as pool,
        progress(len(jobs), f"probe {name}", "probe") as bar,
    ):
        for number, outcome in as_completed(pool, function, calls):
            bar.update()
            yield order[number], outcome


def _try_to_probe(dataset: Dataset, *arguments: Any) -> Part | InputError:
    """Return the part of ``probe_dataset``, or its error."""
    try:
        return probe_dataset(dataset, *arguments)
    except InputError as error:
        return error


def _remote_calls(calls: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of ``call_alike`` for ``probe_dataset`` in the workers of a cluster."""
    # Workers on other machines have other working directories.
    for dataset, layer, encoder, store, seed, probing in calls:
        files = {
            split: tuple(f.absolute() for f in dataset.files[split]) for split in dataset.files
        }
        dataset, store = replace(dataset, files=files), store.absolute()
        find = partial(_shared_facts, dataset, store, probing.engine)
        yield find(), find, _try_to_probe, dataset, layer, encoder, store, seed, probing


def _shared_facts(dataset: Dataset, store: Path, engine: str) -> dict[str, Any]:
    """Return what a worker must have in common with the driver: files, code and packages."""
    from corpora_recipes.running.cluster import releases_of

    try:
        files = dataset.digest()
    except OSError as error:
        files = str(error)
    try:
        vectors = [read_header(store), asdict(read_described(store, dataset))]
    except InputError as error:
        vectors = [read_header(store), {"described": error.found}]
    return {
        f"the files of {dataset.folder}": files,
        f"the vectors in {store}": vectors,
        "code": code_digest(__name__),
        **releases_of(["numpy", "scipy", "pyarrow", *(["torch"] if engine == "torch" else [])]),
    }


def _estimate_effort(dataset: Dataset, dimension: int, probing: Probing) -> int:
    """Return the nanoseconds that probing a dataset with one layer takes, roughly."""
    n_rows, n_classes = sum(dataset.rows.values()), len(dataset.labels)
    return effort(dataset.task, n_rows, n_classes, dimension, probing, dataset.folds)


def probe_dataset(
    dataset: Dataset, layer: str, encoder: Description, store: Path, seed: int, probing: Probing
) -> Part:
    """Probe one dataset with one layer; depends on the arguments and the files they name alone."""
    encoded = read_described(store, dataset)
    rows, x = read_features(dataset, layer, encoder, store, probing)
    with one_thread("scipy.linalg"):
        if score_words := WORD_TASKS.get(dataset.task):
            lookup = open_lookup(encoder, store, dataset, layer)
            predicted, further = score_words(dataset, rows["test"], lookup, encoder, store, seed)
            score, predictions = score_predictions(dataset, layer, rows, predicted[None])
            score.measures.update(further)
        elif not dataset.trained:
            similarities = cosines(*np.split(x["test"], 2, axis=1))
            score, predictions = score_predictions(dataset, layer, rows, similarities[None])
        else:
            _check_rows(dataset, rows)
            problem = make_problem(dataset, rows, x)
            if probing.controls and problem.metric == "accuracy":
                problem = replace(problem, gold=rows[dataset.tested].y)
            fit_predict = PROTOCOLS[probing.protocol].fit_predict
            output = fit_predict(problem, seed, probing.engine)
            score, predictions = score_predictions(
                dataset, layer, rows, output.predictions, output.chosen, output.validation
            )
            if probing.ablations and (ablation := ABLATIONS.get(dataset.task)):
                ablated = fit_predict(ablation.ablate(problem), seed, probing.engine).predictions
                values = [measure(score.metric, predictions.gold, start) for start in ablated]
                score.measures[ablation.name] = float(np.mean(values))
            if probing.controls:
                words = {split: first_words(dataset, split) for split in rows}
                score, predictions = add_controls(
                    score, predictions, rows["train"], problem, output, words, seed, probing
                )
    if probing.controls and not dataset.trained:
        score = replace(score, controls=without_controls("nothing is trained"))
    vectors = encoded.vectors[layer]
    score = replace(score, coverage=encoded.coverage, texts=encoded.texts, vectors=vectors)
    score = replace(score, fitted_on=fitted_on(encoder, dataset))
    return Part([score], [predictions_table(dataset.name, layer, predictions)])


def read_features(
    dataset: Dataset, layer: str, encoder: Description, store: Path, probing: Probing
) -> tuple[dict[Split, ProbeRows], dict[Split, Floats]]:
    """Return the rows of a dataset by split, and their features, float32 [rows, features].

    Words have none, see ``words``.
    """
    rows = {split: ProbeRows(dataset, split, encoder.form) for split in dataset.files}
    with one_thread():
        lookup = open_lookup(encoder, store, dataset, layer)
        with_features = () if dataset.task in WORD_TASKS else rows
        x = {split: rows[split].features(lookup, probing.pair_features) for split in with_features}
    return rows, x


def make_problem(
    dataset: Dataset, rows: Mapping[Split, ProbeRows], x: Mapping[Split, Floats]
) -> Problem:
    """Return the rows of a dataset, with the features of each split, as a protocol takes them."""
    train = rows["train"]
    problem = Problem(dataset.name, dataset.task, METRICS[dataset.target], x["train"], train.y)
    if dataset.folds:
        return replace(problem, folds=train.folds)
    validation, test = (x["validation"], rows["validation"].y), x["test"]
    held_out = bool((rows["validation"].source_splits == "train").all())
    return replace(problem, validation=validation, test=test, held_out=held_out)


def _check_rows(dataset: Dataset, rows: Mapping[Split, ProbeRows]) -> None:
    """Check that every class of test can be learnt, and a probe be chosen."""
    tested, where = rows[dataset.tested].y, dataset.files["train"][0]
    test_name, train_name = ("a fold", "the other folds") if dataset.folds else ("test", "train")
    label = dataset.target == "label"
    folds = [*iter_folds(dataset, rows)]
    for train_y, test_rows in folds if label else ():
        if len(absent := np.setdiff1d(tested[test_rows], train_y)):
            names = ", ".join(dataset.labels[number] for number in absent)
            found = f"no {names}, which {int(np.isin(tested[test_rows], absent).sum())} rows have"
            todo = "put rows of the class there, merge it with another class or leave it out"
            raise InputError(where, f"every class of {test_name} in {train_name} too", found, todo)
    for train_y, _ in folds:
        if (train_y == train_y[0]).all():
            expected = f"two {'classes' if label else 'scores'} or more in train"
            value = dataset.labels[train_y[0]] if label else float(train_y[0])
            raise InputError(where, expected, f"only {value!r}", BUILD_MORE)
    if "validation" in rows and len(rows["validation"]) < 2:
        expected = "two rows or more in validation, to choose a probe by"
        raise InputError(dataset.files["validation"][0], expected, "one", BUILD_MORE)
