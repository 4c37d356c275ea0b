"""`probeta repro`: run all stages in one process, in any folder, without DVC."""

import argparse
import time
from importlib import import_module
from shutil import copyfile
from typing import Any

from corpora_recipes.params import shipped_params
from corpora_recipes.running import telling
from corpora_recipes.running.commands import PARAMS, add_stage
from corpora_recipes.running.errors import InputError, nearest
from corpora_recipes.running.memo import remembering
from corpora_recipes.running.telling import clock
from evaluation import listing
from evaluation.stages import STAGES

HELP = """\
examples:
  probeta repro
  probeta repro --params my_domain.yaml
  probeta repro --only sqc,char_hash

Reads params.yaml in the current folder; without one, that of the samples is put there. What an
earlier run has made, and nothing has changed, is kept. `dvc repro` runs the same stages, and keeps
their history.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta repro`."""
    add_stage(parser, "corpora, rankings and encoders")
    parser.add_argument("--verbose", action="store_true", help="tell the counts of every entry")


def run(options: argparse.Namespace) -> None:
    """Run all stages, with a line for each.

    Raises:
        InputError: params.yaml is invalid, a stage failed, or something was left out.
    """
    if options.params == PARAMS and not PARAMS.exists():
        copyfile(shipped_params(), PARAMS)
        print(f"{PARAMS}: written, with the samples of the project")
    named = listing.check(options.params)
    if unknown := [name for name in options.only or () if name not in named]:
        like = nearest(unknown, named)
        raise InputError(
            f"--only {','.join(options.only)}",
            expected=f"corpora, rankings and encoders of {options.params}",
            found=", ".join(unknown),
            todo=f"did you mean {like}?" if like else "name some of these: " + ", ".join(named),
        )
    telling.brief = not options.verbose
    begin = time.monotonic()
    with remembering(check=options.check):
        for number, stage in enumerate(STAGES, 1):
            telling.heading = f"[{clock(time.monotonic() - begin)}] {number}/{len(STAGES)} "
            _run(stage.module, options)


def _run(name: str, options: argparse.Namespace) -> None:
    """Run a stage, with its own options and those of them that are given."""
    module: Any = import_module(name)
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    own = parser.parse_args([])
    own.params, own.strict, own.check = options.params, options.strict, False
    if "only" in own and options.only:
        own.only = options.only
    module.run(own)
