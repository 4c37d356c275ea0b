"""Finds the datasets to audit, in a folder or by name."""

from pathlib import Path

from builders.auditing.targets import hub, mteb
from builders.auditing.targets.finding import find_targets
from builders.auditing.targets.hub import Source
from builders.auditing.targets.target import Columns, Location


def locate(
    target: Path | str,
    *,
    task: str | None = None,
    language: str | None = None,
    records: str | None = None,
    columns: Columns | None = None,
) -> tuple[Source | None, list[Location]]:
    """Return the datasets of a folder, of ``hf://datasets/…`` or of ``mteb:TASK``.

    Args:
        target: the folder or the name.
        task: see ``find_targets``.
        language: of files that do not state it; None for that of a card or a task, and Spanish in a
            folder.
        records: see ``find_targets``.
        columns: see ``find_targets``.

    Returns:
        Where they come from, None for a folder; and where their files are.

    Raises:
        InputError: there are no datasets, or they cannot be downloaded.
    """
    said = str(target)
    if mteb.is_name(said):
        found = mteb.mteb_targets
    elif hub.is_name(said):
        found = hub.hub_targets
    else:
        return None, find_targets(
            Path(target), task=task, language=language or "es", records=records, columns=columns
        )
    return found(said, task=task, language=language, records=records, columns=columns)
