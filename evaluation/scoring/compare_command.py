"""`probeta compare`: the differences of two encoders that are not due to chance."""

import argparse
from functools import partial
from pathlib import Path

from corpora_recipes.running.errors import InputError, nearest

HELP = """\
examples:
  probeta compare use_multilingual char_hash
  probeta compare results/e5 results/fasttext

A and B are folders of results that `score` wrote, or names under data/results. For each dataset
that both have, and each group of such datasets: the score of A minus that of B, x 100, measured on
the same documents, with its 95 % interval. It is a tie if the interval contains 0.
"""
RESULTS = Path("data/results")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compare`."""
    parser.add_argument("one", metavar="A", help="results of an encoder: a folder or a name")
    parser.add_argument("other", metavar="B", help="results of another one, to be subtracted")


def run(options: argparse.Namespace) -> None:
    """Print the differences.

    Raises:
        InputError: there are no such results, or they cannot be compared.
    """
    from evaluation.results.compared import compare_results
    from evaluation.results.probes import read_predictions, read_results

    folders = [_folder(given) for given in (options.one, options.other)]
    one, other = ((read_results(folder), partial(read_predictions, folder)) for folder in folders)
    print(compare_results(one, other))


def _folder(given: str) -> Path:
    """Return the folder of results that is meant."""
    if Path(given).exists():
        return Path(given)
    if (RESULTS / given).is_dir():
        return RESULTS / given
    names = sorted(path.name for path in RESULTS.iterdir()) if RESULTS.is_dir() else []
    like = nearest([given], names)
    todo = f"did you mean {like}?" if like else "name a folder that `probeta score` wrote"
    expected = f"a folder, or a name under {RESULTS} ({', '.join(names) or 'there is none'})"
    raise InputError(f"results {given}", expected, "neither", todo)
