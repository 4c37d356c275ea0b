"""Gate 1: no leakage between splits."""

from collections.abc import Iterator, Sequence

from builders.auditing.gates.gate import Check, Gate, count_check, share_check, stated
from builders.auditing.targets.target import Target
from builders.sampling.same_text import is_telling
from corpora_recipes.text.same_text import mark

# The limits of all gates lie just beyond the spread of a clean dataset: one leaked test sentence in
# a thousand; two points above chance by sentence look-up or row order, five by length; damage in
# two rows of a hundred, which changes no comparison.
SEEN_IN_TRAIN = 0.001


def _measure(target: Target) -> Iterator[Check]:
    """Count instances (texts in any order) in two splits or folds, and test sentences in train."""
    seen: dict[tuple[int, ...], set[str]] = {}
    for name, part in target.apart().items():
        for row in part.sentences:
            seen.setdefault(_instance(row), set()).add(name)
    twice = sum(len(names) > 1 for names in seen.values())
    folds = target.has_folds
    yield count_check("leakage", f"instances in two {'folds' if folds else 'splits'}", twice)
    flags = [flag for part in target.tested() for flag in part.columns.get("also_in", ())]
    if twice and not flags:
        rows = [row for part in target.tested() for row in part.sentences]
        what = f"test rows whose instance is in another {'fold' if folds else 'split'} too"
        yield stated("leakage", what, sum(len(seen[_instance(row)]) > 1 for row in rows))
    known = asked = 0
    for train, test in target.trials():
        marks = {mark(s) for row in train.sentences for s in row}
        telling = [mark(s) for row in test.sentences for s in row if is_telling(s)]
        known += sum(m in marks for m in telling)
        asked += len(telling)
    if asked:
        what = "{}sentences of six words or more that occur in {}".format(
            *(("", "another fold") if folds else ("test ", "train"))
        )
        yield share_check("leakage", what, known / asked, SEEN_IN_TRAIN, asked)
    if flags and not folds:
        what = "test rows whose text is in another split too, by the column also_in"
        yield stated("leakage", what, sum(map(bool, flags)))


def _instance(row: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted(map(mark, row)))


LEAKAGE = Gate("leakage", _measure, applies=lambda target: not target.of_neighbours)
