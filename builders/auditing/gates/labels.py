"""Gate 7: balance and consistent labels; see also rankings and clusters."""

from collections import Counter
from collections.abc import Iterator, Mapping

from builders.auditing.gates.gate import Check, FlaggedRow, Gate, count_check, share_check, shorten
from builders.auditing.target import MISSING, WITHHELD, Place, Target

# The share of the rows of a split that may have a class which is not in train.
UNKNOWN = 0.01
_MIN_ROWS = 10  # of a split; fewer may be of one class by chance


def _measure(target: Target) -> Iterator[Check]:
    """Check the exact balance that a task promises, and that no instance has two labels."""
    if target.constructed:
        n_unbalanced = 0
        for part in target.apart().values():
            counts = Counter(part.labels.tolist())
            n_unbalanced += len({counts[label] for label in range(len(target.labels))}) > 1
        what = f"{'folds' if target.folds else 'splits'} with unbalanced classes"
        yield count_check("labels", what, n_unbalanced)
    answers_of: dict[tuple[int, ...], dict[float, Place]] = {}
    n_constant = 0
    for part in target.parts.values():
        answers: list[float] = (part.scores if target.kind == "scores" else part.labels).tolist()
        n_constant += len(answers) >= _MIN_ROWS and len({*answers}) == 1
        for row, answer, place in zip(part.text_marks(), answers, part.places, strict=True):
            answers_of.setdefault(tuple(row), {}).setdefault(answer, place)
    conflicts = sum(len(answers) > 1 for answers in answers_of.values())
    what = f"instances with conflicting {'scores' if target.kind == 'scores' else 'labels'}"
    yield count_check("labels", what, conflicts, _conflicting(target, answers_of))
    yield count_check("labels", "splits with one class or score only", n_constant)
    yield from _unknown_classes(target)


def _unknown_classes(target: Target) -> Iterator[Check]:
    """Measure in each split the rows whose class is not in train, or whose label is missing."""
    labels = target.labels
    train = target.parts.get("train")
    for split, part in target.parts.items() if labels else ():
        train_names = {labels[n] for n in (train or part).labels.tolist()} - MISSING
        named = [(row, labels[n]) for row, n in enumerate(part.labels.tolist())]
        flagged: list[FlaggedRow] = [(part, *of) for of in named if of[1] not in train_names]
        names = sorted({name for _, _, name in flagged})
        is_withheld = names and WITHHELD.issuperset(names)
        what = "whose label is withheld" if is_withheld else "of a class that is not in train"
        if names and not target.corpus:
            what += f" ({shorten(', '.join(names))})"
        if names or part is not train:
            n_rows = len(named)
            what = f"rows of {split} {what}"
            yield share_check("labels", what, len(flagged) / n_rows, UNKNOWN, n_rows, flagged)


def _conflicting(
    target: Target, answers_of: Mapping[tuple[int, ...], Mapping[float, Place]]
) -> Iterator[FlaggedRow]:
    """Yield the first row of each instance with several answers."""
    for part in target.parts.values():
        for row, (marks, place) in enumerate(zip(part.text_marks(), part.places, strict=True)):
            answers = answers_of[tuple(marks)]
            if len(answers) > 1 and next(iter(answers.values())) == place:
                named = (
                    f"{target.labels[int(answer)] if target.labels else answer} in {where}"
                    for answer, where in answers.items()
                )
                yield part, row, "; ".join(named)


LABELS = Gate("labels", _measure, lambda target: target.kind in ("classes", "scores"))
