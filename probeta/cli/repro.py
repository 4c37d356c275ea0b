"""`probeta repro`: run all stages in one process, in any folder, without DVC."""

import argparse
import time
from collections.abc import Collection
from importlib import import_module
from shutil import copyfile
from typing import Any

from corpora_recipes.params import load_params, shipped_params
from corpora_recipes.running import telling
from corpora_recipes.running.commands import PARAMS, add_stage
from corpora_recipes.running.errors import ParamsError, nearest
from corpora_recipes.running.extras import MODULES, check_packages
from corpora_recipes.running.left_out import read_left_out
from corpora_recipes.running.memo import open_cache
from corpora_recipes.running.telling import clock
from probeta.cli import listing
from probeta.cli.stages import STAGES, Stage

# Sections whose entries are of a kind: with some of one kind alone, all of the other are taken.
KINDS = (frozenset({"corpora", "rankings"}), frozenset({"encoders", "trained"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta repro`."""
    add_stage(parser, "corpora, rankings and encoders")


def run(options: argparse.Namespace) -> None:
    """Run all stages, with a line for each."""
    needed = (module for extra in ("audit", "build", "report") for module in MODULES[extra])
    check_packages("probeta repro", *needed)
    if options.params == PARAMS and not PARAMS.exists():
        copyfile(shipped_params(), PARAMS)
        print(f"{PARAMS}: written, with the samples of the project")
    named = listing.check(options.params)
    if unknown := [name for name in options.only or () if name not in named]:
        like = nearest(unknown, named)
        where, expected = "--only", f"corpora, rankings and encoders of {options.params}"
        todo = f"did you mean {like}?" if like else f"name some of these: {', '.join(named)}"
        raise ParamsError(where, expected, ", ".join(unknown), todo)
    begin = time.monotonic()
    left_out: set[str] = set()
    try:
        telling.brief = not options.verbose
        with open_cache(verify=options.check):
            for number, stage in enumerate(STAGES, 1):
                telling.heading = f"[{clock(time.monotonic() - begin)}] {number}/{len(STAGES)} "
                _run(stage, options, left_out)
                left_out.update(read_left_out(stage.name))
    finally:
        telling.brief, telling.heading = False, ""


def _run(stage: Stage, options: argparse.Namespace, left_out: Collection[str]) -> None:
    """Run a stage with the options of the run, without what stages before have left out."""
    module: Any = import_module(stage.module)
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    of_stage = parser.parse_args([])
    of_stage.params, of_stage.strict, of_stage.check = options.params, options.strict, False
    params = load_params(options.params)

    def are_in(sections: Collection[str]) -> list[str]:
        return [n for n in options.only or () if any(n in params[key] for key in sections)]

    kind = next((kind for kind in KINDS if kind.issuperset(stage.sections)), frozenset())
    if stage.sections and are_in(kind):
        of_stage.only = [name for name in are_in(stage.sections) if name not in left_out]
    module.run(of_stage)
