"""Gate 8: the size of the test; see also rankings and clusters."""

from collections.abc import Iterator

from builders.auditing.gates.gate import Check, FlaggedRow, Gate, share_check, stated
from builders.auditing.target import NEIGHBOURS, Target
from builders.statistics import correlation_error, standard_error

# The correlation for which the standard error on a test is stated.
STATED_CORRELATION = 0.8
# The share of the rows of a split that may repeat another row of it: a test is hardly smaller then.
REPEATED = 0.01


def _measure(target: Target) -> Iterator[Check]:
    """State the size of the test and the standard error of a score on it."""
    rows = sum(len(part.texts) for part in target.tested())
    what = "rows, each tested in one fold" if target.folds else "test rows"
    yield stated("size", what, rows)
    if target.kind == "nothing":
        return
    if target.kind == "scores":
        error = correlation_error(STATED_CORRELATION, rows)
        what = f"standard error of a correlation of {STATED_CORRELATION} on the test"
        yield stated("size", what, error, correlation=True)
    else:
        error = standard_error(0.5, rows)
        yield stated("size", "standard error of an accuracy of 50 % on the test", error)


def _different(target: Target) -> Iterator[Check]:
    """Count the rows that repeat another one of their split, and state how many rows differ."""
    for split, part in target.parts.items():
        first: dict[tuple[int, ...], int] = {}
        flagged: list[FlaggedRow] = [
            (part, row, f"as {part.places[first[instance]]}")
            for row, instance in enumerate(part.instances())
            if first.setdefault(instance, row) != row
        ]
        what, n_rows = f"repeated rows of {split} (with the texts of another one)", len(part.texts)
        yield share_check("size", what, len(flagged) / n_rows, REPEATED, n_rows, flagged)
    parts = target.parts.values()
    yield stated("size", "rows in all splits", sum(len(part.texts) for part in parts))
    instances = {instance for part in parts for instance in part.instances()}
    yield stated("size", "different rows (sets of texts) in all splits", len(instances))
    texts = {m for part in parts for row in part.marks for m in row}
    yield stated("size", "different texts in all splits", len(texts))


DIFFERENT = Gate("size", _different, lambda target: target.kind not in NEIGHBOURS)
SIZE = Gate("size", _measure, lambda target: target.has_test and target.kind not in NEIGHBOURS)
