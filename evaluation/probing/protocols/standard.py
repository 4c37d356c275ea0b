"""The protocol "standard": logistic regression on fixed features; nothing is random.

Version 5:

1. Features are standardised with the mean and the standard deviation of train; a column that is
   constant in train becomes 0. Scores therefore do not depend on the scale of the embeddings.
2. Multinomial logistic regression: strength / 2 times the sum of the squared weights (the bias is
   free; of two classes there is one vector of weights) is added to the mean cross-entropy over
   train. The strength is the one of ``STRENGTHS`` with the best metric on validation, the strongest
   of these on a tie. It is fitted on train alone, and not once more with validation.
3. Discourse coherence is beyond any linear function of the sentences side by side. The
   regression sees ``coherence_features`` instead: the cosines of the 15 pairs of sentences, and how
   well the second to the fifth fit the others, in order; in 1 as in 2.
4. A class that is lacking where the regression is fitted is never predicted. (Where it is lacking
   in all that may be learnt from, the dataset is refused before; in an inner fold it may be.)
5. Relatedness, after Tai, Socher and Manning 2015 ("Improved semantic representations from
   tree-structured LSTMs", section 4.2), as in SentEval (Conneau and Kiela 2018): the classes are
   whole numbers; a score is taken as the distribution over the two next to it that has the score
   as its mean; the prediction is the mean of the predicted distribution. The loss is the paper's
   cross-entropy (SentEval's code has the squared error). The strength is chosen by Pearson's
   correlation.
6. Where a dataset has folds in place of splits, each fold is test once, and the strength is chosen
   by cross-validation within the rest: each other fold is held out once and predicted by what was
   fitted on those that remain; the metric is that of all these predictions together, the strongest
   strength wins a tie, and the regression is fitted once more, on all folds but the test fold. All
   1 to 5 are done anew on what is fitted on. (What was fitted without two folds serves twice, with
   either one as test and the other held out.)
7. Where train, or all folds, have more than ``LARGE`` rows times classes (word content: 100,000
   times 1,000), the strengths are ``LARGE_STRENGTHS``. Besides the features, and two copies of them
   in float32, it takes memory for some squares of 1,500 features, for 512 rows times classes and
   for some twenty times the weights; with folds, for those of all pairs of folds.

On 3: accuracies in % on test, means over 4 to 15 splits of the documents by keyed hash (60, 20 and
20 %), standard errors 0.5 to 2.6, with use_multilingual; of film subtitles (2,506 rows),
Wikipedia (746), and Wikipedia, theses and news with sentences replaced at random (1,728); and the
seconds of a fit of the third on one thread.

    sigmoid network by Adam (2,000 units, 15 passes)          50.1  48.5  48.1  7
    2,000 fixed random units, logistic read-out                     48.9  47.1  1
    2,000 fixed random units, ridge read-out                        48.4  47.2  2
    sentences side by side, logistic regression               47.5  48.4  47.3  1
    products of all pairs of embeddings, the same             54.4  69.0  66.7  1
    products of neighbours, the same                          53.9  69.1  67.5  1
    products of each with the sum of the others, the same     55.7
    cosines of all pairs, the same                            58.0  72.0  69.7  0.05
    ... and the fits of the inner sentences in order: kept    58.8  81.7  79.0  0.05

With char_hash the network has 52.3 (second) and 50.2 (third), what is kept 56.3, 68.0 and 67.0.
Products, absolute differences or the embeddings themselves beside what is kept did harm, or made no
difference beyond the error. All was measured with 450 to 1,500 rows to learn from, not with the
10,000 of the papers, and the kept features only see what cosines show.

Version 4 changes how the regressions are computed, and of folds all at once; scores are those of
version 3, except for a row here and there. (All strengths are tried: over 46 datasets, ending the
search for one after the third that brought nothing better on validation would have changed the
choice in 10.)

Version 5 rotates the few rows of folds to axes of each regression: the same problem, but that axes
with less than a millionth of the variance are dropped, as those of train are since version 4.
Scores can differ where rows are nearly the same: of predictions, with random rows 1 of 3,300, with
twins that differ by a thousandth one in nine.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from evaluation.arrays import Flags, Floats, Labels, Values
from evaluation.measures import measure
from evaluation.probing.protocols.logistic import (
    Regressions,
    coherence_features,
    deviations,
    standardised,
)
from evaluation.probing.protocols.problem import (
    ProbeOutput,
    Problem,
    Protocol,
    Targets,
    predict,
    targets,
)

COHERENCE = "discourse_coherence"
# From 100, where features hardly count, to 0.001, in half powers of ten.
STRENGTHS = tuple(float(10.0 ** (2 - half / 2)) for half in range(11))
# Rows times classes: tasks of 100,000 rows and up to 10 classes have all strengths.
LARGE = 1_000_000
LARGE_STRENGTHS = (0.1, 0.01, 0.001)


def fit_predict(problem: Problem, seed: int, engine: str) -> ProbeOutput:
    """Fit by the protocol and predict each row once; ``chosen`` has each test fold's "strength".

    Train has two classes or more, or two different scores. The seed is without effect.
    """
    if problem.folds is None:
        return _predict_splits(problem)
    return _predict_folds(problem, problem.folds)


PROTOCOL = Protocol("standard", 5, ("numpy",), fit_predict)


def _predict_splits(problem: Problem) -> ProbeOutput:
    assert problem.validation is not None
    assert problem.test is not None
    x_validation, y_validation = problem.validation
    features = _features(problem.task, problem.x, x_validation, problem.test)
    train, validation, test = standardised(*features)
    train_targets = targets(problem.metric, problem.y)
    regressions = Regressions(train, train_targets)
    # It has its own copy, or this one.
    del train
    best = -np.inf
    for strength in _strengths(problem):
        regressions.fit([strength])
        fitted = regressions.fitted()
        (held_out,) = _predict(problem, train_targets, fitted.logits(validation))
        metric = measure(problem.metric, y_validation, held_out)
        # From strong to weak: of equals the strongest.
        if metric > best:
            best, chosen, best_fit = metric, strength, fitted
    return ProbeOutput(
        _predict(problem, train_targets, best_fit.logits(test)), {"strength": [chosen]}, best
    )


def _predict_folds(problem: Problem, folds: Labels) -> ProbeOutput:
    tests = [folds == number for number in np.unique(folds)]
    pairs = list(combinations(range(len(tests)), 2))
    strengths = _strengths(problem)
    fits = _Fits(problem, np.array([~(tests[i] | tests[j]) for i, j in pairs]))
    # For each test fold and strength, the predictions for the rows of the other folds.
    held_out = np.zeros((len(tests), len(strengths), len(folds)), problem.y.dtype)
    for index, strength in enumerate(strengths):
        for (i, j), predicted in zip(pairs, fits.predict([strength] * len(pairs)), strict=True):
            held_out[j, index, tests[i]] = predicted[tests[i]]
            held_out[i, index, tests[j]] = predicted[tests[j]]
    chosen, validation = [], []
    for test, by_strength in zip(tests, held_out, strict=True):
        metrics = [
            measure(problem.metric, problem.y[~test], predicted[~test]) for predicted in by_strength
        ]
        # The first of equals is the strongest.
        index = int(np.argmax(metrics))
        chosen.append(strengths[index])
        validation.append(metrics[index])
    predictions = np.zeros_like(problem.y)
    for test, final in zip(tests, _Fits(problem, ~np.array(tests)).predict(chosen), strict=True):
        predictions[test] = final[test]
    return ProbeOutput(predictions[None], {"strength": chosen}, float(np.mean(validation)))


class _Fits:
    """Regressions on some of a problem's rows each, and their predictions for all of them."""

    def __init__(self, problem: Problem, used: Flags) -> None:
        """Begin; ``used`` are the rows of each of k regressions, [k, n]."""
        self._problem, self._targets = problem, targets(problem.metric, problem.y)
        self._parts: list[tuple[Floats, Regressions]] = []
        # Features that depend on the rows that are fitted on are made for each regression.
        alone = problem.task == COHERENCE
        for rows in np.split(used, len(used)) if alone else [used]:
            x = _features(problem.task, problem.x[rows[0]], problem.x)[1] if alone else problem.x
            (x,) = standardised(x)
            self._parts.append((x, Regressions(x, self._targets, rows, deviations(x, rows))))

    def predict(self, strengths: Sequence[float]) -> Values:
        """Fit with strengths [k], from where the last fit ended; return predictions [k, n]."""
        predictions: list[Values] = []
        for x, regressions in self._parts:
            regressions.fit(strengths[len(predictions) : len(predictions) + regressions.count])
            logits = regressions.logits(x)
            predictions.extend(_predict(self._problem, self._targets, logits))
        return np.array(predictions)


def _predict(problem: Problem, train_targets: Targets, logits: Floats) -> Values:
    """Return the predictions of k regressions for rows, [k, rows]."""
    return np.array([predict(problem.metric, train_targets.classes, of_fit) for of_fit in logits])


def _strengths(problem: Problem) -> tuple[float, ...]:
    classes = len(targets(problem.metric, problem.y).classes)
    return LARGE_STRENGTHS if len(problem.y) * classes > LARGE else STRENGTHS


def _features(task: str, train: Floats, *others: Floats) -> list[Floats]:
    """Return what the regression sees of train and of others, before it is standardised."""
    return coherence_features(train, *others) if task == COHERENCE else [train, *others]
