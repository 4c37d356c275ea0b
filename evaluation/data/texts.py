"""The texts of a dataset, in the form that an encoder takes, and the prompt that they get."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.tasks import TASKS
from builders.tasks.groups import GROUPS
from corpora_recipes.casing import lower_case
from corpora_recipes.checking import one_of
from corpora_recipes.parquet import array_of
from corpora_recipes.records import Split
from evaluation.arrays import Counts
from evaluation.data.instances import Dataset
from evaluation.encoders.encoder import Described, Encoder, Form

DEFAULT = "default"


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
    return next((encoder.prompts[n] for n in [*names, DEFAULT] if n in encoder.prompts), None)


def prompted_texts(encoder: Described, datasets: Iterable[Dataset]) -> dict[str | None, set[str]]:
    """Return prompt to all texts that get it, each once."""
    texts: dict[str | None, set[str]] = {}
    for dataset in datasets:
        of_prompt = texts.setdefault(prompt_of(encoder, dataset), set())
        of_prompt |= unique_texts(dataset, encoder.form)
    return texts


def check_prompt_names(encoder: Encoder, datasets: Iterable[str]) -> None:
    """Check that all prompts are of datasets (by name), of groups, or the default."""
    known = [DEFAULT, *(group.abbreviation for group in GROUPS), *datasets]
    for name in encoder.prompts:
        one_of(name, known, f"prompts of encoder {encoder.name}")
