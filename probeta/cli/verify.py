"""`probeta verify`: whether stored scores are those that the stored answers give."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_data, add_params, names, positive
from corpora_recipes.running.errors import InputError

_PROVED = """\
proved: these are the data; scores recomputed, and their intervals, follow from the stored answers
proved: of the datasets with a score, no layer, row or answer is missing or there twice"""
_NOT_PROVED = """\
not proved: that this encoder, or any, gave these answers: who has the data can write right ones
not proved: its name, revision, options; protocol, seed, versions, code: the results only say so
not proved: probes: what was chosen on validation, ablations, the share of known words
not proved: rankings: other layers, post-processed vectors, correlations, ties, unknown words
not proved: paradigms: the scores of single clusters"""
_OF_VECTORS = "not proved: the digests of vectors (--encode compares them with data/embeddings)"
# Characters of a line: what results say may be of any length.
_LONGEST = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta verify`."""
    add, told = (
        parser.add_argument,
        "folders that score, probe or rank wrote, or files of paradigms",
    )
    add("results", type=Path, nargs="+", metavar="RESULTS", help=told)
    add_data(parser)
    told = "verify these only (default: all of the results)"
    add("--datasets", type=names, metavar="A,B", help=told)
    told = "encode N texts of each dataset again (default: none; without a number: 16)"
    add("--encode", type=positive, nargs="?", const=16, metavar="N", help=told)
    add_params(parser)


def run(options: argparse.Namespace) -> None:
    """Verify results, and say what differs."""
    from evaluation.data.finding import check_names, data_folder
    from evaluation.data.instances import find_datasets
    from probeta.verifying.results import verify_results
    from probeta.verifying.vectors import verify_vectors

    folder = data_folder(options.data, options.datasets)
    datasets = {dataset.name: dataset for dataset in find_datasets(folder)}
    check_names(f"datasets of {folder}", options.datasets, datasets)
    differing = 0
    for path in options.results:
        check = verify_results(path, folder, datasets, options.datasets)
        name, count = check.results.name, f"{check.recomputed:,} scores recomputed"
        _print(f"{path}: {check.kind} of {name}: {count}")
        if options.encode and not check.differences:
            verify_vectors(check, options.params, options.encode)
        for difference in check.differences:
            _print(f"  differs: {difference}")
        for note in dict.fromkeys(check.notes):
            _print(f"  {note}")
        differing += len(check.differences)
    proved = [] if differing else [_PROVED]
    print(*proved, _NOT_PROVED, *([] if options.encode else [_OF_VECTORS]), sep="\n")
    if differing:
        expected = "scores that the stored answers give on this data"
        todo = "score the encoder again, or name the data that it was scored on with --data"
        raise InputError("verify", expected, f"{differing:,} that differ, named above", todo)
    print("nothing differs")


def _print(line: str) -> None:
    """Print a line, which cannot become two, nor change a terminal."""
    print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line[:_LONGEST]))
