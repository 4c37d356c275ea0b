"""Gate 4: the scores of trivial baselines."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain

import numpy as np

from builders.audit_report import DETECTABLE, MAJORITY, SURFACE_FORM, chosen_of
from builders.auditing.gates.gate import Check, Gate, share_check, stated
from builders.auditing.gates.words import is_of_words
from builders.auditing.target import Booleans, SplitRows, Target
from builders.auditing.trivial_baselines import (
    Counts,
    Texts,
    trivial_baselines,
    trivial_similarities,
)
from builders.statistics import (
    Doubles,
    correlation_shares,
    detectable_difference,
    half_width,
    pearson,
)
from corpora_recipes.hashing import keyed_choice
from corpora_recipes.records import SPLITS

LENGTH_BEYOND_CHANCE = 0.05
# With a baseline so far above chance, the form of the texts gives many answers away. The test must
# show that it is above what the length may reach.
SOLVED_BEYOND_CHANCE = 0.15
SHOWN_BEYOND_CHANCE = 0.05


def _measure(target: Target) -> Iterator[Check]:
    """State the score of each baseline, and how large a difference the test can show."""
    return _of_scores(target) if target.kind == "scores" else _of_classes(target)


def _of_scores(target: Target) -> Iterator[Check]:
    tested = target.tested()
    pairs = [row for part in tested for row in part.texts]
    scores = np.concatenate([part.scores for part in tested])
    shares, documents = [], _documents(tested)
    for name, similarity in trivial_similarities(pairs).items():
        shares.append(correlation_shares(similarity, scores))
        check = stated("baselines", name, pearson(similarity, scores), correlation=True)
        yield replace(check, half_width=half_width(shares[-1], documents))
    detectable = detectable_difference(shares, documents, largest=2.0)
    yield stated("size", DETECTABLE, detectable, correlation=True)


def _of_classes(target: Target) -> Iterator[Check]:
    """Length has a limit in datasets that are constructed."""
    trials = list(_trials(target))
    # Of this dataset alone: last bits depend on the buckets.
    counts: Counts = {}
    # Rows that are predicted too, to choose a baseline by; those of train are added, as validation
    # is often too small: each half of its documents is predicted from the other.
    choosing = [target.parts["validation"]] if {*target.parts} == {*SPLITS} else []
    choosing = [part for part in choosing if target.has_labels(part) and trials[0][1] is not part]
    documents = _documents([test for _, test in trials])
    right, chosen_by = _predict(trials, choosing, len(target.labels), counts)
    if choosing:
        of_halves, _ = _predict(
            list(_halves(target.parts["train"])), [], len(target.labels), counts
        )
        for name, of_name in of_halves.items():
            chosen_by[name] = np.concatenate([chosen_by[name], of_name])
    chance = 1 / target.n_classes
    length_limit = None
    if target.constructed and not (target.task and target.task.asks_length):
        length_limit = chance + LENGTH_BEYOND_CHANCE
    checks = []
    for name, is_right in right.items():
        value = float(is_right.mean())
        check = stated("baselines", name, value)
        if name == "length" and length_limit is not None:
            check = share_check("baselines", name, value, length_limit, len(is_right))
        chosen_value = float(chosen_by[name].mean()) if choosing else value
        width = half_width(is_right, documents)
        checks.append(replace(check, validation=chosen_value, half_width=width))
    chosen = chosen_of(map(asdict, checks))
    base = max(chance, checks[0].value)
    limit = base + SOLVED_BEYOND_CHANCE
    # Chosen on the rows that it is tested on, it is the highest of several.
    width = half_width(right[chosen], documents, 1 if choosing else len(right) - 1)
    for check in checks:
        if check.what == chosen and check.verdict != "miss":
            solved = check.value > limit and check.value - width > base + SHOWN_BEYOND_CHANCE
            verdict = SURFACE_FORM if solved else check.verdict
            yield replace(check, limit=check.limit or limit, verdict=verdict)
        else:
            yield check
    shares = [is_right for name, is_right in right.items() if name != MAJORITY]
    yield stated("size", DETECTABLE, detectable_difference(shares, documents))


def _predict(
    trials: Sequence[tuple[SplitRows, SplitRows]],
    others: Sequence[SplitRows],
    classes: int,
    counts: Counts,
) -> tuple[dict[str, Doubles], dict[str, Doubles]]:
    """Return baseline to whether it is right on the rows of test, and on other rows, 0 or 1."""
    right: dict[str, list[Booleans]] = {}
    right_on_others: dict[str, list[Booleans]] = {}
    for train, test in trials:
        fitted = trivial_baselines(_texts(train), _texts(test, *others), classes, counts)
        for name, is_right in fitted.items():
            right.setdefault(name, []).append(is_right[: len(test.texts)])
            right_on_others.setdefault(name, []).append(is_right[len(test.texts) :])
    on_test, on_others = (
        {name: np.concatenate(parts).astype(float) for name, parts in of_rows.items()}
        for of_rows in (right, right_on_others)
    )
    return on_test, on_others


def _halves(part: SplitRows) -> Iterator[tuple[SplitRows, SplitRows]]:
    """Yield (train, test): two halves of the documents of a split, in both roles."""
    ids = part.documents or [str(row) for row in range(len(part.texts))]
    second = np.array([keyed_choice(2, 0, id_, "half") for id_ in ids], bool)
    for tested in (second, ~second) if second.any() and not second.all() else ():
        yield part.where(~tested), part.where(tested)


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
    classes = target.kind == "classes" and not is_of_words(target)
    return target.kind == "scores" or (classes and any(_trials(target)))


def _trials(target: Target) -> Iterator[tuple[SplitRows, SplitRows]]:
    in_parts = target.folds or len(target.parts) > 1
    return target.trials(labelled=True) if in_parts else target.halves()


BASELINES = Gate("baselines", _measure, _applies)
