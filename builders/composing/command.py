"""`probeta compose`: records of one or more corpora to the instances of rankings."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params, said_kept
from corpora_recipes.running.errors import InputError

HELP = """\
examples:
  probeta compose --records data/records --out data/instances/rankings
  probeta compose evalrank_es --records data/records --out data/instances/rankings

A ranking (EvalRank) has pairs of paraphrases, and other texts to rank them among. The numbers of
pairs used or left out, by reason, are printed and written to RANKING/build.json. A ranking whose
records and parameters are unchanged is kept.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compose`."""
    parser.add_argument(
        "rankings",
        nargs="*",
        metavar="RANKING",
        help="entries of `rankings` in params.yaml (default: all)",
    )
    add_params(parser)
    parser.add_argument(
        "--records",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder with CORPUS.parquet for each corpus of the rankings",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for the instances of all rankings",
    )


def run(options: argparse.Namespace) -> None:
    """Compose rankings, and print the numbers of their rows and pairs."""
    from builders.composing.rankings import compose_rankings
    from builders.plan.params import rankings_params
    from builders.plan.rankings import rankings_of
    from builders.store.dataset_files import print_rows
    from corpora_recipes.entries import load_corpora
    from corpora_recipes.params import load_params

    params = load_params(options.params)
    entries, sources = rankings_params(params, options.params), params["sources"]
    for name in options.rankings:
        if name not in entries:
            raise InputError(
                f"{options.params}: rankings",
                expected=f"one of {', '.join(entries) or '(no ranking)'}",
                found=repr(name),
                todo="correct the name, or add an entry",
            )
    rankings = rankings_of(entries, load_corpora(options.params), sources, options.params)
    chosen = options.rankings or entries
    reports, kept = compose_rankings(rankings, chosen, options.records, options.out, sources)
    for name, report in reports.items():
        print_rows({name: report})
        print("pairs: " + ", ".join(f"{outcome} {n:,}" for outcome, n in report["pairs"].items()))
    print(said_kept(len(reports), kept, "rankings"))
