"""`probeta compare`: the differences of two encoders that are not due to chance."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compare`."""
    parser.add_argument("one", metavar="A", help="results of an encoder: a folder or a name")
    parser.add_argument("other", metavar="B", help="results of another one, to be subtracted")


def run(options: argparse.Namespace) -> None:
    """Print the differences."""
    from probeta.comparing import compare

    print(compare(options.one, options.other))
