"""The mark of instances that could not be made, because a corpus must be asked for."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from builders.plan.groups import BuildGroup
from builders.store.dataset_files import write_report
from corpora_recipes.running.errors import InputError

_MARK = "missing.json"


def write_missing(why: str, folder: Path) -> None:
    """Write the mark, and a report without datasets, in place of instances.

    Args:
        why: how to get the corpus.
        folder: of the instances of a corpus or a ranking, in a whole output.
    """
    write_report({}, folder)
    text = json.dumps({"missing": why}, ensure_ascii=False, indent=2)
    (folder / _MARK).write_text(text + "\n", "utf-8")


def missing_datasets(groups: Iterable[BuildGroup], instances: Path) -> dict[str, str]:
    """Return the datasets that could not be made, with how to get their corpus.

    Args:
        groups: all that params.yaml asks for.
        instances: the folder that `build` and `compose` wrote.
    """
    found: dict[str, str] = {}
    for group in groups:
        path = instances / group.folder / _MARK
        if path.is_file():
            why = json.loads(path.read_text("utf-8"))["missing"]
            found |= {dataset.name: why for dataset in group.datasets}
    return found


def without_missing(
    groups: Iterable[BuildGroup], instances: Path
) -> tuple[list[BuildGroup], dict[str, str]]:
    """Return the groups without the datasets of ``missing_datasets``, and these.

    Raises:
        InputError: no dataset is left.
    """
    asked = list(groups)
    missing = missing_datasets(asked, instances)
    there = [
        group._replace(datasets=[d for d in group.datasets if d.name not in missing])
        for group in asked
    ]
    if not any(group.datasets for group in there):
        raise InputError(
            instances,
            expected="at least one dataset",
            found="; ".join(said_missing(missing)) or "params.yaml has none",
            todo="get a corpus, or add one to params.yaml",
        )
    return there, missing


def said_missing(missing: Mapping[str, str]) -> list[str]:
    """Return lines that say which datasets are missing, and how to get their corpora."""
    names: dict[str, list[str]] = {}
    for dataset, why in missing.items():
        names.setdefault(why, []).append(dataset)
    return [f"missing: {', '.join(own)}. {why}" for why, own in names.items()]
