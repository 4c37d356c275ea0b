"""Gate 7: balance and consistent labels; see also rankings and clusters."""

from collections import Counter
from collections.abc import Iterator

from builders.auditing.gates.gate import Check, Gate, count_check
from builders.auditing.targets.target import Target
from corpora_recipes.text.same_text import mark


def _measure(target: Target) -> Iterator[Check]:
    """Check the exact balance that a task promises, and that no instance has two labels."""
    if target.constructed:
        uneven = 0
        for part in target.parts.values():
            counts = Counter(part.labels.tolist())
            uneven += len({counts[label] for label in range(len(target.labels))}) > 1
        yield count_check("labels", "splits with unbalanced classes", uneven)
    answers_of: dict[tuple[int, ...], set[float]] = {}
    for part in target.parts.values():
        answers: list[float] = (part.scores if target.scored else part.labels).tolist()
        for row, answer in zip(part.texts, answers, strict=True):
            answers_of.setdefault(tuple(map(mark, row)), set()).add(answer)
    conflicts = sum(len(given) > 1 for given in answers_of.values())
    answer_name = "scores" if target.scored else "labels"
    yield count_check("labels", f"instances with conflicting {answer_name}", conflicts)


LABELS = Gate("labels", _measure, lambda target: not target.of_neighbours)
