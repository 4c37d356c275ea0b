"""`probeta repro`: run `dvc repro`, say which stage it is in, and show the scores at the end."""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError

HELP = """\
examples:
  probeta repro

Checks params.yaml first, as `probeta list` does. `dvc repro` does the same work, and runs single
stages too: `dvc repro build@wikipedia`.
"""
REPORT = Path("reports")
# Seconds that the stages of a verb take on the samples, with two cores; 1 for all others.
SECONDS = {"compose": 2, "audit": 5, "package": 4, "embed": 8, "probe": 4, "rank": 3}
# The marks of the report's averages.
MARKS = {
    "†": "not shown to beat the trivial baselines",
    "≈": "the test cannot distinguish it from the best",
    "(s)": "from the small sample: do not report",
}
_STARTED = re.compile(r"Running stage '(?P<stage>.+)':")
_SKIPPED = re.compile(r"Stage '(?P<stage>.+)' (didn't change|is cached)")
# What DVC says of its own doing: the command, the lock file, its remote storage.
_UNSAID = re.compile(r"> |(Updating|Generating) lock file|Use `dvc push`|$")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta repro`."""
    add_params(parser)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail if a corpus that must be asked for is missing (default: go on without it)",
    )


def run(options: argparse.Namespace) -> None:
    """Run all stages, and print the means of the scores.

    Raises:
        InputError: params.yaml is invalid, a stage failed, or, with ``--strict``, a corpus is
            missing.
    """
    from contextlib import redirect_stdout

    from corpora_recipes.entries import load_corpora
    from corpora_recipes.fetching.sources import check_files
    from corpora_recipes.listing import RAW
    from corpora_recipes.params import load_params
    from evaluation import listing

    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        listing.show(options.params)
    params = load_params(options.params)
    if options.strict:
        for corpus in load_corpora(options.params):
            check_files(corpus, params["sources"], RAW / corpus.name)
    check_sections(options.params)
    stages = list(stage_names(params))
    progress = Progress(stages, timed=params["sources"] == "sample")
    # Unbuffered, so that the lines of DVC and those of its stages come in order.
    with subprocess.Popen(
        [sys.executable, "-m", "dvc", "repro"],
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if (said := progress.said(line.rstrip("\n"))) is not None:
                print(said, flush=True)
    if process.returncode:
        raise InputError(
            "dvc repro",
            expected="every stage to succeed",
            found=f"exit code {process.returncode}, in {progress.where}",
            todo="read the message above; what the stages before it made is kept",
        )
    print(f"\n{progress.summary}")
    print(*averages((REPORT / "report.md").read_text("utf-8")), sep="\n")
    print(f"\nreport: {REPORT / 'index.html'}")


def check_sections(path: Path) -> None:
    """Check that params.yaml has every section that dvc.yaml names, as DVC asks for all.

    Raises:
        InputError: naming those that it lacks.
    """
    from corpora_recipes.running.yaml_text import load_yaml

    named: dict[str, None] = {}
    for stage in load_yaml(Path("dvc.yaml"))["stages"].values():
        keys = [stage["foreach"].strip("${}")] if "foreach" in stage else []
        keys += stage.get("do", stage).get("params", [])
        named |= dict.fromkeys(key.split(".")[0] for key in keys)
    if lacking := [name for name in named if name not in load_yaml(path)]:
        raise InputError(
            path,
            expected=f"the sections of dvc.yaml: {', '.join(named)}",
            found=f"no {', '.join(lacking)}",
            todo="add " + ", ".join(f"`{name}: {{}}`" for name in lacking),
        )


def stage_names(params: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all stages of dvc.yaml, with the keys of params.yaml."""
    from corpora_recipes.running.yaml_text import load_yaml

    stages = load_yaml(Path("dvc.yaml"))["stages"]
    for name, stage in stages.items():
        if "foreach" in stage:
            section = stage["foreach"].strip("${}")
            yield from (f"{name}@{key}" for key in params[section])
        else:
            yield name


class Progress:
    """Where a run of DVC is.

    Attributes:
        where: the stage that runs, and its number: "stage 3 of 50, read@mlsum".
        summary: the numbers of stages, and the time taken.
    """

    def __init__(self, stages: list[str], *, timed: bool) -> None:
        """Begin.

        Args:
            stages: the names of all stages.
            timed: whether ``SECONDS`` tells how long they take.
        """
        self._left = dict.fromkeys(stages)
        self._total = len(stages)
        self._timed = timed
        self._begin = time.monotonic()
        self._ran: list[str] = []
        self.where = "stage 1"

    def said(self, line: str) -> str | None:
        """Return what to print for a line of DVC's output; None for nothing."""
        if skipped := _SKIPPED.match(line):
            self._left.pop(skipped["stage"], None)
            return None
        if started := _STARTED.match(line):
            stage = started["stage"]
            left = self._time_left()
            self._left.pop(stage, None)
            self._ran.append(stage)
            self.where = f"stage {self._total - len(self._left)} of {self._total}, {stage}"
            return f"[{_clock(time.monotonic() - self._begin)}] {self.where}{left}"
        return None if _UNSAID.match(line) else f"  {line}"

    @property
    def summary(self) -> str:
        """The numbers of stages, and the time taken."""
        ran = len(self._ran)
        taken = _clock(time.monotonic() - self._begin)
        return f"{ran} stages run, {self._total - ran} unchanged, in {taken}"

    def _time_left(self) -> str:
        done = sum(map(_seconds, self._ran))
        if not self._timed or done < 5:
            return ""
        taken = time.monotonic() - self._begin
        return f" (about {_clock(taken / done * sum(map(_seconds, self._left)))} left)"


def _seconds(stage: str) -> int:
    return SECONDS.get(stage.partition("@")[0], 1)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def averages(report: str) -> list[str]:
    """Return the averages in a report as lines for a terminal: a table for each benchmark.

    Encoders are in columns, the mean rank and the groups of datasets in rows; below, the marks.

    Args:
        report: the content of report.md.
    """
    lines = []
    for part in report.split("\n## Averages: ")[1:]:
        benchmark, *content = part.split("\n## ")[0].splitlines()
        rows = [
            [_plain(cell) for cell in line.strip("|").split("|")]
            for line in content
            if line.startswith("|") and not line.startswith("| ---")
        ]
        rows[0][0] = benchmark
        widths = [max(map(len, row)) for row in rows]
        lines += [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for number, (cell, width) in enumerate(zip(column, widths, strict=True))
            )
            for column in zip(*rows, strict=True)
        ]
    shown = "".join(lines)
    return lines + [f"{mark} {said}" for mark, said in MARKS.items() if mark in shown]


def _plain(cell: str) -> str:
    """Return a cell without markup and interval, with the marks behind it."""
    return re.sub(r" \[.*?\]", "", cell.replace("**", "")).strip()
