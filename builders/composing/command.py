"""`probeta compose`: records of one or more corpora to the instances of a ranking."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError

HELP = """\
examples:
  probeta compose evalrank_es --records data/records --out data/instances/evalrank_es

A ranking (EvalRank) has pairs of paraphrases, and other texts to rank them among. The numbers of
pairs used or left out, by reason, are printed and written to build.json.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compose`."""
    parser.add_argument("ranking", metavar="RANKING", help="an entry of `rankings` in params.yaml")
    add_params(parser)
    parser.add_argument(
        "--records",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder with CORPUS.parquet for each corpus of the ranking",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the instances"
    )


def run(options: argparse.Namespace) -> None:
    """Compose a ranking, and print the numbers of its rows and pairs."""
    from builders.composing.composing import compose
    from builders.plan.params import rankings_params
    from builders.plan.rankings import rankings_of
    from builders.store.dataset_files import print_rows
    from corpora_recipes.entries import load_corpora
    from corpora_recipes.params import load_params

    params = load_params(options.params)
    entries, sources = rankings_params(params, options.params), params["sources"]
    rankings = rankings_of(entries, load_corpora(options.params), sources)
    chosen = [ranking for ranking in rankings if ranking.name == options.ranking]
    if not chosen:
        raise InputError(
            f"{options.params}: rankings",
            expected=f"one of {', '.join(entries) or '(no ranking)'}",
            found=repr(options.ranking),
            todo="correct the name, or add an entry",
        )
    report = compose(chosen[0], options.records, options.out, sources)
    print_rows(report)
    for entry in report.values():
        print("pairs: " + ", ".join(f"{outcome} {n:,}" for outcome, n in entry["pairs"].items()))
