"""From embeddings to the features that a probe sees, task by task.

The features are those of DiscoEval (Chen, Chu and Gimpel 2019, "Evaluation benchmarks and learning
criteria for discourse-aware sentence representations", section 3), of SentEval (Conneau and Kiela
2018, "SentEval: An evaluation toolkit for universal sentence representations") and of their Spanish
editions (Araujo et al. 2022, "Evaluation benchmarks for Spanish sentence representations").
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from builders.tasks import TASKS
from corpora_recipes.running.errors import OutputError
from evaluation.arrays import Counts, Flags, Floats
from evaluation.data.texts import text_columns, texts_of
from evaluation.encoders.encoder import Form

Lookup = Callable[[Sequence[str]], Floats]
Combine = Callable[[Floats], Floats]
"""Embeddings of each row's texts, float32 [rows, texts, dimension], to features [rows, features].

With x1, x2 … for the texts of a row."""
PairFeatures = Literal["difference_product", "four_part"]


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
    "discourse_relations": four_parts,
    "explicit_relations": four_parts,
    "implicit_relations": four_parts,
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

    Raises:
        InputError: a row has a wrong number of texts, or none.
    """
    counts = [text.count for text in TASKS[task].texts]
    x = [
        _vectors(task, table, column, count, lookup)
        for column, count in zip(text_columns(task, form), counts, strict=True)
    ]
    combine = FEATURES.get(task, side_by_side)
    if isinstance(combine, Mapping):
        combine = combine[pair_features]
    return combine(x[0] if len(x) == 1 else np.concatenate(x, axis=1))


def _vectors(task: str, table: pa.Table, column: str, count: int | None, lookup: Lookup) -> Floats:
    """Return the embeddings of each row's texts, or their mean if their number varies (no count).

    They are float32 [rows, count, dimension], or [rows, 1, dimension].
    """
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
