"""Gate 3: the order of rows says nothing about their labels."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from builders.auditing.gates.gate import Check, Gate, share_check
from builders.auditing.target import Labels, SplitRows, Target
from builders.auditing.trivial_baselines import row_order

BEYOND_CHANCE = 0.02
# Key of the result of `row_order` to the cue, in words.
_CYCLES = {
    "parity": "the parity of the row number",
    "cycle": "the row number modulo the number of classes",
}
_TENTHS = {"position": "the tenth of the file that a row is in"}


def _measure(target: Target) -> Iterator[Check]:
    """Predict labels, or rounded scores, from row numbers."""
    classes = len(target.labels)
    lowest = 0
    scored = target.kind == "scores"
    if scored:
        scores = np.concatenate([part.scores for part in target.parts.values()]).round()
        lowest = int(scores.min())
        classes = int(scores.max()) - lowest + 1

    def answers(part: SplitRows) -> Labels:
        return part.scores.round().astype(np.int64) - lowest if scored else part.labels

    numbers = {split: answers(part) for split, part in target.parts.items()}
    all_cues = _CYCLES | _TENTHS
    trials = target.trials(labelled=True)
    pairs = [("", all_cues, answers(train), answers(test)) for train, test in trials]
    if "train" in numbers and "validation" in numbers:
        pairs.append(("", all_cues, numbers["train"], numbers["validation"]))
    for split_labels in numbers.values():
        # Both halves begin at the same place of a cycle.
        half = len(split_labels) // (2 * classes) * classes
        if half and len(np.unique(split_labels[:half])) > 1:
            how = ", learnt on the first half of a split"
            pairs.append((how, _CYCLES, split_labels[:half], split_labels[half : 2 * half]))
        if len(np.unique(split_labels[::2])) > 1:
            how = ", learnt on every second row of a split"
            pairs.append((how, _TENTHS, split_labels[::2], split_labels[1::2]))
    right, majority_right = defaultdict[str, float](float), defaultdict[str, float](float)
    rows: Counter[str] = Counter()
    for how, cues, train_labels, test_labels in pairs:
        accuracies = row_order(train_labels, test_labels, classes)
        for name, cue in cues.items():
            what = f"accuracy from {cue}{how}"
            rows[what] += len(test_labels)
            right[what] += accuracies[name] * len(test_labels)
            # The accuracy of the majority class owes nothing to the order.
            majority_right[what] += float(
                (test_labels == np.bincount(train_labels).argmax()).mean()
            ) * len(test_labels)
    for what, count in rows.items():
        limit = max(1 / classes, majority_right[what] / count) + BEYOND_CHANCE
        # Half a row, since the share of few rows that are right moves in large steps.
        step = 0.5 / count
        yield share_check("row_order", what, right[what] / count, limit, count, allowed=step)


ROW_ORDER = Gate(
    "row_order", _measure, lambda target: target.kind in ("classes", "scores") and target.ordered
)
