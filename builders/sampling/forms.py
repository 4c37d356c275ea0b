"""Gives every word form to one split, so that no form that tells the class is in two."""

import math
from collections.abc import Iterable, Mapping, Sequence

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from corpora_recipes.records import SPLITS, Split

# A form that occurs in all splits goes to train twice as often as to each of the others.
WEIGHTS: Mapping[Split, int] = {"train": 2, "validation": 1, "test": 1}


def with_own_forms(candidates: Sequence[Candidate], draw: Draw) -> list[Candidate]:
    """Leave out candidates until no form is in two splits.

    The split of a form is drawn among those in which it occurs, so that a form of one split loses
    nothing, and a small test keeps its rare words.

    Args:
        candidates: of all splits.
        draw: the dataset's.

    Returns:
        The candidates all of whose forms belong to their split, in their order.
    """
    places: dict[str, set[Split]] = {}
    for candidate in candidates:
        for form in candidate.forms:
            places.setdefault(form, set()).add(candidate.split)
    owner = {form: split_of(form, splits, draw) for form, splits in places.items()}
    return [c for c in candidates if all(owner[form] == c.split for form in c.forms)]


def split_of(form: str, splits: Iterable[Split], draw: Draw) -> Split:
    """Return the split that a form belongs to, by weighted rendezvous hashing.

    Args:
        form: in lower case.
        splits: among which it is drawn, one or more.
        draw: the dataset's.
    """
    among = set(splits)
    return min(
        (split for split in SPLITS if split in among),
        key=lambda split: -math.log1p(-draw.uniform(form, split, "form")) / WEIGHTS[split],
    )
