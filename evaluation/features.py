"""The texts of datasets, their prompts, and the features that probes get from embeddings.

The features are those of DiscoEval (Chen, Chu and Gimpel 2019, "Evaluation benchmarks and learning
criteria for discourse-aware sentence representations", section 3), of SentEval (Conneau and Kiela
2018, "SentEval: An evaluation toolkit for universal sentence representations") and of their Spanish
editions (Araujo et al. 2022, "Evaluation benchmarks for Spanish sentence representations").
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.tasks import TASKS
from builders.tasks.benchmarks import GROUPS
from corpora_recipes.parquet import array_of
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError, OutputError
from corpora_recipes.text.tokens import lower_case
from corpora_recipes.validation import check_choice
from evaluation.arrays import Counts, Flags, Floats, Rows, Values
from evaluation.datasets import Dataset
from evaluation.encoders.encoder import Described, Encoder, Form

DEFAULT_PROMPT = "default"


def text_columns(task: str, form: Form) -> tuple[str, ...]:
    """Return the columns of a task's instances that hold the texts in one of their forms."""
    texts = TASKS[task].texts
    return tuple(text.natural if form == "natural" else text.tokens for text in texts)


def unique_texts(dataset: Dataset, form: Form, splits: Iterable[Split] = ()) -> set[str]:
    """Return every text of a dataset, of all splits or of some; words also in lower case."""
    columns = text_columns(dataset.task, form)
    texts: set[str] = set()
    for split in splits or dataset.files:
        texts |= unique_in(dataset.read(split, columns), columns)
    if TASKS[dataset.task].unit == "word":
        texts |= {lower_case(text) for text in texts}
    return texts


def unique_in(table: pa.Table, columns: Sequence[str]) -> set[str]:
    """Return every text of some columns."""
    return set().union(*(pc.unique(texts_of(table, name)[0]).to_pylist() for name in columns))


def texts_of(table: pa.Table, column: str) -> tuple[pa.Array, Counts]:
    """Return the texts of a column, row after row, and the number of texts in each row."""
    values = table[column].combine_chunks()
    if not pa.types.is_list(values.type):
        return values, np.ones(len(values), np.int64)
    return values.flatten(), array_of(pc.list_value_length(table[column])).astype(np.int64)


def prompt_of(encoder: Described, dataset: Dataset) -> str | None:
    """Return the prompt of a dataset's texts; None without one.

    Words of several datasets are compared with each other: all get the default.
    """
    task = TASKS[dataset.task]
    names = [dataset.name, task.group.abbreviation] if task.unit != "word" else []
    return next(
        (encoder.prompts[n] for n in [*names, DEFAULT_PROMPT] if n in encoder.prompts), None
    )


def prompted_texts(encoder: Described, datasets: Iterable[Dataset]) -> dict[str | None, set[str]]:
    """Return prompt to the texts that get it, each once."""
    texts: dict[str | None, set[str]] = {}
    for dataset in datasets:
        with_prompt = texts.setdefault(prompt_of(encoder, dataset), set())
        with_prompt |= unique_texts(dataset, encoder.form)
    return texts


def check_prompt_names(encoder: Encoder, datasets: Iterable[str]) -> None:
    """Check that all prompts are of datasets (by name), of groups, or the default."""
    allowed = [DEFAULT_PROMPT, *(group.abbreviation for group in GROUPS), *datasets]
    for name in encoder.prompts:
        check_choice(name, allowed, f"prompts of encoder {encoder.name}")


Lookup = Callable[[Sequence[str]], Floats]
Combine = Callable[[Floats], Floats]
"""Embeddings of each row's texts, float32 [rows, texts, dimension], to features [rows, features].

With x1, x2 … for the texts of a row."""
PairFeatures = Literal["difference_product", "four_part"]
BUILD_MORE = "build the dataset again with more documents, or leave it out of params.yaml"


def side_by_side(x: Floats) -> Floats:
    """Return [x1, x2, …]."""
    return x.reshape(len(x), -1)


def differences_from_first(x: Floats) -> Floats:
    """Return [x1, x1-x2, x1-x3, …]."""
    return np.concatenate([x[:, 0], side_by_side(x[:, :1] - x[:, 1:])], axis=1)


def two_and_difference(x: Floats) -> Floats:
    """Return [x1, x2, x1-x2]."""
    return np.concatenate([side_by_side(x), x[:, 0] - x[:, 1]], axis=1)


def difference_product(x: Floats) -> Floats:
    """Return [|x1-x2|, x1*x2]."""
    return np.concatenate([np.abs(x[:, 0] - x[:, 1]), x[:, 0] * x[:, 1]], axis=1)


def four_parts(x: Floats) -> Floats:
    """Return [x1, x2, x1*x2, |x1-x2|]."""
    first, second = x[:, 0], x[:, 1]
    return np.concatenate([first, second, first * second, np.abs(first - second)], axis=1)


PAIR_FEATURES: dict[PairFeatures, Combine] = {
    "difference_product": difference_product,
    "four_part": four_parts,
}
"""Of Araujo et al. 2022, section 2.2, and of SentEval's code for entailment."""

FEATURES: dict[str, Combine | Mapping[PairFeatures, Combine]] = {
    "sentence_position": differences_from_first,
    "sentence_ordering": two_and_difference,
    **dict.fromkeys(("discourse_relations", "nuclearity", "connective"), four_parts),
    **dict.fromkeys(("explicit_relations", "implicit_relations", "unit_relations"), four_parts),
    "pair_classification": PAIR_FEATURES,
    "relatedness": difference_product,
}
"""Features of tasks; several where ``pair_features`` chooses. The others have ``side_by_side``."""


def features(
    task: str,
    table: pa.Table,
    form: Form,
    lookup: Lookup,
    pair_features: PairFeatures = "difference_product",
) -> Floats:
    """Return the features of the instances in a table.

    Args:
        task: a key of ``TASKS``.
        table: instances with the columns ``text_columns(task, form)``, of lists of texts or of
            single texts.
        form: of the texts.
        lookup: texts to embeddings, float32 [number of texts, dimension].
        pair_features: which of the features, where a task has several.

    Returns:
        float32 [rows of the table, features].
    """
    counts = [text.count for text in TASKS[task].texts]
    x = [
        _vectors(task, table, column, count, lookup)
        for column, count in zip(text_columns(task, form), counts, strict=True)
    ]
    return _combination(task, pair_features)(x[0] if len(x) == 1 else np.concatenate(x, axis=1))


def feature_width(task: str, dimension: int, pair_features: PairFeatures) -> int:
    """Return the number of features of a row of a task, for vectors of a dimension."""
    texts = sum(text.count or 1 for text in TASKS[task].texts)
    x = _combination(task, pair_features)(np.zeros((1, texts, dimension), np.float32))
    return int(x.shape[1])


def _combination(task: str, pair_features: PairFeatures) -> Combine:
    combine = FEATURES.get(task, side_by_side)
    return combine[pair_features] if isinstance(combine, Mapping) else combine


def _vectors(task: str, table: pa.Table, column: str, count: int | None, lookup: Lookup) -> Floats:
    """Return the embeddings of each row's texts, or without a count their mean."""
    texts, lengths = texts_of(table, column)
    if count is None:
        _check_lengths(table, column, lengths > 0, "at least one text", lengths)
        starts = np.cumsum(lengths) - lengths
        # In float64, so that the mean of any number of equal vectors is that vector.
        sums = np.add.reduceat(lookup(texts.to_pylist()), starts, axis=0, dtype=np.float64)
        means: Floats = (sums / lengths[:, None]).astype(np.float32)
        return means[:, None]
    _check_lengths(table, column, lengths == count, f"{count} texts ({task})", lengths)
    vectors = lookup(texts.to_pylist())
    return vectors.reshape(len(table), count, vectors.shape[1])


def _check_lengths(
    table: pa.Table, column: str, right: Flags, expected: str, lengths: Counts
) -> None:
    if not right.all():
        row = int(np.flatnonzero(~right)[0])
        name = f" {table['id'][row]}" if "id" in table.column_names else ""
        expected = f"a column {column} of {expected} in every row"
        raise OutputError(f"row {row}{name}", expected, str(lengths[row]))


def read_questions(dataset: Dataset, form: Form) -> tuple[dict[str, str], Rows]:
    """Return the words of a dataset of analogies, and its questions.

    The words are in the order of their code points, each to what of it is encoded; a question has
    the numbers of its words, int64 [rows, 4].
    """
    names = [text_columns(dataset.task, of) for of in ("natural", form)]
    table = dataset.read("test", list(dict.fromkeys(chain(*names))))
    natural, encoded = (
        list(chain.from_iterable(table[name].to_pylist() for name in of)) for of in names
    )
    words = dict(sorted(zip(natural, encoded, strict=True)))
    number_of = {word: number for number, word in enumerate(words)}
    numbers = np.array([number_of[word] for word in natural], np.int64)
    return words, numbers.reshape(len(names[0]), -1).T


class ProbeRows:
    """The rows of a split of a dataset, one array per column.

    Attributes:
        y: class numbers int64 [rows], or scores float64 [rows]; of analogies numbers of words.
        ids: of the rows.
        documents: ids of the documents.
        subsets: names of the subsets; all empty if the dataset has none.
        folds: numbers of the folds, int64 [rows]; all 0 if the dataset has none.
        source_splits: of the source that they are from; all empty if it has none.
    """

    def __init__(self, dataset: Dataset, split: Split, form: Form | None = None) -> None:
        """Read the rows, with their texts in a form, or without texts."""
        self._dataset, self._split, self._form = dataset, split, form
        columns = ["id", "document_id", *([] if dataset.target == "word" else [dataset.target])]
        columns += [name for name in ("subset", "fold", "source_split") if name in dataset.columns]
        texts = text_columns(dataset.task, form) if form else ()
        self._table = dataset.read(split, [*columns, *texts])
        if dataset.target == "word":
            self.y: Values = read_questions(dataset, "natural")[1][:, -1]
        else:
            y = self._column(dataset.target)
            self.y = y.astype(np.float64) if dataset.target == "score" else y
        self.ids, self.documents = self._column("id"), self._column("document_id")
        self.subsets, self.folds = self._column("subset", ""), self._column("fold", 0)
        self.source_splits = self._column("source_split", "")
        self._check_targets()

    def __len__(self) -> int:
        return len(self.y)

    def features(
        self, lookup: Lookup, pair_features: PairFeatures = "difference_product"
    ) -> Floats:
        """Return the features of the rows, float32 [rows, features]."""
        assert self._form is not None
        where = f"{self._dataset.folder}, {self._split}:"
        try:
            # Overflow is checked for below.
            with np.errstate(over="ignore", invalid="ignore"):
                x = features(self._dataset.task, self._table, self._form, lookup, pair_features)
        except InputError as error:
            raise InputError(
                f"{where} {error.where}", error.expected, error.found, error.todo
            ) from None
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if len(bad):
            row, expected = f"row {bad[0]} {self.ids[bad[0]]}", "features within float32's range"
            found = "embeddings so large that their products or differences are not"
            raise InputError(f"{where} {row}", expected, found, "scale the encoder's vectors down")
        return x

    def _column(self, name: str, missing: Any = None) -> Values:
        """Return a column; the value ``missing`` in all rows if there is no such column."""
        if missing is None or name in self._table.column_names:
            return array_of(self._table[name])
        return np.full(len(self._table), missing)

    def _check_targets(self) -> None:
        where, y = self._dataset.files[self._split][0], self.y
        if not len(y):
            raise InputError(where, "one row or more", "none", BUILD_MORE)
        if self._dataset.target == "label":
            right = (y >= 0) & (y < len(self._dataset.labels))
            expected = f"labels 0 … {len(self._dataset.labels) - 1}"
        else:
            right, expected = np.isfinite(y), "finite scores"
        if not right.all():
            row = int(np.flatnonzero(~right)[0])
            raise OutputError(where, expected, f"{y[row]} in row {row} of {self._split}")
