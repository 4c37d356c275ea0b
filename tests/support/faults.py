"""A toy project whose stages meet faults, and what its outputs are before and after."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from imports import REPOSITORY

FAULTING = Path(__file__).with_name("faulting")
SAMPLES = REPOSITORY / "corpora_recipes" / "corpora"
PARAMS = Path(__file__).with_name("toy_params.yaml").read_text("utf-8")
# Path in a folder to the content of a file, or what a link points to.
Tree = dict[str, bytes | str]


@dataclass(frozen=True)
class Stage:
    """A stage of a run."""

    name: str  # of its verb
    deps: tuple[str, ...]  # the files and folders of the run that it reads, as dvc.yaml says
    outputs: tuple[str, ...]  # those that it writes, besides its memory

    def __str__(self) -> str:
        return self.name


# Those that make something; the toy project trains no encoder, as that needs torch.
STAGES = [
    Stage(name, tuple(body["deps"]), tuple(path for one in outs for path in one))
    for name, body in yaml.safe_load((REPOSITORY / "dvc.yaml").read_text("utf-8"))["stages"].items()
    if (outs := [*body.get("outs", ()), *body.get("metrics", ()), *body.get("plots", ())])
    and name != "train"
]
# How many parts of a path name what appears whole, or goes before a new one comes.
_WHOLE = dict.fromkeys(("data/records", "data/results", "data/rankings"), 3)
_WHOLE |= {"data/instances": 4, "data/audit": 2, "dist": 2, "reports": 1}


def unit_of(name: str) -> str:
    """Return what appears whole with a file: the records and counts of a corpus, a folder …"""
    for place, parts in _WHOLE.items():
        if name.startswith(f"{place}/"):
            return "/".join(name.split("/")[:parts]).removesuffix(".json").removesuffix(".parquet")
    return name


def is_hidden(name: str) -> bool:
    """Return whether a file is in a folder for unfinished outputs."""
    return any(part.startswith(".") for part in name.split("/"))


class Ended(NamedTuple):
    """How a command ended: its exit code, what it said, and its events on the file system."""

    code: int
    said: str
    events: list[str]


class Runner:
    """Runs commands of the toy project in forks of one process; see ``faulting/warm.py``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, FAULTING / "warm.py"],
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY, FAULTING)))}
            | {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        kind: str = "count",
        number: int = 0,
        file: int = 0,
        cpus: int = 1,
        changed: Mapping[str, Any] | None = None,
    ) -> Ended:
        """Run ``probeta`` with the arguments ``command`` in a folder, in which events count.

        At event ``number`` a fault of a ``kind`` happens, see ``faulting/injected.py``. ``file`` is
        the largest size of a file, 0 for any; ``cpus`` the number that the command finds;
        ``changed`` has "module:name" to another value.
        """
        tally, output = self._folder / "tally", self._folder / "output"
        tally.unlink(missing_ok=True)
        shutil.rmtree(tally.with_name("tally.lost"), ignore_errors=True)
        fault = {"folder": str(folder), "tally": str(tally), "kind": kind, "number": number}
        request = {"arguments": list(command), "folder": str(folder), "output": str(output)}
        request |= {"fault": fault, "file": file, "cpus": cpus, "set": changed or {}}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        events = tally.read_text().split() if tally.exists() else []
        return Ended(code, output.read_text("utf-8", "replace"), events)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def runner(folder: Path) -> Iterator[Runner]:
    """Yield a runner, which keeps its own files in a folder."""
    folder.mkdir()
    found = Runner(folder)
    try:
        yield found
    finally:
        found.close()


def write_params(folder: Path, seed: int, vectors: Path, text: str = PARAMS) -> dict[str, Any]:
    """Write the toy params.yaml, and return its content."""
    folder.mkdir(exist_ok=True)
    documents = SAMPLES / "documents" / "sample" / "documents.jsonl"
    for name, value in (("SEED", seed), ("DOCUMENTS", documents), ("VECTORS", vectors)):
        text = text.replace(name, str(value))
    (folder / "params.yaml").write_text(text, "utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def write_vectors(path: Path) -> None:
    """Write word vectors for many words of the toy corpora."""
    text = (SAMPLES / "documents" / "sample" / "documents.jsonl").read_text("utf-8")
    words = set(re.findall(r"[a-záéíóúñ]+", text))
    with (SAMPLES / "paralex" / "sample" / "ParaLex.csv").open(encoding="utf-8") as file:
        words.update(word for row in csv.reader(file) for word in row[3:] if word.isascii())
    lines = [
        f"{word} {' '.join(str(byte / 128 - 1) for byte in sha256(word.encode()).digest()[:4])}"
        for word in sorted(words)
        if re.fullmatch(r"\w+", word)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def tree(folder: Path) -> Tree:
    """Return the files and links in a folder; not those of the system, nor times of files."""
    found: Tree = {}
    for file in folder.rglob("*"):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            found[name] = str(file.readlink())
        elif file.is_file() and not name.startswith(("tmp/", "data/memory/stats.json")):
            found[name] = file.read_bytes()
    return found


def below(found: Tree, paths: Sequence[str]) -> Tree:
    """Return the files of a tree at some paths."""
    return {
        name: content
        for name, content in found.items()
        if any(name == path or name.startswith(f"{path}/") for path in paths)
    }


@dataclass
class Toy:
    """A run of all stages in an empty folder, and one over the outputs of another seed.

    The keys are a stage, and whether it runs over other outputs.
    """

    runner: Runner
    place: Path  # for a copy
    # A copy of the folder before a stage; how it ended there without a fault, and all files then.
    states: dict[tuple[str, bool], Path] = field(default_factory=dict, repr=False)
    ended: dict[tuple[str, bool], tuple[Ended, Tree]] = field(default_factory=dict, repr=False)

    def run_all(self, folder: Path, *, over: bool) -> None:
        """Run all stages in a folder, and keep copies of it."""
        for stage in STAGES:
            state = folder.with_name(f"{folder.name}-{stage}")
            self.states[stage.name, over] = shutil.copytree(folder, state, symlinks=True)
            ended = self.runner.run([stage.name], folder)
            assert ended.code == 0, f"{stage}\n{ended.said}"
            self.ended[stage.name, over] = ended, tree(folder)

    def start(self, stage: Stage, *, over: bool) -> Path:
        """Return a copy of the folder as before a stage."""
        shutil.rmtree(self.place, ignore_errors=True)
        return Path(shutil.copytree(self.states[stage.name, over], self.place, symlinks=True))
