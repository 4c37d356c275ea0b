"""The protocol "senteval": the schedule of the papers, all its fits trained at once.

After SentEval (Conneau and Kiela 2018, "SentEval: An evaluation toolkit for universal sentence
representations") and DiscoEval (Chen, Chu and Gimpel 2019, "Evaluation benchmarks and learning
criteria for discourse-aware sentence representations"), as they and their engine describe it.
Version 2:

1. Features are taken as they are. A linear layer and softmax learn by Adam on the cross-entropy, in
   batches of 64; L2 is weight decay, which is added to the gradient, the bias's too. Weights and
   bias start uniform within ±1 / sqrt(inputs).
2. After every 4 passes over train the accuracy on validation is taken. Training ends at the 6th
   check, consecutive or not, that brought nothing better than the best one (tenacity 5, the count
   is never reset), or after 200 passes. The best check's weights predict, the first of equal
   ones.
3. The L2 strength is the one of ``STRENGTHS`` with the best accuracy on validation, the smallest of
   these on a tie. What was trained with it predicts: it is not trained again.
4. Section prediction, discourse relations (also explicit and implicit ones) and discourse coherence
   have no L2. Discourse relations have 15 passes at most and a check after each. Discourse
   coherence has a hidden layer of 2,000 sigmoid units, a check after every 15 passes, and tenacity
   8.
5. Relatedness: scores as distributions over whole numbers (Tai, Socher and Manning 2015, "Improved
   semantic representations from tree-structured LSTMs", section 4.2), the mean squared error on
   them, no L2, a check of Pearson's correlation after every 50 passes, an end at the 4th without
   improvement or after 1,000 passes. The prediction is the mean of the distribution.
6. Folds: each is test once. Its strength has the best mean accuracy over the other folds, each of
   which validates once what all the rest has trained. Then one fit is trained on all but the test
   fold, with a random 5 % of it, rounded down but one row or more, as validation.
7. Where the source has no validation (TREC, MRPC), the rows that were held out for it belong to
   train: the strength has the best mean accuracy over ``FOLDS`` parts of train, drawn at random,
   each of which validates once; then one fit is trained on train as in 6.
8. All of it ``SEEDS`` times. A start gives the first weights, which all its strengths share, the
   orders of rows, the parts of 7, and the 5 %.
9. A class that train lacks is never predicted. With folds, classes are those of all rows.

Where it departs from the engine of 2018, and where its starts differ: ``docs/probing.md``.

A fit that leaves out folds i and j serves twice: with i as test and j as validation, and the
reverse. All strengths of one train set see the same batches; their weights lie one below the other
and share one matrix product. Runs with as many batches a pass take their steps together, as many as
fit the cache, and a fit leaves when it has ended.

Computed in float32, the same to the bit on one machine and one thread; "torch" differs in rounding.
Beside the problem it takes memory for one more copy of the features; for some six times the weights
of the runs that go together (all strengths of one start, or more, up to ``block`` numbers), and,
where they predict test, their best ones; for ``CHUNK`` rows times the classes or hidden units of a
run, a few times; and for the numbers of the rows of all train sets.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from corpora_recipes.hashing import keyed_hash
from evaluation.arrays import Doubles, Labels
from evaluation.probing.protocols.network import (
    Data,
    Engine,
    Run,
    Schedule,
    make_data,
    make_engine,
    train_runs,
)
from evaluation.probing.protocols.problem import SEEDS, ProbeOutput, Problem, Protocol

HELD_OUT = 0.05
# As Conneau and Kiela 2018, where there is no validation.
FOLDS = 10

# Of all relations: those of PDTB and RST in DiscoEval, and of RST in Spanish DiscoEval.
_RELATIONS = ("discourse_relations", "explicit_relations", "implicit_relations", "unit_relations")
SCHEDULES = {
    "section_prediction": Schedule((0.0,)),
    **dict.fromkeys(_RELATIONS, Schedule((0.0,), passes_per_check=1, passes=15)),
    "discourse_coherence": Schedule((0.0,), passes_per_check=15, tenacity=8, hidden=2000),
    "relatedness": Schedule((0.0,), passes_per_check=50, passes=1000, tenacity=3),
}
"""Tasks whose schedule is not the default."""


def fit_predict(problem: Problem, seed: int, engine: str, starts: int = SEEDS) -> ProbeOutput:
    """Train by the protocol, from so many random starts, and predict the test rows.

    ``chosen`` has, start after start and in each fold after fold, the "strength", and the "passes"
    after which the best weights were reached.
    """
    schedule = SCHEDULES.get(problem.task, Schedule())
    library = make_engine(engine)
    if problem.held_out and len(schedule.strengths) > 1:
        return _predict_unvalidated(problem, seed, library, schedule, starts)
    if problem.folds is None:
        return _predict_splits(problem, seed, library, schedule, starts)
    return _predict_folds(problem, problem.folds, seed, library, schedule, starts)


def effort(task: str, classes: int) -> int:
    """Return a fifth of the units of a task's layers, for each strength and pass."""
    schedule = SCHEDULES.get(task, Schedule())
    return (schedule.hidden or classes) * len(schedule.strengths) * schedule.passes // 5


PROTOCOL = Protocol(
    "senteval", 2, ("numpy", "torch"), fit_predict, scale_matters=True, effort=effort, in_folds=40
)


def _predict_splits(
    problem: Problem, seed: int, engine: Engine, schedule: Schedule, starts: int
) -> ProbeOutput:
    assert problem.validation is not None
    assert problem.test is not None
    x_validation, y_validation = problem.validation
    y = np.concatenate([problem.y, y_validation])
    data = make_data(engine, problem.metric, [problem.x, x_validation, problem.test], y)
    train, labelled = len(problem.x), len(y)
    learn, tested = (np.arange(train), (slice(train, labelled),)), slice(labelled, len(data.x))
    generators = [_generator(seed, problem.name, start) for start in range(starts)]
    runs = [Run(*learn, schedule.strengths, each, tested) for each in generators]
    trained = [(run, int(run.best_metrics[0].argmax())) for run in train_runs(data, runs, schedule)]
    predictions = np.stack([run.predictions[best] for run, best in trained])
    chosen = {
        "strength": [schedule.strengths[best] for _, best in trained],
        "passes": [float(run.passes[0, best]) for run, best in trained],
    }
    metrics = [run.best_metrics[0, best] for run, best in trained]
    return ProbeOutput(predictions, chosen, float(np.mean(metrics)))


def _predict_unvalidated(
    problem: Problem, seed: int, engine: Engine, schedule: Schedule, starts: int
) -> ProbeOutput:
    assert problem.validation is not None
    assert problem.test is not None
    x = np.concatenate([problem.x, problem.validation[0]])
    y = np.concatenate([problem.y, problem.validation[1]])
    data = make_data(engine, problem.metric, [x, problem.test], y)
    runs = []
    for start in range(starts):
        order = _generator(seed, problem.name, start, FOLDS).permutation(len(y))
        for number, part in enumerate(np.array_split(order, FOLDS)):
            generator = _generator(seed, problem.name, start, number)
            runs.append(Run(np.setdiff1d(order, part), (part,), schedule.strengths, generator))
    metrics = [trained.best_metrics[0] for trained in train_runs(data, runs, schedule)]
    means = np.array(metrics).reshape(starts, FOLDS, -1).mean(axis=1)
    strengths = [schedule.strengths[index] for index in means.argmax(axis=1)]
    learn, tested = np.arange(len(y)), slice(len(y), len(data.x))
    finals = [
        _final_run(learn, strength, _generator(seed, problem.name, start), tested)
        for start, strength in enumerate(strengths)
    ]
    trained = [*train_runs(data, finals, schedule)]
    predictions = np.stack([run.predictions[0] for run in trained])
    passes = [float(run.passes[0, 0]) for run in trained]
    chosen = {"strength": strengths, "passes": passes}
    return ProbeOutput(predictions, chosen, float(means.max(axis=1).mean()))


def _final_run(
    rows: Labels, strength: float, generator: np.random.Generator, test_rows: slice
) -> Run:
    """Return the fit that predicts: trained on rows, of which ``HELD_OUT`` at random validate."""
    order = generator.permutation(rows)
    held_out = max(1, int(HELD_OUT * len(order)))
    return Run(order[held_out:], (order[:held_out],), (strength,), generator, test_rows)


def _predict_folds(
    problem: Problem, folds: Labels, seed: int, engine: Engine, schedule: Schedule, starts: int
) -> ProbeOutput:
    order = np.argsort(folds, kind="stable")
    data = make_data(engine, problem.metric, [problem.x[order]], problem.y[order])
    ends = np.cumsum(np.unique(folds, return_counts=True)[1]).tolist()
    parts = [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    best, means = choose_strengths(data, parts, seed, problem.name, schedule, starts)
    runs, targets = [], []
    for start in range(starts):
        for test, part in enumerate(parts):
            generator = _generator(seed, problem.name, start, test)
            strength = schedule.strengths[best[start, test]]
            runs.append(_final_run(_rows_outside(len(order), part), strength, generator, part))
            targets.append((start, order[part]))
    predictions = np.empty((starts, len(order)), problem.y.dtype)
    strengths, passes = [], []
    trained = train_runs(data, runs, schedule)
    for run, outcome, target in zip(runs, trained, targets, strict=True):
        predictions[target] = outcome.predictions[0]
        strengths.append(run.strengths[0])
        passes.append(float(outcome.passes[0, 0]))
    if len(schedule.strengths) == 1:
        means = np.array([outcome.best_metrics[0, 0] for outcome in trained])
    chosen = {"strength": strengths, "passes": passes}
    return ProbeOutput(predictions, chosen, float(means.mean()))


def choose_strengths(
    data: Data, parts: Sequence[slice], seed: int, name: str, schedule: Schedule, starts: int
) -> tuple[Labels, Doubles]:
    """Return the best strength's index for each test fold, and its mean metric over the others.

    Both are [starts, folds]; zeros if there is nothing to choose from. ``parts`` are the folds'
    rows.
    """
    n_folds = len(parts)
    if len(schedule.strengths) == 1:
        return np.zeros((starts, n_folds), np.int64), np.zeros((starts, n_folds))
    pairs = [(start, *pair) for start in range(starts) for pair in combinations(range(n_folds), 2)]
    runs = []
    for start, *pair in pairs:
        both, generator = (parts[pair[0]], parts[pair[1]]), _generator(seed, name, start, *pair)
        rows = _rows_outside(len(data.y), *both)
        runs.append(Run(rows, both, schedule.strengths, generator))
    # Of each fold as test, in the order of the folds that validate.
    metrics = np.zeros((starts, n_folds, n_folds, len(schedule.strengths)))
    outcomes = train_runs(data, runs, schedule)
    for (start, first, second), outcome in zip(pairs, outcomes, strict=True):
        metrics[start, second, first], metrics[start, first, second] = outcome.best_metrics
    means = metrics.sum(axis=2) / (n_folds - 1)
    return means.argmax(axis=2), means.max(axis=2)


def _rows_outside(n_rows: int, *parts: slice) -> Labels:
    outside = np.ones(n_rows, bool)
    for part in parts:
        outside[part] = False
    return np.flatnonzero(outside)


def _generator(seed: int, name: str, start: int, *parts: int) -> np.random.Generator:
    key = keyed_hash(seed, name, "senteval", *map(str, (start, *parts)))
    return np.random.Generator(np.random.PCG64(key))
