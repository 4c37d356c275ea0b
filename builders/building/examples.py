"""The rows of datasets that are made of labelled examples."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from builders.building.made import Made
from builders.plan.datasets import ExampleDataset
from builders.sampling.folds import Marks, assign, choose, same_text
from builders.store.record_files import no_examples, read_examples
from builders.store.shards import Rows
from builders.tasks.task import ExampleTask
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Example, Split


def example_rows(
    datasets: Sequence[ExampleDataset], records: Path, corpus: Corpus
) -> Iterator[Made]:
    """Yield the rows of each dataset; only one dataset is in memory at a time.

    Raises:
        InputError: the records are missing or of another kind, or none is of the collection.
    """
    for dataset in datasets:
        examples = read_examples(records, dataset.collection)
        if not examples:
            raise no_examples(records, [dataset.collection])
        # Not by the dataset's name: all datasets of a collection share its splits.
        name = f"{corpus.name}/{dataset.collection}"
        chosen, left_out = choose(examples, dataset.task.once, dataset.task.least_in_class)
        splits = rows_of(chosen, dataset.task, dataset.seed, name)
        rows = [row for part in splits.values() for row in part]
        counts = {
            "read": len(examples),
            "used": len(rows),
            **left_out,
            "also_in_another_split": sum(bool(row["also_in"]) for row in rows),
        }
        # The card compares these with the official counts.
        parts = Counter(row["source_split"] or "all" for row in rows)
        in_order = {part: parts[part] for part in (*SPLITS, "all") if parts[part]}
        report = {"examples": counts, "source_parts": in_order}
        yield Made(splits, _labels(dataset, splits), report)


def _labels(dataset: ExampleDataset, splits: Rows) -> list[str]:
    """Return the names of a dataset's classes; those that only its rows name are sorted."""
    if dataset.facts.labels:
        return list(dict.fromkeys(dataset.facts.labels.values()))
    return sorted({row["label"] for rows in splits.values() for row in rows if "label" in row})


def rows_of(
    examples: Sequence[Example], task: ExampleTask, seed: int, name: str
) -> dict[Split, list[dict[str, Any]]]:
    """Return the rows of a dataset by split; splits without rows are left out.

    Args:
        examples: of one collection.
        task: their task.
        seed: the run's seed.
        name: of the collection.
    """
    splits, of_fold = assign(examples, seed, name, trained=task.trained)
    holders: dict[Marks, set[Split]] = {}
    texts = [same_text(example) for example in examples]
    for example, text in zip(examples, texts, strict=True):
        holders.setdefault(text, set()).add(splits[example.id])
    rows: dict[Split, list[dict[str, Any]]] = {}
    for example, text in zip(examples, texts, strict=True):
        split = splits[example.id]
        others = holders[text]
        row: dict[str, Any] = {
            "id": example.id,
            **_texts(example, task),
            "document_id": example.document_id,
            **example.columns,
            "source_split": example.split or "",
            "also_in": [name for name in SPLITS if name in others and name != split],
        }
        if example.label is not None:
            row["label"] = example.label
        if example.score is not None:
            row["score"] = example.score
        if of_fold:
            row["fold"] = of_fold[example.id]
        rows.setdefault(split, []).append(row)
    return {split: rows[split] for split in SPLITS if split in rows}


def _texts(example: Example, task: ExampleTask) -> dict[str, Any]:
    """Return the text columns of a row: one with all texts of a cluster, or one for each text."""
    if task.target == "neighbours":
        return {task.texts[0].natural: list(example.texts)}
    return dict(zip((column.natural for column in task.texts), example.texts, strict=True))
