"""`probeta report`: write the page, tables and figures."""

import argparse
import sys
from pathlib import Path

from evaluation.entries import add_instances

HELP = """\
examples:
  probeta report data/results/* --instances dist/hub \\
      --audit dist/hub/audit.json --out reports
  probeta report data/results/* --instances dist/hub \\
      --audit dist/hub/audit.json --invariance data/invariance.json \\
      --rankings data/rankings/* --paradigms data/paradigms/* --out reports

Writes index.html, one page that needs no network, report.md, tables.tex, figures and metrics.json
into the folder.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta report`."""
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="DIR", help="folders that probe wrote"
    )
    add_instances(parser)
    parser.add_argument(
        "--params",
        type=Path,
        metavar="FILE",
        help="leave out encoders that this file does not list",
    )
    parser.add_argument(
        "--audit",
        type=Path,
        required=True,
        metavar="AUDIT.json",
        help="file that audit wrote, with the trivial baselines",
    )
    parser.add_argument(
        "--invariance", type=Path, metavar="FILE.json", help="file that invariance wrote"
    )
    parser.add_argument(
        "--rankings",
        type=Path,
        nargs="*",
        default=[],
        metavar="DIR",
        help="folders that rank wrote",
    )
    parser.add_argument(
        "--paradigms",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE.json",
        help="files that paradigms wrote",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")


def run(options: argparse.Namespace) -> None:
    """Write the report of the encoders, of all or of those that a params.yaml lists."""
    from corpora_recipes.params import load_params
    from evaluation.entries import encoders_params
    from evaluation.reporting.writing import write_report
    from evaluation.results.paradigms import read_paradigms
    from evaluation.results.probes import read_results
    from evaluation.results.rankings import read_rankings

    listed = None
    if options.params:
        listed = encoders_params(load_params(options.params), options.params)

    def is_listed(name: str, path: Path) -> bool:
        if listed is None or name in listed:
            return True
        print(f"left out {path}: {name} is not in {options.params}", file=sys.stderr)
        return False

    probed = [(read_results(folder), folder) for folder in options.results]
    ranked = [(read_rankings(folder), folder) for folder in options.rankings]
    completed = [(read_paradigms(file), file) for file in options.paradigms]
    write_report(
        [(results, folder) for results, folder in probed if is_listed(results.name, folder)],
        options.instances,
        options.audit,
        options.out,
        options.invariance,
        rankings=[
            (results, folder) for results, folder in ranked if is_listed(results.name, folder)
        ],
        paradigms=[results for results, file in completed if is_listed(results.name, file)],
    )
    print(f"report: {options.out / 'index.html'}")
