"""The rows of a dataset, the check of their number, and what limited it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from builders.plan.datasets import Dataset, PassageDataset
from builders.sampling.folds import FOLDS
from builders.store.shards import Counts, Rows, describe
from corpora_recipes.running.errors import InputError

# Why a document or passage is in no row, as build.json counts it, in words.
LOST = {
    "without_passage": "documents are too short for the task",
    "unfinished_sentence": "passages have an unfinished sentence",
    "of_another_dataset": "passages are of documents that went to another dataset",
    "repeated_sentence": "passages have a sentence that another document has too",
    "length_tells": "passages would give the answer away by the length of a sentence",
    "beyond_quota_or_balance": "passages are too many for equal classes, or for a split",
}


class Made(NamedTuple):
    """The rows of a dataset.

    Attributes:
        rows: split to its rows.
        labels: names of the classes in the order of their numbers; empty if rows have none.
        counts: the numbers of records used or left out, by reason.
    """

    rows: Rows
    labels: list[str]
    counts: Counts


def check_sizes(dataset: Dataset, made: Made) -> None:
    """Check that every split has enough rows to train or to score a probe.

    Raises:
        InputError: a split has too few.
    """
    # Two classes need two rows; each cluster is scored alone.
    least = 1 if dataset.task.target == "neighbours" else 2
    if made.rows.keys() == {"train"}:
        least = 2 * FOLDS
    if made.rows and all(len(rows) >= least for rows in made.rows.values()):
        return
    needed = {1: "one row", 2: "two rows"}.get(least, f"{least} rows")
    sizes = ", ".join(f"{split} {len(rows)} rows" for split, rows in made.rows.items()) or "none"
    raise InputError(
        f"dataset {dataset.name} ({dataset.task.name.replace('_', ' ')})",
        expected=f"{needed} or more in each split; a row needs {dataset.task.needs}",
        found=f"{sizes}; {describe(made.counts)}",
        todo="take more documents (or longer ones, if most had no passage), or give the corpus "
        "fewer datasets, as they share its documents"
        if isinstance(dataset, PassageDataset)
        else "add the source's files that are missing",
    )


def limit_of(dataset: PassageDataset, report: Mapping[str, Any]) -> str:
    """Return what limits the rows of a dataset: its quota, or the reason that takes most documents.

    Args:
        dataset: made of passages.
        report: its part of build.json.
    """
    rows = report["rows"]
    # Classes are equally frequent.
    if all(dataset.quota(split) - rows[split] < len(dataset.task.labels) for split in rows):
        return "all rows that were asked for"
    read = report["documents"]["read"]
    counts = report["documents"] | report["passages"]
    reason = max(LOST, key=lambda name: counts[name])
    if not counts[reason]:
        return f"limited by the number of documents, {read:,}"
    most = f"{counts[reason]:,} {LOST[reason]}"
    return f"limited by documents ({read:,} read); most left out: {most}"
