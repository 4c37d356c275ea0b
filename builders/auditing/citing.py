"""The JSON of an audit that can be cited: what was audited, by what, and what was found."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from builders.auditing.report import FORMAT, GATES, verdict_of
from builders.exchange.target import Location
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.environment import LIBRARIES
from corpora_recipes.running.outputs import whole_file

# Rises whenever a field gets another meaning or goes.
VERSION = 1


def cite(
    report: Mapping[str, Any], locations: Sequence[Location], target: str, path: Path
) -> dict[str, Any]:
    """Write the JSON that docs/audit.md describes; the same audit gives the same bytes.

    Args:
        report: the content of ``audit.json``.
        locations: of the datasets.
        target: the folder or the name that was audited.
        path: the file.

    Returns:
        What was written.
    """
    source = report["source"]
    files = {location.name: location.files for location in locations}
    cited = {
        "version": VERSION,
        "audited": source or {"name": Path(target).resolve().name},
        "audited_by": {
            "probeta": version("probeta"),
            "audit": FORMAT,
            "code": code_digest("builders.auditing.auditing"),
            "python": platform.python_version(),
            "libraries": {name: version(name) for name in LIBRARIES["audit"]},
        },
        "datasets": {
            name: {
                **{key: facts[key] for key in _FACTS},
                "files": {
                    split: [
                        {"name": p.name, "bytes": p.stat().st_size, "sha256": sha256_of(p)}
                        for p in paths
                    ]
                    for split, paths in files.get(name, {}).items()
                },
                "verdicts": {gate: verdict_of(facts["checks"], gate) for gate in GATES},
                "checks": [one for one in facts["checks"] if one["verdict"] != "not applicable"],
            }
            for name, facts in report["datasets"].items()
        },
        "shared": report["shared"],
        "not_read": report["not_read"],
    }
    with whole_file(path) as temporary:
        text = json.dumps(cited, ensure_ascii=False, indent=2)
        temporary.write_text(text + "\n", "utf-8")
    return cited


_FACTS = ("task", "records", "language", "classes", "texts", "answer", "rows", "content")
