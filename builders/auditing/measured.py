"""The measurements on a dataset, and the file that keeps them for the next audit."""

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from re import Pattern
from typing import Any

import numpy as np

from builders.auditing.comparing import Index, Marks
from builders.auditing.gates.gate import Check
from builders.auditing.targets.target import Location
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.code import code_digest

FILE = "measured.npz"
# The array with all that is not marks: UTF-8 of JSON.
ENTRIES = "entries"
# Of models, and of the identification of languages.
LIBRARIES = ("numpy", "py3langid", "scikit-learn", "scipy")


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements on one dataset, except those that need the sentences of all datasets.

    Attributes:
        key: see ``key_of``.
        corpus: the entry of params.yaml that it was built from; "" for datasets of others.
        facts: its part of the report.
        checks: the measurements of its gates.
        index: what other datasets are compared with.
        replacing: see ``builders.auditing.gates.donors.replacements``.
    """

    key: str
    corpus: str
    facts: dict[str, Any]
    checks: list[Check]
    index: Index
    replacing: Marks | None


def key_of(location: Location, boilerplate: Iterable[Pattern[str]]) -> str:
    """Return the SHA-256 of all that the measurements of a dataset depend on.

    Args:
        location: of its files.
        boilerplate: the patterns of its corpus.
    """
    depends_on = [
        _computed_by(),
        {split: [[p.name, sha256_of(p)] for p in paths] for split, paths in location.files.items()},
        [location.task, location.language, location.records, asdict(location.columns)],
        [location.layout, location.folders],
        [[pattern.pattern, pattern.flags] for pattern in boilerplate],
    ]
    return sha256(json.dumps(depends_on).encode()).hexdigest()


@cache
def _computed_by() -> list[str]:
    """Return the code and the versions that compute; Python has the tables of Unicode."""
    code = code_digest("builders.auditing.measuring")
    return [code, platform.python_version(), *map(version, LIBRARIES)]


def write_measured(measured: Mapping[str, Measured], folder: Path) -> None:
    """Write the measurements on datasets, by name, to ``folder/measured.npz``."""
    entries = {}
    arrays: dict[str, Any] = {}
    for name, found in measured.items():
        checks = [asdict(check) for check in found.checks]
        entries[name] = [found.key, found.corpus, found.facts, checks]
        for array in fields(Index):
            arrays[f"{name}/{array.name}"] = getattr(found.index, array.name)
        if found.replacing is not None:
            arrays[f"{name}/replacing"] = found.replacing
    arrays[ENTRIES] = np.frombuffer(json.dumps(entries).encode(), np.uint8)
    np.savez(folder / FILE, **arrays)


def read_measured(folder: Path) -> dict[str, Measured]:
    """Return the measurements in a folder; none if the file is missing, damaged or of another form.

    The file has a checksum for each array.
    """
    try:
        with np.load(folder / FILE) as arrays:
            return {
                name: Measured(
                    key,
                    corpus,
                    facts,
                    [Check(**check) for check in checks],
                    Index(*(arrays[f"{name}/{array.name}"] for array in fields(Index))),
                    arrays.get(f"{name}/replacing"),
                )
                for name, (key, corpus, facts, checks) in json.loads(
                    arrays[ENTRIES].tobytes()
                ).items()
            }
    except Exception:  # a damaged archive may raise nearly every type
        return {}
