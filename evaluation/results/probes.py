"""The results of an encoder and the folder with their files.

A folder of results has two files, which appear together or not at all:

    scores.json          ``Results``: a score for every dataset and layer, and what they depend on
    predictions.parquet  a row for every row asked, dataset by dataset and layer by layer:
                         dataset, layer, id, document_id: string; gold: float64, a class number or a
                         score; predicted: list<float64>, an answer for each random start
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from builders.tasks import TASKS
from corpora_recipes.parquet import array_of
from corpora_recipes.running.errors import InputError
from evaluation.arrays import Values
from evaluation.measures.metrics import Metric
from evaluation.results.stored import EncoderResults, ScoresFolder, Stored, parsed

FORMAT = 7
PREDICTIONS = "predictions.parquet"
# The protocol of results that are not of a probe: a language model was asked.
ASKED = "lm-eval"
_COVERAGE = {"tokens": 0, "out_of_vocabulary": 0}


@dataclass(frozen=True, slots=True)
class Score(Stored):
    """The result of one layer of an encoder on one dataset; accuracies 0 … 1, correlations -1 … 1.

    Attributes:
        dataset: its name.
        task: e.g. "sentence_position".
        corpus: name of the corpus.
        language: BCP 47 code.
        version: of the dataset.
        digest: SHA-256 of the dataset's files.
        rows: number of instances in each split that there is.
        folds: number of folds, each used once as test; 0 if the dataset has splits.
        test_documents: number of documents that the rows of test come from; below
            ``LEAST_DOCUMENTS`` the interval says nothing of other documents.
        layer: of the encoder.
        metric: what ``value`` is: "accuracy", or "pearson" where scores are asked for.
        value: the metric on test, or on the rows of all folds together; the mean over random
            starts.
        deviation: its standard deviation over the random starts, with one degree of freedom less;
            None if nothing is random.
        interval: see ``evaluation.measures.intervals``.
        measures: all that was measured, by name, see ``evaluation.measures.metrics``; means over
            random starts.
        majority: accuracy of always answering with the most frequent class of train; None for
            correlations.
        chance: 1 / number of classes; None for correlations.
        chosen: what was chosen on validation, for each fit, by the name of the setting; empty if
            nothing is trained.
        validation: the metric there with that choice, the mean over folds and starts; None if
            nothing is trained.
        coverage: for an encoder with a vocabulary, the numbers of "tokens" and of those
            "out_of_vocabulary" in the dataset; else None.
        answers: SHA-256 of the answers that all of this is computed from, see ``answers_digest``.
        texts: SHA-256 of the dataset's texts in the encoder's form, with their prompt; empty for a
            language model.
        vectors: SHA-256 of their vectors, see ``EmbeddingStore.digests``; empty likewise.
        fitted_on: the texts that the encoder's post-processing is fitted on, if it has one: of
            "train", or all the dataset's "own".
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
    layer: str
    metric: Metric
    value: float
    deviation: float | None
    interval: tuple[float, float]
    measures: dict[str, float]
    majority: float | None
    chance: float | None
    chosen: dict[str, list[float]]
    validation: float | None
    coverage: dict[str, int] | None
    answers: str
    texts: str = ""
    vectors: str = ""
    fitted_on: str = ""

    @property
    def asked(self) -> int:
        """The number of rows that ``value`` is of."""
        return self.rows["train" if self.folds else "test"]


@dataclass(frozen=True, slots=True)
class Transfer(Stored):
    """The score on a dataset of a probe that was trained on one other dataset, or on all others."""

    sources: tuple[str, ...]
    score: Score


@dataclass(frozen=True, slots=True)
class Results(EncoderResults):
    """The scores of one encoder by probes, or of a language model.

    Attributes:
        protocol: name and version of the probe's protocol, its engine and the pair features;
            ``ASKED`` and a version for a language model.
        intervals: how they were made.
        transfers: of probes to datasets that they were not trained on, if they were asked for.
    """

    scores: tuple[Score, ...]
    protocol: dict[str, Any]
    intervals: dict[str, Any]
    transfers: tuple[Transfer, ...] = ()

    @property
    def probed(self) -> bool:
        """Whether a probe was trained on embeddings; if not, a language model was asked."""
        return bool(self.protocol["name"] != ASKED)


@dataclass(frozen=True, slots=True)
class Predictions:
    """What was answered on one dataset from one layer.

    Attributes:
        ids: of the rows, [rows].
        documents: ids of their documents, [rows].
        gold: class numbers or scores, float64 [rows].
        predicted: the same, float64 [starts, rows].
    """

    ids: Values
    documents: Values
    gold: Values
    predicted: Values


def answers_digest(answers: Predictions) -> str:
    """Return the SHA-256 of answers: of ids, documents, gold and what was predicted."""
    digest = sha256()
    for names in (answers.ids, answers.documents):
        digest.update(json.dumps(names.tolist(), ensure_ascii=False).encode())
    for numbers in (answers.gold, answers.predicted):
        digest.update(np.ascontiguousarray(numbers, "<f8").tobytes())
    return digest.hexdigest()


def _made(content: dict[str, Any]) -> Results:
    results: Results = parsed(Results, content)
    parsed(str, results.protocol["name"])
    parsed(float, results.intervals["coverage"])
    for score in (*results.scores, *(transfer.score for transfer in results.transfers)):
        part, coverage = "train" if score.folds else "test", score.coverage or _COVERAGE
        if score.task not in TASKS or part not in score.rows or coverage.keys() != _COVERAGE.keys():
            raise ValueError(f"{score.dataset}: another task, no {part}, or another coverage")
    return results


_NAMES = ("dataset", "layer", "id", "document_id")
_NUMBERS = (("gold", pa.float64()), ("predicted", pa.list_(pa.float64())))
SCHEMA = pa.schema([*((name, pa.string()) for name in _NAMES), *_NUMBERS])
"""Of predictions.parquet."""
_FOLDER = ScoresFolder("probe", FORMAT, _made, PREDICTIONS, SCHEMA, ["dataset", "layer"])
write_results, read_results = _FOLDER.write, _FOLDER.read


def predictions_table(dataset: str, layer: str, answers: Predictions) -> pa.Table:
    """Return the rows of predictions.parquet for one dataset and layer."""
    starts, rows = answers.predicted.shape
    predicted = pa.ListArray.from_arrays(
        np.arange(0, starts * (rows + 1), starts, dtype=np.int32),
        answers.predicted.T.astype(np.float64).ravel(),
    )
    ids, documents = answers.ids.tolist(), answers.documents.tolist()
    gold = answers.gold.astype(np.float64)
    columns = [[dataset] * rows, [layer] * rows, ids, documents, gold, predicted]
    return pa.table(columns, schema=SCHEMA)


def read_predictions(folder: Path, dataset: str, layer: str) -> Predictions:
    """Read what was answered on a dataset from a layer."""
    what = f"predictions for {dataset} from layer {layer}"
    return predictions_of(_FOLDER.table(folder, (dataset, layer), what), folder / PREDICTIONS)


def all_predictions(folder: Path) -> Iterator[tuple[tuple[str, str], Predictions]]:
    """Yield dataset and layer, and what was answered, in the order of the file."""
    for key, table in _FOLDER.row_groups(folder):
        yield key, predictions_of(table, folder / PREDICTIONS)


def predictions_of(table: pa.Table, path: Path) -> Predictions:
    """Return what a table of ``predictions_table``, which was read from a file, holds."""
    predicted = table["predicted"].combine_chunks()
    numbers = np.from_dlpack(predicted.flatten())
    starts = len(numbers) // len(table)
    if {*predicted.value_lengths().to_pylist()} != {starts or 1} or not np.isfinite(numbers).all():
        raise InputError(
            path,
            "as many predictions in each row of a dataset and layer, finite numbers",
            "more in some than in others, none, or others",
            "run `probeta probe` again",
        )
    return Predictions(
        ids=array_of(table["id"]),
        documents=array_of(table["document_id"]),
        gold=array_of(table["gold"]),
        predicted=numbers.reshape(len(table), starts).T,
    )
