"""`probeta export`: write results for mteb and for the Hugging Face Hub."""

import argparse
from pathlib import Path

HELP = """\
examples:
  probeta export data/results/* --repo ORG/NAME --out export
  probeta export results/e5 --repo ORG/NAME --revision v0.1.0 --out export

Writes the scores of the main layers. The folder `mteb` is a cache of mteb's results
(`mteb.ResultCache`). Of models on the Hugging Face Hub, `hub/MODEL` has the file in `.eval_results`
that goes to the model's repository, for the leaderboards of the datasets. Scores on samples mean
nothing: export those on published datasets.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta export`."""
    add = parser.add_argument
    add("results", type=Path, nargs="+", metavar="DIR", help="folders that probe or score wrote")
    add("--repo", required=True, metavar="ORG/NAME", help="the datasets on the Hugging Face Hub")
    add("--revision", metavar="R", help="tag or commit of the datasets there (default: none)")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write to")


def run(options: argparse.Namespace) -> None:
    """Export the results."""
    from evaluation.exchange.export import export

    models = export(options.results, options.repo, options.revision, options.out)
    for model in models:
        print(f"{model.name} ({model.revision})" + ("" if model.on_hub else ": only for mteb"))
    print(f"exported: {options.out}")
