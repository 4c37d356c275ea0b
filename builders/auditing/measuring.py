"""Measures the gates on one dataset, as far as they need no other dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from re import Pattern

from builders.auditing.comparing import Index
from builders.auditing.gates import audit_dataset
from builders.auditing.gates.donors import replacements
from builders.auditing.measured import Measured
from builders.exchange.finding import load_target
from builders.exchange.target import Location
from builders.store.shards import digest
from corpora_recipes.running.errors import InputError


def measure(location: Location, boilerplate: Mapping[str, Sequence[Pattern[str]]]) -> Measured:
    """Read a dataset and measure its gates.

    Args:
        location: of its files.
        boilerplate: corpus to the patterns that must not occur in its texts.

    Raises:
        InputError: a file is damaged, its rows do not fit together, or its language is unknown.
    """
    target = load_target(location)
    target = replace(target, boilerplate=boilerplate.get(target.corpus, ()))
    try:
        checks = audit_dataset(target)
    except InputError as error:
        raise InputError(
            f"dataset {target.name}: {error.where}",
            expected=error.expected,
            found=error.found,
            todo=error.todo,
        ) from None
    shards = location.files if target.corpus else {}
    facts = {
        "task": target.task.name if target.task else None,
        "language": target.language,
        "classes": len(target.labels),
        "texts": list(target.texts),
        "answer": target.answer,
        "records": target.records,
        "rows": {split: len(part.texts) for split, part in target.parts.items()},
        # Identifies the audited rows, so that no others are packaged with this audit.
        "content": {split: digest(paths)["content"] for split, paths in shards.items()},
    }
    return Measured(
        target.corpus,
        facts,
        checks,
        Index.of(target),
        replacements(target),
    )
