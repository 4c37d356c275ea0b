"""Adds the tokens of the texts to instances: the rows of the package."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.store.schema import about_of, instance_schema, labels_of
from builders.store.shards import write_shard
from builders.tasks import TASKS
from builders.tasks.task import Column, Task
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import tokenize


def add_tokens(
    source: Path, target: Path, columns: dict[str, Column], progress: Callable[[int], object]
) -> None:
    """Write a shard with the rows of another and the spaCy tokens of their texts, group by group.

    ``progress`` is called with a number of rows done.
    """
    with pq.ParquetFile(source) as file:
        about = about_of(file.schema_arrow)
        task = TASKS[about["task"]]
        names = {*file.schema_arrow.names, *(text.tokens for text in task.texts)}
        written = {name: column for name, column in columns.items() if name in names}
        schema = instance_schema(written, labels_of(file.schema_arrow), about)
        language = _rules_for(task, about["language"])
        write_shard(target, schema, _tokenised(file, task, language, progress))


def _tokenised(
    file: pq.ParquetFile, task: Task, language: str, progress: Callable[[int], object]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each row group with their tokens."""

    def joined(text: str) -> str:
        return " ".join(tokenize(text, language))

    for group in range(file.num_row_groups):
        rows: list[dict[str, Any]] = file.read_row_group(group).to_pylist()
        for row in rows:
            for text in task.texts:
                given = row[text.natural]
                row[text.tokens] = (
                    joined(given) if isinstance(given, str) else [*map(joined, given)]
                )
            progress(1)
        yield rows


def _rules_for(task: Task, language: str) -> str:
    """Return the language whose rules split the texts of a task into tokens."""
    if task.unit == "word":
        try:
            tokenize("", language)
        except InputError:
            return "xx"
    return language
