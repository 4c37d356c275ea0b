"""Controls of a probe: does it learn the task, or does the vector hold it?

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
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.hashing import keyed_choice, keyed_hash
from corpora_recipes.records import Split
from corpora_recipes.text.tokens import normalise
from evaluation.arrays import Doubles, Flags, Labels, Values
from evaluation.datasets import Dataset
from evaluation.features import texts_of
from evaluation.measures import effective_units, jackknife_half_width, leave_out, measure
from evaluation.probing.protocols import PROTOCOLS, Probing
from evaluation.probing.protocols.problem import ProbeOutput, Problem
from evaluation.results.comparison import clip_interval
from evaluation.results.scores import CONTROL_MEASURES, Controls, Predictions, Score

# With fewer rows of test, nothing is measured.
MIN_ROWS = 30
# The largest share of train's rows that would need another control label, for classes as frequent
# as the task's.
MAX_UNLIKE = 0.2


def without_controls(reason: str) -> Controls:
    """Return the controls of a score that has none of the measures, for a reason."""
    return Controls({}, dict.fromkeys(CONTROL_MEASURES, reason))


def add_controls(
    score: Score,
    predictions: Predictions,
    dataset: Dataset,
    problem: Problem,
    seed: int,
    probing: Probing,
) -> tuple[Score, Predictions]:
    """Return a score with what its probe adds, and the predictions with their information."""
    controls = without_controls(f"not measured by the protocol {probing.protocol}")
    measures = {**score.measures}
    words = {split: first_words(dataset, split) for split in dataset.files}
    control, gold, used = control_problem(problem, predictions.gold, words, seed)
    if reason := _unfit_for_control(problem, control, used):
        controls.not_applicable["selectivity"] = reason
    else:
        output = PROTOCOLS[probing.protocol].fit_predict(control, seed, probing.engine)
        value, interval = _selectivity(score, predictions, gold, output, used)
        measures["selectivity"] = value
        controls.intervals["selectivity"] = interval
        del controls.not_applicable["selectivity"]
        controls = replace(controls, control=score.value - value, control_rows=int(used.sum()))
    return replace(score, measures=measures, controls=controls), predictions


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


def _unfit_for_control(problem: Problem, control: Problem, used: Flags) -> str:
    """Return why a control would mean nothing; "" if it means something."""
    if used.sum() < MIN_ROWS:
        return f"only {used.sum()} of {len(used)} rows of test begin with a word of train"
    if problem.metric == "pearson":
        return ""
    folds = control.folds
    trains = [control.y] if folds is None else [control.y[folds != n] for n in np.unique(folds)]
    if any((y == y[0]).all() for y in trains):
        return "train has one control label: too many of its rows begin with the same word"
    size = problem.y.max() + 1
    counts = np.bincount(problem.y, minlength=size) - np.bincount(control.y, minlength=size)
    if np.abs(counts).sum() / 2 > MAX_UNLIKE * len(problem.y):
        return "too many rows begin with the same words for control labels as rare as the classes"
    return ""


def _selectivity(
    score: Score, predictions: Predictions, gold: Values, output: ProbeOutput, used: Flags
) -> tuple[float, tuple[float, float]]:
    """Return the selectivity of a score, and its interval by the jackknife over documents.

    ``gold`` are the control labels of test, [rows]; those of ``used`` rows are scored.
    """
    documents, metric = predictions.documents, score.metric
    controls = [measure(metric, gold[used], start[used]) for start in output.predictions]
    value = score.value - float(np.mean(controls))
    of_score = leave_out(metric, predictions.gold, predictions.predicted, documents)
    of_control = leave_out(metric, gold, output.predictions, documents, used)
    replicates: Doubles = of_score.mean(axis=0) - of_control.mean(axis=0)
    half_width = jackknife_half_width(value, replicates, effective_units(documents))
    return value, clip_interval(value, half_width, 2.0 if metric == "pearson" else 1.0)
