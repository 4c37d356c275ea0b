"""The function `audit`: the gates, measured on third-party datasets."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.audit_report import Inherited
from builders.auditing import auditing
from builders.auditing.target import Columns, Location
from builders.plan.groups import BuildGroup
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import check_packages
from probeta.exchange.finding import find_targets, pickles_in

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


def audit(
    target: Path | str,
    out: Path,
    *,
    task: str | None = None,
    language: str | None = None,
    records: str | None = None,
    columns: Columns | None = None,
    groups: Sequence[BuildGroup] = (),
    inherited: Inherited | None = None,
    params: Path = PARAMS,
    strict: bool = False,
    workers: int = 1,
    cited: Path | None = None,
) -> dict[str, Any]:
    """Measure the gates on every dataset of a folder, or of a name.

    Args:
        target: a folder, "hf://datasets/ORG/NAME[@REVISION][/FOLDER]" or "mteb:TASK".
        out: folder for audit.json and audit.md; what it held before is replaced as a whole.
        task: of files that do not state it.
        language: of files that do not state it; None for that of the Hub's card or of mteb's
            task, and Spanish in a folder.
        records: the kind of records of files that do not state it; None to tell it by the texts.
        columns: the columns to take; those that are not named are found by name and content.
        groups, inherited, params, strict, workers, cited: see ``builders.auditing.auditing.audit``.

    Returns:
        The content of audit.json, see ``builders.auditing.auditing.audit``.

    Raises:
        InputError: no dataset was found, it cannot be downloaded, or files are damaged.
    """
    check_packages("audit", "py3langid", "sklearn")
    source, locations = locate(
        target, task=task, language=language, records=records, columns=columns
    )
    pickles = [] if source else pickles_in(Path(target))
    return auditing.audit(
        locations,
        out,
        target=str(target),
        source=asdict(source) if source else None,
        not_read=[path.relative_to(target).as_posix() for path in pickles],
        groups=groups,
        inherited=inherited,
        params=params,
        strict=strict,
        workers=workers,
        cited=cited,
    )
