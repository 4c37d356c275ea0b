"""Rows of a dataset for a probe: features, targets, ids, documents."""

from typing import Any

import numpy as np

from corpora_recipes.parquet import array_of
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError, OutputError
from evaluation.arrays import Floats, Values
from evaluation.data.features import Lookup, PairFeatures, features
from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns
from evaluation.encoders.encoder import Form

MORE = "build the dataset again with more documents, or leave it out of params.yaml"


class ProbeRows:
    """The rows of a split of a dataset, one array per column.

    Attributes:
        y: class numbers int64 [rows], or scores float64 [rows].
        ids: of the rows.
        documents: ids of the documents.
        subsets: names of the subsets; all empty if the dataset has none.
        folds: numbers of the folds, int64 [rows]; all 0 if the dataset has none.
    """

    def __init__(self, dataset: Dataset, split: Split, form: Form | None = None) -> None:
        """Read the rows, with their texts in a form, or without texts.

        Raises:
            InputError: there are no rows, a label is out of range, or a score is no number.
        """
        self._dataset, self._split, self._form = dataset, split, form
        columns = ["id", "document_id", dataset.target]
        columns += [name for name in ("subset", "fold") if name in dataset.columns]
        texts = text_columns(dataset.task, form) if form else ()
        self._table = dataset.read(split, [*columns, *texts])
        y = self._column(dataset.target)
        self.y: Values = y.astype(np.float64) if dataset.target == "score" else y
        self.ids, self.documents = self._column("id"), self._column("document_id")
        self.subsets, self.folds = self._column("subset", ""), self._column("fold", 0)
        self._check_targets()

    def __len__(self) -> int:
        return len(self.y)

    def features(
        self, lookup: Lookup, pair_features: PairFeatures = "difference_product"
    ) -> Floats:
        """Return what a probe sees of the texts, float32 [rows, features].

        Raises:
            InputError: a row has a wrong number of texts, one without embedding, or features that
                are not finite.
        """
        assert self._form is not None
        where = f"{self._dataset.folder}, {self._split}:"
        try:
            # What overflows is looked for below.
            with np.errstate(over="ignore", invalid="ignore"):
                x = features(self._dataset.task, self._table, self._form, lookup, pair_features)
        except InputError as error:
            place = f"{where} {error.where}"
            raise InputError(place, error.expected, error.found, error.todo) from None
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if len(bad):
            row, expected = f"row {bad[0]} {self.ids[bad[0]]}", "features within float32's range"
            found = "embeddings so large that their products or differences are not"
            raise InputError(f"{where} {row}", expected, found, "scale the encoder's vectors down")
        return x

    def _column(self, name: str, missing: Any = None) -> Values:
        """Return a column; of one that may be missing, the same value in all rows."""
        if missing is None or name in self._table.column_names:
            return array_of(self._table[name])
        return np.full(len(self._table), missing)

    def _check_targets(self) -> None:
        where, y = self._dataset.files[self._split][0], self.y
        if not len(y):
            raise InputError(where, "one row or more", "none", MORE)
        if self._dataset.target == "label":
            right = (y >= 0) & (y < len(self._dataset.labels))
            expected = f"labels 0 … {len(self._dataset.labels) - 1}"
        else:
            right, expected = np.isfinite(y), "finite scores"
        if not right.all():
            row = int(np.flatnonzero(~right)[0])
            raise OutputError(where, expected, f"{y[row]} in row {row} of {self._split}")
