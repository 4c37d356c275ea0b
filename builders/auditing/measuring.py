"""Measures the gates on one dataset; the memory keeps the measurements for the next audit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from re import Pattern
from typing import Any

import numpy as np

from builders.auditing.comparing import Index
from builders.auditing.gates import audit_dataset
from builders.auditing.gates.donors import replacements
from builders.auditing.gates.gate import Check
from builders.auditing.target import Location, Marks
from builders.store.shards import digest
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.memo import Cache, Key, digest_file
from corpora_recipes.running.outputs import whole_file


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements on one dataset, except those that need the sentences of all datasets.

    Attributes:
        corpus: the entry of params.yaml that it was built from; "" for datasets of others.
        facts: its part of the report.
        replacing: see ``builders.auditing.gates.donors.replacements``.
    """

    corpus: str
    facts: dict[str, Any]
    checks: list[Check]
    index: Index
    replacing: Marks | None


def key_of(location: Location, boilerplate: Iterable[Pattern[str]]) -> Key:
    """Return all that the measurements of a dataset depend on; patterns are those of its corpus."""
    files = {
        split: [[p.name, digest_file(p)] for p in paths] for split, paths in location.files.items()
    }
    return {
        "inputs": files,
        "parameters": [[pattern.pattern, pattern.flags] for pattern in boilerplate],
        "code": code_digest("builders.auditing.measuring", "builders.auditing.instances"),
        "versions": stage_versions("audit"),
    }


def keep_measured(memo: Cache, name: str, key: Key, measured: Measured) -> None:
    """Keep the measurements on a dataset."""
    arrays = {array.name: getattr(measured.index, array.name) for array in fields(Index)}
    if measured.replacing is not None:
        arrays["replacing"] = measured.replacing
    with whole_file(_file(memo, name)) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)
    checks = [asdict(check) for check in measured.checks]
    facts = {"corpus": measured.corpus, "facts": measured.facts, "checks": checks}
    memo.put(name, key, [_file(memo, name)], facts)


def kept_measured(memo: Cache, name: str, key: Key) -> Measured | None:
    """Return the measurements on a dataset; None if it must be measured."""
    kept = memo.get(name, key)
    if kept is None:
        return None
    with np.load(_file(memo, name)) as arrays:
        index = Index(*(arrays[array.name] for array in fields(Index)))
        replacing = arrays.get("replacing")
    checks = [Check(**check) for check in kept["checks"]]
    return Measured(kept["corpus"], kept["facts"], checks, index, replacing)


def _file(memo: Cache, name: str) -> Path:
    return memo.folder(name) / "measured.npz"


def measure(location: Location, boilerplate: Mapping[str, Sequence[Pattern[str]]]) -> Measured:
    """Read a dataset and measure its gates; ``boilerplate`` has the patterns of each corpus."""
    target = location.load()
    target = replace(target, boilerplate=boilerplate.get(target.corpus, ()))
    try:
        checks = audit_dataset(target)
    except InputError as error:
        where = f"dataset {target.name}: {error.where}"
        raise InputError(where, error.expected, error.found, error.todo) from None
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
    return Measured(target.corpus, facts, checks, Index.of(target), replacements(target))
