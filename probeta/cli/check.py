"""`probeta check`: show the averages of the last run, and fail if it has left something out."""

import argparse
import json
from collections.abc import Mapping
from textwrap import indent

from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.errors import InputError, OutputError
from corpora_recipes.running.folders import REPORT
from corpora_recipes.running.left_out import read_left_out
from probeta.cli.stages import STAGES

# Characters of a name that are shown, so that lines have 80 at most.
LONGEST = 71


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta check`."""
    add_stage(parser)


def run(options: argparse.Namespace) -> None:
    """Print the averages, and what was left out."""
    params = load_params(options.params)
    if not (REPORT / "metrics.json").is_file():
        todo = "run `dvc repro` or `probeta repro`"
        raise OutputError(REPORT / "metrics.json", "the averages of a run", "no such file", todo)
    for line in averages(json.loads((REPORT / "metrics.json").read_bytes())):
        print(line)
    if any(corpus.is_sample(params["sources"]) for corpus in load_corpora(options.params)):
        print("from the small samples of the project: do not report them")
    print(f"report: {REPORT / 'index.html'}")
    asked_for, faults = [], []
    for stage in STAGES:
        for name, entry in read_left_out(stage.name).items():
            why = f"{name}\n{indent(entry.why, '  ')}"
            if entry.asked_for:
                asked_for.append(f"missing, must be asked for: {why}")
            else:
                faults.append(f"left out by {stage.name}: {why}")
    for line in asked_for + faults:
        print(line)
    if faults:
        found = f"{len(faults)} left out for a fault, named above"
        todo = "mend them, and run it again: what is not concerned is kept"
        raise InputError("the run", "nothing to be left out", found, todo)


def averages(metrics: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return averages as lines for a terminal: a table for each benchmark, the best encoder first.

    ``metrics``: benchmark to encoder to the mean of its scores, -1 … 1.
    """
    lines = []
    for benchmark, means in metrics.items():
        width = min(LONGEST, max(len(benchmark), *map(len, means), 0)) + 2
        lines += ["", f"{benchmark:{width}}average"]
        for name, mean in sorted(means.items(), key=lambda item: (-item[1], item[0])):
            shown = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
            lines.append(f"  {shown:{width - 2}}{100 * mean:7.1f}")
        if not means:
            lines.append("  none: tests too small to tell encoders apart, or no encoder on all")
    return [*lines, ""]
