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

What 3 rests on, and what 4 and 5 changed, is in ``docs/probing.md``.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import combinations

import numpy as np

from evaluation.arrays import Flags, Floats
from evaluation.measures import measure
from evaluation.probing.protocols.calibration import (
    TEMPERATURES,
    calibrate,
    gold_chances,
    usable_information,
)
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
    class_numbers,
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
    return Probe(problem).fit_predict(problem)


PROTOCOL = Protocol("standard", 5, ("numpy",), fit_predict)


class Probe:
    """The probe of a problem; what its regressions share is computed once for all targets."""

    def __init__(self, problem: Problem) -> None:
        """Begin with the features of a problem, in splits or in folds."""
        if problem.folds is not None:
            self._tests = [problem.folds == number for number in np.unique(problem.folds)]
            self._pairs = list(combinations(range(len(self._tests)), 2))
            without = [~(self._tests[i] | self._tests[j]) for i, j in self._pairs]
            self._inner = _Fits(problem, np.array(without))
            self._outer = _Fits(problem, ~np.array(self._tests))
            return
        assert problem.validation is not None
        assert problem.test is not None
        features = _features(problem.task, problem.x, problem.validation[0], problem.test)
        train, self._validation, self._test = standardised(*features)
        self._regressions = Regressions(train, targets(problem.metric, problem.y))

    def fit_predict(self, problem: Problem) -> ProbeOutput:
        """Fit and predict a problem that has these features, see the module."""
        if problem.folds is None:
            return self._predict_splits(problem)
        return self._predict_folds(problem)

    def regressions(self, problem: Problem) -> tuple[Regressions, Floats | None]:
        """Return regressions on all rows of train, or of all folds, and the features of test."""
        if problem.folds is None:
            return self._regressions, self._test
        (x,) = standardised(*_features(problem.task, problem.x))
        return Regressions(x, targets(problem.metric, problem.y)), None

    def _predict_splits(self, problem: Problem) -> ProbeOutput:
        assert problem.validation is not None
        y_validation = problem.validation[1]
        train_targets = targets(problem.metric, problem.y)
        regressions = self._regressions.restart(train_targets)
        best = -np.inf
        for strength in strengths(problem):
            regressions.fit([strength])
            fitted = regressions.fitted()
            logits = fitted.logits(self._validation)[0]
            metric = measure(
                problem.metric, y_validation, predict(problem.metric, train_targets.classes, logits)
            )
            # From strong to weak: of equals the strongest.
            if metric > best:
                best, chosen, best_fit, held_out = metric, strength, fitted, logits
        logits = best_fit.logits(self._test)[0]
        information = None
        if problem.gold is not None:
            classes, shares = train_targets.classes, train_targets.shares()
            y, gold = (class_numbers(classes, y) for y in (y_validation, problem.gold))
            calibration = calibrate(gold_chances(held_out, y, shares), shares[y])
            information = usable_information(calibration, logits, gold, shares)
        predictions = predict(problem.metric, train_targets.classes, logits)[None]
        return ProbeOutput(predictions, {"strength": [chosen]}, best, self, information)

    def _predict_folds(self, problem: Problem) -> ProbeOutput:
        tests, y, metric = self._tests, problem.y, problem.metric
        all_targets = targets(metric, y)
        inner, outer = (fits.restart(all_targets) for fits in (self._inner, self._outer))
        shares = [all_targets.shares(~test) for test in tests]
        chosen, validation = [0.0] * len(tests), [-np.inf] * len(tests)
        # For each test fold, the chances of the classes of the other folds' rows.
        n_temperatures = len(TEMPERATURES) if problem.gold is not None else 0
        chances = np.zeros((len(tests), n_temperatures, len(y)))
        for strength in strengths(problem):
            # For each test fold, the predictions for these rows, and again their chances.
            held_out = np.zeros((len(tests), len(y)), y.dtype)
            gold = np.zeros_like(chances)
            pairs = zip(self._pairs, inner.logits([strength] * len(self._pairs)), strict=True)
            for (i, j), logits in pairs:
                for test, rows in ((j, tests[i]), (i, tests[j])):
                    held_out[test, rows] = predict(metric, all_targets.classes, logits[rows])
                    if n_temperatures:
                        of_rows = logits[rows], all_targets.y[rows], shares[test]
                        gold[test][:, rows] = gold_chances(*of_rows)
            for number, test in enumerate(tests):
                value = measure(metric, y[~test], held_out[number, ~test])
                # From strong to weak: of equals the strongest.
                if value > validation[number]:
                    chosen[number], validation[number] = strength, value
                    chances[number] = gold[number]
        predictions, information = np.zeros_like(y), np.zeros(len(y))
        for number, (test, logits) in enumerate(zip(tests, outer.logits(chosen), strict=True)):
            predictions[test] = predict(metric, all_targets.classes, logits[test])
            if n_temperatures:
                prior = shares[number][all_targets.y]
                calibration = calibrate(chances[number][:, ~test], prior[~test])
                of_test = logits[test], all_targets.y[test], shares[number]
                information[test] = usable_information(calibration, *of_test)
        found = information if n_temperatures else None
        mean = float(np.mean(validation))
        return ProbeOutput(predictions[None], {"strength": chosen}, mean, self, found)


class _Fits:
    """Regressions on some of a problem's rows each, and their logits for all of them."""

    def __init__(self, problem: Problem, used: Flags) -> None:
        """Begin; ``used`` are the rows of each of k regressions, [k, n]."""
        all_targets = targets(problem.metric, problem.y)
        self._parts: list[tuple[Floats, Regressions]] = []
        # Features that depend on the rows that are fitted on are made for each regression.
        alone = problem.task == COHERENCE
        for rows in np.split(used, len(used)) if alone else [used]:
            x = _features(problem.task, problem.x[rows[0]], problem.x)[1] if alone else problem.x
            (x,) = standardised(x)
            self._parts.append((x, Regressions(x, all_targets, rows, deviations(x, rows))))

    def restart(self, new_targets: Targets) -> "_Fits":
        """Return such regressions of other targets."""
        other = copy(self)
        other._parts = [(x, regressions.restart(new_targets)) for x, regressions in self._parts]
        return other

    def logits(self, strengths: Sequence[float]) -> Iterator[Floats]:
        """Fit with strengths [k], from where the last fit ended; yield logits [n, classes]."""
        first = 0
        for x, regressions in self._parts:
            regressions.fit(strengths[first : first + regressions.count])
            first += regressions.count
            yield from regressions.logits(x)


def strengths(problem: Problem) -> tuple[float, ...]:
    """Return the strengths that are tried, from the strongest."""
    classes = len(targets(problem.metric, problem.y).classes)
    return LARGE_STRENGTHS if len(problem.y) * classes > LARGE else STRENGTHS


def _features(task: str, train: Floats, *others: Floats) -> list[Floats]:
    """Return what the regression sees of train and of others, before it is standardised."""
    return coherence_features(train, *others) if task == COHERENCE else [train, *others]
