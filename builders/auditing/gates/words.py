"""Gate 4 for words that nothing is trained for: baselines that look at their spelling alone.

The fourth word of an analogy is the third with the change of ending, or of beginning, that makes
the second word of the first. Words of categories are put in the order of their spelling, forwards
or backwards, and cut into as many clusters of one size as there are categories.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from builders.audit_report import DETECTABLE, MAJORITY
from builders.auditing.gates.gate import Check, Gate, stated
from builders.auditing.target import Target
from builders.statistics import Doubles, detectable_difference, half_width, name_clusters


def _measure(target: Target) -> Iterator[Check]:
    """State the score of each baseline, and how large a difference the test can show."""
    (part,) = target.tested()
    texts = {"beginning": part.texts, "ending": [[t[::-1] for t in row] for row in part.texts]}
    y, right = part.labels, dict[str, Doubles]()
    if target.kind == "classes":
        for end, rows in texts.items():
            clusters = np.empty(len(y), np.int64)
            order = np.argsort([row[0] for row in rows], kind="stable")
            clusters[order] = np.arange(len(y)) * target.n_classes // len(y)
            right[f"order_of_{end}s"] = 1.0 * (name_clusters(clusters, y) == y)
    else:
        y = np.unique([row[-1] for row in part.texts], return_inverse=True)[1]
        right["change_of_ending"] = _same_change(texts["beginning"])
        right["change_of_beginning"] = _same_change(texts["ending"])
    yield stated("size", DETECTABLE, detectable_difference([*right.values()], part.documents))
    majority = 1.0 * (name_clusters(np.zeros_like(y), y) == y)
    for name, is_right in {MAJORITY: majority, **right}.items():
        check = stated("baselines", name, float(is_right.mean()))
        yield replace(check, half_width=half_width(is_right, part.documents))


def _same_change(rows: Sequence[Sequence[str]]) -> Doubles:
    """Return whether the ending of c changes to d's as a's does to b's, 0 or 1 [rows]."""
    right = np.zeros(len(rows))
    for number, (a, b, c, d) in enumerate(rows):
        stem = max(n for n in range(len(a) + 1) if b.startswith(a[:n]))
        right[number] = c.endswith(a[stem:]) and c.removesuffix(a[stem:]) + b[stem:] == d
    return right


def is_of_words(target: Target) -> bool:
    """Return whether these are analogies, or words of categories."""
    is_compared = target.kind in ("classes", "nothing") and target.has_test
    return is_compared and target.task is not None and target.task.unit == "word"


WORDS = Gate("baselines", _measure, is_of_words)
