"""`probeta digest`: identify datasets by their content."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta digest`."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder with datasets")


def run(options: argparse.Namespace) -> None:
    """Print the digests of a folder."""
    from builders.store.shards import digests

    print("config\tsplit\trows\tsha256\tcontent")
    for row in digests(options.folder):
        print(*row.values(), sep="\t")
