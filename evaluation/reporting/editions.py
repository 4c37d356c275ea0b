"""Compares two editions of a dataset: has an encoder seen the older texts?

Scores on a newer edition may differ because an encoder has seen the texts of the older one, or
because newer texts are harder or easier. What an encoder that has seen nothing loses or gains, the
floor, is therefore subtracted. The documents of the editions are independent, so that the squares
of the standard errors add (``evaluation.measures.intervals``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from evaluation.results.comparison import Difference, Measured, around, subtract

# The encoder without any training, which cannot have seen a text.
FLOOR = "char_hash"


@dataclass(frozen=True, slots=True)
class Edition:
    """An encoder's scores on two editions of a dataset.

    Attributes:
        new: name of the newer dataset.
        old: name of the older one.
        encoder: name of the encoder.
        new_score: its score on the newer one.
        old_score: its score on the older one.
        gap: the newer score minus the older one.
        beyond_floor: the gap minus that of the floor encoder; None for this one, and without it.
    """

    new: str
    old: str
    encoder: str
    new_score: float
    old_score: float
    gap: Difference
    beyond_floor: Difference | None


def compare_editions(
    measured: Mapping[str, Mapping[str, Measured]], editions: Mapping[str, str], floor: str | None
) -> list[Edition]:
    """Compare every encoder's scores on the editions of a dataset.

    Args:
        measured: encoder to dataset to its score, as ``measure_all`` returns it.
        editions: dataset to the older one that it is an edition of.
        floor: name of the floor encoder, if it was probed.

    Returns:
        By dataset, then by encoder as in ``measured``; of encoders that were probed on both.
    """
    return [
        Edition(
            new,
            old,
            encoder,
            own[new].value,
            own[old].value,
            _gap(encoder, "", new, old, own, None),
            None
            if floor in (None, encoder) or not {new, old} <= measured[floor].keys()
            else _gap(encoder, floor, new, old, own, measured[floor]),
        )
        for new, old in editions.items()
        for encoder, own in measured.items()
        if {new, old} <= own.keys()
    ]


def _gap(
    encoder: str,
    other: str,
    new: str,
    old: str,
    own: Mapping[str, Measured],
    floor: Mapping[str, Measured] | None,
) -> Difference:
    """Return newer minus older score; with a floor, of the encoder's score minus the floor's."""
    ends = [subtract(own[name], floor[name] if floor else None) for name in (new, old)]
    (one, far, largest), (two, further, _) = ends
    value = one - two
    # Two scores differ by at most their range, and two differences by twice as much.
    interval = around(value, hypot(far, further), largest * (2 if floor else 1))
    return Difference("edition", new, encoder, other, value, interval)
