"""Rows of a dataset for a probe: features, targets, ids, documents."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from corpora_recipes.parquet import array_of
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError, OutputError
from evaluation.arrays import Floats, Labels, Values
from evaluation.data.features import Lookup, PairFeatures, features
from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns
from evaluation.encoders.encoder import Form

MORE = "build the dataset again with more documents, or leave it out of params.yaml"


@dataclass(frozen=True, slots=True)
class ProbeRows:
    """Rows for a probe, one array per column.

    Attributes:
        x: features, float32 [rows, features].
        y: class numbers int64 [rows], or scores float64 [rows].
        ids: of the rows.
        documents: ids of the documents.
        subsets: names of the subsets; all empty if the dataset has none.
        folds: numbers of the folds; all 0 if the dataset has none.
    """

    x: Floats
    y: Values
    ids: Values
    documents: Values
    subsets: Values
    folds: Labels


def read_rows(dataset: Dataset, split: Split, form: Form) -> pa.Table:
    """Return the rows of a split with the columns that ``probe_rows`` needs."""
    return dataset.read(split, [*_columns(dataset), *text_columns(dataset.task, form)])


def answer_rows(dataset: Dataset, split: Split) -> ProbeRows:
    """Return the rows of a split without features, to measure answers to them.

    Raises:
        InputError: there are no rows, a label is out of range, or a score is no number.
    """
    rows = dataset.read(split, _columns(dataset))
    y = _targets(dataset, split, rows)
    return _probe_rows(rows, np.empty((len(y), 0), np.float32), y)


def probe_rows(
    dataset: Dataset,
    split: Split,
    rows: pa.Table,
    form: Form,
    lookup: Lookup,
    pair_features: PairFeatures = "difference_product",
) -> ProbeRows:
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
            a wrong number of texts, one without embedding, or features that are not finite.
    """
    y = _targets(dataset, split, rows)
    try:
        # What overflows is looked for below.
        with np.errstate(over="ignore", invalid="ignore"):
            x = features(dataset.task, rows, form, lookup, pair_features)
    except InputError as error:
        where = f"{dataset.folder}, {split}: {error.where}"
        raise InputError(where, error.expected, error.found, error.todo) from None
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise InputError(
            f"{dataset.folder}, {split}: row {bad[0]} {rows['id'][bad[0]]}",
            "features within the range of float32",
            "embeddings so large that their products or differences are not",
            "scale the encoder's vectors down",
        )
    return _probe_rows(rows, x, y)


def _columns(dataset: Dataset) -> list[str]:
    """Return the columns that are read besides those of texts."""
    columns = ["id", "document_id", dataset.target]
    return columns + [name for name in ("subset", "fold") if name in dataset.columns]


def _probe_rows(rows: pa.Table, x: Floats, y: Values) -> ProbeRows:
    subsets, folds = (
        array_of(rows[name]) if name in rows.column_names else np.full(len(y), missing)
        for name, missing in (("subset", ""), ("fold", 0))
    )
    return ProbeRows(x, y, array_of(rows["id"]), array_of(rows["document_id"]), subsets, folds)


def _targets(dataset: Dataset, split: Split, rows: pa.Table) -> Values:
    """Return the column to predict, checked; scores as float64."""
    where, y = dataset.files[split][0], array_of(rows[dataset.target])
    if not len(y):
        raise InputError(where, "one row or more", "none", MORE)
    if dataset.target == "label":
        right = (y >= 0) & (y < len(dataset.labels))
        expected = f"labels 0 … {len(dataset.labels) - 1}"
    else:
        y = y.astype(np.float64)
        right, expected = np.isfinite(y), "finite scores"
    if not right.all():
        row = int(np.flatnonzero(~right)[0])
        raise OutputError(where, expected, f"{y[row]} in row {row} of {split}")
    return y
