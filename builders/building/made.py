"""The rows of a dataset, and the check of their number."""

from typing import NamedTuple

from builders.plan.datasets import Dataset, PassageDataset
from builders.sampling.folds import FOLDS
from builders.store.dataset_files import Counts, Rows, describe
from corpora_recipes.running.errors import InputError


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
