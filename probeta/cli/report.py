"""`probeta report`: write the page, tables and figures."""

import argparse
from pathlib import Path
from typing import Any

from corpora_recipes.params import load_params
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import COMPLETED, PACKAGE, PEOPLE, PROBED, RANKED, REPORT
from corpora_recipes.running.left_out import read_left_out
from corpora_recipes.running.memo import Cache, digest_files, open_cache
from corpora_recipes.running.telling import say
from evaluation.entries import encoders_params
from probeta.cli.stages import STAGES
from probeta.report.texts import FILES, in_language, language


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta report`."""

    def add(name: str, metavar: str, told: str, **how: Any) -> None:
        parser.add_argument(name, type=Path, metavar=metavar, help=told, **how)

    told = "what others made: folders of score, probe or rank, files of paradigms, folders of these"
    add("results", "RESULTS", f"{told} (default: the results of the run)", nargs="*", default=[])
    datasets = "with results: folder of their datasets, with audit.json (default: dist/hub)"
    add("--instances", "DIR", datasets, default=PACKAGE)
    add("--out", "DIR", "folder (default: reports)", default=REPORT)
    told = "of the page, tables and figures (default: en)"
    parser.add_argument("--language", choices=list(FILES), default="en", help=told)
    add_stage(parser)


def run(options: argparse.Namespace) -> None:
    """Write the report on the encoders of a run, or on given results."""
    with in_language(options.language):
        if options.results:
            from probeta.report.submissions import verified
            from probeta.report.writing import write_report

            given = verified(options.results, options.instances)
            for path, why in given.refused.items():
                say(f"refused: {path}: {why}")
            kinds = given.results, options.instances, options.out, given.rankings, given.paradigms
            write_report(*kinds, refused=given.refused)
            print(f"report: {options.out / 'index.html'}")
            return
        names, results, rankings, paradigms = run_results(options.params)
        people = sorted(PEOPLE.glob("*.json"))
        left_out = {
            f"{stage.name} {name}": fault.why
            for stage in STAGES
            for name, fault in read_left_out(stage.name).items()
            if not fault.asked_for
        }
        with open_cache(verify=options.check):
            key = {
                "inputs": digest_files([*results, *rankings, *paradigms, *people, PACKAGE]),
                "parameters": [names, left_out, language(), str(options.out)],
                "code": code_digest("probeta.report.writing"),
                "versions": stage_versions("report"),
            }
            memo = Cache("report")
            if memo.get("all", key) is None:
                from probeta.report.writing import write_report

                kinds = results, PACKAGE, options.out, rankings, paradigms
                write_report(*kinds, left_out, people)
                memo.put("all", key, [options.out])
        say(f"report: {options.out / 'index.html'}")


def run_results(params: Path) -> tuple[list[str], list[Path], list[Path], list[Path]]:
    """Return the encoders of a run, and where their results, rankings and paradigms are."""
    names = list(encoders_params(load_params(params), params))
    results = [PROBED / name for name in names if (PROBED / name).is_dir()]
    if not results:
        expected = "the results of an encoder of params.yaml"
        todo = "read the messages of the stages before, or add an encoder"
        raise InputError(PROBED, expected, "none", todo)
    rankings = [RANKED / name for name in names if (RANKED / name).is_dir()]
    paradigms = [file for name in names if (file := COMPLETED / f"{name}.json").is_file()]
    return names, results, rankings, paradigms
