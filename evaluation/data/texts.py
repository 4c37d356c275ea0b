"""The texts of a dataset, in the form that an encoder takes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.tasks import TASKS
from corpora_recipes.casing import lower_case
from corpora_recipes.parquet import array_of
from evaluation.arrays import Counts
from evaluation.data.instances import Dataset
from evaluation.encoders.encoder import Form


def text_columns(task: str, form: Form) -> tuple[str, ...]:
    """Return the columns of a task's instances that hold the texts in one of their forms."""
    texts = TASKS[task].texts
    return tuple(text.natural if form == "natural" else text.tokens for text in texts)


def unique_texts(dataset: Dataset, form: Form) -> set[str]:
    """Return every text of a dataset, all splits; words also in lower case."""
    columns = text_columns(dataset.task, form)
    texts: set[str] = set()
    for split in dataset.files:
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
