"""Copies of the project in which commands run, as a user's clone."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from imports import REPOSITORY

# Bytecode comes with the modules, which processes would compile again.
CACHES = shutil.ignore_patterns(".*_cache", ".hypothesis", "*.pyc.*")
# In the project's folder.
MADE_HERE = shutil.ignore_patterns(
    ".git", ".venv*", ".uv", "data", "dist", "reports", "dvc.lock", "tmp"
)


def run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the project, with its modules and this environment's Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ours = {"PATH": path, "PYTHONPATH": str(folder), "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=os.environ | ours | environment,
        capture_output=True,
        text=True,
        timeout=2400,
    )


def stages_run(output: str) -> set[str]:
    """Return the stages that DVC says it has run."""
    return set(re.findall(r"Running stage '([^']+)'", output))


def entries_made(folder: Path) -> dict[str, int]:
    """Return each entry of a run's memory, such as "read/sqc", and when it was made."""
    memory = folder / "data" / "memory"
    return {
        file.parent.relative_to(memory).as_posix(): file.stat().st_mtime_ns
        for file in memory.rglob("made.json")
    }


def not_shipped(folder: str, names: list[str]) -> set[str]:
    """Return what a clone of a folder of the project does not have."""
    made = MADE_HERE(folder, names) if Path(folder) == REPOSITORY else set()
    return CACHES(folder, names) | made


def copy_of_project(folder: Path) -> Path:
    """Copy what a clone has to a new folder, and return it."""
    shutil.copytree(REPOSITORY, folder, ignore=not_shipped)
    shutil.rmtree(folder / ".dvc" / "cache", ignore_errors=True)
    return folder


def finished_run(folder: Path) -> Path:
    """Make a copy of the project, without git, with a run on the samples that DVC does not know.

    If the folder is there, it has been made before.
    """
    if folder.exists():
        return folder
    copy_of_project(folder)
    done = run("probeta repro --verbose", folder)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return folder
