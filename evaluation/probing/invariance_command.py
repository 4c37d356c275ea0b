"""`probeta invariance`: check what scores must not depend on (gate 10)."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params, add_workers, said_kept
from evaluation.entries import add_instances

HELP = """\
examples:
  probeta invariance --instances dist/hub --out data/invariance.json

Probes every dataset four times, on a part of its rows: as it is, with embeddings times 0.1 and
times 10, and, in another process, with the datasets in reverse order and another seed of Python's
hashing; always by the protocol `standard`. Datasets that were measured in an earlier run are not
measured again if they, parameters, code and libraries are unchanged. Fails, after writing, if an
answer changes.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta invariance`."""
    add_instances(parser)
    add_params(parser)
    add_workers(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE.json", help="file for the measurements"
    )


def run(options: argparse.Namespace) -> None:
    """Measure the invariance of all datasets."""
    from corpora_recipes.params import load_params
    from evaluation.probing.invariance import measure
    from evaluation.probing.params import probing_params

    params = load_params(options.params)
    report, kept = measure(
        options.instances,
        options.out,
        seed=params["seed"],
        workers=options.workers,
        pair_features=probing_params(params, options.params).pair_features,
    )
    print(said_kept(len(report["datasets"]), kept))
    print("scale, order and hash seed change no scores")
