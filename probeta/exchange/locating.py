"""Finds the datasets to audit, in a folder or by name."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from builders.auditing.target import Columns, Location
from probeta.exchange.finding import find_targets

if TYPE_CHECKING:
    from probeta.exchange.hub import Source


def locate(
    target: Path | str,
    *,
    task: str | None = None,
    language: str | None = None,
    records: str | None = None,
    columns: Columns | None = None,
) -> tuple["Source | None", list[Location]]:
    """Return the datasets of a folder, of ``hf://datasets/…`` or of ``mteb:TASK``.

    For the others, see ``Location``; without a language, it is that of a card or a task, and
    Spanish in a folder. A task of mteb has its columns. Without records, the task and the texts
    tell them.

    Returns:
        Where they come from, None for a folder; and where their files are.
    """
    name = str(target)
    columns = columns or Columns()
    if name.startswith("mteb:"):
        from probeta.exchange.hub import mteb_targets

        source, locations = mteb_targets(name, language, columns)
    elif name.startswith("hf://"):
        from probeta.exchange.hub import hub_targets

        source, locations = hub_targets(name, language)
        locations = [replace(location, columns=columns) for location in locations]
    else:
        return None, find_targets(
            Path(target), task=task, language=language or "es", records=records, columns=columns
        )
    return source, [
        replace(location, task=task, records=records or location.records) for location in locations
    ]
