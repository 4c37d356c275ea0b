"""Gate 4: the scores of trivial baselines."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain

import numpy as np

from builders.audit_report import DETECTABLE, MAJORITY, SURFACE_FORM, chosen_of
from builders.auditing.gates.gate import Check, Gate, share_check, stated
from builders.auditing.target import Booleans, SplitRows, Target
from builders.auditing.trivial_baselines import Texts, trivial_baselines, trivial_similarities
from builders.statistics import correlation_shares, detectable_difference, pearson
from corpora_recipes.records import SPLITS

LENGTH_BEYOND_CHANCE = 0.05
# With a baseline so far above chance, the form of the texts gives many answers away.
SOLVED_BEYOND_CHANCE = 0.15


def _measure(target: Target) -> Iterator[Check]:
    """State the score of each baseline, and how large a difference the test can show."""
    return _of_scores(target) if target.kind == "scores" else _of_classes(target)


def _of_scores(target: Target) -> Iterator[Check]:
    tested = target.tested()
    pairs = [row for part in tested for row in part.texts]
    scores = np.concatenate([part.scores for part in tested])
    shares = []
    for name, similarity in trivial_similarities(pairs).items():
        yield stated("baselines", name, pearson(similarity, scores), correlation=True)
        shares.append(correlation_shares(similarity, scores))
    detectable = detectable_difference(shares, _documents(tested), largest=2.0)
    yield stated("size", DETECTABLE, detectable, correlation=True)


def _of_classes(target: Target) -> Iterator[Check]:
    """Length has a limit in datasets that are constructed."""
    trials = list(_trials(target))
    # Rows that are predicted too, to choose a baseline by.
    choosing = [target.parts["validation"]] if {*target.parts} == {*SPLITS} else []
    rows = sum(len(test.texts) for _, test in trials)
    classes = len(target.labels)
    right_of_trials: dict[str, list[Booleans]] = {}
    for train, test in trials:
        predicted_rows = _texts(test, *choosing)
        for name, right_of_part in trivial_baselines(
            _texts(train), predicted_rows, classes
        ).items():
            right_of_trials.setdefault(name, []).append(right_of_part)
    right = {
        name: np.concatenate(right_of_parts).astype(float)
        for name, right_of_parts in right_of_trials.items()
    }
    length_limit = None
    if target.constructed and not (target.task and target.task.asks_length):
        length_limit = 1 / classes + LENGTH_BEYOND_CHANCE
    checks = []
    for name, is_right in right.items():
        value = float(is_right[:rows].mean())
        check = stated("baselines", name, value)
        if name == "length" and length_limit is not None:
            check = share_check("baselines", name, value, length_limit, rows)
        chosen_by = float(is_right[rows:].mean()) if choosing else value
        checks.append(replace(check, validation=chosen_by))
    chosen = chosen_of(map(asdict, checks))
    limit = max(1 / classes, checks[0].value) + SOLVED_BEYOND_CHANCE
    for check in checks:
        if check.what == chosen and check.verdict != "miss":
            verdict = SURFACE_FORM if check.value > limit else check.verdict
            yield replace(check, limit=check.limit or limit, verdict=verdict)
        else:
            yield check
    shares = [is_right[:rows] for name, is_right in right.items() if name != MAJORITY]
    detectable = detectable_difference(shares, _documents([test for _, test in trials]))
    yield stated("size", DETECTABLE, detectable)


def _texts(*parts: SplitRows) -> Texts:
    return Texts(
        [row for part in parts for row in part.texts],
        np.concatenate([part.labels for part in parts]),
        [direction for part in parts for direction in part.columns.get("direction", ())],
    )


def _documents(parts: Sequence[SplitRows]) -> list[str] | None:
    documents = [part.documents for part in parts if part.documents is not None]
    return list(chain.from_iterable(documents)) if len(documents) == len(parts) else None


def _applies(target: Target) -> bool:
    return target.kind == "scores" or (target.kind == "classes" and any(_trials(target)))


def _trials(target: Target) -> Iterator[tuple[SplitRows, SplitRows]]:
    return target.trials() if target.folds or len(target.parts) > 1 else target.halves()


BASELINES = Gate("baselines", _measure, _applies)
