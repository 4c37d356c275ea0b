"""Gate 4: the scores of trivial baselines."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from builders.auditing.gates.gate import Check, Gate, share_check, stated
from builders.auditing.report import SURFACE_FORM
from builders.auditing.trivial import Texts, trivial_baselines, trivial_similarities
from builders.exchange.target import SplitRows, Target

LENGTH_BEYOND_CHANCE = 0.05
# With a baseline so far above chance, the form of the texts gives most answers away.
SOLVED_BEYOND_CHANCE = 0.3


def _measure(target: Target) -> Iterator[Check]:
    """State the score of each baseline; in constructed datasets they have limits.

    Only that of length is a fault. A dataset that another baseline solves is named as such.

    Each fold is predicted by a baseline fitted on the others; the score is over all rows. So it is
    with the halves of a dataset of one split. Without a test, validation is predicted.
    """
    if target.kind == "scores":
        pairs = [row for part in target.tested() for row in part.texts]
        scores = np.concatenate([part.scores for part in target.tested()])
        for name, correlation in trivial_similarities(pairs, scores).items():
            yield stated("baselines", name, correlation, correlation=True)
        return
    classes = len(target.labels)
    right: Counter[str] = Counter()
    rows = 0
    for train, test in _trials(target):
        fitted, asked = (Texts(part.texts, part.labels) for part in (train, test))
        for name, accuracy in trivial_baselines(fitted, asked, classes).items():
            right[name] += round(accuracy * len(test.labels))
        rows += len(test.labels)
    for name, count in right.items():
        value = count / rows
        if not target.constructed:
            yield stated("baselines", name, value)
        elif name == "length" and not (target.task and target.task.asks_length):
            limit = 1 / classes + LENGTH_BEYOND_CHANCE
            yield share_check("baselines", name, value, limit, rows)
        else:
            limit = 1 / classes + SOLVED_BEYOND_CHANCE
            yield Check("baselines", name, value, limit, SURFACE_FORM if value > limit else "pass")


def _applies(target: Target) -> bool:
    return target.kind == "scores" or (target.kind == "classes" and any(_trials(target)))


def _trials(target: Target) -> Iterator[tuple[SplitRows, SplitRows]]:
    return target.trials() if target.folds or len(target.parts) > 1 else target.halves()


BASELINES = Gate("baselines", _measure, _applies)
