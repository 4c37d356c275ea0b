"""Gate 4: the scores of trivial baselines."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from builders.auditing.gates.gate import Check, Gate, share_check, stated
from builders.auditing.report import DETECTABLE, MAJORITY, SURFACE_FORM
from builders.auditing.statistics import correlation_shares, detectable_difference, pearson
from builders.auditing.trivial import Texts, trivial_baselines, trivial_similarities
from builders.exchange.target import Booleans, SplitRows, Target

LENGTH_BEYOND_CHANCE = 0.05
# With a baseline so far above chance, the form of the texts gives most answers away.
SOLVED_BEYOND_CHANCE = 0.3


def _measure(target: Target) -> Iterator[Check]:
    """State the score of each baseline; in constructed datasets they have limits.

    Only that of length is a fault. A dataset that another baseline solves is named as such.

    Each fold is predicted by a baseline fitted on the others; the score is over all rows. So it is
    with the halves of a dataset of one split. Without a test, validation is predicted.

    How they agree tells, of the size of the test, which difference it can show.
    """
    if target.kind == "scores":
        pairs = [row for part in target.tested() for row in part.texts]
        scores = np.concatenate([part.scores for part in target.tested()])
        shares = []
        for name, alike in trivial_similarities(pairs).items():
            yield stated("baselines", name, pearson(alike, scores), correlation=True)
            shares.append(correlation_shares(alike, scores))
        found = detectable_difference(shares, _documents(target.tested()), largest=2.0)
        yield stated("size", DETECTABLE, found, correlation=True)
        return
    classes = len(target.labels)
    parts: dict[str, list[Booleans]] = {}
    trials = list(_trials(target))
    for train, test in trials:
        fitted, asked = (Texts(part.texts, part.labels) for part in (train, test))
        for name, of_part in trivial_baselines(fitted, asked, classes).items():
            parts.setdefault(name, []).append(of_part)
    right = {name: np.concatenate(of_parts).astype(float) for name, of_parts in parts.items()}
    for name, answers in right.items():
        rows, value = len(answers), float(answers.mean())
        if not target.constructed:
            yield stated("baselines", name, value)
        elif name == "length" and not (target.task and target.task.asks_length):
            limit = 1 / classes + LENGTH_BEYOND_CHANCE
            yield share_check("baselines", name, value, limit, rows)
        else:
            limit = 1 / classes + SOLVED_BEYOND_CHANCE
            yield Check("baselines", name, value, limit, SURFACE_FORM if value > limit else "pass")
    shares = [answers for name, answers in right.items() if name != MAJORITY]
    found = detectable_difference(shares, _documents([test for _, test in trials]))
    yield stated("size", DETECTABLE, found)


def _documents(parts: Sequence[SplitRows]) -> list[str] | None:
    known = [part.documents for part in parts if part.documents is not None]
    return list(chain.from_iterable(known)) if len(known) == len(parts) else None


def _applies(target: Target) -> bool:
    return target.kind == "scores" or (target.kind == "classes" and any(_trials(target)))


def _trials(target: Target) -> Iterator[tuple[SplitRows, SplitRows]]:
    return target.trials() if target.folds or len(target.parts) > 1 else target.halves()


BASELINES = Gate("baselines", _measure, _applies)
