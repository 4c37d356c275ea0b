"""`probeta repro` and `probeta check`: all stages of a run, and what it gave."""

import argparse
from collections.abc import Collection, Mapping
from itertools import chain
from shutil import copyfile

from corpora_recipes.params import load_corpora, load_params, shipped_params
from corpora_recipes.running import console
from corpora_recipes.running.cache import open_cache
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import (
    MODULES,
    InputError,
    OutputError,
    check_names,
    check_packages,
)
from corpora_recipes.running.outputs import LEFT_OUT, PROBED, REPORT
from corpora_recipes.running.stage import Skipped, describe_skipped, read_skipped
from evaluation.params import encoders_params
from probeta.cli import STAGES, Verb, add_arguments, listing

# Sections whose entries are of a kind: with some of one kind alone, all of the other are taken.
KINDS = (frozenset({"corpora", "rankings"}), frozenset({"encoders", "trained"}))


def run_repro(options: argparse.Namespace) -> None:
    """Run all stages, with a line for each."""
    needed = (module for extra in ("audit", "build", "report") for module in MODULES[extra])
    check_packages("probeta repro", *needed)
    if options.params == PARAMS and not PARAMS.exists():
        copyfile(shipped_params(), PARAMS)
        print(f"{PARAMS}: written, with the samples of the project")
    known_names = listing.validate_params(options.params)
    listing.check_disk(options.params)
    expected = f"corpora, rankings and encoders of {options.params}"
    check_names("--only", options.only, known_names, expected)
    skipped: dict[str, Mapping[str, Skipped]] = {}
    try:
        with open_cache(verify=options.check):
            for number, stage in enumerate(STAGES, 1):
                console.begin_stage(f"[{number}/{len(STAGES)}] ")
                _run_stage(stage, options, set(chain.from_iterable(skipped.values())))
                skipped[stage.name] = read_skipped(stage.name)
    except Exception:
        if STAGES[-2].name not in skipped:
            # What `check` would have named.
            _print_skipped(skipped)
        raise
    finally:
        console.begin_stage()


def _run_stage(stage: Verb, options: argparse.Namespace, skipped: Collection[str]) -> None:
    """Run a stage with the options of the run, except entries that earlier stages skipped."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, stage.arguments)
    stage_options = parser.parse_args([])
    stage_options.params, stage_options.strict = options.params, options.strict
    stage_options.check = False
    params = load_params(options.params)

    def named_in(sections: Collection[str]) -> list[str]:
        return [n for n in options.only or () if any(n in params[key] for key in sections)]

    sections = stage.sections or ()
    kind = next(kind for kind in KINDS if kind.issuperset(sections))
    if sections and named_in(kind):
        stage_options.only = [name for name in named_in(sections) if name not in skipped]
    stage.run(stage_options)


def run_check(options: argparse.Namespace) -> None:
    """Print the averages, and what was skipped and why."""
    params = load_params(options.params)
    summary = REPORT / "summary.txt"
    if not summary.is_file():
        todo = "run `probeta report` first, or all stages: `dvc repro` or `probeta repro`"
        raise OutputError(summary, "the averages of a run", "no such file", todo)
    print(f"\n{summary.read_text('utf-8')}")
    skipped = {stage.name: read_skipped(stage.name) for stage in STAGES}
    _print_skipped(skipped)
    if any(corpus.is_sample(params["sources"]) for corpus in load_corpora(options.params)):
        print("from the small samples of the project: do not report them")
    print(f"report: {REPORT / 'index.html'}")
    reasons = chain.from_iterable(of_stage.values() for of_stage in skipped.values())
    if n_faults := sum(not (reason.asked_for or reason.sample) for reason in reasons):
        found = f"{n_faults} skipped for a fault, named above; in full in {LEFT_OUT}"
        todo = "mend them, and run it again: all else is reused"
        raise InputError("the run", "nothing to be skipped", found, todo)
    names = encoders_params(params, options.params)
    # A name alone might mean what `score` wrote.
    probed = [str(PROBED / name) for name in names if (PROBED / name).is_dir()]
    verb = " ".join(["compare", *probed[:2]]) if len(probed) > 1 else "list"
    of_file = "" if options.params == PARAMS else f" --params {options.params}"
    print(f"next:   probeta {verb}{of_file}")


def _print_skipped(skipped: Mapping[str, Mapping[str, Skipped]]) -> None:
    for stage, reasons in skipped.items():
        for line in describe_skipped(stage, reasons):
            print(line)
