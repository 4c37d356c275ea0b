"""`probeta publish`: package the redistributable datasets and upload them to the Hub."""

import argparse

from builders.plan.groups import left_out_datasets, load_groups, without
from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import AUDIT, INSTANCES, PACKAGE
from corpora_recipes.running.memo import open_cache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta publish`."""
    add_params(parser)
    add = parser.add_argument
    add("--repo", required=True, metavar="ORG/NAME", help="dataset repository on the Hub")
    told = "of what is published, in three numbers; its tag on the Hub is v and this version"
    add("--version", required=True, metavar="VERSION", help=told)
    add("--dry-run", action="store_true", help="list the files, upload nothing")
    told = "also publish datasets that may not be redistributed, to a private repository"
    add("--include-restricted", action="store_true", help=told)


def run(options: argparse.Namespace) -> None:
    """Publish the datasets that may be redistributed."""
    from builders.packaging.publishing import publish

    groups = load_groups(options.params)
    left_out = left_out_datasets(groups, "read", "build", "compose")
    if faults := [name for name, why in left_out.items() if not why.asked_for]:
        found = f"{', '.join(faults)}: left out, see `probeta check`"
        todo = "mend the faults, or remove the datasets, and run all stages again"
        raise InputError(options.params, "datasets without a fault", found, todo)
    with open_cache():
        publication = publish(
            without(groups, left_out),
            INSTANCES,
            AUDIT / "audit.json",
            options.repo,
            version=options.version,
            params=options.params,
            packaged=PACKAGE,
            dry_run=options.dry_run,
            include_restricted=options.include_restricted,
        )
    print(publication)
