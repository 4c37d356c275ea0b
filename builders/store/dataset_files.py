"""Writes the rows of a dataset, and describes the counts of its construction."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from builders.plan.datasets import Dataset
from builders.store.shards import write_split
from corpora_recipes.records import Split

Rows = dict[Split, list[dict[str, Any]]]
# Unit ("documents" …) to outcome to number.
Counts = dict[str, dict[str, int]]
# The keys of a dataset in build.json that are no such units.
NO_COUNTS = ("rows", "labels", "sources", "window")


def describe(counts: Counts) -> str:
    """Return the counts of a report in words: "documents: read 9, …; passages: …"."""

    def spaced(name: str) -> str:
        return name.replace("_", " ")

    return "; ".join(
        f"{spaced(unit)}: " + ", ".join(f"{spaced(reason)} {n:,}" for reason, n in of.items())
        for unit, of in counts.items()
    )


def write_dataset(
    dataset: Dataset, splits: Rows, labels: list[str], folder: Path
) -> dict[str, Any]:
    """Write the rows of a dataset to ``folder/<dataset>``.

    Returns:
        ``rows``, split to their number, and ``labels``, split to class to the number of rows.
    """
    report: dict[str, Any] = {"rows": {}, "labels": {}}
    for split, rows in splits.items():
        written = write_split(rows, dataset, split, labels, folder / dataset.name)
        report["rows"][split] = len(written)
        names = Counter(labels[row["label"]] for row in written if "label" in row)
        report["labels"][split] = dict(sorted(names.items()))
    return report


def write_report(report: dict[str, Any], folder: Path) -> None:
    """Write the report on the datasets of a folder to ``folder/build.json``."""
    text = json.dumps(report, ensure_ascii=False, indent=2)
    (folder / "build.json").write_text(text + "\n", "utf-8")


def describe_rows(dataset: str, report: dict[str, Any]) -> str:
    """Return the number of rows per split that a report on a dataset has, in words."""
    return f"{dataset}: " + ", ".join(f"{of} {rows:,}" for of, rows in report["rows"].items())
