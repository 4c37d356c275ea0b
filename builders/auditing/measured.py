"""The measurements on a dataset, and how the memory keeps them for the next audit."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from re import Pattern
from typing import Any

import numpy as np

from builders.auditing.comparing import Index, Marks
from builders.auditing.gates.gate import Check
from builders.exchange.target import Location
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.memo import Key, Memo, digest_of
from corpora_recipes.running.outputs import whole_file


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements on one dataset, except those that need the sentences of all datasets.

    Attributes:
        corpus: the entry of params.yaml that it was built from; "" for datasets of others.
        facts: its part of the report.
        checks: the measurements of its gates.
        index: what other datasets are compared with.
        replacing: see ``builders.auditing.gates.donors.replacements``.
    """

    corpus: str
    facts: dict[str, Any]
    checks: list[Check]
    index: Index
    replacing: Marks | None


def key_of(location: Location, boilerplate: Iterable[Pattern[str]]) -> Key:
    """Return all that the measurements of a dataset depend on.

    Args:
        location: of its files.
        boilerplate: the patterns of its corpus.
    """
    files = {
        split: [[p.name, digest_of(p)] for p in paths] for split, paths in location.files.items()
    }
    return {
        "inputs": files,
        "parameters": [[pattern.pattern, pattern.flags] for pattern in boilerplate],
        "code": code_digest("builders.auditing.measuring"),
        "versions": stage_versions("audit"),
    }


def keep_measured(memo: Memo, name: str, key: Key, measured: Measured) -> None:
    """Keep the measurements on a dataset."""
    arrays = {array.name: getattr(measured.index, array.name) for array in fields(Index)}
    if measured.replacing is not None:
        arrays["replacing"] = measured.replacing
    with whole_file(_file(memo, name)) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)
    checks = [asdict(check) for check in measured.checks]
    facts = {"corpus": measured.corpus, "facts": measured.facts, "checks": checks}
    memo.keep(name, key, [_file(memo, name)], facts)


def kept_measured(memo: Memo, name: str, key: Key) -> Measured | None:
    """Return the measurements on a dataset; None if it must be measured."""
    found = memo.kept(name, key)
    if found is None:
        return None
    with np.load(_file(memo, name)) as arrays:
        index = Index(*(arrays[array.name] for array in fields(Index)))
        replacing = arrays.get("replacing")
    checks = [Check(**check) for check in found["checks"]]
    return Measured(found["corpus"], found["facts"], checks, index, replacing)


def _file(memo: Memo, name: str) -> Path:
    return memo.place(name) / "measured.npz"
