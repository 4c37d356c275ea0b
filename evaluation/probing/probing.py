"""The stage `probe`: all datasets with one encoder, each of its layers for itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpora_recipes.records import Split
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.code import code_digest, versions_of
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import CPUS, as_completed, open_executor
from evaluation.arrays import Floats, Values
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import fitted_on, open_lookup
from evaluation.embedding.store import EmbeddingStore, read_described, read_header
from evaluation.encoders.encoder import Description, Encoder, describe
from evaluation.features import MORE, ProbeRows
from evaluation.measures import (
    COVERAGE,
    LEAST_DOCUMENTS,
    Metric,
    cosines,
    leave_out,
    measure,
    measures,
    one_thread,
    score_interval,
)
from evaluation.probing.protocols import PROTOCOLS, Probing, effort
from evaluation.probing.protocols.problem import ABLATIONS, Problem
from evaluation.results.scores import (
    PROBES_FORMAT,
    Predictions,
    Results,
    Score,
    answers_digest,
    predictions_table,
)
from evaluation.results.stored import Part, encoder_facts, library_versions, score_parts

METRICS: dict[str, Metric] = {"label": "accuracy", "score": "pearson"}
"""Kind of answer to its metric."""
INTERVALS: Mapping[str, Any] = {
    "method": "jackknife",
    "coverage": COVERAGE,
    "unit": "document",
    "least_documents": LEAST_DOCUMENTS,
}
"""How the intervals of scores are made, for results."""


def score_answers(
    dataset: Dataset,
    layer: str,
    parts: Mapping[Split, ProbeRows],
    predicted: Values,
    chosen: dict[str, list[float]] | None = None,
    validation: float | None = None,
) -> tuple[Score, Predictions]:
    """Return the score of answers, without the coverage of a vocabulary; within ``one_thread``.

    Args:
        dataset: whose rows were asked.
        layer: of the encoder, that is answered from.
        parts: all rows of the dataset.
        predicted: class numbers or scores for the rows of test, or of all folds, [starts, rows].
        chosen: see ``Score``.
        validation: see ``Score``.
    """
    asked, metric = parts[dataset.tested], METRICS[dataset.target]
    answers = Predictions(asked.ids, asked.documents, asked.y, predicted)
    values = np.array([measure(metric, asked.y, answer) for answer in predicted])
    left_out = leave_out(metric, asked.y, predicted, asked.documents).mean(axis=0)
    of_starts = [measures(metric, asked.y, answer, asked.subsets) for answer in predicted]
    classes = metric == "accuracy"
    score = Score(
        dataset=dataset.name,
        task=dataset.task,
        corpus=dataset.corpus,
        language=dataset.language,
        version=dataset.version,
        digest=dataset.digest(),
        rows={split: len(part) for split, part in parts.items()},
        folds=len(np.unique(asked.folds)) if dataset.folds else 0,
        test_documents=len(np.unique(asked.documents)),
        layer=layer,
        metric=metric,
        value=float(values.mean()),
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        interval=score_interval(metric, float(values.mean()), left_out, asked.documents),
        measures={name: float(np.mean([one[name] for one in of_starts])) for name in of_starts[0]},
        majority=measure(metric, asked.y, _majority(dataset, parts)) if classes else None,
        chance=1 / len(dataset.labels) if classes else None,
        chosen=chosen or {},
        validation=validation,
        coverage=None,
        answers=answers_digest(answers),
    )
    return score, answers


def _majority(dataset: Dataset, parts: Mapping[Split, ProbeRows]) -> Values:
    """Return for each row that is asked the most frequent answer in its train, [rows]."""
    majority = np.empty_like(parts[dataset.tested].y)
    for learnt, rows in learnt_rows(dataset, parts):
        values, counts = np.unique(learnt, return_counts=True)
        majority[rows] = values[counts.argmax()]
    return majority


def learnt_rows(
    dataset: Dataset, parts: Mapping[Split, ProbeRows]
) -> Iterator[tuple[Values, Values | slice]]:
    """Yield the targets to learn from, and the rows that are tested with them."""
    y, folds = parts["train"].y, parts["train"].folds
    if not dataset.folds:
        yield y, slice(None)
        return
    numbers = np.unique(folds)
    if len(numbers) < 3:
        found = f"the numbers {', '.join(map(str, numbers))}"
        raise InputError(dataset.files["train"][0], "three folds or more", found, MORE)
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
    cache: Cache | None = None,
    faults: dict[str, InputError] | None = None,
) -> tuple[Results, list[pa.Table], int]:
    """Probe every dataset with every layer of one encoder, in parallel.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds.
        datasets: in any order.
        store: folder of the embedding store.
        seed: the run's seed.
        probing: how.
        workers: largest number of processes, or of probes at once in a cluster; None for one per
            CPU, or one per thread of the cluster. The scores do not depend on it.
        executor: "local" or the address of a Dask scheduler, whose workers see the files of the
            datasets and of the store under the same paths.
        cache: what remembers the scores of datasets; None to probe all.
        faults: gets the datasets that cannot be probed, which are left out; None to raise the
            error of the first.

    Returns:
        The results, for each of their scores the table of its answers, and the number of datasets
        that were probed now.
    """
    # Once and here: the workers get what was found out.
    known = describe(encoder)
    opened = EmbeddingStore(store, known)
    results = Results(
        format=PROBES_FORMAT,
        name=name,
        encoder=encoder_facts(known, opened.dimension),
        protocol=probing.as_protocol(),
        intervals=dict(INTERVALS),
        seed=seed,
        versions=library_versions("probe", opened.made_by)
        | (versions_of(["torch"]) if probing.engine == "torch" else {}),
        code=code_digest(__name__),
        scores=(),
    )
    jobs = {f"{d.name} {layer}": (d, layer) for d, layer in product(datasets, known.layers)}
    described = {dataset.name: asdict(read_described(store, dataset)) for dataset in datasets}
    inputs = {part: described[dataset.name] for part, (dataset, _) in jobs.items()}

    def compute(new: Sequence[str]) -> Iterator[tuple[str, Part]]:
        on = known, store, seed, probing
        yield from _probe_all(
            name, {n: jobs[n] for n in new}, on, opened.dimension, workers, executor, faults
        )

    parts, new = score_parts(results, inputs, Score, compute, cache)
    sound = [n for n in jobs if n in parts and jobs[n][0].name not in (faults or {})]
    sound.sort(key=lambda part: (jobs[part][0].name, known.layers.index(jobs[part][1])))
    scores = tuple(score for part in sound for score in parts[part].scores)
    tables = [table for part in sound for table in parts[part].tables]
    probed = {jobs[part][0].name for part in new} - (faults or {}).keys()
    return replace(results, scores=scores), tables, len(probed)


def _probe_all(
    name: str,
    jobs: Mapping[str, tuple[Dataset, str]],
    on: tuple[Description, Path, int, Probing],
    dimension: int,
    workers: int | None,
    executor: str,
    faults: dict[str, InputError] | None,
) -> Iterator[tuple[str, Part]]:
    """Probe datasets with a layer each, in as many processes as are worth their start."""
    if not jobs:
        return
    probing = on[-1]
    efforts = {part: _effort(dataset, dimension, probing) for part, (dataset, _) in jobs.items()}
    # The longest first, so that at the end no process is left alone with one of them.
    order = sorted(jobs, key=lambda part: (-efforts[part], part))
    if executor == "local":
        worth = 1 + sum(efforts.values()) // WORK_OF_A_PROCESS
        # What a GPU computes, one process computes.
        most = 1 if probing.engine == "torch" else workers or CPUS
        workers = min(most, len(jobs), worth)
    calls: Iterator[tuple[Any, ...]] = ((*jobs[part], *on) for part in order)
    with (
        open_executor(executor, workers) as pool,
        progress(len(jobs), f"probe {name}", "probe") as bar,
    ):
        if executor == "local":
            outcomes = as_completed(pool, _try_to_probe, calls)
        else:
            from corpora_recipes.running.cluster import call_alike

            outcomes = as_completed(pool, call_alike, _remote_calls(calls))
        for number, outcome in outcomes:
            bar.update()
            if isinstance(outcome, Part):
                yield order[number], outcome
            elif faults is None:
                raise outcome
            else:
                faults[jobs[order[number]][0].name] = outcome


def _try_to_probe(dataset: Dataset, *arguments: Any) -> Part | InputError:
    """Return what ``probe_dataset`` does, or its error."""
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
        find = partial(_facts, dataset, store, probing.engine)
        yield find(), find, _try_to_probe, dataset, layer, encoder, store, seed, probing


def _facts(dataset: Dataset, store: Path, engine: str) -> dict[str, Any]:
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


def _effort(dataset: Dataset, dimension: int, probing: Probing) -> int:
    files = chain.from_iterable(dataset.files.values())
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    how = probing.protocol, probing.pair_features, dataset.folds
    return effort(dataset.task, rows, len(dataset.labels), dimension, *how)


def probe_dataset(
    dataset: Dataset, layer: str, encoder: Description, store: Path, seed: int, probing: Probing
) -> Part:
    """Probe one dataset with one layer; depends on the arguments and the files they name alone."""
    described = read_described(store, dataset)
    parts, x = features_of(dataset, layer, encoder, store, probing)
    with one_thread("scipy.linalg"):
        if not dataset.trained:
            similar = cosines(*np.split(x["test"], 2, axis=1))
            score, predictions = score_answers(dataset, layer, parts, similar[None])
        else:
            _check_parts(dataset, parts)
            problem = problem_of(dataset, parts, x)
            ask = PROTOCOLS[probing.protocol].answer
            given = ask(problem, seed, probing.engine)
            score, predictions = score_answers(
                dataset, layer, parts, given.predictions, given.chosen, given.validation
            )
            if probing.ablations and (ablation := ABLATIONS.get(dataset.task)):
                left = ask(ablation.of(problem), seed, probing.engine).predictions
                values = [measure(score.metric, predictions.gold, answers) for answers in left]
                score.measures[ablation.name] = float(np.mean(values))
    vectors = described.vectors[layer]
    score = replace(score, coverage=described.coverage, texts=described.texts, vectors=vectors)
    score = replace(score, fitted_on=fitted_on(encoder, dataset))
    return Part([score], [predictions_table(dataset.name, layer, predictions)])


def features_of(
    dataset: Dataset, layer: str, encoder: Description, store: Path, probing: Probing
) -> tuple[dict[Split, ProbeRows], dict[Split, Floats]]:
    """Return the rows of a dataset by split, and what a probe sees of them."""
    parts = {split: ProbeRows(dataset, split, encoder.form) for split in dataset.files}
    with one_thread():
        lookup = open_lookup(encoder, store, dataset, layer)
        x = {split: rows.features(lookup, probing.pair_features) for split, rows in parts.items()}
    return parts, x


def problem_of(
    dataset: Dataset, parts: Mapping[Split, ProbeRows], x: Mapping[Split, Floats]
) -> Problem:
    """Return the rows of a dataset as a protocol takes them."""
    train = parts["train"]
    problem = Problem(dataset.name, dataset.task, METRICS[dataset.target], x["train"], train.y)
    if dataset.folds:
        return replace(problem, folds=train.folds)
    validation, test = (x["validation"], parts["validation"].y), x["test"]
    held_out = bool((parts["validation"].parts == "train").all())
    return replace(problem, validation=validation, test=test, held_out=held_out)


def _check_parts(dataset: Dataset, parts: Mapping[Split, ProbeRows]) -> None:
    """Check that every class that is asked for can be learnt, and a probe be chosen."""
    asked, where = parts[dataset.tested].y, dataset.files["train"][0]
    tested, trained = ("a fold", "the other folds") if dataset.folds else ("test", "train")
    label = dataset.target == "label"
    learnt_of = [*learnt_rows(dataset, parts)]
    for learnt, rows in learnt_of if label else ():
        if len(absent := np.setdiff1d(asked[rows], learnt)):
            names = ", ".join(dataset.labels[number] for number in absent)
            found = f"no {names}, which {int(np.isin(asked[rows], absent).sum())} rows have"
            todo = "put rows of the class there, merge it with another class or leave it out"
            raise InputError(where, f"every class of {tested} in {trained} too", found, todo)
    for learnt, _ in learnt_of:
        if (learnt == learnt[0]).all():
            expected = f"two {'classes' if label else 'scores'} or more in train"
            value = dataset.labels[learnt[0]] if label else float(learnt[0])
            raise InputError(where, expected, f"only {value!r}", MORE)
    if "validation" in parts and len(parts["validation"]) < 2:
        expected = "two rows or more in validation, to choose a probe by"
        raise InputError(dataset.files["validation"][0], expected, "one", MORE)
