"""Gate 1: no leakage between splits."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from builders.auditing.gates.gate import Check, FlaggedRow, Gate, count_check, share_check, stated
from builders.auditing.target import NEIGHBOURS, Place, SplitRows, Target

# The limits of all gates lie just beyond the spread of a clean dataset: one leaked test sentence in
# a thousand; two points above chance by sentence look-up or row order, five by length; damage in
# two rows of a hundred, which changes no comparison.
SEEN_IN_TRAIN = 0.001


def _measure(target: Target) -> Iterator[Check]:
    """Count instances (texts in any order) in two splits or folds, and test sentences in train."""
    apart = target.apart()
    folds = target.folds
    places_of: dict[tuple[int, ...], dict[str, Place]] = {}
    for name, part in apart.items():
        for instance, place in zip(part.instances(), part.places, strict=True):
            places_of.setdefault(instance, {}).setdefault(name, place)
    n_repeated = sum(len(places) > 1 for places in places_of.values())
    what = f"instances in two {'folds' if folds else 'splits'}"
    yield count_check("leakage", what, n_repeated, _repeated(apart, places_of))
    flags = [flag for part in target.tested() for flag in part.columns.get("also_in", ())]
    if n_repeated and not flags:
        tested = "" if folds else f"{target.tested_on} "
        what = f"{tested}rows whose instance is in another {'fold' if folds else 'split'} too"
        rows = [row for part in _tested(target) for row in part.instances()]
        yield stated("leakage", what, sum(len(places_of[row]) > 1 for row in rows))
    repeated: list[tuple[SplitRows, int, int]] = []
    n_sentences = 0
    for train, test in target.trials():
        marks = {m for row in train.marks for m in row}
        for row, telling in enumerate(test.telling):
            n_sentences += sum(telling)
            marks_of_row = test.marks[row]
            repeated += [
                (test, row, n) for n, m in enumerate(marks_of_row) if telling[n] and m in marks
            ]
    if n_sentences:
        tested, where = ("", "another fold") if folds else (f"{target.tested_on} ", "train")
        what = f"{tested}sentences of six words or more that occur in {where}"
        flagged = (
            (part, row, f"text {', '.join(str(number + 1) for _, _, number in same)}")
            for (part, row), same in groupby(repeated, key=itemgetter(0, 1))
        )
        yield share_check(
            "leakage", what, len(repeated) / n_sentences, SEEN_IN_TRAIN, n_sentences, flagged
        )
    if flags and not folds:
        what = "test rows whose text is in another split too, by the column also_in"
        yield stated("leakage", what, sum(map(bool, flags)))


def _tested(target: Target) -> list[SplitRows]:
    """Return the rows for testing: all folds, or the split."""
    split = target.parts.get(target.tested_on)
    return [split] if split and not target.folds else list(target.parts.values())


def _repeated(
    apart: Mapping[str, SplitRows], seen: Mapping[tuple[int, ...], Mapping[str, Place]]
) -> Iterator[FlaggedRow]:
    """Yield the rows whose instance is in an earlier split too, those of the last split first."""
    for name, part in reversed([*apart.items()]):
        for row, instance in enumerate(part.instances()):
            first, place = next(iter(seen[instance].items()))
            if first != name:
                yield part, row, f"also {place}"


LEAKAGE = Gate("leakage", _measure, applies=lambda target: target.kind not in NEIGHBOURS)
