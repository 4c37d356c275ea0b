"""Which labelled examples of a collection a dataset takes, where it does not take all."""

from collections import Counter
from collections.abc import Sequence

from builders.sampling.folds import same_text
from corpora_recipes.records import SPLITS, Example

# A text of two parts stays in the part that is tested.
_LAST_FIRST = (*reversed(SPLITS), None)


def choose(
    examples: Sequence[Example], once: bool, least_in_class: int
) -> tuple[list[Example], dict[str, int]]:
    """Leave out repeated texts, and then rare classes.

    Args:
        examples: of one collection.
        once: whether of examples with the same texts, in any order, only one is taken: one of the
            last part of the source that has them, and of these the one with the first id.
        least_in_class: a class with fewer examples is left out.

    Returns:
        The examples that stay, in their order, and the numbers left out: "repeated_text" if
        ``once``, "rare_class" if ``least_in_class`` is not 0.
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
