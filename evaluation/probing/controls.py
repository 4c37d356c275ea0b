"""What a probe adds, beside its score: does it learn the task, or does the vector hold it?

- Selectivity (Hewitt and Liang 2019, "Designing and interpreting probes with control tasks",
  section 2): the score less that of the same probe on control labels, a random class for the first
  word of a row's first text, so that they must be memorised. Words, the most frequent first,
  draw among the rows of each class that are left: rows have each class as often as in train. Rows
  of test whose word train lacks are not scored; scores that are numbers are permuted over rows.
- Code length and compression, see ``online_code``.
- Usable information, see ``usable_information``, with chances that are calibrated on the rows that
  the strength was chosen on.

Formulae, and what differs from the papers, are in ``docs/probing.md``.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.hashing import keyed_choice, keyed_hash
from corpora_recipes.records import Split
from corpora_recipes.text.tokens import normalise
from evaluation.arrays import Doubles, Flags, Labels, Values
from evaluation.datasets import Dataset
from evaluation.features import ProbeRows, texts_of
from evaluation.measures import (
    Metric,
    effective_units,
    jackknife_half_width,
    leave_out,
    leave_out_means,
    measure,
)
from evaluation.probing.protocols import PROTOCOLS, Probing
from evaluation.probing.protocols.online_code import online_code, portions_of
from evaluation.probing.protocols.problem import ProbeOutput, Problem
from evaluation.probing.protocols.standard import strengths
from evaluation.results.scores import (
    CONTROL_MEASURES,
    Controls,
    CurvePoint,
    Predictions,
    Score,
    predictions_digest,
)

# With fewer rows of test, or of validation, nothing is measured; and with fewer a class of train.
MIN_ROWS = 50
MIN_ROWS_A_CLASS = 10
# The largest share of train's rows that would need another control label, for classes as frequent
# as the task's.
MAX_UNLIKE = 0.2

Measured = tuple[float, tuple[float, float]]
"""A value and its interval."""


def without_controls(reason: str) -> Controls:
    """Return the controls of a score that has none of the measures, for a reason."""
    return Controls({}, dict.fromkeys(CONTROL_MEASURES, reason))


def add_controls(
    score: Score,
    predictions: Predictions,
    train: ProbeRows,
    problem: Problem,
    output: ProbeOutput,
    words: Mapping[Split, Sequence[str]],
    seed: int,
    probing: Probing,
) -> tuple[Score, Predictions]:
    """Return a score with what its probe adds, and the predictions with their information.

    ``output`` is the probe's for the problem; ``words`` are those of all rows, see ``first_words``.
    """
    documents = predictions.documents
    control, gold, used = control_problem(problem, predictions.gold, words, seed)
    order = _keyed_order(train.ids, seed, problem.name, "code")
    reasons = _find_reasons(problem, control, documents[used], len(used), order, output)
    measured: dict[str, Measured] = {}
    facts: dict[str, Any] = {}
    if "selectivity" not in reasons:
        fit_predict = PROTOCOLS[probing.protocol].fit_predict
        of_control = output.probe and output.probe.fit_predict(control)
        of_control = of_control or fit_predict(control, seed, probing.engine)
        both = (predictions.gold, predictions.predicted), (gold, of_control.predictions)
        measured["selectivity"] = value, _ = measure_selectivity(
            score.metric, *both, used, documents
        )
        facts |= {"control": score.value - value, "control_rows": int(used.sum())}
    if "code_length" not in reasons:
        regressions, x_test = output.probe.regressions(problem)
        test = None if x_test is None else (x_test, predictions.gold)
        code = online_code(regressions, problem.y, order, strengths(problem), test)
        bits, uniform = code.bits, len(order) * math.log2(len(np.unique(problem.y)))
        (means,) = leave_out_means(bits[None], train.documents)
        for name, value, replicates in (
            ("code_length", bits.sum(), means * len(bits)),
            ("compression", uniform / bits.sum(), uniform / len(bits) / means),
        ):
            measured[name] = _with_interval(float(value), replicates, train.documents)
        points = [*code.curve, (len(order), score.value)]
        curve = tuple(CurvePoint(*point) for point in points)
        facts |= {"curve": curve, "uniform_code_length": uniform}
        if probing.controls == "full" and "selectivity" in measured:
            of_labels = online_code(regressions, control.y, order, strengths(problem), None)
            facts["control_code_length"] = float(of_labels.bits.sum())
    if "information" not in reasons:
        assert output.information is not None
        measured["information"] = measure_information(output.information, documents)
        predictions = replace(predictions, information=output.information)
    intervals = {name: interval for name, (_, interval) in measured.items()}
    values = {name: value for name, (value, _) in measured.items()}
    score = replace(
        score, measures=score.measures | values, answers=predictions_digest(predictions)
    )
    return replace(score, controls=Controls(intervals, reasons, **facts)), predictions


def _find_reasons(
    problem: Problem,
    control: Problem,
    used: Values,
    n_test: int,
    order: Labels,
    output: ProbeOutput,
) -> dict[str, str]:
    """Return measure to the reason why it would mean nothing, or is not measured.

    ``used`` are the documents of rows of test that have a control label.
    """
    n_classes, n_train = len(np.unique(problem.y)), len(problem.y)
    n_chosen = n_test if problem.validation is None else len(problem.validation[1])
    numbers = problem.metric == "pearson"
    of_train = f"train has {n_train} rows of {n_classes} classes"
    selectivity, *others = CONTROL_MEASURES
    if n_test < MIN_ROWS:
        return dict.fromkeys(CONTROL_MEASURES, f"test has {n_test} rows, fewer than {MIN_ROWS}")
    if not numbers and n_train < MIN_ROWS_A_CLASS * n_classes:
        return dict.fromkeys(CONTROL_MEASURES, f"{of_train}, fewer than {MIN_ROWS_A_CLASS} each")
    reasons = {}
    if len(used) < MIN_ROWS:
        reasons[selectivity] = (
            f"only {len(used)} of {n_test} rows of test begin with a word of train"
        )
    elif len(np.unique(used)) == 1:
        reasons[selectivity] = "rows of test that begin with a word of train are of one document"
    elif not numbers and _unlike(problem, control):
        reasons[selectivity] = "too many rows begin with the same words for such rare classes"
    if numbers:
        reasons |= dict.fromkeys(others, "scores are numbers, not classes")
    elif output.probe is None:
        reasons |= dict.fromkeys(others, "the protocol measures selectivity alone")
    else:
        if len(portions_of(problem.y[order])) < 2:
            reasons |= dict.fromkeys(others[:2], f"{of_train}, too few for portions")
        if n_chosen < MIN_ROWS:
            reasons["information"] = f"validation has {n_chosen} rows, fewer than {MIN_ROWS}"
    return reasons


def _unlike(problem: Problem, control: Problem) -> bool:
    """Return whether control labels are too unlike the classes, or all rows to fit on have one."""
    folds, size = control.folds, problem.y.max() + 1
    trains = [control.y] if folds is None else [control.y[folds != n] for n in np.unique(folds)]
    surplus = np.bincount(problem.y, minlength=size) - np.bincount(control.y, minlength=size)
    too_far = np.abs(surplus).sum() / 2 > MAX_UNLIKE * len(problem.y)
    return bool(too_far or any((y == y[0]).all() for y in trains))


def measure_information(bits: Doubles, documents: Values) -> Measured:
    """Return the mean of rows' information [rows], and its interval over their documents."""
    (replicates,) = leave_out_means(bits[None], documents)
    return _with_interval(float(bits.mean()), replicates, documents)


def measure_selectivity(
    metric: Metric,
    of_task: tuple[Values, Values],
    of_control: tuple[Values, Values],
    used: Flags,
    documents: Values,
) -> Measured:
    """Return the selectivity, and its interval over documents.

    Targets [rows] and predictions [starts, rows] of test are those of the task, and the control's,
    which are scored in ``used`` rows.
    """
    (gold, predicted), (labels, of_labels) = of_task, of_control
    score = np.mean([measure(metric, gold, start) for start in predicted])
    control = np.mean([measure(metric, labels[used], start[used]) for start in of_labels])
    replicates: Doubles = leave_out(metric, gold, predicted, documents).mean(axis=0)
    replicates -= leave_out(metric, labels, of_labels, documents, used).mean(axis=0)
    return _with_interval(float(score - control), replicates, documents)


def _with_interval(value: float, replicates: Doubles, documents: Values) -> Measured:
    """Return a value, and its interval given the value without each document in turn."""
    half_width = jackknife_half_width(value, replicates, effective_units(documents))
    return value, (value - half_width, value + half_width)


def first_words(dataset: Dataset, split: Split) -> list[str]:
    """Return the first word of each row's first text, folded; of a text without words, the text.

    The same for every encoder, whatever form of the texts it takes.
    """
    text = TASKS[dataset.task].texts[0]
    column = text.tokens if text.tokens in dataset.columns else text.natural
    values, counts = texts_of(dataset.read(split, [column]), column)
    firsts = values.take(np.cumsum(counts) - counts).to_pylist()
    return [normalise(first).partition(" ")[0] or first for first in firsts]


def control_problem(
    problem: Problem, gold: Values, words: Mapping[Split, Sequence[str]], seed: int
) -> tuple[Problem, Values, Flags]:
    """Return the problem with control labels, those of test, and whether its rows are scored.

    ``gold`` are the targets of test, or of the rows in folds; ``words`` as of ``first_words``.
    """
    name, validation = f"{problem.name} control", problem.validation
    if problem.metric == "pearson":
        targets = {"train": problem.y, "test": gold}
        targets |= {"validation": validation[1]} if validation else {}
        labels = {
            split: y[_keyed_order(range(len(y)), seed, name, split)] for split, y in targets.items()
        }
        used = np.ones(len(gold), bool)
    else:
        draw = draw_classes(words["train"], problem.y, seed, name)
        labels = {split: np.array([draw(word) for word in words[split]]) for split in words}
        used = _rows_with_known_words(words, problem.folds)
    control = replace(problem, name=name, y=labels["train"], gold=None)
    if validation is None:
        return control, labels["train"], used
    control = replace(control, validation=(validation[0], labels["validation"]))
    return control, labels["test"], used


def draw_classes(words: Sequence[str], y: Labels, seed: int, name: str) -> Callable[[str], int]:
    """Return the control's class of any word, see the module; y are the classes of train, [rows].

    A word that is not among these draws among all rows.
    """
    classes, counts = np.unique(y, return_counts=True)

    def draw(word: str, left: Labels) -> int:
        ends = np.cumsum(np.maximum(left, 0))
        drawn_row = keyed_choice(int(ends[-1]), seed, name, word)
        return int(np.searchsorted(ends, drawn_row, side="right"))

    left, drawn = counts.copy(), dict[str, int]()
    for word, count in sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])):
        drawn[word] = draw(word, left)
        left[drawn[word]] -= count
    return lambda word: int(classes[drawn[word] if word in drawn else draw(word, counts)])


def _keyed_order(ids: Iterable[object], seed: int, *parts: str) -> Labels:
    """Return the numbers of ids in the order of a keyed hash."""
    return np.argsort(np.array([keyed_hash(seed, *parts, str(i)) for i in ids], np.uint64))


def _rows_with_known_words(words: Mapping[Split, Sequence[str]], folds: Labels | None) -> Flags:
    """Return whether rows of test have a word of train; rows in folds, one of another fold."""
    if folds is None:
        return np.isin(np.array(words["test"], object), np.array(words["train"], object))
    pairs = {*zip(words["train"], folds.tolist(), strict=True)}
    n_folds = Counter(word for word, _ in pairs)
    return np.array([n_folds[word] > 1 for word in words["train"]])
