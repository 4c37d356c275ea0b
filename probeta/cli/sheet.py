"""`probeta sheet`: write rows of a dataset for people to answer, and score what they answered."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_data, positive
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import PEOPLE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta sheet`."""
    add, told = parser.add_argument, "number of rows (default: 50)"
    add("dataset", nargs="?", metavar="DATASET", help="a dataset with classes")
    add("--rows", type=positive, default=50, metavar="N", help=told)
    add_data(parser)
    told = "instead of DATASET: sheets that were filled in, one for each person"
    add("--score", type=Path, nargs="+", metavar="FILE", help=told)


def run(options: argparse.Namespace) -> None:
    """Write a sheet, or score those that were filled in."""
    from evaluation.data.finding import find_data
    from evaluation.results.stored import write_stored
    from probeta.annotation import write_sheet
    from probeta.annotators import read_sheet, score_sheets
    from probeta.shown import interval, percent

    if (options.dataset is None) == (options.score is None):
        given = "neither" if options.dataset is None else "both"
        todo = "name one of the two, see `probeta sheet --help`"
        raise InputError("probeta sheet", "DATASET, or --score FILE", given, todo)
    if options.dataset:
        data = find_data(options.data, [options.dataset], None)
        count = write_sheet(data.datasets[0], data.seed, options.rows, PEOPLE)
        print(f"{PEOPLE / options.dataset}.html, .csv: {count} rows")
        return
    sheets = [read_sheet(path) for path in options.score]
    data = find_data(options.data, [sheets[0].dataset], None)
    people = score_sheets(sheets, data.datasets[0])
    write_stored(people, out := PEOPLE / f"{people.dataset}.json")
    shown = f"{percent(people.value)} {interval(people.interval)}"
    print(f"{people.dataset}: {shown} on {people.rows} rows")
    for path, accuracy in zip(options.score, people.accuracies, strict=True):
        print(f"  {path}: {percent(accuracy)}")
    if people.kappa is not None:
        print(f"  Cohen's kappa: {people.kappa:.2f}")
    print(f"{out}: `probeta report` shows it")
