"""`probeta build`: a corpus's records to the instances of its datasets."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_corpus, add_params

HELP = """\
examples:
  probeta build theses --records data/records/theses.parquet --out data/instances/theses

build.json in the folder counts the documents and passages that are used or left out, by reason.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta build`."""
    add_corpus(parser)
    add_params(parser)
    parser.add_argument(
        "--records",
        type=Path,
        required=True,
        metavar="FILE.parquet",
        help="file that `probeta read` wrote",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the instances"
    )


def run(options: argparse.Namespace) -> None:
    """Build the datasets of a corpus, and print their numbers of rows and what limited them."""
    from builders.building.building import build
    from builders.building.made import limit_of
    from builders.plan.datasets import PassageDataset, datasets_of
    from builders.store.dataset_files import print_rows
    from corpora_recipes.entries import load_corpus
    from corpora_recipes.missing import how_to_get
    from corpora_recipes.params import load_params

    params = load_params(options.params)
    corpus = load_corpus(options.params, options.corpus)
    report = build(corpus, options.records, options.out, params["sources"])
    print_rows(report)
    datasets = datasets_of(corpus, params["sources"])
    if datasets and not report:
        print(f"missing: {', '.join(corpus.datasets)}. {how_to_get(corpus)}")
    for dataset in datasets if report else ():
        if isinstance(dataset, PassageDataset):
            print(f"{dataset.name}: {limit_of(dataset, report[dataset.name])}")
