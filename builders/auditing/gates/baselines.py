"""Gate 4: the scores of trivial baselines."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np

from builders.auditing.gates.gate import Check, Gate, share_check, stated
from builders.auditing.report import SURFACE_FORM, chosen_of
from builders.auditing.trivial import Texts, trivial_baselines, trivial_similarities
from builders.exchange.target import Booleans, SplitRows, Target
from corpora_recipes.records import SPLITS

LENGTH_BEYOND_CHANCE = 0.05
# With a baseline so far above chance, the form of the texts gives many answers away.
SOLVED_BEYOND_CHANCE = 0.15


def _measure(target: Target) -> Iterator[Check]:
    """State the score of each baseline; length has a limit in datasets that are constructed.

    The baseline that is best on validation tells whether the form of the texts solves the dataset:
    if it is so far above chance, which is that of the most frequent class where this is higher.

    Each fold is predicted by a baseline fitted on the others; the score is over all rows. So it is
    with the halves of a dataset of one split. Without a test, validation is predicted. All these
    choose the baseline by the rows that it is scored on.
    """
    if target.kind == "scores":
        pairs = [row for part in target.tested() for row in part.texts]
        scores = np.concatenate([part.scores for part in target.tested()])
        for name, correlation in trivial_similarities(pairs, scores).items():
            yield stated("baselines", name, correlation, correlation=True)
        return
    trials = list(_trials(target))
    # Rows that are predicted too, to choose a baseline by.
    choosing = [target.parts["validation"]] if {*target.parts} == {*SPLITS} else []
    rows = sum(len(test.texts) for _, test in trials)
    right: dict[str, list[Booleans]] = {}
    for train, test in trials:
        asked = _texts(test, *choosing)
        for name, answers in trivial_baselines(_texts(train), asked, len(target.labels)).items():
            right.setdefault(name, []).append(answers)
    checks = []
    for name, parts in right.items():
        answers = np.concatenate(parts)
        value = float(answers[:rows].mean())
        check = stated("baselines", name, value)
        if (
            name == "length"
            and target.constructed
            and not (target.task and target.task.asks_length)
        ):
            limit = 1 / len(target.labels) + LENGTH_BEYOND_CHANCE
            check = share_check("baselines", name, value, limit, rows)
        chosen_by = float(answers[rows:].mean()) if choosing else value
        checks.append(replace(check, validation=chosen_by))
    chosen = chosen_of(map(asdict, checks))
    limit = max(1 / len(target.labels), checks[0].value) + SOLVED_BEYOND_CHANCE
    for check in checks:
        if check.what == chosen and check.verdict != "miss":
            verdict = SURFACE_FORM if check.value > limit else check.verdict
            yield replace(check, limit=check.limit or limit, verdict=verdict)
        else:
            yield check


def _texts(*parts: SplitRows) -> Texts:
    return Texts(
        [row for part in parts for row in part.texts],
        np.concatenate([part.labels for part in parts]),
    )


def _applies(target: Target) -> bool:
    return target.kind == "scores" or (target.kind == "classes" and any(_trials(target)))


def _trials(target: Target) -> Iterator[tuple[SplitRows, SplitRows]]:
    return target.trials() if target.folds or len(target.parts) > 1 else target.halves()


BASELINES = Gate("baselines", _measure, _applies)
