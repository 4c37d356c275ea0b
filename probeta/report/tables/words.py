"""Words: Table 1 of Sumbler et al. (2018), how its columns correlate, and analogies by type."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from statistics import fmean

import numpy as np

from evaluation.measures import leave_out_means, score_interval
from evaluation.probing.words import BEST, OWN
from evaluation.results.scores import read_predictions
from probeta.report.layout import Number
from probeta.report.statistics import Report
from probeta.report.tables import TABLE_1, TABLE_1_SCORES, Published, number
from probeta.report.tables.study import correlate, iter_untrained
from probeta.report.texts import phrase

_PAPER = ", Sumbler et al. (2018)"
_AVERAGE, _SUGGESTION = (column for column, dataset in TABLE_1.items() if not dataset)
# What is measured as in the paper, if it is: the first that a score has.
_MEASURES = (BEST, f"3CosAdd, {OWN}", "spearman", "accuracy")


def table_1_scores(report: Report) -> dict[str, dict[str, float]]:
    """Return encoder to column of Table 1 to score in per cent, measured as in the paper."""
    scores: dict[str, dict[str, float]] = {}
    for column, dataset in TABLE_1.items():
        for name, score in report.inputs.datasets.get(dataset, {}).items():
            measure = next(each for each in _MEASURES if each in score.measures)
            scores.setdefault(name, {})[column] = 100 * score.measures[measure]
    for cells in scores.values():
        if len(cells) == sum(map(bool, TABLE_1.values())):
            cells[_AVERAGE] = fmean(cells.values())
    for results in report.inputs.paradigms:
        for each in results.main:  # among its own words first
            if (each.dataset, each.casing) == ("paralex_en", "as_is"):
                cells = scores.setdefault(results.name, {})
                cells.setdefault(_SUGGESTION, 100 * each.suggestion)
    return {name: scores[name] for name in report.sort_names(scores)}


def table_1(report: Report) -> Iterator[Number]:
    """Yield the columns of Table 1, of the encoders here and of the paper's."""
    here = table_1_scores(report)
    reported = {name + _PAPER: cells for name, cells in TABLE_1_SCORES.items()}
    for name, cells in (here | reported).items() if here else ():
        about = {"encoder": name, "kind": "encoder" if name in here else "reported"}
        for column in filter(cells.__contains__, TABLE_1):
            yield number(about, cells[column] / 100, test=column)


def correlations(report: Report) -> Iterator[Number]:
    """Yield Spearman's correlations of the columns, over the paper's models and over encoders."""
    here = table_1_scores(report)
    sides: dict[str, Mapping[str, Published]] = {
        _PAPER[2:]: TABLE_1_SCORES,
        phrase("encoders").lower(): here,
    }
    for (over, scores), pair in product(sides.items() if here else (), combinations(TABLE_1, 2)):
        first, second = (
            np.array([cells.get(name, np.nan) for cells in scores.values()]) for name in pair
        )
        if found := correlate(first, second):
            about = {"over": over, "score": pair[0], "tasks": pair[1]}
            yield number(about, found.value, found.interval, note=f"n = {found.encoders}")


def analogies(report: Report) -> Iterator[Number]:
    """Yield the accuracy in each type of analogies, with its interval over pairs."""
    for dataset, encoder, score in iter_untrained(report, "accuracy"):
        if score.task != "analogies":
            continue
        rows = read_predictions(report.inputs.folders[encoder], dataset, score.layer)
        types = np.array([document.split("/")[1] for document in rows.documents])
        for name in np.unique(types):
            right = 1.0 * (rows.gold == rows.predicted[0])[types == name]
            documents, value = rows.documents[types == name], float(right.mean())
            (replicates,) = leave_out_means(right[None], documents)
            interval = score_interval("accuracy", value, replicates, documents)
            about = {"dataset": dataset, "encoder": encoder, "type": str(name)}
            yield number(about, value, interval, questions=len(right))
