"""What a probe adds, beside its score: does it learn the task, or does the vector hold it?

**Selectivity** (Hewitt and Liang 2019, "Designing and interpreting probes with control tasks",
section 2): the score less that of the same probe on control labels, which are random and can only
be learnt by heart, so that a probe that only memorises does as well on them. Theirs are of word
types; here the vectors are of texts, which never recur, so that a row gets the class of the first
word of its first text. Words are taken from the most frequent on, and draw, by a keyed hash, among
the rows of each class that no word has used up: rows have each class as often as in train, while
the classes of words that are drawn independently, as in the paper, depend on a few frequent words.
Rows, folds and the choice of strength are the probe's. Rows of test whose word train lacks are left
out of the control's score, and counted. Scores that are numbers are permuted over rows instead, so
that nothing recurs and the control's score is about 0.

**Code length and compression**: see ``evaluation.probing.protocols.online_code``; of rows in folds,
of all of them. Compression is the length of the uniform code divided by that of the online code.

**Usable information**: see ``usable_information``, of the probe's chances, calibrated on the rows
that its strength was chosen on: the cross-entropy of train's class shares on test, less the
probe's, in bits a row.

Intervals are of the jackknife over documents, as those of scores (``evaluation.measures``).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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

Measured = dict[str, tuple[float, tuple[float, float]]]
"""Measure to its value and interval."""


def without_controls(reason: str) -> Controls:
    """Return the controls of a score that has none of the measures, for a reason."""
    return Controls({}, dict.fromkeys(CONTROL_MEASURES, reason))


def add_controls(
    score: Score,
    predictions: Predictions,
    rows: Mapping[Split, ProbeRows],
    dataset: Dataset,
    problem: Problem,
    output: ProbeOutput,
    seed: int,
    probing: Probing,
) -> tuple[Score, Predictions]:
    """Return a score with what its probe adds, and the predictions with their information.

    ``output`` is that of the probe for the problem; for the others see ``probe_dataset``.
    """
    words = {split: first_words(dataset, split) for split in dataset.files}
    control, gold, used = control_problem(problem, predictions.gold, words, seed)
    keys = [keyed_hash(seed, problem.name, "code", str(row)) for row in rows["train"].ids]
    order = np.argsort(np.array(keys, np.uint64))
    reasons = _find_reasons(problem, control, used, order, output, probing.protocol)
    measured: Measured = {}
    facts: dict[str, Any] = {}
    if "selectivity" not in reasons:
        if output.probe is not None:
            of_control = output.probe.fit_predict(control)
        else:
            fit_predict = PROTOCOLS[probing.protocol].fit_predict
            of_control = fit_predict(control, seed, probing.engine)
        measured["selectivity"] = measure_selectivity(
            score.metric,
            (predictions.gold, predictions.predicted),
            (gold, of_control.predictions),
            used,
            predictions.documents,
        )
        facts["control"] = score.value - measured["selectivity"][0]
        facts["control_rows"] = int(used.sum())
    if "code_length" not in reasons:
        assert output.probe is not None
        regressions, x_test = output.probe.regressions(problem)
        test = None if x_test is None else (x_test, predictions.gold)
        tried = strengths(problem)
        code = online_code(regressions, problem.y, order, tried, test)
        uniform = len(order) * math.log2(len(np.unique(problem.y)))
        measured |= _measure_code(code.bits, uniform, rows["train"].documents)
        points = [*code.curve, (len(order), score.value)]
        facts["curve"] = tuple(CurvePoint(*point) for point in points)
        facts["uniform_code_length"] = uniform
        if probing.controls == "full":
            of_labels = online_code(regressions, control.y, order, tried, None)
            facts["control_code_length"] = float(of_labels.bits.sum())
    if "information" not in reasons:
        bits = output.information
        assert bits is not None
        measured["information"] = measure_information(bits, predictions.documents)
        predictions = replace(predictions, information=bits)
    controls = Controls(
        {name: interval for name, (_, interval) in measured.items()}, reasons, **facts
    )
    values = {name: value for name, (value, _) in measured.items()}
    score = replace(score, measures=score.measures | values, controls=controls)
    return replace(score, answers=predictions_digest(predictions)), predictions


def _find_reasons(
    problem: Problem,
    control: Problem,
    used: Flags,
    order: Labels,
    output: ProbeOutput,
    protocol: str,
) -> dict[str, str]:
    """Return measure to the reason why it would mean nothing, or is not measured."""
    n_classes, n_train, n_test = len(np.unique(problem.y)), len(problem.y), len(used)
    n_chosen = n_test if problem.validation is None else len(problem.validation[1])
    if n_test < MIN_ROWS:
        return without_controls(f"test has {n_test} rows, fewer than {MIN_ROWS}").not_applicable
    reasons = {}
    if problem.metric == "pearson":
        reasons = dict.fromkeys(CONTROL_MEASURES[1:], "scores are numbers, not classes")
    elif n_train < MIN_ROWS_A_CLASS * n_classes:
        reason = (
            f"train has {n_train} rows of {n_classes} classes, fewer than {MIN_ROWS_A_CLASS} each"
        )
        return without_controls(reason).not_applicable
    elif output.probe is None:
        reasons = dict.fromkeys(CONTROL_MEASURES[1:], f"not measured by the protocol {protocol}")
    else:
        if len(portions_of(problem.y[order])) < 2:
            reason = f"train has {n_train} rows of {n_classes} classes, too few for portions"
            reasons = dict.fromkeys(CONTROL_MEASURES[1:3], reason)
        if n_chosen < MIN_ROWS:
            reasons["information"] = f"validation has {n_chosen} rows, fewer than {MIN_ROWS}"
    if reason := _unfit_for_control(problem, control, used):
        reasons["selectivity"] = reason
    return reasons


def _unfit_for_control(problem: Problem, control: Problem, used: Flags) -> str:
    """Return why a control would mean nothing; "" if it means something."""
    if used.sum() < MIN_ROWS:
        return f"only {used.sum()} of {len(used)} rows of test begin with a word of train"
    if problem.metric == "pearson":
        return ""
    folds = control.folds
    trains = [control.y] if folds is None else [control.y[folds != n] for n in np.unique(folds)]
    size = problem.y.max() + 1
    counts = np.bincount(problem.y, minlength=size) - np.bincount(control.y, minlength=size)
    if any((y == y[0]).all() for y in trains) or np.abs(counts).sum() / 2 > MAX_UNLIKE * len(
        problem.y
    ):
        return "too many rows begin with the same words for control labels as rare as the classes"
    return ""


def _measure_code(bits: Doubles, uniform: float, documents: Values) -> Measured:
    """Return the length of a code of rows, and its compression of the uniform code."""
    length, (means,) = float(bits.sum()), leave_out_means(bits[None], documents)
    compressions = uniform / len(bits) / means
    return {
        "code_length": _with_interval(length, means * len(bits), documents),
        "compression": _with_interval(uniform / length, compressions, documents),
    }


def measure_information(bits: Doubles, documents: Values) -> tuple[float, tuple[float, float]]:
    """Return the mean of rows' information [rows], and its interval over their documents."""
    (replicates,) = leave_out_means(bits[None], documents)
    return _with_interval(float(bits.mean()), replicates, documents)


def _with_interval(
    value: float, replicates: Doubles, documents: Values
) -> tuple[float, tuple[float, float]]:
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

    Args:
        problem: in splits or in folds.
        gold: classes or scores of test, or of the rows in folds, [rows].
        words: of each row, see ``first_words``.
        seed: the run's.
    """
    name = f"{problem.name} control"
    targets = {"train": problem.y, "test": gold}
    if problem.validation is not None:
        targets["validation"] = problem.validation[1]
    if problem.metric == "pearson":
        labels = {split: _permute(y, seed, name, split) for split, y in targets.items()}
        used = np.ones(len(gold), bool)
    else:
        draw = draw_classes(words["train"], problem.y, seed, name)
        labels = {split: np.array([draw(word) for word in words[split]]) for split in words}
        used = _known_rows(words, problem.folds)
    control = replace(problem, name=name, y=labels["train"])
    if problem.validation is None:
        return control, labels["train"], used
    return (
        replace(control, validation=(problem.validation[0], labels["validation"])),
        labels["test"],
        used,
    )


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


def _permute(values: Values, seed: int, *parts: str) -> Values:
    """Return values in the order of a keyed hash."""
    keys = [keyed_hash(seed, *parts, str(row)) for row in range(len(values))]
    return values[np.argsort(np.array(keys, np.uint64))]


def _known_rows(words: Mapping[Split, Sequence[str]], folds: Labels | None) -> Flags:
    """Return whether rows of test have a word of train; rows in folds, one of another fold."""
    if folds is None:
        vocabulary = {*words["train"]}
        return np.array([word in vocabulary for word in words["test"]])
    folds_of: dict[str, set[int]] = {}
    for word, fold in zip(words["train"], folds.tolist(), strict=True):
        folds_of.setdefault(word, set()).add(fold)
    return np.array([len(folds_of[word]) > 1 for word in words["train"]])


def measure_selectivity(
    metric: Metric,
    of_task: tuple[Values, Values],
    of_control: tuple[Values, Values],
    used: Flags,
    documents: Values,
) -> tuple[float, tuple[float, float]]:
    """Return the selectivity, and its interval by the jackknife over documents.

    Args:
        metric: of both.
        of_task: targets [rows] and predictions [starts, rows] of test.
        of_control: the same of control labels.
        used: whether a row's control label is scored, [rows].
        documents: ids of the documents, [rows].
    """
    (gold, predicted), (labels, of_labels) = of_task, of_control
    score = np.mean([measure(metric, gold, start) for start in predicted])
    control = np.mean([measure(metric, labels[used], start[used]) for start in of_labels])
    replicates: Doubles = leave_out(metric, gold, predicted, documents).mean(axis=0)
    replicates -= leave_out(metric, labels, of_labels, documents, used).mean(axis=0)
    return _with_interval(float(score - control), replicates, documents)
