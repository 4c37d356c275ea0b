"""The possible outcomes of the pairs of a ranking."""

from typing import Literal, get_args

Outcome = Literal[
    "of_a_test_part",
    "no_words",
    "missing_score",
    "negative_score",
    "out_of_scale",
    "repeated",
    "below_top_quarter",
    "same_text",
    "not_in_background",
    "used",
]
"""In the order in which they are decided."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
