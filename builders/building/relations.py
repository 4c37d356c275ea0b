"""The rows of datasets that are made of discourse trees."""

from collections.abc import Sequence
from pathlib import Path

from builders.building.made import Made
from builders.plan.datasets import Dataset
from builders.store.record_files import read_records
from builders.store.shards import Rows
from builders.tasks import discourse_relations
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, DiscourseTree
from corpora_recipes.running.errors import RawError


def relation_rows(datasets: Sequence[Dataset], records: Path, corpus: Corpus) -> list[Made]:
    """Return the rows of each dataset: every relation of every tree.

    Raises:
        InputError: the records are missing or of another kind, or a relation is unknown.
    """
    read = read_records(records, corpus.facts.records)
    trees = [record for record in read if isinstance(record, DiscourseTree)]
    counts = {"texts": {"read": len(trees), "used": len(trees)}}
    made = []
    for dataset in datasets:
        label = dataset.options["label"]
        known = corpus.facts.labels if label == discourse_relations.NUCLEUS_FIRST else ()
        rows = _rows(trees, label, known, corpus)
        labels = {row["label"] for part in rows.values() for row in part}
        made.append(Made(rows, list(known) or sorted(labels), counts))
    return made


def _rows(trees: Sequence[DiscourseTree], label: str, known: Sequence[str], corpus: Corpus) -> Rows:
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
