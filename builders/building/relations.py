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
    """Return the rows of each dataset: every relation of every tree.

    Args:
        datasets: those of the corpus.
        records: the file of its trees.
        corpus: its entry in params.yaml.

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
        found = {row["label"] for part in rows.values() for row in part}
        made.append(Made(rows, list(known) or sorted(found), counts))
    return made


def _rows(trees: Sequence[DiscourseTree], label: str, known: Sequence[str], corpus: Corpus) -> Rows:
    """Return the rows by split; their classes are among the known ones, if there are any."""
    rows: Rows = {split: [] for split in SPLITS}
    for tree in trees:
        assert tree.split is not None  # `read` decides every split
        for number, instance in enumerate(discourse_relations.instances(tree, label)):
            if known and instance.label not in known:
                raise InputError(
                    f"text {tree.id}",
                    expected=f"relations whose label is one of {', '.join(known)}",
                    found=instance.label,
                    todo=f"correct the text, or `labels` in {corpus.recipe}/corpus.yaml",
                )
            row = {"id": f"{tree.id}#{number}", "document_id": tree.id}
            rows[tree.split].append(asdict(instance) | row)
    return rows
