"""`probeta compare`: the differences of two encoders that are not due to chance."""

import argparse

HELP = """\
examples:
  probeta compare use_multilingual char_hash
  probeta compare results/e5 results/fasttext

A and B are folders of results that `score` wrote, or names under data/results. For each dataset
that both have, and each group of such datasets: the score of A minus that of B, x 100, measured on
the same documents, with its 95 % interval. It is a tie if the interval contains 0.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compare`."""
    parser.add_argument("one", metavar="A", help="results of an encoder: a folder or a name")
    parser.add_argument("other", metavar="B", help="results of another one, to be subtracted")


def run(options: argparse.Namespace) -> None:
    """Print the differences.

    Raises:
        InputError: there are no such results, or they cannot be compared.
    """
    from evaluation.results.compared import compare

    print(compare(options.one, options.other))
