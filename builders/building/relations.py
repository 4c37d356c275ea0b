"""The rows of datasets that are made of discourse trees."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from builders.building.made import Made
from builders.plan.datasets import RelationDataset
from builders.store.dataset_files import Rows
from builders.store.record_files import read_records
from builders.tasks import discourse_relations
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, DiscourseTree
from corpora_recipes.running.errors import InputError


def relation_rows(datasets: Sequence[RelationDataset], records: Path, corpus: Corpus) -> list[Made]:
    """Return the same rows for each dataset, as every tree is used.

    Args:
        datasets: those of the corpus.
        records: the file of its trees.
        corpus: its entry in params.yaml.

    Raises:
        InputError: the records are missing or of another kind, or a relation is unknown.
    """
    read = read_records(records, corpus.facts.records)
    trees = [record for record in read if isinstance(record, DiscourseTree)]
    labels = corpus.facts.labels
    rows: Rows = {split: [] for split in SPLITS}
    for tree in trees:
        assert tree.split is not None  # `read` decides every split
        for number, instance in enumerate(discourse_relations.instances(tree)):
            if instance.label not in labels:
                raise InputError(
                    f"text {tree.id}",
                    expected=f"relations whose label is one of {', '.join(labels)}",
                    found=instance.label,
                    todo=f"correct the text, or `labels` in {corpus.recipe}/corpus.yaml",
                )
            row = {"id": f"{tree.id}#{number}", "document_id": tree.id}
            rows[tree.split].append(asdict(instance) | row)
    counts = {"texts": {"read": len(trees), "used": len(trees)}}
    return [Made(rows, list(labels), counts) for _ in datasets]
