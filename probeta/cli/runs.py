"""`probeta repro` and `probeta check`: all stages of a run, and what it gave."""

import argparse
import json
import time
from collections.abc import Collection, Mapping
from shutil import copyfile
from textwrap import indent
from typing import NamedTuple

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
    suggest,
)
from corpora_recipes.running.outputs import REPORT
from corpora_recipes.running.stage import read_skipped
from probeta.cli import VERBS, listing


class Stage(NamedTuple):
    """A stage: a verb of the command line that runs over its entries of params.yaml.

    Attributes:
        name: of the verb.
        sections: of params.yaml, whose entries ``--only`` can name; none if it has no such option.
    """

    name: str
    sections: tuple[str, ...] = ()


# Characters of a name that are shown, so that lines have 80 at most.
MAX_NAME_LENGTH = 71
_ENCODERS = ("encoders", "trained")
STAGES = (
    Stage("read", ("corpora",)),
    Stage("build", ("corpora",)),
    Stage("compose", ("rankings",)),
    Stage("audit"),
    Stage("package"),
    Stage("train", ("trained",)),
    Stage("embed", _ENCODERS),
    Stage("probe", _ENCODERS),
    Stage("rank", _ENCODERS),
    Stage("paradigms", _ENCODERS),
    Stage("report"),
    Stage("check"),
)
# Sections whose entries are of a kind: with some of one kind alone, all of the other are taken.
KINDS = (frozenset({"corpora", "rankings"}), frozenset(_ENCODERS))


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
    known_names = listing.validate_params(options.params)
    if unknown := [name for name in options.only or () if name not in known_names]:
        expected = f"corpora, rankings and encoders of {options.params}"
        raise ParamsError("--only", expected, ", ".join(unknown), suggest(unknown, known_names))
    begin = time.monotonic()
    skipped: set[str] = set()
    try:
        console.brief = not options.verbose
        with open_cache(verify=options.check):
            for number, stage in enumerate(STAGES, 1):
                console.heading = f"[{clock(time.monotonic() - begin)}] {number}/{len(STAGES)} "
                _run_stage(stage, options, skipped)
                skipped.update(read_skipped(stage.name))
    finally:
        console.brief, console.heading = False, ""


def _run_stage(stage: Stage, options: argparse.Namespace, skipped: Collection[str]) -> None:
    """Run a stage with the options of the run, except entries that earlier stages skipped."""
    verb, parser = VERBS[stage.name], argparse.ArgumentParser()
    verb.add_arguments(parser)
    stage_options = parser.parse_args([])
    stage_options.params, stage_options.strict = options.params, options.strict
    stage_options.check = False
    params = load_params(options.params)

    def named_in(sections: Collection[str]) -> list[str]:
        return [n for n in options.only or () if any(n in params[key] for key in sections)]

    kind = next((kind for kind in KINDS if kind.issuperset(stage.sections)), frozenset())
    if stage.sections and named_in(kind):
        stage_options.only = [name for name in named_in(stage.sections) if name not in skipped]
    verb.run(stage_options)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta check`."""
    add_stage(parser)


def run_check(options: argparse.Namespace) -> None:
    """Print the averages, and what was skipped and why."""
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
            reason = f"{name}\n{indent(entry.why, '  ')}"
            if entry.asked_for:
                asked_for.append(f"missing, must be asked for: {reason}")
            else:
                faults.append(f"left out by {stage.name}: {reason}")
    for line in asked_for + faults:
        print(line)
    if faults:
        found = f"{len(faults)} left out for a fault, named above"
        todo = "mend them, and run it again: all else is reused"
        raise InputError("the run", "nothing to be left out", found, todo)


def averages(metrics: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return averages as lines for a terminal: a table for each benchmark, the best encoder first.

    ``metrics``: benchmark to encoder to the mean of its scores, -1 … 1.
    """
    lines = []
    for benchmark, means in metrics.items():
        width = min(MAX_NAME_LENGTH, max(len(benchmark), *map(len, means), 0)) + 2
        lines += ["", f"{benchmark:{width}}average"]
        for name, mean in sorted(means.items(), key=lambda item: (-item[1], item[0])):
            short_name = name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
            lines.append(f"  {short_name:{width - 2}}{100 * mean:7.1f}")
        if not means:
            lines.append("  none: tests too small to tell encoders apart, or no encoder on all")
    return [*lines, ""]
