"""`probeta fetch`: download or link a corpus's raw files into a folder."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_corpus, add_params

HELP = """\
examples:
  probeta fetch wikipedia --out data/raw/wikipedia

`sources` in params.yaml is their origin: the sample in the project, the servers that publish the
corpus, or a folder. An interrupted download is resumed; complete files are not fetched again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta fetch`."""
    add_corpus(parser)
    add_params(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the raw files"
    )


def run(options: argparse.Namespace) -> None:
    """Fetch a corpus."""
    from corpora_recipes.entries import load_corpus
    from corpora_recipes.fetching.sources import fetch
    from corpora_recipes.params import load_params

    corpus = load_corpus(options.params, options.corpus)
    fetch(corpus, load_params(options.params)["sources"], options.out)
