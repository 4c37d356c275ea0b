"""`probeta study`: which scores that need no probe correlate with those of tasks, over encoders."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import PACKAGE

if TYPE_CHECKING:
    from probeta.report.layout import Table
    from probeta.report.tables.study import Study

COLUMNS = ("folder", "model", "task", "dataset", "measure", "value")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta study`."""
    told = "scores to correlate (default: the results of the run)"
    parser.add_argument("--scores", type=Path, metavar="FILE.tsv", help=told)
    add_params(parser)


def run(options: argparse.Namespace) -> None:
    """Print the tables."""
    from probeta.report.formats import table_lines
    from probeta.report.layout import Cell
    from probeta.report.tables.study import relations

    if options.scores:
        study = read_scores(options.scores)
        tables = relations(study, [(Cell(task), [task]) for task in study.trained])
    else:
        tables = _of_run(options.params)
    if not tables:
        expected = "measures and scores of tasks of three encoders or more"
        raise InputError(options.scores or options.params, expected, "fewer", "score others")
    for table in tables:
        print("\n".join(table_lines(table)))


def _of_run(params: Path) -> "list[Table]":
    from probeta.cli.report import run_results
    from probeta.report.sections import SECTIONS
    from probeta.report.writing import open_inputs

    _, results, rankings, paradigms = run_results(params)
    inputs, _ = open_inputs(results, PACKAGE, rankings, paradigms)
    chapter = [section for section in SECTIONS if section.chapter == "study"]
    return [t for section in chapter if not section.figure for t in section.tables(inputs)]


def read_scores(path: Path) -> "Study":
    """Read a file of scores, see `probeta study --help`."""
    from corpora_recipes.formats.tables import number_of, table_rows
    from probeta.report.tables.study import Study

    intrinsic: dict[str, dict[str, float]] = {}
    trained: dict[str, dict[str, float]] = {}
    for row in table_rows(path.read_bytes(), str(path), COLUMNS, header=True):
        folder, model, task, dataset, measure, text = (row.fields[name] for name in COLUMNS)
        if math.isnan(value := number_of(text)):
            raise row.error("a number in the column value", repr(text), "correct the line")
        name = dataset if task == "classification" else f"{folder} {dataset or task} {measure}"
        of = trained if task == "classification" else intrinsic
        of.setdefault(name, {}).setdefault(model, value)
    return Study(intrinsic, trained)
