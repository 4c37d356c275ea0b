"""Gate 7: balance and consistent labels; see also rankings and clusters."""

from collections import Counter
from collections.abc import Iterator, Mapping

from builders.auditing.gates.gate import Check, FlaggedRow, Gate, count_check
from builders.auditing.target import Place, Target


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
    for part in target.parts.values():
        answers: list[float] = (part.scores if target.kind == "scores" else part.labels).tolist()
        for row, answer, place in zip(part.text_marks(), answers, part.places, strict=True):
            answers_of.setdefault(tuple(row), {}).setdefault(answer, place)
    conflicts = sum(len(answers) > 1 for answers in answers_of.values())
    what = f"instances with conflicting {'scores' if target.kind == 'scores' else 'labels'}"
    yield count_check("labels", what, conflicts, _conflicting(target, answers_of))


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
