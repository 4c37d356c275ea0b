"""`probeta repro` and `probeta check`: all stages of a run, and what it gave."""

import argparse
import json
import time
from collections.abc import Collection, Mapping
from importlib import import_module
from shutil import copyfile
from textwrap import indent
from typing import Any, NamedTuple

from corpora_recipes.params import load_corpora, load_params, shipped_params
from corpora_recipes.running import console
from corpora_recipes.running.cache import open_cache
from corpora_recipes.running.console import PARAMS, add_stage, clock
from corpora_recipes.running.errors import (
    MODULES,
    InputError,
    OutputError,
    ParamsError,
    check_packages,
    nearest,
)
from corpora_recipes.running.outputs import REPORT
from corpora_recipes.running.stage import read_skipped
from probeta.cli import listing


class Stage(NamedTuple):
    """A stage: a verb of the command line that walks its entries of params.yaml.

    Attributes:
        name: of the verb.
        module: full name of the module with its command.
        sections: of params.yaml, whose entries ``--only`` can name; none if it has no such option.
    """

    name: str
    module: str
    sections: tuple[str, ...] = ()


_ENCODERS = ("encoders", "trained")
STAGES = (
    Stage("read", "corpora_recipes.verbs", ("corpora",)),
    Stage("build", "builders.verbs", ("corpora",)),
    Stage("compose", "builders.verbs", ("rankings",)),
    Stage("audit", "probeta.cli.datasets"),
    Stage("package", "builders.verbs"),
    Stage("train", "evaluation.verbs", ("trained",)),
    Stage("embed", "evaluation.verbs", _ENCODERS),
    Stage("probe", "evaluation.verbs", _ENCODERS),
    Stage("rank", "evaluation.verbs", _ENCODERS),
    Stage("paradigms", "evaluation.verbs", _ENCODERS),
    Stage("report", "probeta.cli.report"),
    Stage("check", "probeta.cli.runs"),
)


# Sections whose entries are of a kind: with some of one kind alone, all of the other are taken.
KINDS = (frozenset({"corpora", "rankings"}), frozenset({"encoders", "trained"}))


def add_repro_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta repro`."""
    add_stage(parser, "corpora, rankings and encoders")


def run_repro(options: argparse.Namespace) -> None:
    """Run all stages, with a line for each."""
    needed = (module for extra in ("audit", "build", "report") for module in MODULES[extra])
    check_packages("probeta repro", *needed)
    if options.params == PARAMS and not PARAMS.exists():
        copyfile(shipped_params(), PARAMS)
        print(f"{PARAMS}: written, with the samples of the project")
    named = listing.validate_params(options.params)
    if unknown := [name for name in options.only or () if name not in named]:
        like = nearest(unknown, named)
        where, expected = "--only", f"corpora, rankings and encoders of {options.params}"
        todo = f"did you mean {like}?" if like else f"name some of these: {', '.join(named)}"
        raise ParamsError(where, expected, ", ".join(unknown), todo)
    begin = time.monotonic()
    left_out: set[str] = set()
    try:
        console.brief = not options.verbose
        with open_cache(verify=options.check):
            for number, stage in enumerate(STAGES, 1):
                console.heading = f"[{clock(time.monotonic() - begin)}] {number}/{len(STAGES)} "
                _run(stage, options, left_out)
                left_out.update(read_skipped(stage.name))
    finally:
        console.brief, console.heading = False, ""


def _run(stage: Stage, options: argparse.Namespace, left_out: Collection[str]) -> None:
    """Run a stage with the options of the run, without what stages before have left out."""
    module: Any = import_module(stage.module)
    parser = argparse.ArgumentParser()
    getattr(module, f"add_{stage.name}_arguments")(parser)
    of_stage = parser.parse_args([])
    of_stage.params, of_stage.strict, of_stage.check = options.params, options.strict, False
    params = load_params(options.params)

    def are_in(sections: Collection[str]) -> list[str]:
        return [n for n in options.only or () if any(n in params[key] for key in sections)]

    kind = next((kind for kind in KINDS if kind.issuperset(stage.sections)), frozenset())
    if stage.sections and are_in(kind):
        of_stage.only = [name for name in are_in(stage.sections) if name not in left_out]
    getattr(module, f"run_{stage.name}")(of_stage)


# Characters of a name that are shown, so that lines have 80 at most.
LONGEST = 71


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta check`."""
    add_stage(parser)


def run_check(options: argparse.Namespace) -> None:
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
        for name, entry in read_skipped(stage.name).items():
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
