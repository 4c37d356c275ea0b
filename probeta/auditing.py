"""The function ``audit``: the gates, measured on datasets of others."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from builders.audit_report import Inherited
from builders.auditing import auditing
from builders.auditing.target import Columns
from builders.plan.groups import BuildGroup
from corpora_recipes.running.commands import PARAMS
from corpora_recipes.running.extras import check_packages
from probeta.exchange.finding import pickles_in
from probeta.exchange.locating import locate


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
