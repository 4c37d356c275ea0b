"""Loads datasets with `datasets`, in one process for many, as its import takes seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any, Self

# Of every config: how many rows a split has, the names of its labels, its first id and label.
LOAD = """
import json, sys
from datasets import ClassLabel, get_dataset_config_names, load_dataset
for line in sys.stdin:
    where, streaming = json.loads(line)
    found = {}
    for name in get_dataset_config_names(where):
        data = load_dataset(where, name, streaming=streaming)
        for split, rows in data.items():
            first = next(iter(rows))
            label = rows.features.get("label")
            assert label is None or isinstance(label, ClassLabel), rows.features
            found[f"{name}/{split}"] = [
                sum(1 for _ in rows), label and label.names, first["id"], first.get("label")
            ]
    print(json.dumps(found), flush=True)
"""


class Loader:
    """A process whose caches are fresh, which loads what it is told."""

    def __init__(self, home: Path, **environment: str) -> None:
        self._errors = (home / "errors").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOAD],
            env=os.environ
            | {"HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
            | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def load(self, where: Path | str, *, streaming: bool = False) -> dict[str, list[Any]]:
        """Load every config of a folder or a repository: "config/split" to what `LOAD` says."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([str(where), streaming]) + "\n")
        self._process.stdin.flush()
        timeout = Timer(120, self._process.kill)
        timeout.start()
        line = self._process.stdout.readline()
        timeout.cancel()
        self._errors.seek(0)
        assert line, self._errors.read()
        found: dict[str, list[Any]] = json.loads(line)
        return found
