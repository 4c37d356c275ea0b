"""Compares two editions of a dataset: has an encoder seen the older texts?

Scores on a newer edition may differ because an encoder has seen the texts of the older one, or
because newer texts are harder or easier. What an encoder that has seen nothing loses or gains, the
floor, is therefore subtracted. The documents of the editions are independent, so that the squares
of the standard errors add (``evaluation.measures.intervals``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from evaluation.results.comparison import Difference, JackknifeScore, clip_interval, difference

# The encoder without any training, which cannot have seen a text.
FLOOR = "char_hash"


@dataclass(frozen=True, slots=True)
class Edition:
    """An encoder's scores on two editions of a dataset.

    Attributes:
        new, old: names of the datasets.
        encoder: its name.
        new_score, old_score: on these.
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
    measured: Mapping[str, Mapping[str, JackknifeScore]],
    editions_of: Mapping[str, str],
    floor: str | None,
) -> list[Edition]:
    """Compare every encoder's scores on the editions of a dataset.

    Args:
        measured: encoder to dataset to its score, as ``measure_all`` returns it.
        editions_of: dataset to the older one that it is an edition of.
        floor: name of the floor encoder, if it was probed.

    Returns:
        By dataset, then by encoder as in ``measured``; of encoders that were probed on both.
    """
    editions = []
    for new, old in editions_of.items():
        both = {name: scores for name, scores in measured.items() if {new, old} <= scores.keys()}
        for encoder, scores in both.items():
            beyond = None
            if floor in both and floor != encoder:
                beyond = _gap(encoder, new, old, scores, floor, both[floor])
            gap = _gap(encoder, new, old, scores)
            values = scores[new].value, scores[old].value
            editions.append(Edition(new, old, encoder, *values, gap, beyond))
    return editions


def _gap(
    encoder: str,
    new: str,
    old: str,
    scores: Mapping[str, JackknifeScore],
    floor: str = "",
    floors: Mapping[str, JackknifeScore] | None = None,
) -> Difference:
    """Return newer minus older score; with a floor, of the encoder's score minus the floor's."""
    (one, far, largest), (two, further, _) = (
        difference(scores[name], floors[name] if floors else None) for name in (new, old)
    )
    value = one - two
    # Two scores differ by at most their range, and two differences by twice as much.
    interval = clip_interval(value, hypot(far, further), largest * (2 if floors else 1))
    return Difference("edition", new, encoder, floor, value, interval)
