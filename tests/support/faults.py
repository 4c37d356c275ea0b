"""A toy project whose stages meet faults, and what its outputs are before and after."""

import csv
import json
import os
import re
import shlex
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
from projects import TRACING

FAULTING = Path(__file__).with_name("faulting")
SAMPLES = REPOSITORY / "corpora_recipes" / "corpora"
# A ranking, paradigms, a probed dataset with classes and one with scores.
PARAMS = """
seed: SEED
sources: sample
corpora:
  texts:
    corpus: {recipe: jsonl, language: es, path: DOCUMENTS}
    datasets: {bso_texts: {task: sentence_ordering}}
  sts:
    corpus: {recipe: sts, language: es}
    datasets: {sts17: {task: similarity, collection: "2017"}}
  paralex:
    corpus: {recipe: paralex, language: es}
    datasets: {paralex_es: {task: paradigms}}
rankings:
  ranked: {task: sentence_ranking, language: es, pairs: [sts]}
audit: {inherited: {}}
probing: {protocol: standard, pair_features: difference_product}
evalrank: {similarities: [cosine], postprocessings: [none]}
paralex: {coherence_threshold: 2, casings: [as_is]}
encoders:
  words: {encoder: static, path: VECTORS}
"""
# Path in a folder to the content of a file, or what a link points to.
Tree = dict[str, bytes | str]


@dataclass(frozen=True)
class Stage:
    """A stage of dvc.yaml, with the names of params.yaml filled in.

    Attributes:
        name: in dvc.yaml, without the item.
        item: of foreach; "" if the stage is one.
        command: the arguments of ``probeta``, in which ``*`` is still to be expanded.
        deps: the files and folders that it reads.
        outputs: those that it writes.
        continued: those of them that a run continues and does not replace, such as downloads.
    """

    name: str
    item: str
    command: tuple[str, ...]
    deps: tuple[str, ...]
    outputs: tuple[str, ...]
    continued: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}@{self.item}" if self.item else self.name


def stages(params: Mapping[str, Any]) -> list[Stage]:
    """Return every stage of dvc.yaml, in its order, which is one in which they can run."""
    found = []
    for name, body in yaml.safe_load((REPOSITORY / "dvc.yaml").read_text("utf-8"))[
        "stages"
    ].items():
        if "foreach" not in body:
            found.append(_stage(name, "", body, {}))
            continue
        # The toy project trains no encoder, as that needs torch.
        for key, item in params.get(body["foreach"].strip("${}"), {}).items():
            found.append(_stage(name, key, body["do"], {"key": key, "item": item}))
    return found


def _stage(name: str, item: str, body: Mapping[str, Any], values: Mapping[str, Any]) -> Stage:
    def filled(text: str) -> str:
        return re.sub(r"\$\{([\w.]+)\}", lambda found: _value(found[1], values), text)

    outputs: dict[str, Any] = {}
    for output in (*body["outs"], *body.get("metrics", ())):
        outputs |= output if isinstance(output, dict) else {output: {}}
    # What DVC neither caches nor removes before a run.
    continued = [
        output for output, how in outputs.items() if how == {"cache": False, "persist": True}
    ]
    _, *command = shlex.split(filled(body["cmd"]))
    paths = [tuple(map(filled, found)) for found in (body["deps"], outputs, continued)]
    return Stage(name, item, tuple(command), *paths)


def _value(name: str, values: Mapping[str, Any]) -> str:
    found: Any = values
    for part in name.split("."):
        found = found[part]
    return str(found)


def _matching(pattern: str, folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern))


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
            | {
                "PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY, TRACING, FAULTING))),
                "OPENBLAS_NUM_THREADS": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
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
        """Run a command in a folder.

        Args:
            command: the arguments of ``probeta``.
            folder: where it runs, and where events count.
            kind: of the fault, see ``faulting/injected.py``.
            number: of the event at which it happens.
            file: the largest size of a file, in bytes; 0 for any.
            cpus: number of CPUs that the command finds.
            changed: "module:name" to another value.
        """
        tally, output = self._folder / "tally", self._folder / "output"
        tally.unlink(missing_ok=True)
        shutil.rmtree(tally.with_name("tally.lost"), ignore_errors=True)
        arguments = [
            found
            for word in command
            for found in (_matching(word, folder) if "*" in word else [word])
        ]
        fault = {"folder": str(folder), "tally": str(tally), "kind": kind, "number": number}
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "output": str(output),
            "fault": fault,
            "file": file,
            "cpus": cpus,
            "set": changed or {},
        }
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
    folder.mkdir()
    documents = SAMPLES / "jsonl" / "sample" / "documents.jsonl"
    for name, value in (("SEED", seed), ("DOCUMENTS", documents), ("VECTORS", vectors)):
        text = text.replace(name, str(value))
    (folder / "params.yaml").write_text(text, "utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def write_vectors(path: Path) -> None:
    """Write word vectors for many words of the toy corpora."""
    text = (SAMPLES / "jsonl" / "sample" / "documents.jsonl").read_text("utf-8")
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
    """Return the files and links in a folder; not those of ``tmp``, where the system's go."""
    found: Tree = {}
    for file in folder.rglob("*"):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            found[name] = str(file.readlink())
        elif file.is_file() and not name.startswith("tmp/"):
            found[name] = file.read_bytes()
    return found


def below(found: Tree, paths: Sequence[str]) -> Tree:
    """Return the files of a tree at some paths."""
    return {
        name: content
        for name, content in found.items()
        if any(name == path or name.startswith(f"{path}/") for path in paths)
    }


def copy(folder: Path, to: Path, old: Path | None, outputs: Sequence[str]) -> Path:
    """Copy a project in which everything has run; some outputs are those of another, or missing."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to, symlinks=True)
    for output in outputs:
        if (to / output).is_dir():
            shutil.rmtree(to / output)
        else:
            (to / output).unlink(missing_ok=True)
        if old is None:
            continue
        if (old / output).is_dir():
            shutil.copytree(old / output, to / output, symlinks=True)
        else:
            shutil.copy2(old / output, to / output)
    return to


@dataclass
class Toy:
    """Two runs of all stages, and a place for a third.

    Attributes:
        runner: runs commands.
        stages: of dvc.yaml, in their order.
        old: the folder of the run with one seed.
        new: the folder of the run with another seed.
        place: for a copy.
        undisturbed: stage, and whether it ran over outputs of ``old``, to how it ended there and
            all files then.
    """

    runner: Runner
    stages: list[Stage]
    old: Path
    new: Path
    place: Path
    undisturbed: dict[tuple[str, bool], tuple[Ended, Tree]] = field(
        default_factory=dict, repr=False
    )

    def start(self, stage: Stage, *, over: bool) -> Path:
        """Return a copy of ``new`` as before a stage: with outputs of ``old``, or without any."""
        return copy(self.new, self.place, self.old if over else None, stage.outputs)

    def end(self, stage: Stage, *, over: bool) -> tuple[Ended, Tree]:
        """Return how a stage ends without a fault, and all files then."""
        key = str(stage), over
        if key not in self.undisturbed:
            ended = self.runner.run(stage.command, self.start(stage, over=over))
            assert ended.code == 0, ended.said
            self.undisturbed[key] = ended, tree(self.place)
        return self.undisturbed[key]
