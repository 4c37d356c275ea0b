"""`probeta publish`: package the redistributable datasets and upload them to the Hub."""

import argparse
from importlib.metadata import version
from pathlib import Path

from builders.packaging.command import add_packaged

HELP = """\
examples:
  probeta publish --repo ORG/NAME --dry-run
  probeta publish --repo ORG/NAME --include-restricted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta publish`."""
    add_packaged(parser)
    parser.add_argument(
        "--repo", required=True, metavar="ORG/NAME", help="dataset repository on the Hub"
    )
    parser.add_argument(
        "--packaged",
        type=Path,
        default=Path("dist/hub"),
        metavar="DIR",
        help="folder that `probeta package` wrote: its datasets are taken from there if they are "
        "unchanged (default: dist/hub)",
    )
    parser.add_argument("--dry-run", action="store_true", help="list the files, upload nothing")
    parser.add_argument(
        "--include-restricted",
        action="store_true",
        help="also publish datasets that may not be redistributed, to a private repository",
    )


def run(options: argparse.Namespace) -> None:
    """Publish the datasets that may be redistributed."""
    from builders.packaging.publishing import publish
    from builders.plan.groups import load_groups

    publication = publish(
        load_groups(options.params),
        options.instances,
        options.audit,
        options.repo,
        version=version("probeta"),
        params=options.params,
        packaged=options.packaged,
        dry_run=options.dry_run,
        include_restricted=options.include_restricted,
    )
    print(publication)
