"""The rows of what others have annotated: labelled examples, and discourse trees."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from builders.plan.datasets import Dataset, ExampleDataset
from builders.sampling.folds import (
    TextKey,
    assign_splits,
    filter_examples,
    source_test_split,
    text_key,
)
from builders.store.record_files import no_examples, read_examples, read_records
from builders.store.shards import Made, Rows
from builders.tasks import discourse_relations
from builders.tasks.task import ExampleTask
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, DiscourseTree, Example, Split
from corpora_recipes.running.errors import RawError


def example_rows(
    datasets: Sequence[ExampleDataset], records: Path, corpus: Corpus
) -> Iterator[Made]:
    """Yield the rows of each dataset; only one dataset is in memory at a time."""
    for dataset in datasets:
        examples = read_examples(records, dataset.collection)
        if not examples:
            yield Made({}, [], {}, no_examples(records, [dataset.collection]))
            continue
        # Not by the dataset's name: all datasets of a collection share its splits.
        name = f"{corpus.name}/{dataset.collection}"
        # Nothing is learnt for an untrained task: of a source with parts, only its test is asked.
        tested = None if dataset.task.trained else source_test_split(examples)
        asked = [example for example in examples if tested in (None, example.split)]
        chosen, left_out = filter_examples(asked, dataset.task.once, dataset.task.least_in_class)
        if tested:
            left_out["not_test"] = len(examples) - len(asked)
        splits = rows_of(chosen, dataset.task, dataset.seed, name)
        rows = [row for part in splits.values() for row in part]
        counts = {
            "read": len(examples),
            "used": len(rows),
            **left_out,
            "also_in_another_split": sum(bool(row["also_in"]) for row in rows),
        }
        # The card compares these with the official counts.
        parts: Counter[str] = Counter(example.split or "all" for example in examples)
        in_order = {part: parts[part] for part in (*SPLITS, "all") if parts[part]}
        report = {"examples": counts, "source_parts": in_order}
        labels = list(dict.fromkeys((dataset.facts.labels or {}).values()))
        # Those that only its rows name are sorted.
        yield Made(splits, labels or sorted({r["label"] for r in rows if "label" in r}), report)


def rows_of(
    examples: Sequence[Example], task: ExampleTask, seed: int, name: str
) -> dict[Split, list[dict[str, Any]]]:
    """Return the rows of a dataset by split; splits without rows are left out."""
    splits, of_fold = assign_splits(examples, seed, name, trained=task.trained, n_folds=task.folds)
    holders: dict[TextKey, set[Split]] = {}
    texts = [text_key(example) for example in examples]
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


def relation_rows(datasets: Sequence[Dataset], records: Path, corpus: Corpus) -> list[Made]:
    """Return the rows of each dataset: every relation of every tree."""
    read = read_records(records, corpus.facts.records)
    trees = [record for record in read if isinstance(record, DiscourseTree)]
    counts = {"texts": {"read": len(trees), "used": len(trees)}}
    made = []
    for dataset in datasets:
        label = dataset.options.get("label", discourse_relations.NUCLEARITY)
        listed = corpus.facts.labels if label == discourse_relations.NUCLEUS_FIRST else ()
        known = dataset.task.labels or listed
        rows = _relations(trees, label, known, corpus)
        labels = {row["label"] for part in rows.values() for row in part}
        made.append(Made(rows, list(known) or sorted(labels), counts))
    return made


def _relations(
    trees: Sequence[DiscourseTree], label: str, known: Sequence[str], corpus: Corpus
) -> Rows:
    """Return the rows by split; their classes are among the known ones, if there are any."""
    rows: Rows = {split: [] for split in SPLITS}
    for tree in trees:
        assert tree.split is not None  # `read` decides every split
        for number, instance in enumerate(discourse_relations.instances(tree, label)):
            if known and instance["label"] not in known:
                expected = f"relations whose label is one of {', '.join(known)}"
                todo = f"correct the text, or `labels` in {corpus.recipe}/corpus.yaml"
                raise RawError(f"text {tree.id}", expected, instance["label"], todo)
            row = {"id": f"{tree.id}#{number}", "document_id": tree.id}
            rows[tree.split].append(instance | row)
    return rows
