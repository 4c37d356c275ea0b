"""Labelled examples: which are taken, and their splits: the source's parts, or folds."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import SPLITS, Example, Split
from corpora_recipes.text.same_text import mark

Marks = tuple[int, ...]
T = TypeVar("T")
# As SentEval's cross-validation (Conneau and Kiela 2018, section 4, "10-fold").
FOLDS = 10
# One to test, one to choose the strength of a probe, one to learn from.
LEAST_FOLDS = 3
# A text of two parts stays in the part that is tested.
_LAST_FIRST = (*reversed(SPLITS), None)


def choose(
    examples: Sequence[Example], once: bool, least_in_class: int
) -> tuple[list[Example], dict[str, int]]:
    """Leave out repeated texts if ``once``, and then classes of fewer than ``least_in_class``.

    Of examples with the same texts, in any order, one is taken: one of the last part of the source
    that has them, and of these the one with the first id. The others keep their order. With them
    are returned the numbers left out: "repeated_text" and "rare_class".
    """
    chosen = list(examples)
    left_out = {}
    if once:
        first: dict[tuple[int, ...], Example] = {}
        for example in sorted(chosen, key=lambda e: (_LAST_FIRST.index(e.split), e.id)):
            first.setdefault(tuple(sorted(same_text(example))), example)
        stay = {example.id for example in first.values()}
        left_out["repeated_text"] = len(chosen) - len(stay)
        chosen = [example for example in chosen if example.id in stay]
    if least_in_class:
        sizes = Counter(example.label for example in chosen)
        stay = {example.id for example in chosen if sizes[example.label] >= least_in_class}
        left_out["rare_class"] = len(chosen) - len(stay)
        chosen = [example for example in chosen if example.id in stay]
    return chosen, left_out


def assign(
    examples: Sequence[Example], seed: int, name: str, *, trained: bool, number: int = FOLDS
) -> tuple[dict[str, Split], dict[str, int]]:
    """Decide the split, or the fold, of each example of one collection; return both by id.

    The last part of the source is test, its first is train. Without a part in between, a tenth of
    train is held out for validation. With one part or no parts, the rows get a ``number`` of folds,
    and every split is "train". If no probe is ``trained`` on them, all examples are test. ``name``
    is that of the collection, so that all datasets made of it have the same splits.
    """
    if not trained:
        return {example.id: "test" for example in examples}, {}
    parts = _parts(examples)
    tested = tested_part(examples)
    if tested is None:
        of_fold = folds(examples, seed, name, number)
        return dict.fromkeys((e.id for e in examples), "train"), of_fold
    names: dict[Split | None, Split] = {parts[0]: "train", tested: "test"}
    splits = {example.id: names.get(example.split, "validation") for example in examples}
    if len(parts) == 2:
        train = [example for example in examples if splits[example.id] == "train"]
        held_out = folds(train, seed, name)
        splits |= {key: "validation" for key, fold in held_out.items() if fold == 0}
    return splits, {}


def tested_part(examples: Sequence[Example]) -> Split | None:
    """Return the source's part of a collection that a probe is tested on.

    It is the last part present; None with fewer than two, as rows get folds then.
    """
    parts = _parts(examples)
    return parts[-1] if len(parts) > 1 else None


def _parts(examples: Sequence[Example]) -> list[Split]:
    """Return the source's parts that a collection has, in order."""
    present = {example.split for example in examples}
    return [part for part in SPLITS if part in present]


def folds(examples: Sequence[Example], seed: int, name: str, number: int = FOLDS) -> dict[str, int]:
    """Return the fold of each example of one collection, by id; there are a ``number`` of them.

    Examples of one document, or with the same text (or pair), are in the same fold. Folds are
    stratified: these groups are dealt to the folds class by class (the class of a group is that of
    its example with the first id), in the order of a keyed hash, so that the numbers of groups per
    class differ by one at most between folds.
    """
    classes: dict[str, list[tuple[int, list[Example]]]] = {}
    for group in linked(examples, lambda e: (e.document_id, same_text(e))):
        first = min(group, key=lambda example: example.id)
        rank = keyed_hash(seed, name, first.id, "fold")
        classes.setdefault(first.label or "", []).append((rank, group))
    fold_of: dict[str, int] = {}
    dealt = 0
    for label in sorted(classes):
        for _, group in sorted(classes[label], key=lambda entry: entry[0]):
            fold_of |= dict.fromkeys((example.id for example in group), dealt % number)
            dealt += 1
    return fold_of


def linked(
    items: Iterable[T], keys: Callable[[T], Iterable[Hashable]], most: float = math.inf
) -> list[list[T]]:
    """Return the groups of items that keys link, directly or through others.

    An item that would make one group, of more than ``most``, of several is left out.
    """
    leader: dict[Hashable, Hashable] = {}
    groups: dict[Hashable, list[T]] = {}

    def find(key: Hashable) -> Hashable:
        while (above := leader.setdefault(key, key)) != key:
            leader[key] = key = leader[above]
        return key

    for item in items:
        found = dict.fromkeys(map(find, keys(item)))
        joined = [groups[key] for key in found if key in groups]
        if len(joined) > 1 and sum(map(len, joined)) >= most:
            continue
        first, *others = found
        leader |= dict.fromkeys(others, first)
        groups[first] = [*(member for group in joined for member in group), item]
        for key in others:
            groups.pop(key, None)
    return list(groups.values())


def same_text(example: Example) -> Marks:
    """Return the key by which two examples have the same text, or pair of texts."""
    return tuple(map(mark, example.texts))
