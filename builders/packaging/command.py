"""`probeta package`: put all instances in one folder for the Hugging Face Hub."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params, said_kept

HELP = """\
examples:
  probeta package --instances data/instances --audit data/audit/audit.json --out dist/hub

The folder has the Parquet files of every dataset, with the spaCy tokens of the texts, the dataset
card and a Croissant description. Datasets that are unchanged since the last package are kept.
"""


def add_packaged(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name what is packaged."""
    add_params(parser)
    parser.add_argument(
        "--instances",
        type=Path,
        default=Path("data/instances"),
        metavar="DIR",
        help="folder that `probeta build` and `compose` wrote (default: data/instances)",
    )
    parser.add_argument(
        "--audit",
        type=Path,
        default=Path("data/audit/audit.json"),
        metavar="FILE.json",
        help="file that `probeta audit` wrote (default: data/audit/audit.json)",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta package`."""
    add_packaged(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the package"
    )


def run(options: argparse.Namespace) -> None:
    """Package all instances."""
    from builders.packaging.hub import package
    from builders.plan.groups import load_groups
    from builders.store.missing import said_missing, without_missing

    groups = load_groups(options.params)
    kept = package(groups, options.instances, options.audit, options.out)
    there, missing = without_missing(groups, options.instances)
    print(said_kept(sum(len(group.datasets) for group in there), kept))
    for line in said_missing(missing):
        print(line)
