"""`probeta verify`: whether stored scores are those that the stored answers give."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from evaluation.verifying.differences import Data, Verified

HELP = """\
examples:
  probeta verify data/results/char_hash data/rankings/char_hash data/paradigms/char_hash.json
  probeta verify results/e5 --data ORG/NAME
  probeta verify results/e5 --data dist/hub --datasets sp_wiki,fac

From the answers that results hold, and from the data, the scores and their intervals are computed
again, and the digests of the files compared: no model and no vectors are needed. What differs is
named, with what is stored and what was recomputed, and the exit status is 1. What cannot be
recomputed, as it needs the vectors, is told.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta verify`."""
    parser.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS",
        help="folders that score, probe or rank wrote, or files of paradigms",
    )
    parser.add_argument(
        "--data",
        metavar="DATA",
        help="folder of the datasets, or their id on the Hugging Face Hub (default: dist/hub)",
    )
    parser.add_argument(
        "--datasets",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        metavar="A,B",
        help="verify these only (default: all of the results)",
    )


def run(options: argparse.Namespace) -> None:
    """Verify results, and say what differs.

    Raises:
        InputError: something differs; or results or data are missing or damaged.
    """
    from evaluation.data.instances import find_datasets
    from evaluation.scoring.data import check_names, data_folder
    from evaluation.verifying.differences import Data

    folder = data_folder(options.data, options.datasets)
    data = Data(folder, {own.name: own for own in find_datasets(folder)}, options.datasets)
    check_names(f"datasets of {folder}", options.datasets, data.datasets)
    count = 0
    for path in options.results:
        own = _verify(path, data)
        print(f"{path}: {own.kind} of {own.name}: {own.scores:,} scores recomputed")
        for difference in own.differences:
            print(f"  differs: {difference}")
        for what in own.unverified:
            print(f"  not verified: {what}")
        count += len(own.differences)
        if not own.scores and not own.differences:
            raise InputError(
                path,
                expected=f"scores on {', '.join(options.datasets or data.datasets)}",
                found="none",
                todo="name datasets that the results have",
            )
    if count:
        raise InputError(
            "verify",
            expected="scores that the stored answers give on this data",
            found=f"{count:,} that differ, named above",
            todo="score the encoder again, or name the data that it was scored on with --data",
        )
    print("nothing differs")


def _verify(path: Path, data: "Data") -> "Verified":
    """Verify results of whatever kind."""
    from evaluation.results.paradigms import read_paradigms
    from evaluation.results.probes import read_results
    from evaluation.results.rankings import RANKS, read_rankings
    from evaluation.verifying.neighbours import verify_paradigms, verify_rankings
    from evaluation.verifying.probes import verify_probes

    if path.is_file():
        return verify_paradigms(read_paradigms(path), data)
    if (path / RANKS).is_file():
        return verify_rankings(read_rankings(path), path, data)
    return verify_probes(read_results(path), path, data)
