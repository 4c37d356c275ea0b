"""`probeta export`: write results for mteb and the Hugging Face Hub, or the datasets for mteb."""

import argparse
from pathlib import Path

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.extras import load_packages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta export`."""
    add = parser.add_argument
    add("results", type=Path, nargs="*", metavar="DIR", help="folders that probe or score wrote")
    add("--mteb-tasks", metavar="DATA", help="a package, whose datasets become tasks of mteb")
    add("--models", nargs="+", default=[], metavar="MODEL", help="run these on the tasks of mteb")
    add("--repo", required=True, metavar="ORG/NAME", help="the datasets on the Hugging Face Hub")
    add("--revision", metavar="R", help="tag or commit of the datasets there (default: none)")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write to")


def run(options: argparse.Namespace) -> None:
    """Export the results, or the datasets."""
    if bool(options.results) == bool(options.mteb_tasks):
        found = "both" if options.results else "neither"
        raise InputError("export", "folders of results, or --mteb-tasks", found, "name one of them")
    if options.mteb_tasks:
        load_packages("export --mteb-tasks", "mteb")
        # Only with mteb, from whose classes it makes others.
        from probeta.exchange.pull_request import export_tasks

        tasks, left_out = export_tasks(
            options.mteb_tasks, options.repo, options.revision, options.models, options.out
        )
        for dataset, fields in left_out.items():
            print(f"left out: {dataset}: nobody states its {', '.join(fields)}")
        print(f"{len(tasks)} tasks")
    else:
        from probeta.exchange.export import export

        models = export(options.results, options.repo, options.revision, options.out)
        for model in models:
            note = "" if model.on_hub else ": only for mteb"
            print(f"{model.name} ({model.revision}){note}")
    print(f"exported: {options.out}")
