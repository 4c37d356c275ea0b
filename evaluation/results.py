"""Probing all datasets with one encoder, and the file that the results are kept in."""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora_recipes.errors import InputError
from corpora_recipes.executors import open_executor
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.outputs import whole_file
from corpora_recipes.records import Split
from evaluation.embeddings import EmbeddingStore
from evaluation.encoders import Encoder, Form
from evaluation.features import Lookup, PairFeatures, features, task_of, text_columns
from evaluation.instances import Dataset
from evaluation.metrics import Metric, Values, measure, measures, metric_of, terms
from evaluation.probes import PROTOCOL, PROTOCOL_VERSION, Doubles, Floats, Labels, probe
from evaluation.similarity import cosines

if TYPE_CHECKING:
    import pyarrow as pa

# Efron and Tibshirani 1993, chapter 13: a percentile interval wants 1,000 resamples or more.
RESAMPLES = 2000
COVERAGE = 0.95
# With fewer documents than this in test, resampling them alone gives intervals that are too narrow.
# Cameron, Gelbach and Miller 2008 see few clusters go wrong at 5 to 30; where to draw the line
# between, and the remedy in ``bootstrap_interval``, are ours.
FEW_DOCUMENTS = 20
FORMAT = 2

METRICS: dict[str, Metric] = {"label": "accuracy", "score": "pearson"}
"""What is asked for to what the answers are measured by."""
Round = tuple[tuple[Floats, Values], tuple[Floats, Values], Values | slice]
"""Features and targets of train, the same of validation, and which rows are answered."""
_MORE = "build the dataset again with more documents, or leave it out of params.yaml"


@dataclass(frozen=True, slots=True)
class Score:
    """The result of one encoder on one dataset; accuracies are 0 … 1, correlations -1 … 1.

    Attributes:
        dataset: its name.
        task: e.g. "sentence_position".
        corpus: name of the corpus.
        language: BCP 47 code.
        version: of the dataset.
        digest: SHA-256 of the dataset's files.
        rows: number of instances in each split that there is.
        folds: number of folds, each of which was test once; 0 if the dataset has splits.
        test_documents: number of documents that the rows of test come from; below
            ``FEW_DOCUMENTS`` the interval says little of other documents.
        metric: what ``value`` is: "accuracy", or "pearson" where scores are asked for.
        value: the metric on test, or on the rows of all folds together.
        interval: its 95 % bootstrap interval, see ``bootstrap_interval``.
        measures: all that was measured, by name, see ``evaluation.metrics.measures``.
        majority: accuracy of always answering with the most frequent class of train; None for
            correlations.
        chance: 1 / number of classes; None for correlations.
        chosen: what validation chose, for each fit: {"strength": […]} or {"passes": […]}; empty if
            nothing is trained.
        validation: the metric there with that choice, for folds their mean; None if nothing is
            trained.
    """

    dataset: str
    task: str
    corpus: str
    language: str
    version: str
    digest: str
    rows: dict[str, int]
    folds: int
    test_documents: int
    metric: Metric
    value: float
    interval: tuple[float, float]
    measures: dict[str, float]
    majority: float | None
    chance: float | None
    chosen: dict[str, list[float]]
    validation: float | None

    @property
    def asked(self) -> int:
        """The number of rows that ``value`` is of."""
        return self.rows["train" if self.folds else "test"]


@dataclass(frozen=True, slots=True)
class Results:
    """The scores of one encoder, sorted by dataset, and what they depend on.

    Attributes:
        format: version of this file's layout.
        name: key of the encoder's entry in params.yaml.
        encoder: its name, revision, form, dimension and options.
        protocol: name and version of the probe's protocol, and its options.
        bootstrap: how the intervals were made.
        seed: the run's seed.
        versions: of Python, the libraries that compute, Probeta and the platform.
        scores: one a dataset.
    """

    format: int
    name: str
    encoder: dict[str, Any]
    protocol: dict[str, Any]
    bootstrap: dict[str, Any]
    seed: int
    versions: dict[str, str]
    scores: tuple[Score, ...]


def probe_datasets(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    pair_features: PairFeatures = "difference_product",
    workers: int = 1,
) -> Results:
    """Probe every dataset with one encoder, datasets in parallel.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds.
        datasets: in any order.
        store: folder of the embedding store.
        seed: the run's seed.
        pair_features: the features of pair_classification.
        workers: number of processes; the scores do not depend on it.

    Raises:
        InputError: the store lacks a sentence, or a dataset cannot be probed.
    """
    from tqdm import tqdm

    EmbeddingStore(store, encoder)
    for dataset in datasets:
        task_of(dataset)
    scores = []
    with (
        open_executor("local", min(workers, len(datasets))) as executor,
        tqdm(total=len(datasets), desc=f"probe {name}", unit="dataset", disable=None) as bar,
    ):
        if executor is None:
            found = (
                score_dataset(dataset, encoder, store, seed, pair_features) for dataset in datasets
            )
        else:
            waiting = [
                executor.submit(score_dataset, dataset, encoder, store, seed, pair_features)
                for dataset in datasets
            ]
            found = (future.result() for future in waiting)
        for score in found:
            scores.append(score)
            bar.update()
    return Results(
        format=FORMAT,
        name=name,
        encoder={
            "encoder": encoder.name,
            "revision": encoder.revision,
            "form": encoder.form,
            "dimension": encoder.dimension,
            "options": encoder.options,
        },
        protocol={
            "name": PROTOCOL,
            "version": PROTOCOL_VERSION,
            "pair_features": pair_features,
        },
        bootstrap={
            "resamples": RESAMPLES,
            "coverage": COVERAGE,
            "unit": "document",
            "few_documents": FEW_DOCUMENTS,
        },
        seed=seed,
        versions=_versions(),
        scores=tuple(sorted(scores, key=lambda score: score.dataset)),
    )


def score_dataset(
    dataset: Dataset, encoder: Encoder, store: Path, seed: int, pair_features: PairFeatures
) -> Score:
    """Probe one dataset; depends on nothing but the arguments and the files they name.

    Raises:
        InputError: a split is empty, train has fewer than two classes or scores, a label is out of
            range, a score is no number, there are fewer than three folds, or the store lacks a
            sentence.
    """
    parts = _read_parts(dataset, encoder, store, pair_features)
    own = answer(dataset, parts, seed)
    metric = METRICS[dataset.target]
    gold, documents = own.asked.y, own.asked.documents
    key = keyed_hash(seed, dataset.name, "bootstrap")
    classes = metric == "accuracy"
    return Score(
        dataset=dataset.name,
        task=dataset.task,
        corpus=dataset.corpus,
        language=dataset.language,
        version=dataset.version,
        digest=dataset.digest(),
        rows={split: len(part.y) for split, part in parts.items()},
        folds=len(np.unique(own.asked.folds)) if dataset.folds else 0,
        test_documents=len(np.unique(documents)),
        metric=metric,
        value=measure(metric, gold, own.predictions),
        interval=bootstrap_interval(metric, gold, own.predictions, documents, key),
        measures=measures(metric, gold, own.predictions, own.asked.subsets),
        majority=measure(metric, gold, own.majority) if classes else None,
        chance=1 / len(dataset.labels) if classes else None,
        chosen=own.chosen,
        validation=own.validation,
    )


def _read_parts(
    dataset: Dataset, encoder: Encoder, store: Path, pair_features: PairFeatures
) -> dict[Split, "Part"]:
    """Return all rows of a dataset; the store, which can be large, is closed again."""
    lookup = EmbeddingStore(store, encoder).lookup
    return {
        split: part_of(
            dataset,
            split,
            read_rows(dataset, split, encoder.form),
            encoder.form,
            lookup,
            pair_features,
        )
        for split in dataset.files
    }


@dataclass(frozen=True, slots=True)
class Part:
    """Rows as a probe takes them, an array a column.

    Attributes:
        x: features, float32 [rows, features].
        y: class numbers int64 [rows], or scores float64 [rows].
        documents: ids of the documents.
        subsets: names of the subsets; all empty if the dataset has none.
        folds: numbers of the folds; all 0 if the dataset has none.
    """

    x: Floats
    y: Values
    documents: Values
    subsets: Values
    folds: Labels


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered, and how.

    Attributes:
        asked: the rows: of test, or of all folds.
        predictions: class numbers or scores, [rows].
        majority: the most frequent answer in the train that goes with each row, [rows]; where
            nothing is trained, predictions again.
        chosen: see ``Score``.
        validation: see ``Score``.
    """

    asked: Part
    predictions: Values
    majority: Values
    chosen: dict[str, list[float]]
    validation: float | None


def read_rows(dataset: Dataset, split: Split, form: Form) -> "pa.Table":
    """Return the rows of a split with the columns that ``part_of`` needs."""
    task_of(dataset)
    columns = ["id", "document_id", dataset.target, *text_columns(dataset.task, form)]
    columns += [name for name in ("subset", "fold") if name in dataset.columns]
    return dataset.read(split, columns)


def part_of(
    dataset: Dataset,
    split: Split,
    rows: "pa.Table",
    form: Form,
    lookup: Lookup,
    pair_features: PairFeatures,
) -> Part:
    """Return features and labels, or scores, of rows of a split.

    Args:
        dataset: whose rows they are.
        split: theirs.
        rows: some or all of ``read_rows``.
        form: the form of text that the encoder takes.
        lookup: texts to embeddings, float32 [number of texts, dimension].
        pair_features: the features of pair_classification.

    Raises:
        InputError: there are no rows, a label is out of range, a score is no number, or a row has
            a wrong number of texts or one without embedding.
    """
    y = rows[dataset.target].to_numpy()
    if dataset.target == "score":
        y = y.astype(np.float64)
    _check_targets(dataset, split, y)
    try:
        x = features(dataset.task, rows, form, lookup, pair_features)
    except InputError as error:
        raise InputError(
            f"{dataset.folder}, {split}: {error.where}",
            expected=error.expected,
            found=error.found,
            todo=error.todo,
        ) from None
    subsets, folds = (
        rows[name].to_numpy() if name in rows.column_names else np.full(len(y), missing)
        for name, missing in (("subset", ""), ("fold", 0))
    )
    return Part(x, y, rows["document_id"].to_numpy(), subsets, folds)


def answer(dataset: Dataset, parts: Mapping[Split, Part], seed: int) -> Answers:
    """Answer the rows of test, or each fold's rows in their turn, computing on one thread.

    Args:
        dataset: whose rows they are.
        parts: for each of its splits the rows, or some of them.
        seed: the run's seed.

    Raises:
        InputError: train has fewer than two classes or scores, or there are fewer than three folds.
    """
    # scipy brings a BLAS of its own, and only a library that is loaded can be limited.
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import threadpool_limits

    task = task_of(dataset)
    asked = parts["train" if dataset.folds else "test"]
    if not task.trained:
        similar = cosines(*np.split(asked.x, 2, axis=1))
        return Answers(asked, similar, similar, {}, None)
    predictions, majority = np.empty_like(asked.y), np.empty_like(asked.y)
    fits = []
    for train, validation, rows in _rounds(dataset, parts):
        values, counts = np.unique(train[1], return_counts=True)
        if len(values) < 2:
            raise _too_alike(dataset, values[0])
        with threadpool_limits(1):
            fit = probe(
                train,
                validation,
                asked.x[rows],
                metric=METRICS[dataset.target],
                hidden=task.hidden,
                seed=seed,
                name=dataset.name,
            )
        predictions[rows] = fit.predictions
        majority[rows] = values[counts.argmax()]
        fits.append(fit)
    chosen = {what: [fit.chosen[what] for fit in fits] for what in fits[0].chosen}
    reached = float(np.mean([fit.validation for fit in fits]))
    return Answers(asked, predictions, majority, chosen, reached)


def _rounds(dataset: Dataset, parts: Mapping[Split, Part]) -> Iterator[Round]:
    """Give what each probe is trained on, what it is chosen by, and which rows it answers.

    With splits these are train, validation and all rows of test. With folds there is a probe a
    fold, which answers that fold; the next one (after the last the first) is validation.
    """
    if not dataset.folds:
        train, validation = parts["train"], parts["validation"]
        yield (train.x, train.y), (validation.x, validation.y), slice(None)
        return
    x, y, folds = parts["train"].x, parts["train"].y, parts["train"].folds
    numbers = np.unique(folds)
    if len(numbers) < 3:
        raise InputError(
            dataset.files["train"][0],
            expected="three folds or more",
            found=f"the numbers {', '.join(map(str, numbers))}",
            todo=_MORE,
        )
    for own, following in zip(numbers, np.roll(numbers, -1), strict=True):
        answers, chooses = folds == own, folds == following
        trains = ~(answers | chooses)
        yield (x[trains], y[trains]), (x[chooses], y[chooses]), answers


def bootstrap_interval(
    metric: Metric, gold: Values, predictions: Values, documents: Values, key: int
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a metric.

    Documents are drawn, not rows: rows of one document are not independent (Efron and Tibshirani
    1993, chapter 8). With one row a document it is the usual bootstrap.

    Few documents cannot show how much documents differ, and two that are alike by chance give an
    interval of no width (on few clusters: Cameron, Gelbach and Miller 2008). Below
    ``FEW_DOCUMENTS`` rows are drawn as well, and each end is the wider one of the two bootstraps.
    That covers as it should where documents are alike. Where they differ much it still covers too
    little, and with one document it says nothing of others.

    Args:
        metric: which.
        gold: for each row what is right.
        predictions: for each row what was answered.
        documents: for each row the id of its document.
        key: seed of the resampling.

    Returns:
        The ends of the interval that covers ``COVERAGE``.
    """
    of_rows = terms(metric, gold, predictions)
    names, unit = np.unique(documents, return_inverse=True)
    of_documents = np.zeros((len(names), of_rows.shape[1]))
    np.add.at(of_documents, unit, of_rows)
    low, high = _percentiles(metric, of_documents, key)
    if len(names) < FEW_DOCUMENTS:
        row_low, row_high = _percentiles(metric, of_rows, key)
        return min(low, row_low), max(high, row_high)
    return low, high


def _percentiles(metric: Metric, of_units: Doubles, key: int) -> tuple[float, float]:
    """Return the ends of the bootstrap that draws units, given each unit's sums of terms."""
    generator = np.random.Generator(np.random.PCG64(key))
    sums = np.empty((RESAMPLES, of_units.shape[1]))
    for i in range(RESAMPLES):
        sums[i] = of_units[generator.integers(len(of_units), size=len(of_units))].sum(axis=0)
    low, high = np.quantile(metric_of(metric, sums), [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


def write_results(results: Results, path: Path) -> None:
    """Write results as JSON, the same bytes for the same results."""
    text = json.dumps(asdict(results), indent=2, ensure_ascii=False)
    with whole_file(path) as temporary:
        temporary.write_text(text + "\n", "utf-8")


def read_results(path: Path) -> Results:
    """Read results from JSON.

    Raises:
        InputError: the file is missing, or not results in the present layout.
    """
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']}")
        scores = tuple(
            Score(**{**score, "interval": tuple(score["interval"])})
            for score in content.pop("scores")
        )
        return Results(**content, scores=scores)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            path,
            expected=f"results of `python -m evaluation probe`, format {FORMAT}",
            found=f"{type(error).__name__}: {error}",
            todo="run the probe again",
        ) from None


def _check_targets(dataset: Dataset, split: Split, y: Values) -> None:
    where = dataset.files[split][0]
    if not len(y):
        raise InputError(where, expected="one row or more", found="none", todo=_MORE)
    if dataset.target == "label":
        right = (y >= 0) & (y < len(dataset.labels))
        expected = f"labels 0 … {len(dataset.labels) - 1}"
    else:
        right, expected = np.isfinite(y), "finite scores"
    if not right.all():
        row = int(np.flatnonzero(~right)[0])
        raise InputError(
            where,
            expected=expected,
            found=f"{y[row]} in row {row} of {split}",
            todo="build the dataset again with `python -m builders`",
        )


def _too_alike(dataset: Dataset, value: Any) -> InputError:
    label = dataset.target == "label"
    return InputError(
        dataset.files["train"][0],
        expected=f"two {'classes' if label else 'scores'} or more in train",
        found=f"only {dataset.labels[value] if label else float(value)!r}",
        todo=_MORE,
    )


def _versions() -> dict[str, str]:
    libraries = ("probeta", "numpy", "scipy", "scikit-learn", "pyarrow")
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{library: version(library) for library in libraries},
    }
